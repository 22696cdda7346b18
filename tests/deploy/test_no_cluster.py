"""The program of a stack without Kubernetes objects, on Pulumi's mocks: no kubeconfig, named providers, details."""

from __future__ import annotations

import gc
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks, set_all_config
from pulumi.runtime.settings import get_root_resource

from claimsmith.deploy import deployed, program
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.tools.generate import generate
from tests.support import no_cluster_files as files
from tests.support.samples import write_files

PLANTED = "planted-s3cret"
SECRET = "4dabf18193072939515e22adb298388d"
"""The key by which the engine's protocol marks a secret."""
MAIN = {"package": "postgresql", "config": {"host": "localhost", "port": 5432, "password": "4dm1n-pw"}}
CONFIG = {
    "postgresql:host": "localhost",
    "postgresql:port": "5432",
    "claimsmith:bind": "auto",
    "claimsmith:providers": json.dumps({"main": MAIN}),
}


@dataclass
class Engine(mocks.Mocks):
    """Keeps what is registered; the password that it creates is the planted one."""

    requests: list[Any] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        raise AssertionError(f"nothing is called here: {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        created = {"result": PLANTED} if args.typ.endswith(":RandomPassword") else {}
        return f"{args.name}-id", {**args.inputs, **created}

    def of(self, word: str) -> list[Any]:
        """The registrations of a type that ends so."""
        return [r for r in self.requests if r.type.endswith(word)]


class Monitor(mocks.MockMonitor):
    def RegisterResource(self, request: Any) -> Any:
        self.mocks.requests.append(request)
        return super().RegisterResource(request)


def run(root: Path, config: dict[str, str], *, secret: tuple[str, ...] = (), preview: bool = False) -> Engine:
    """Run the stack's program; its exports are kept as they are."""
    engine = Engine()
    # Each run has the components of its own project.
    for name in [name for name in sys.modules if name.startswith("claimsmith_components.")]:
        del sys.modules[name]
    mocks.set_mocks(engine, project="shop", stack="dev", preview=preview, monitor=Monitor(engine))
    set_all_config(config, list(secret))
    exported: dict[str, Any] = {}

    def known(name: str, value: Any) -> pulumi.Output[Any]:
        return pulumi.Output.from_input(value).apply(lambda plain: exported.__setitem__(name, plain))

    def whole() -> Any:
        program.run(root)
        stack: Any = get_root_resource()
        return pulumi.Output.all(*(known(name, value) for name, value in stack.outputs.items()))

    try:
        pulumi.runtime.test(whole)()
    finally:
        set_all_config({}, [])
        stack: Any = get_root_resource()
        stack.outputs.clear()
        gc.collect()
    engine.outputs = exported
    return engine


@pytest.fixture(autouse=True)
def _no_cluster_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("a kubeconfig is asked for")

    monkeypatch.setattr(workspace, "stack_cluster", refuse)
    monkeypatch.setattr(deployed, "read", lambda *_: deployed.Held(()))


def project(folder: Path, changes: dict[str, str] | None = None) -> Path:
    root = write_files(folder, {**files.FILES, **(changes or {})})
    generate(Project(root))
    return root


def test_native_resources_alone_need_no_kubeconfig(tmp_path: Path) -> None:
    engine = run(project(tmp_path), CONFIG)
    assert [r.type for r in engine.requests if r.custom] == [
        "pulumi:providers:postgresql",
        "random:index/randomPassword:RandomPassword",
        "postgresql:index/role:Role",
        "postgresql:index/database:Database",
    ]
    (summary,) = engine.outputs["claims"].values()
    assert summary["phase"] == "Bound"
    assert summary["connectionSecret"] is None
    assert summary["connectionKeys"] == ["database", "host", "password", "port", "scheme", "username"]


def test_details_are_a_secret_output(tmp_path: Path) -> None:
    engine = run(project(tmp_path, {"stacks/dev/claims/orders.yaml": files.ASKING}), CONFIG)
    assert not engine.of(":Secret")
    assert engine.outputs["connections"] == {
        files.ADDRESS: {
            "database": "orders",
            "host": "localhost",
            "password": PLANTED,
            "port": "5432",
            "scheme": "postgresql",
            "username": "orders",
        }
    }
    assert PLANTED not in json.dumps(engine.outputs["claims"])


def test_a_stack_without_details_has_no_such_output(tmp_path: Path) -> None:
    text = files.CLASS[: files.CLASS.index("    connectionDetails:")]
    engine = run(project(tmp_path, {"components/postgresql/class.yaml": text}), CONFIG)
    assert "connections" not in engine.outputs


def test_secrets_of_providers_stay_secrets(tmp_path: Path) -> None:
    text = files.CONFIG.replace("port: 5432", "port: 5432, password: {secure: v1:abc}")
    root = project(tmp_path, {"stacks/Pulumi.dev.yaml": text})
    engine = run(root, CONFIG, secret=("claimsmith:providers",))
    (provider,) = engine.of("providers:postgresql")
    inputs = dict(provider.object)
    assert (provider.name, inputs["host"], inputs["port"]) == ("main", "localhost", "5432")
    assert SECRET in inputs["password"]
    (role,) = engine.of(":Role")
    assert "pulumi:providers:postgresql::main::" in role.provider


def test_what_no_file_shows_in_plain_text_is_a_secret(tmp_path: Path) -> None:
    engine = run(project(tmp_path, {"stacks/Pulumi.dev.yaml": "{}"}), CONFIG, secret=("claimsmith:providers",))
    (provider,) = engine.of("providers:postgresql")
    assert all(SECRET in dict(provider.object)[key] for key in ("host", "port", "password"))


def test_details_may_be_settings_of_a_named_provider(tmp_path: Path) -> None:
    text = files.CLASS.replace("postgresql:host", "main:host").replace("postgresql:port", "main:port")
    config = {key: value for key, value in CONFIG.items() if not key.startswith("postgresql:")}
    engine = run(project(tmp_path, {"components/postgresql/class.yaml": text}), config)
    details = engine.outputs["connections"][files.ADDRESS]
    assert (details["host"], details["port"]) == ("localhost", "5432")


def test_an_unused_provider_whose_sdk_is_missing_is_left_out(tmp_path: Path) -> None:
    providers = json.dumps({"main": MAIN, "spare": {"package": "nowhere", "config": {"x": PLANTED}}})
    engine = run(project(tmp_path), {**CONFIG, "claimsmith:providers": providers})
    assert [r.name for r in engine.requests if r.type.startswith("pulumi:providers:")] == ["main"]


@pytest.mark.parametrize(
    ("providers", "what"),
    [
        pytest.param({}, "uses the provider 'main'", id="none"),
        pytest.param({"mian": MAIN}, "did you mean 'mian'?", id="misspelt"),
        pytest.param({"main": {**MAIN, "package": "random"}}, "of the package 'postgresql'", id="of-another-package"),
        pytest.param(
            {"main": {"package": "postgresql", "config": {"passwrod": PLANTED}}},
            "has no setting 'passwrod'",
            id="an-unknown-setting",
        ),
        pytest.param({"main": PLANTED}, "the provider 'main' is not an object", id="no-object"),
    ],
)
def test_refused_providers(tmp_path: Path, providers: dict[str, Any], what: str) -> None:
    with pytest.raises(pulumi.RunError) as refused:
        run(project(tmp_path), {**CONFIG, "claimsmith:providers": json.dumps(providers)})
    assert what in str(refused.value)
    assert PLANTED not in str(refused.value)


FILE = {"claimsmith:connections": json.dumps({"file": {"format": "json"}})}


def test_files_are_written_by_an_up_alone_and_go_with_their_claims(tmp_path: Path) -> None:
    root = project(tmp_path)
    path = root / ".claimsmith/connections/dev" / f"{files.ADDRESS}.json"
    run(root, {**CONFIG, **FILE}, preview=True)
    assert not path.exists()
    run(root, {**CONFIG, **FILE})
    assert json.loads(path.read_text())["password"] == PLANTED
    assert path.stat().st_mode & 0o777 == 0o600
    (root / "stacks/dev/claims/orders.yaml").write_text("# none\n")
    run(root, {**CONFIG, **FILE}, preview=True)
    assert path.exists()
    run(root, {**CONFIG, **FILE})
    assert not path.exists()


SINK = {"claimsmith:connections": json.dumps({"sink": True})}


def test_a_native_sink_is_a_part_of_the_claim(tmp_path: Path) -> None:
    engine = run(project(tmp_path, {"components/connection-sink/class.yaml": files.SINK}), {**CONFIG, **SINK})
    (place,) = engine.of(":RandomPet")
    (content,) = engine.of(":RandomId")
    assert dict(place.object)["prefix"] == "orders"
    kept = dict(content.object)["keepers"]
    assert SECRET in kept["password"]
    assert kept["password"]["value"] == PLANTED
    (component,) = engine.of(":ConnectionDetails")
    assert component.parent.endswith("claimsmith:database.example.org:PostgreSQLDatabase::default/orders")
    assert content.parent.endswith("$claimsmith:claimsmith.io:ConnectionDetails::default/orders/connection-details")
    assert SECRET in dict(component.object)["spec"]["details"]


@pytest.mark.parametrize(
    ("changes", "setting", "what"),
    [
        pytest.param({}, {"sink": True}, "there are: none", id="no-sink"),
        pytest.param(
            {
                "components/connection-sink/class.yaml": files.KUBERNETES.replace(
                    "{apiVersion: storage.example.org/v1alpha1, kind: Store}",
                    "{apiVersion: claimsmith.io/v1alpha1, kind: ConnectionDetails}",
                )
            },
            {"sink": True},
            "has a Kubernetes object, 'bucket'",
            id="a-sink-in-a-cluster",
        ),
        pytest.param({}, {"sync": True}, "unknown field 'sync'", id="misspelt"),
    ],
)
def test_refused_sinks(tmp_path: Path, changes: dict[str, str], setting: dict[str, Any], what: str) -> None:
    with pytest.raises(pulumi.RunError, match=what):
        run(project(tmp_path, changes), {**CONFIG, "claimsmith:connections": json.dumps(setting)})


# Hostile claims


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("${password.result}", id="interpolation"),
        pytest.param("$${password.result} $${", id="escaped-interpolation"),
        pytest.param('a"b\'c\n"""{{ x }}{% raw %}\\', id="quotes-and-templates"),
        pytest.param("__import__('os').system('id')", id="code"),
        pytest.param("żółć 💥 \u202e", id="unicode"),
    ],
)
def test_a_text_of_a_claim_reaches_the_provider_as_it_is(tmp_path: Path, text: str) -> None:
    patch = "    - {fromClaimFieldPath: spec.comment, toResourceFieldPath: properties.template}\n    - "
    klass = files.CLASS.replace("    - {fromClaimFieldPath: spec.conn", f"{patch}{{fromClaimFieldPath: spec.conn")
    claim = f"{files.CLAIM}  comment: {json.dumps(text, ensure_ascii=False)}\n"
    changes = {"components/postgresql/class.yaml": klass, "stacks/dev/claims/orders.yaml": claim}
    [database] = run(project(tmp_path, changes), CONFIG).of(":Database")
    assert database.object["template"] == text


@pytest.mark.parametrize(
    ("server", "what"),
    [
        pytest.param("mian", "did you mean 'main'?", id="misspelt"),
        pytest.param("__class__", "the provider '__class__', which the stack 'dev' does not have", id="an-attribute"),
        pytest.param("", "the provider '', which the stack 'dev' does not have", id="empty"),
        pytest.param(["main"], "has no name of a provider in options.provider", id="a-list"),
        pytest.param(7, "has no name of a provider in options.provider", id="a-number"),
    ],
)
def test_refused_names_of_providers(tmp_path: Path, server: Any, what: str) -> None:
    claim = f"{files.CLAIM}  server: {json.dumps(server)}\n"
    with pytest.raises(pulumi.RunError, match=re.escape(what)) as refused:
        run(project(tmp_path, {"stacks/dev/claims/orders.yaml": claim}), CONFIG)
    assert str(refused.value).startswith("stacks/dev/claims/orders.yaml:6:3: ")
