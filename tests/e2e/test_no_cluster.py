"""Stacks without a cluster: no kubeconfig anywhere, providers by name, and every way to the connection details."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.databases import GROUP, KIND, STACK, DatabaseRig, database_class, psql
from tests.support import no_cluster_files as files

pytestmark = pytest.mark.e2e

MAIN = "claimsmith:providers.main"


@pytest.fixture
def rig(database_rig: DatabaseRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DatabaseRig]:
    """A project with a named provider, in an environment in which no kubeconfig can be found."""
    home = Path.home()
    monkeypatch.setenv("PULUMI_HOME", os.environ.get("PULUMI_HOME") or str(home / ".pulumi"))
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or str(home / ".cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    database_rig.settings.pop("KUBECONFIG", None)
    klass = database_class(provider="main")
    for detail in klass["spec"]["resources"][-1]["connectionDetails"]:
        if "fromConfig" in detail:
            detail["fromConfig"] = detail["fromConfig"].replace("postgresql:", "main:")
    database_rig.write("components/postgresql/class.yaml", klass)
    yield database_rig
    database_rig.destroy(STACK)


def settle(rig: DatabaseRig, stack: str = STACK) -> None:
    """Generate, bind, and tell the stack its provider."""
    assert rig.server
    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.claimsmith("bind", stack))
    rig.ok(rig.pulumi("stack", "init", stack))
    values = {"host": rig.server.host, "port": rig.server.port, "username": rig.server.user, "sslmode": "disable"}
    configure(rig, "claimsmith:providers", {"main": {"package": "postgresql", "config": values}}, stack)
    rig.secret_setting(f"{MAIN}.config.password", rig.password, stack, "--path")


def configure(rig: DatabaseRig, key: str, value: Any, stack: str = STACK) -> None:
    """Write a setting into the stack's config, as its user would; the others stay."""
    path = rig.root / f"stacks/Pulumi.{stack}.yaml"
    data = yaml.safe_load(path.read_text()) if path.exists() else {}
    data.setdefault("config", {})[key] = value
    path.write_text(yaml.safe_dump(data))


def provider(rig: DatabaseRig, **changes: Any) -> None:
    """Change settings of the provider; its others, the encrypted password too, stay."""
    data = yaml.safe_load((rig.root / f"stacks/Pulumi.{STACK}.yaml").read_text())
    main = data["config"]["claimsmith:providers"]["main"]
    configure(rig, "claimsmith:providers", {"main": {**main, "config": {**main["config"], **changes}}})


@pytest.fixture
def deployed(rig: DatabaseRig) -> tuple[DatabaseRig, str]:
    """One claim that asks for a Secret, deployed."""
    name = rig.named()
    rig.claim(name, writeConnectionSecretToRef={"name": "orders-db"})
    settle(rig)
    rig.ok(rig.up(STACK))
    return rig, name


def test_attributes_that_a_killed_engine_left_half_written(deployed: tuple[DatabaseRig, str]) -> None:
    """The moment is too short to hit by a kill: the file is cut off by hand, as one kill in hundreds does."""
    rig, _ = deployed
    [attributes] = rig.root.glob(f".claimsmith/state/.pulumi/stacks/*/{STACK}.json.attrs")
    attributes.write_text("")
    refused = rig.claimsmith("status", STACK)
    assert (refused.code, f"claimsmith recover {STACK}" in refused.text) == (1, True), refused.text
    found = rig.ok(rig.claimsmith("recover", STACK)).out
    assert f"{attributes.relative_to(rig.root)}: half-written by an engine that is gone" in found
    assert attributes.exists()
    rig.ok(rig.claimsmith("recover", STACK, "--yes"))
    rig.ok(rig.up(STACK, "--expect-no-changes"))
    assert rig.ok(rig.claimsmith("recover", STACK)).text == f"nothing to recover in {STACK}\n"


def test_every_command_works_without_a_kubeconfig(deployed: tuple[DatabaseRig, str]) -> None:
    rig, name = deployed
    assert "asks for the Secret 'orders-db', and the stack has no cluster" in rig.printed[-1]
    rig.ok(rig.up(STACK, "--expect-no-changes"))
    status = rig.ok(rig.claimsmith("status", STACK)).out
    assert "stack output: database, engine, host, password, port, username" in status
    assert "Role " in status
    assert "no drift: 3 resources" in rig.ok(rig.claimsmith("drift", STACK)).out
    assert rig.ok(rig.login(name, "SELECT current_user")).out == f"{name}\n"
    recover = rig.ok(rig.claimsmith("recover", STACK, "--yes"))
    assert recover.text == f"nothing to recover in {STACK}\n"
    for words in (("validate", STACK), ("bind", STACK, "--check"), ("render", STACK), ("explain", STACK, name)):
        rig.ok(rig.claimsmith(*words))
    rig.ok(rig.claimsmith("shard", STACK, "--by", "namespace"))
    printed = "".join(rig.printed)
    assert "kubectl" not in printed
    assert "~/.kube" not in printed
    assert not {"clusters.json", "local"} & {path.name for path in (rig.root / ".claimsmith").iterdir()}
    assert not any(r["type"].startswith(("kubernetes:", "pulumi:providers:kubernetes")) for r in rig.state(STACK))


