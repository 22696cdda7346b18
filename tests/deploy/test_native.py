"""Native children while the engine runs, on mocks and the real SDKs of random and postgresql."""

from __future__ import annotations

import base64
import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pulumi
import pulumi_postgresql as postgresql
import pulumi_random as random
import pytest
from pulumi.runtime import rpc

from claimsmith.deploy import ClaimKind, ClassRef, Composite, Context, optional, present
from claimsmith.deploy.native import NativeChild, imported_id
from claimsmith.deploy.values import ABSENT
from tests.support.mocked import Registered
from tests.support.native_documents import SECRET, run

Data = dict[str, Any]


class Small(Composite):
    """A component as it is generated, with options that a test sets."""

    CLAIM = ClaimKind("database.example.org/v1", "Database")
    CLASS = ClassRef("infrastructure.crossplane.io/v1alpha1", "CompositeResourceClass", "small")

    def __init__(self, args: Data, context: Context | None = None, **options: Any) -> None:
        super().__init__("default/orders", args, context=context)
        password = random.RandomPassword(
            self.child_name("password"), length=24, special=False, opts=self.child_options("password")
        )
        role = postgresql.Role(
            self.child_name("role"),
            name=self.claim.name,
            password=password.result,
            connection_limit=optional(self.spec.get("limit", ABSENT)),
            opts=self.child_options("role", **options),
        )
        host = {"host": self.config(self.spec["host"])} if "host" in self.spec else {}
        self.publish_details({"username": role.name, "password": password.result, **host})


def claim(spec: Data | None = None, **annotations: str) -> Data:
    named = {key.replace("_", "-"): value for key, value in annotations.items()}
    metadata = {"name": "orders", "annotations": {f"claimsmith.io/{k}": v for k, v in named.items()}}
    return {"metadata": metadata, "spec": spec or {}}


def made(args: Data | None = None, **options: Any) -> dict[str, Registered]:
    return {r.name: r for r in run(lambda: Small(args or claim(), **options))}


def known(read: Callable[[Small], pulumi.Output[Any]], args: Data | None = None, **program: Any) -> tuple[Any, ...]:
    """An output of the component: its value, whether it is known, whether it is a secret."""
    seen: list[Any] = []

    def build() -> Any:
        output = read(Small(args or claim()))

        async def see() -> None:
            seen.extend([await output.future(), await output.is_known(), await output.is_secret()])

        return pulumi.Output.from_input(see())

    run(build, **program)
    return tuple(seen)


def is_secret(value: Any) -> bool:
    return isinstance(value, dict) and value.get(rpc._special_sig_key) == rpc._special_secret_sig


# Names, options and what the claim lists


def test_a_component_with_native_children_needs_no_cluster_and_no_context() -> None:
    assert {r.type for r in made().values()} - {"pulumi:pulumi:Stack"} == {
        "claimsmith:database.example.org:Database",
        "random:index/randomPassword:RandomPassword",
        "postgresql:index/role:Role",
    }


def test_names_have_no_slashes() -> None:
    assert [name for name in made() if "/" in name] == ["default/orders"]
    assert made()["default-orders-role"].more["parent"].endswith("::default/orders")


def test_children_are_listed_once_they_exist() -> None:
    listed = [
        {"type": "random:index/randomPassword:RandomPassword", "name": "default-orders-password"},
        {"type": "postgresql:index/role:Role", "name": "default-orders-role"},
    ]
    assert known(lambda c: c.resources) == (listed, True, False)
    assert known(lambda c: c.phase) == ("Bound", True, False)


