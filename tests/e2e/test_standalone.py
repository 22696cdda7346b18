"""Generated components in a Pulumi program that is no project of claimsmith's, on the real engine and API server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from claimsmith.lab import install_crds
from claimsmith.project.project import crds_needed
from tests.e2e.rig import SERVER, Ran, Rig
from tests.support.paths import ROOT

pytestmark = pytest.mark.e2e

SUBNET = ("network.azure.crossplane.io", "v1alpha3", "Subnet")
MEMORYSTORE = ("cache.gcp.crossplane.io", "v1alpha2", "CloudMemorystoreInstance")
POSTGRES = ("database.azure.crossplane.io", "v1beta1", "PostgreSQLServer")
CLOUD_SQL = ("database.gcp.crossplane.io", "v1beta1", "CloudSQLInstance")
FOLDERS = ("redis", "private-mysql-server", "private-mysql-aggregate", "mysql-database", "postgres")
HEAD = "import pulumi\n\nfrom claimsmith.deploy import Context\n\n"


def program(rig: Rig, *lines: str) -> None:
    """A program of one's own, with components of the example platform beside it as modules."""
    state = {"url": f"file://{rig.root / '.claimsmith' / 'state'}"}
    rig.write("Pulumi.yaml", {"name": rig.name, "runtime": "python", "stackConfigDir": "stacks", "backend": state})
    (rig.root / "stacks" / "__main__.py").unlink(missing_ok=True)
    for folder in FOLDERS:
        module = rig.root / f"{folder.replace('-', '_')}.py"
        shutil.copy(ROOT / "components" / folder / "component.py", module)
    imports = "".join(f"import {folder.replace('-', '_')}\n" for folder in FOLDERS)
    rig.write("__main__.py", imports + HEAD + "\n".join(lines) + "\n")


def run(rig: Rig, *words: str) -> Ran:
    """A command of the engine's, with the cluster that kubectl would use."""
    return rig.pulumi(*words, "--stack", "dev", env={"KUBECONFIG": str(rig.kubeconfig)})


def up(rig: Rig) -> Ran:
    return run(rig, "up", "--yes", "--skip-preview")


def claim(rig: Rig, name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": rig.name}, "spec": spec}


def secret(name: str) -> dict[str, dict[str, str]]:
    return {"writeConnectionSecretToRef": {"name": name}}


@pytest.fixture
def subnet(mine: Rig) -> Iterator[str]:
    """The subnet that the aggregate's members are reached from, which somebody else created."""
    name = "private"
    mine.create(SUBNET, {"metadata": {"name": name}, "spec": {"properties": {"addressPrefix": "10.2.0.0/24"}}})
    yield name
    mine.delete(SUBNET, name)


@pytest.fixture
def mine(rig: Rig) -> Rig:
    rig.namespace(rig.name)
    install_crds(rig.kubeconfig, crds_needed(ROOT))
    program(rig)
    rig.write("stacks/Pulumi.dev.yaml", {"config": {"kubernetes:enableSecretMutable": "true"}})
    rig.ok(rig.pulumi("stack", "init", "dev"))
    return rig


@pytest.mark.usefixtures("subnet")
def test_a_component_of_each_dialect(mine: Rig) -> None:
    rig = mine
    private = claim(rig, "sql", region="us-east", storageGB=20, **secret("sql"))
    chosen = {"compositionRef": {"name": "mysql-on-gcp"}, **secret("required")}
    azure = {"kind": "EnvironmentConfig", "metadata": {"name": "azure"}, "data": {"location": "West Europe"}}
    program(
        rig,
        f"redis.GCPDevCloudMemorystoreInstance('cache', {claim(rig, 'cache')!r})",
        f"sql = private_mysql_server.PrivateMySQLServer('sql', {private!r})",
        f"private_mysql_aggregate.PrivateMySQLAggregate('aggregate', {claim(rig, 'aggregate', engineVersion='5.7')!r})",
        f"required = {claim(rig, 'required', region='us-west', storageGB=30, infrastructure=chosen)!r}",
        "mysql_database.MySQLDatabaseRequirement('required', required)",
        f"ledger = {claim(rig, 'ledger', size='large', **secret('ledger'))!r}",
        f"postgres.PostgresClaim('ledger', ledger, context=Context(environments=[{azure!r}]))",
        "pulumi.export('keys', sql.connection_keys)",
    )
    rig.ok(run(rig, "preview"))
    rig.ok(up(rig))

    server = rig.one(SERVER, claim="sql", namespace=rig.name)
    assert server["spec"]["forProvider"]["location"] == "East US"
    assert {"endpoint", "password", "username"} <= set(rig.secret_values(rig.name, "sql"))
    assert {"endpoint", "password", "username"} <= set(rig.secret_values(rig.name, "required"))
    assert sorted(rig.secret_values(rig.name, "ledger")) == ["host", "password", "username"]
    for kind in (MEMORYSTORE, POSTGRES, CLOUD_SQL):
        assert any(rig.name in str(o["metadata"]) for o in rig.live(kind)), kind

    rig.ok(run(rig, "preview", "--expect-no-changes"))
    values = rig.secret_values(rig.name, "sql")
    state = rig.ok(run(rig, "stack", "export")).out
    assert all(values["password"] not in text for text in [state, *rig.printed])
    rig.ok(run(rig, "destroy", "--yes", "--skip-preview"))
    assert rig.live(SERVER, claim="sql", namespace=rig.name) == []


def test_what_it_cannot_do_is_refused_in_one_sentence(mine: Rig) -> None:
    rig = mine
    program(rig, f"postgres.PostgresClaim('ledger', {claim(rig, 'ledger', size='large')!r})")
    ran = run(rig, "preview")
    assert ran.code != 0
    assert "there is no EnvironmentConfig 'azure'" in ran.text
    assert "context=Context(environments=[…])" in ran.text
    assert "Traceback" not in ran.text