def test_a_review_asks_the_engine_without_a_kubeconfig(deployed: tuple[DatabaseRig, str]) -> None:
    rig, name = deployed
    rig.write(".gitignore", ".claimsmith/\nstacks/Pulumi.*.yaml\n__pycache__/\n")
    git = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], cwd=rig.root, check=True)
    rig.claim(name, connections=33, writeConnectionSecretToRef={"name": "orders-db"})
    ran = rig.claimsmith("review", "--stack", STACK, "--preview", "--output", "json")
    assert ran.code == 10, ran.text
    (stack,) = json.loads(ran.out)["stacks"]
    assert stack["preview"]["ops"] == {"updated": 1}
    assert stack["preview"]["differences"] == []


def test_drift_is_reported_with_the_place_of_the_value(deployed: tuple[DatabaseRig, str]) -> None:
    rig, name = deployed
    rig.admin(f'ALTER DATABASE "{name}" CONNECTION LIMIT 7')
    ran = rig.claimsmith("drift", STACK)
    assert ran.code == 10
    assert f"  database: Database {name} is changed\n    connectionLimit: 20 → 7  [components/" in ran.out
    assert "PULUMI_K8S" not in ran.out
    rig.ok(rig.up(STACK, "--refresh"))
    assert rig.claimsmith("drift", STACK).code == 0


def test_settings_of_a_provider_touch_no_child(deployed: tuple[DatabaseRig, str]) -> None:
    rig, name = deployed
    before = rig.oid(name)
    admin = rig.named("admin")
    rig.admin(f"CREATE ROLE \"{admin}\" SUPERUSER LOGIN PASSWORD 'first-s3cret'")
    provider(rig, username=admin, connectTimeout=60)
    rig.secret_setting(f"{MAIN}.config.password", "first-s3cret", STACK, "--path")
    steps = rig.steps(STACK)
    assert {n: s["op"] for n, s in steps.items()} == {"main": "update"}
    rig.ok(rig.up(STACK))
    assert rig.oid(name) == before
    (registered,) = [r for r in rig.state(STACK) if r["type"] == "pulumi:providers:postgresql"]
    assert registered["inputs"]["username"] == admin
    assert "ciphertext" in registered["inputs"]["password"]
    # It removes its own role at the end otherwise.
    rig.secret_setting(f"{MAIN}.config.password", rig.password, STACK, "--path")
    assert rig.server
    provider(rig, username=rig.server.user)
    rig.ok(rig.up(STACK))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        pytest.param({"name": "mian"}, "did you mean 'mian'?", id="misspelt"),
        pytest.param({"key": "passwrod"}, "has no setting 'passwrod'", id="an-unknown-setting"),
    ],
)
def test_refused_providers(rig: DatabaseRig, change: dict[str, str], what: str) -> None:
    rig.claim(rig.named())
    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.claimsmith("bind", STACK))
    rig.ok(rig.pulumi("stack", "init", STACK))
    name = change.get("name", "main")
    path = f"claimsmith:providers.{name}"
    configure(rig, "claimsmith:providers", {name: {"package": "postgresql"}})
    rig.secret_setting(f"{path}.config.{change.get('key', 'password')}", "planted-s3cret", STACK, "--path")
    ran = rig.pulumi("preview", "--stack", STACK)
    assert ran.code != 0
    assert what in ran.text
    assert "Traceback" not in ran.text
    assert "planted-s3cret" not in ran.text


def kept(rig: DatabaseRig, value: str) -> list[str]:
    """The files of a project that have a value in plain text."""
    found = [path for path in rig.root.rglob("*") if path.is_file() and value.encode() in path.read_bytes()]
    return [path.relative_to(rig.root).as_posix() for path in found]