@pytest.mark.parametrize(
    ("options", "annotations", "read", "want"),
    [
        pytest.param({"previous_name": "user"}, {}, "aliases", (("default-orders-user", ""),), id="previous-name"),
        pytest.param({"aliases": ["old"]}, {}, "aliases", (("old", ""),), id="alias"),
        pytest.param({}, {}, "protect", False, id="not-protected"),
        pytest.param({"protect": True}, {}, "protect", True, id="protected-by-the-class"),
        pytest.param({}, {"protect": "true"}, "protect", True, id="protected-by-the-claim"),
        pytest.param({"protect": False}, {"protect": "true"}, "protect", True, id="protected-by-the-claim-alone"),
        pytest.param({"retain": True}, {}, "retain", True, id="retained"),
        pytest.param({}, {}, "timeouts", ("", "", ""), id="timeouts-of-the-provider"),
        pytest.param({"timeout": "5m"}, {}, "timeouts", ("5m", "5m", "5m"), id="one-timeout"),
        pytest.param({"timeout": {"delete": "1h"}}, {}, "timeouts", ("", "", "1h"), id="timeout-of-one-operation"),
        pytest.param({"ignore_changes": ["password"]}, {}, "ignore_changes", ("password",), id="ignored"),
    ],
)
def test_options_reach_the_engine(options: Data, annotations: dict[str, str], read: str, want: Any) -> None:
    assert getattr(made(claim(**annotations), **options)["default-orders-role"], read) == want


def test_a_claim_takes_over_what_it_names() -> None:
    found = made(claim(**{"import": "role=the-role, password=p=1"}))
    assert found["default-orders-role"].more["import"] == "the-role"
    assert found["default-orders-password"].more["import"] == "p=1"
    assert "import" not in made()["default-orders-role"].more


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("role=a", "a", id="one"),
        pytest.param("database=b, role = a ", "a", id="several"),
        pytest.param("role=a=b", "a=b", id="id-with-an-equals-sign"),
        pytest.param("roles=a", None, id="another-template"),
        pytest.param("role=", None, id="no-id"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_the_id_of_a_template_is_found(text: str, want: str | None) -> None:
    assert imported_id({"claimsmith.io/import": text}, "role") == want


def test_a_provider_is_found_by_its_name() -> None:
    def build() -> None:
        Small(claim(), Context(providers={"main": postgresql.Provider("main", host="h")}), provider="main")

    found = {r.name: r.more.get("provider") for r in run(build)}
    assert found["default-orders-role"] == "main"
    assert found["default-orders-password"] is None


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        pytest.param("mian", r"child 'role': no provider is named 'mian'\n  fix: did you mean 'main'\?", id="misspelt"),
        pytest.param(
            "x", r"child 'role': no provider is named 'x'\n  fix: pass it: context=Context\(providers", id="no"
        ),
    ],
)
def test_a_provider_that_nobody_has_is_refused(provider: str, words: str) -> None:
    def build() -> None:
        Small(claim(), Context(providers={"main": postgresql.Provider("main")}), provider=provider)

    with pytest.raises(pulumi.RunError, match=f"Database.database.example.org/default/orders, {words}"):
        run(build)


# Values: leaves are unknown, and secrets stay secrets


def test_a_field_that_is_not_set_is_no_argument() -> None:
    assert "connectionLimit" not in made()["default-orders-role"].inputs
    assert made(claim({"limit": 7}))["default-orders-role"].inputs["connectionLimit"] == 7


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(ABSENT, None, id="absent"),
        pytest.param(None, None, id="null"),
        pytest.param(0, 0, id="zero"),
        pytest.param({"a": ABSENT}, None, id="nothing-inside"),
        pytest.param({"a": {"b": ABSENT}, "c": [ABSENT, 1]}, {"c": [1]}, id="something-inside"),
        pytest.param({}, {}, id="empty-object"),
    ],
)
def test_what_is_not_set_is_none_for_an_sdk(value: Any, want: Any) -> None:
    assert optional(value) == want
    assert present({"x": value}) == ({} if want is None else {"x": want})


def test_a_secret_output_is_secret_wherever_it_goes() -> None:
    found = made()
    assert is_secret(found["default-orders-role"].inputs["password"])
    shown = [r.inputs for r in found.values()]
    assert repr(shown).count(SECRET) == 1


def test_details_are_secret_and_encoded_as_a_secrets_data() -> None:
    details, is_known, secret = known(lambda c: c.details)
    assert {k: base64.b64decode(v).decode() for k, v in details.items()} == {"username": "orders", "password": SECRET}
    assert (is_known, secret) == (True, True)
    assert known(lambda c: c.connection_keys) == (["password", "username"], True, False)


