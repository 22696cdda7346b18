"""What a review says of a change: claims, children, fields, and what caused them."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import BindingError
from claimsmith.base.values import Ref
from claimsmith.project.project import Project
from claimsmith.tools.review.changes import Change, FieldChange, Op, StackReview
from claimsmith.tools.review.fields import HIDDEN, shown
from claimsmith.tools.review.stack import review_stack
from tests.support.paths import ROOT
from tests.support.review_files import (
    ADDRESS,
    CLASS,
    GIVEN,
    GROUP,
    SQL,
    base,
    changed,
    db,
    put,
    reviewed,
    set_file,
    sql,
    write,
)

FIREWALL = {
    "base": {
        "apiVersion": "database.azure.crossplane.io/v1alpha3",
        "kind": "MySQLServerFirewallRule",
        "spec": {"forProvider": {"serverNameSelector": {"matchComposite": True}}},
    }
}
SERVER_AT = "spec/resources/1/base/spec"
KEPT = {**GROUP, "spec": {**GROUP["spec"], "reclaimPolicy": "Retain"}}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "text", "namespace": "default"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine", "namespace": "default"}}


def report(stack: StackReview) -> dict[str, Any]:
    """Claims with their change, and of each resource the operation and the fields."""
    claims = {
        c.short.partition("/")[2]: (
            c.change.value,
            {r.part: (r.op.value, [f.path for f in r.fields]) for r in c.resources},
        )
        for c in stack.claims
    }
    given = {r.name: (r.op.value, [f.path for f in r.fields]) for r in stack.given}
    return {**claims, **({"": given} if given else {})}


def server_changed(op: str, *paths: str) -> dict[str, Any]:
    return {"sql": ("changed", {"my-sql-server": (op, list(paths))})}


ALL = ("resource-group", "my-sql-server", "connection")

ROWS = [
    pytest.param([], {}, id="nothing"),
    pytest.param([put(SQL, "metadata/labels", {"team": "x"})], {}, id="a-label-of-the-claim-that-nothing-reads"),
    pytest.param(
        [put(SQL, "spec/size", 20)], server_changed("updated", "spec.forProvider.storageMB"), id="a-claims-field"
    ),
    pytest.param(
        [put(CLASS, f"{SERVER_AT}/forProvider/sku/tier", "Memory")],
        server_changed("updated", "spec.forProvider.sku.tier"),
        id="a-literal-of-the-class",
    ),
    pytest.param(
        [put(CLASS, f"{SERVER_AT}/forProvider/tags", {"a": "1", "b": "2"})],
        server_changed("updated", "spec.forProvider.tags"),
        id="what-is-new-is-reported-as-a-whole",
    ),
    pytest.param(
        [put(CLASS, f"{SERVER_AT}/forProvider/sku", None)],
        server_changed("updated", "spec.forProvider.sku"),
        id="what-is-gone-is-reported-as-a-whole",
    ),
    pytest.param(
        [put(CLASS, f"{SERVER_AT}/forProvider/rules", ["a", "c", "d"])],
        server_changed("updated", "spec.forProvider.rules[1]", "spec.forProvider.rules[2]"),
        id="lists-in-order",
    ),
    pytest.param(
        [put(CLASS, "spec/resources/1/patches/0/transforms/0/math/multiply", 2048)],
        server_changed("updated", "spec.forProvider.storageMB"),
        id="a-transform",
    ),
    pytest.param(
        [put(CLASS, "spec/resources/1/patches", None)],
        server_changed("updated", "spec.forProvider.version", "spec.forProvider.storageMB"),
        id="patches-that-are-gone",
    ),
    pytest.param(
        [put(CLASS, "spec/resources/1/base/metadata", {"annotations": {"crossplane.io/external-name": "x"}})],
        {},
        id="an-external-name-is-the-controllers",
    ),
    pytest.param(
        [lambda files: files[CLASS]["spec"]["resources"].append(copy.deepcopy(FIREWALL))],
        {"sql": ("changed", {"my-sql-server-firewall-rule": ("created", [])})},
        id="a-template-more",
    ),
    pytest.param(
        [put(CLASS, f"{SERVER_AT}/forProvider/resourceGroupNameSelector", None), put(CLASS, "spec/resources/0", None)],
        {
            "sql": (
                "changed",
                {
                    "my-sql-server": ("updated", ["spec.forProvider.resourceGroupNameRef"]),
                    "resource-group": ("deleted", []),
                },
            )
        },
        id="a-template-less",
    ),
    pytest.param(
        [put(CLASS, "spec/resources/0/base/spec/reclaimPolicy", "Retain")],
        {"sql": ("changed", {"resource-group": ("updated", ["spec.reclaimPolicy"])})},
        id="a-policy",
    ),
    pytest.param(
        [put(CLASS, "metadata/annotations", {"claimsmith.io/protect": "true"})],
        {"sql": ("changed", {"resource-group": ("settings", []), "my-sql-server": ("settings", [])})},
        id="protection-is-a-setting",
    ),
    pytest.param(
        [put(SQL, "metadata/name", "other"), put(SQL, "spec/writeConnectionSecretToRef/name", "other")],
        {
            "other": ("added", dict.fromkeys(ALL, ("created", []))),
            "sql": ("removed", dict.fromkeys(ALL, ("deleted", []))),
        },
        id="a-claim-renamed",
    ),
    pytest.param(
        [put(SQL, "spec/writeConnectionSecretToRef/name", "elsewhere")],
        {"sql": ("changed", {"connection": ("replaced", ["metadata.name"])})},
        id="another-secret",
    ),
    pytest.param([put(SQL, "spec/classRef/name", "other")], {"sql": ("rebound", {})}, id="another-class-of-the-same"),
    pytest.param(
        [set_file(GIVEN, [{**CONFIG, "data": {"a": "1"}}])],
        {"": {"text": ("created", [])}},
        id="a-given-object",
    ),
]


@pytest.mark.parametrize(("changes", "want"), ROWS)
def test_what_becomes_of_claims_and_children(tmp_path: Path, changes: list[Any], want: dict[str, Any]) -> None:
    found = reviewed(tmp_path, base(), changed(*changes))
    assert found.problems == ()
    assert report(found) == want


@pytest.mark.parametrize(
    ("before", "after", "op", "fields"),
    [
        pytest.param({"data": {"a": "1"}}, {"data": {"a": "2"}}, "replaced", ["data.a"], id="a-config-maps-data"),
        pytest.param({}, {"immutable": False}, "updated", ["immutable"], id="another-field-of-it"),
    ],
)
def test_what_the_engine_cannot_change_in_place(
    tmp_path: Path, before: Any, after: Any, op: str, fields: list[str]
) -> None:
    files = [changed(set_file(GIVEN, [{**CONFIG, **more}])) for more in (before, after)]
    assert report(reviewed(tmp_path, *files)) == {"": {"text": (op, fields)}}


def test_what_is_retained(tmp_path: Path) -> None:
    before = changed(set_file(CLASS, db(group=KEPT)))
    found = reviewed(tmp_path, before, changed(set_file(SQL, None), start=before))
    parts = {"resource-group": ("retained", []), "my-sql-server": ("deleted", []), "connection": ("deleted", [])}
    assert report(found) == {"sql": ("removed", parts)}


def test_a_renamed_template_keeps_what_it_created(tmp_path: Path) -> None:
    before, after = db(), db()
    before["spec"]["resources"][1]["name"] = "old"
    after["spec"]["resources"][1] |= {"name": "new", "previousName": "old"}
    found = reviewed(tmp_path, changed(set_file(CLASS, before)), changed(set_file(CLASS, after)))
    assert {r.op for c in found.claims for r in c.resources} <= {Op.settings}


def field_of(found: StackReview, path: str) -> FieldChange:
    fields = [f for c in found.claims for r in c.resources for f in r.fields]
    (field,) = [f for f in fields if f.path == path]
    return field


def test_a_patch_is_reported_with_its_place_and_the_claims_field(tmp_path: Path) -> None:
    field = field_of(reviewed(tmp_path, base(), changed(put(SQL, "spec/size", 20))), "spec.forProvider.storageMB")
    assert (field.old, field.new) == (10240, 20480)
    assert field.cause is not None
    assert field.cause.by == "patch"
    assert field.cause.what == "spec.size → spec.forProvider.storageMB · times 1024"
    assert field.cause.where is not None
    lines = (tmp_path / "after" / CLASS).read_text().splitlines()
    assert "fromClaimFieldPath: spec.size" in lines[field.cause.where.line - 1]
    assert field.cause.claim == "spec.size: 10 → 20"
    assert field.cause.claim_where is not None
    claim = (tmp_path / "after" / SQL).read_text().splitlines()
    assert claim[field.cause.claim_where.line - 1].strip() == "size: 20"


@pytest.mark.parametrize(
    ("change", "path", "want"),
    [
        pytest.param(
            put(CLASS, "spec/resources/1/patches/0/transforms/0/math/multiply", 2048),
            "spec.forProvider.storageMB",
            ("patch", "times 2048", "times 1024", False),
            id="a-changed-transform-with-what-it-was",
        ),
        pytest.param(
            put(CLASS, f"{SERVER_AT}/forProvider/sku/tier", "Memory"),
            "spec.forProvider.sku.tier",
            ("base", "written in the class", "", False),
            id="a-literal",
        ),
        pytest.param(
            put(CLASS, "spec/resources/1/patches/0", None),
            "spec.forProvider.storageMB",
            ("patch", "times 1024", "", True),
            id="a-patch-that-is-gone",
        ),
        pytest.param(
            put(CLASS, "spec/resources/1/patches/1", None),
            "spec.forProvider.version",
            ("base", "written in the class", "spec.version → spec.forProvider.version", False),
            id="a-literal-instead-of-a-patch",
        ),
        pytest.param(
            put(CLASS, f"{SERVER_AT}/forProvider/resourceGroupNameSelector", None),
            "spec.forProvider.resourceGroupNameRef",
            ("reference", "resourceGroupNameSelector", "", True),
            id="a-reference-that-is-gone",
        ),
    ],
)
def test_causes(tmp_path: Path, change: Any, path: str, want: tuple[str, str, str, bool]) -> None:
    cause = field_of(reviewed(tmp_path, base(), changed(change)), path).cause
    assert cause is not None
    by, what, was, gone = want
    assert (cause.by, cause.gone) == (by, gone)
    assert what in cause.what
    assert was in cause.was
    assert cause.where is not None
    assert cause.where.file == CLASS


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(Ref("a/b", ("status", "x")), "<a/b:status.x>", id="known-later"),
        pytest.param(Ref("a/b", ("metadata", "name"), known="b-x"), "b-x", id="a-generated-name"),
        pytest.param({"a": [Ref("a/b", ("status", "x")), 1]}, {"a": ["<a/b:status.x>", 1]}, id="within"),
        pytest.param(ABSENT, ABSENT, id="nothing"),
    ],
)
def test_values_that_are_known_later_are_reported_as_such(value: Any, want: Any) -> None:
    assert shown({}, ("spec",), value) == want


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        pytest.param({"stringData": {"a": "hunter2"}}, {"stringData": {"a": "hunter3"}}, "data.a", id="changed"),
        pytest.param({}, {"stringData": {"a": "hunter3"}}, "data", id="added"),
        pytest.param({"data": {"a": "aHVudGVyMg=="}}, {}, "data", id="removed"),
    ],
)
def test_secrets_are_not_shown(tmp_path: Path, before: Any, after: Any, path: str) -> None:
    files = [changed(set_file(GIVEN, [{**SECRET, **more}])) for more in (before, after)]
    found = reviewed(tmp_path, *files)
    [resource] = found.given
    assert [f.path for f in resource.fields] == [path]
    assert "unter" not in repr(found)
    assert "aHVudGVy" not in repr(found)
    assert HIDDEN in repr(found)


def test_fields_that_tell_a_secret_by_their_name_are_not_shown(tmp_path: Path) -> None:
    before = changed(put(CLASS, f"{SERVER_AT}/forProvider/administratorLoginPassword", "hunter2"))
    after = changed(put(CLASS, f"{SERVER_AT}/forProvider/administratorLoginPassword", "hunter3"))
    assert "hunter" not in repr(reviewed(tmp_path, before, after))


def test_a_claims_secret_that_a_patch_carries_is_not_shown(tmp_path: Path) -> None:
    start = changed(
        lambda files: files[CLASS]["spec"]["resources"][1]["patches"].append(
            {"fromClaimFieldPath": "spec.word", "toResourceFieldPath": "spec.forProvider.password"}
        )
    )
    files = [changed(put(SQL, "spec/word", word), start=start) for word in ("hunter2", "hunter3")]
    found = reviewed(tmp_path, *files)
    assert [f.path for c in found.claims for r in c.resources for f in r.fields] == ["spec.forProvider.password"]
    assert "hunter" not in repr(found)


def test_a_stack_that_is_new_adds_all_its_claims(tmp_path: Path) -> None:
    before = changed(set_file(SQL, None))
    found = reviewed(tmp_path, before, base())
    assert [c.change for c in found.claims] == [Change.added]
    assert found.problems == ()


def test_a_base_without_a_project_has_nothing(tmp_path: Path) -> None:
    found = review_stack(Project(tmp_path / "nothing"), Project(write(tmp_path, base())), "dev")
    assert [c.change for c in found.claims] == [Change.added]


@pytest.mark.parametrize(
    ("before", "after", "side"),
    [
        pytest.param("a: [", None, "base", id="the-base"),
        pytest.param(None, "a: [", "working tree", id="the-working-tree"),
    ],
)
def test_a_side_that_cannot_be_read_is_reported_as_such(tmp_path: Path, before: Any, after: Any, side: str) -> None:
    files = [changed(set_file(CLASS, text)) if text else base() for text in (before, after)]
    found = reviewed(tmp_path, *files)
    assert found.unread == side
    assert [p.where.file for p in found.problems if p.where] == [CLASS]
    assert found.claims == ()


def test_claims_that_are_not_bound_yet_are_refused_and_reported_all_the_same(tmp_path: Path) -> None:
    def recorded(files: Any) -> None:
        files["stacks/Pulumi.dev.yaml"] = {"config": {}}

    found = reviewed(tmp_path, base(), changed(recorded, put(SQL, "spec/size", 20)))
    assert [p.fix for p in found.refusals if "not bound yet" in p.what] == ["run: claimsmith bind dev"]
    assert report(found) == server_changed("updated", "spec.forProvider.storageMB")


def test_the_examples_against_themselves_say_nothing() -> None:
    project = Project(ROOT)
    for stack in project.stacks():
        found = review_stack(project, project, stack)
        assert (found.claims, found.given, found.warnings, found.refusals, found.problems) == ((), (), (), (), ())


def test_the_examples_from_nothing_raise_no_alarm(tmp_path: Path) -> None:
    project = Project(ROOT)
    for stack in project.stacks():
        found = review_stack(Project(tmp_path), project, stack)
        assert {c.change for c in found.claims} == {Change.added}
        assert found.warnings == ()


def test_a_composition_over_a_thousand_claims_in_two_environments(tmp_path: Path) -> None:
    """Each claim is reported, and what is the same for all once."""
    from claimsmith.tools.review.groups import groups

    files = base()
    del files[SQL]
    for stack in ("dev", "prod"):
        files |= {f"stacks/Pulumi.{stack}.yaml": {"config": {"claimsmith:bind": "auto"}}}
        files |= {f"stacks/{stack}/claims/all.yaml": [sql(f"sql{i}") for i in range(500)]}
    after = changed(
        put(CLASS, "spec/resources/1/patches/0/transforms/0/math/multiply", 2048),
        put("stacks/prod/claims/all.yaml", "7/spec/size", 20),
        start=files,
    )
    for stack, count in (("dev", 1), ("prod", 2)):
        found = reviewed(tmp_path, files, after, stack)
        assert found.counts() == {"updated": 500}
        assert {f.path for r in found.resources() for f in r.fields} == {"spec.forProvider.storageMB"}
        values = {(f.old, f.new) for r in found.resources() for f in r.fields}
        assert values == {(10240, 20480), (10240, 40960)} if stack == "prod" else {(10240, 20480)}
        assert len(groups(found)) == count


def test_ids_lead_to_the_claims(tmp_path: Path) -> None:
    [claim] = reviewed(tmp_path, base(), changed(put(SQL, "spec/size", 20))).claims
    assert claim.claim == ADDRESS
    assert claim.where is not None
    assert claim.where.file == SQL
    assert [k.part for k in claim.kept] == ["resource-group", "connection"]


@pytest.mark.parametrize(
    ("claimed", "want"),
    [
        pytest.param(True, ["has changed since XPostgres.acme.example.org/ledger-6tkzf was bound"], id="still-there"),
        pytest.param(False, ["ledger-6tkzf is no longer composed, and Composition."], id="its-claim-is-gone"),
    ],
)
def test_a_composite_is_reported_as_gone_only_if_it_is(tmp_path: Path, claimed: bool, want: list[str]) -> None:
    for name in ("components", "stacks/today"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    composition = tmp_path / "components" / "postgres" / "composition.yaml"
    composition.write_text(composition.read_text(encoding="utf-8").replace('"11"', '"12"'), encoding="utf-8")
    if not claimed:
        (tmp_path / "stacks" / "today" / "claims" / "postgres.yaml").unlink()
    with pytest.raises(BindingError) as caught:
        Project(tmp_path).plan("today")
    whats = [p.what for p in caught.value.problems]
    assert [[part for part in want if part in what] for what in whats] == [want]