def test_details_go_to_files_and_sinks_on_request_and_nowhere_else(deployed: tuple[DatabaseRig, str]) -> None:
    rig, name = deployed
    details = json.loads(rig.connection(name, "json"))
    assert kept(rig, details["password"]) == []
    rig.write("components/connection-sink/class.yaml", files.SINK)
    rig.ok(rig.claimsmith("generate"))
    configure(rig, "claimsmith:connections", {"file": {"format": "json"}, "sink": True})
    steps = rig.steps(STACK)
    assert {n for n, s in steps.items() if s["op"] == "create"} == {
        f"default/{name}/connection-details",
        f"default-{name}-place",
        f"default-{name}-content",
    }
    assert kept(rig, details["password"]) == []
    rig.ok(rig.up(STACK, "--logtostderr", "-v=5"))
    file = f".claimsmith/connections/{STACK}/{KIND}.{GROUP}/default/{name}.json"
    assert kept(rig, details["password"]) == [file]
    assert json.loads((rig.root / file).read_text()) == details
    assert (rig.root / file).stat().st_mode & 0o777 == 0o600
    (content,) = [r for r in rig.state(STACK) if r["type"].endswith(":RandomId")]
    assert "ciphertext" in content["inputs"]["keepers"]["password"]
    assert content["parent"].endswith(f"::default/{name}/connection-details")
    rig.ok(rig.up(STACK, "--expect-no-changes"))
    assert details["password"] not in "".join(rig.printed)
    rig.unclaim(name)
    rig.ok(rig.up(STACK))
    assert not (rig.root / file).exists()


ROLE_SINK = f"""{files.SINK_CLASS}\
  - name: application
    base:
      type: postgresql:Role
      properties: {{login: true}}
      options: {{provider: main}}
    patches:
    - fromClaimFieldPath: spec.claim.name
      toResourceFieldPath: properties.name
      transforms: [{{type: string, string: {{fmt: "%s-app"}}}}]
    - {{fromClaimFieldPath: spec.details.password, toResourceFieldPath: properties.password}}
"""


def test_a_sink_brings_details_to_a_real_server_and_they_stay_secret(rig: DatabaseRig) -> None:
    """The server itself confirms the value: a role of the sink logs in with the claim's password."""
    assert rig.server
    name = rig.named()
    rig.databases.append(f"{name}-app")
    rig.claim(name)
    rig.write("components/connection-sink/class.yaml", ROLE_SINK)
    settle(rig)
    configure(rig, "claimsmith:connections", {"sink": True})
    rig.ok(rig.pulumi("preview", "--stack", STACK))
    rig.ok(rig.up(STACK, "--logtostderr", "-v=5"))
    details = json.loads(rig.connection(name, "json"))
    address = f"postgresql://{name}-app@{rig.server.host}:{rig.server.port}/{name}"
    assert rig.ok(psql(address, "SELECT current_user", password=details["password"])).out == f"{name}-app\n"
    assert psql(address, "SELECT 1", password="another").code != 0
    (role,) = [r for r in rig.state(STACK) if r["urn"].endswith(f"::default-{name}-application")]
    assert "ciphertext" in role["inputs"]["password"]
    assert "ciphertext" in role["outputs"]["password"]
    rig.ok(rig.up(STACK, "--expect-no-changes"))
    assert kept(rig, details["password"]) == []
    assert details["password"] not in "".join(rig.printed)
    rig.unclaim(name)
    rig.ok(rig.up(STACK))
    assert rig.role(f"{name}-app") == ""


def test_refused_details(deployed: tuple[DatabaseRig, str]) -> None:
    rig, name = deployed
    rows: list[tuple[str, dict[str, str], str]] = [
        (f"{name}x", {}, "did you mean"),
        (name, {"PULUMI_CONFIG_PASSPHRASE": "wrong"}, "PULUMI_CONFIG_PASSPHRASE"),
    ]
    for claim, environment, what in rows:
        before: dict[str, Any] = dict(rig.settings)
        rig.settings.update(environment)
        ran = rig.claimsmith("connection", STACK, claim)
        rig.settings.clear()
        rig.settings.update(before)
        assert (ran.code, ran.out) == (1, "")
        assert what in ran.err
    later = rig.named("later")
    rig.claim(later)
    ran = rig.claimsmith("connection", STACK, later)
    assert "is not deployed yet" in ran.err


def test_a_stack_is_cut_and_no_database_is_touched(rig: DatabaseRig) -> None:
    first, second = rig.named("first"), rig.named("second")
    rig.claim(first)
    rig.claim(second)
    path = f"stacks/{STACK}/claims/{second}.yaml"
    rig.write(path, (rig.root / path).read_text().replace("namespace: default", "namespace: shop"))
    settle(rig)
    rig.ok(rig.up(STACK))
    before = rig.oid(first), rig.oid(second)
    ran = rig.ok(rig.claimsmith("shard", STACK, "--by", "namespace", "--yes"))
    parts = [f"{STACK}-default", f"{STACK}-shop"]
    for part in parts:
        copy = f"config cp claimsmith:providers --stack {STACK} --dest {part}"
        assert f"pulumi {copy}" in ran.err
        rig.ok(rig.pulumi(*copy.split()))
    for stack in (STACK, *parts):
        done = rig.ok(rig.up(stack))
        assert "created" not in done.out
        assert "deleted" not in done.out
    assert (rig.oid(first), rig.oid(second)) == before
    for part in parts:
        rig.destroy(part)