def test_in_a_preview_only_what_is_computed_is_unknown() -> None:
    found = {r.name: r.inputs for r in run(lambda: Small(claim()), preview=True)}
    role = found["default-orders-role"]
    assert role["name"] == "orders"
    assert rpc.contains_unknowns(role["password"]) or role["password"].get("value") == rpc.UNKNOWN
    assert known(lambda c: c.phase, preview=True)[1:] == (False, False)


ASKING = {"writeConnectionSecretToRef": {"name": "orders"}}


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_the_secret_that_a_claim_asks_for_has_each_detail_on_its_own(preview: bool) -> None:
    found = {r.name: r.inputs for r in run(lambda: Small(claim(ASKING)), preview=preview)}
    data = found["default/orders/connection"]["data"]
    # Reading what was sent makes a secret of the whole that a secret is part of.
    assert is_secret(data)
    assert data["value"]["username"] == base64.b64encode(b"orders").decode()
    assert isinstance(data["value"]["password"], pulumi.output.Unknown) is preview


def test_a_planned_stack_without_a_cluster_writes_no_secret() -> None:
    found = run(lambda: Small(claim(ASKING), Context(composites={})))
    assert [r.name for r in found if r.type.startswith("kubernetes:")] == []


class Lost:
    """A resource whose id raises, for the program ended before it was there."""

    def __init__(self, part: str) -> None:
        parts = dict.fromkeys(("resources", "future", "is_known", "is_secret"), _known)
        self.id = SimpleNamespace(**{**parts, "resources": _nothing, part: _raise})


async def _known(**_: bool) -> bool:
    return True


async def _nothing() -> set[pulumi.Resource]:
    return set()


async def _raise(**_: bool) -> bool:
    raise RuntimeError("the engine is gone")


@pytest.mark.parametrize("part", ["future", "is_known"])
def test_a_resource_that_raises_leaves_nothing_that_is_never_awaited(
    part: str, recwarn: pytest.WarningsRecorder
) -> None:
    def build() -> Any:
        return NativeChild("role", "role", resource=Lost(part)).ready  # type: ignore[arg-type]

    with pytest.raises(RuntimeError, match="the engine is gone"):
        run(build)
    gc.collect()
    assert [str(w.message) for w in recwarn if "never awaited" in str(w.message)] == []


# Settings of the stack


def test_a_setting_becomes_a_detail_and_a_secret_one_stays_secret() -> None:
    config = {"postgresql:host": "db.example.org"}
    for secret in ("", "postgresql:host"):
        details, _, _ = known(lambda c: c.details, claim({"host": "postgresql:host"}), config=config, secret=secret)
        assert base64.b64decode(details["host"]) == b"db.example.org"
        found = known(lambda c: pulumi.Output.from_input(c.config("postgresql:host")), config=config, secret=secret)
        assert found == ("db.example.org", True, bool(secret))


def test_a_setting_that_is_missing_is_named() -> None:
    with pytest.raises(pulumi.RunError, match=r"no setting 'postgresql:host'.*\n.*pulumi config set postgresql:host"):
        made(claim({"host": "postgresql:host"}))


# Tags


def test_tags_name_the_claim_and_leave_its_own() -> None:
    tags = {"claimsmith-namespace": "default", "claimsmith-name": "orders"}
    seen: list[Any] = []

    def build() -> Any:
        component = Small(claim())
        seen.extend([component.claim_tags(), component.claim_tags({"team": "web", "claimsmith-name": "mine"})])
        return component.claim_tags(pulumi.Output.from_input({"team": "web"})).apply(seen.append)

    run(build)
    assert tags.items() <= seen[0].items()
    assert {"claimsmith-uid", "claimsmith-owner"} <= set(seen[0])
    assert seen[1] == {**seen[0], "team": "web", "claimsmith-name": "mine"}
    assert seen[2] == {**seen[0], "team": "web"}
