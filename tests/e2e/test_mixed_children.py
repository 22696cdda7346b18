"""A class with children of both sorts, in one run: a real PostgreSQL server and a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube.resources.core_v1 import ConfigMap, Secret

from claimsmith import lab
from claimsmith.lab import install_crds, postgresql
from claimsmith.project.project import crds_needed
from tests.e2e.databases import STACK, DatabaseRig, database_class
from tests.e2e.rig import RESOURCE_GROUP

pytestmark = pytest.mark.e2e


def mixed_class(namespace: str) -> dict[str, Any]:
    """The class of databases, whose outputs feed Kubernetes objects, one of which feeds a native resource."""
    klass = database_class()
    klass["spec"]["resources"] += [
        {
            "name": "group",
            "base": {
                "apiVersion": "azure.crossplane.io/v1alpha3",
                "kind": "ResourceGroup",
                "spec": {"location": "West US"},
            },
        },
        {
            "name": "pet",
            "base": {"type": "random:RandomPet", "properties": {"prefix": "${group.status.atProvider.id}"}},
        },
        {
            "name": "secret",
            "base": {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"namespace": namespace},
                "stringData": {"password": "${password.result}", "user": "${role.name}"},
            },
        },
        {
            "name": "config",
            "base": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"namespace": namespace},
                "data": {"database": "name=${database.name}", "pet": "${pet.id}"},
            },
        },
    ]
    return klass


@pytest.fixture
def mixed(
    control_plane: lab.Status, postgresql_server: postgresql.Server, tmp_path: Path
) -> Iterator[tuple[DatabaseRig, str]]:
    """A claim of that class, deployed."""
    rig = DatabaseRig(tmp_path / "project", Path(control_plane.kubeconfig), "pmixed", server=postgresql_server)
    name = rig.named()
    rig.namespace(rig.name)
    rig.write("components/mixed/class.yaml", mixed_class(rig.name))
    rig.claim(name)
    rig.prepare()
    install_crds(Path(control_plane.kubeconfig), crds_needed(rig.root))
    rig.ok(rig.pulumi("config", "set", "--stack", STACK, "claimsmith:kubeconfig", str(control_plane.kubeconfig)))
    rig.ok(rig.up(STACK))
    yield rig, name
    rig.destroy(STACK)
    rig.drop()
    rig.close()


def test_values_pass_between_both_sorts_in_one_run(mixed: tuple[DatabaseRig, str]) -> None:
    rig, name = mixed
    rig.ok(rig.login(name, "SELECT 1"))
    (group,) = rig.live(RESOURCE_GROUP, claim=name)
    (config,) = [c for c in rig.client.list(ConfigMap, namespace=rig.name) if c.metadata.name.startswith("default-")]
    assert config.data["database"] == f"name={name}"
    assert config.data["pet"].startswith(f"{group['status']['atProvider']['id']}-")
    (found,) = [s for s in rig.client.list(Secret, namespace=rig.name) if "user" in (s.data or {})]
    secret = rig.secret_values(rig.name, found.metadata.name)
    assert secret["user"] == name
    assert secret["password"] in rig.connection(name)
    assert rig.steps(STACK) == {}
    # In the state, neither the password nor what was derived from it stands in plain text.
    assert secret["password"] not in "".join(rig.said)
    state = (rig.root / ".claimsmith" / "state").rglob("*.json")
    assert [path.name for path in state if secret["password"] in path.read_text(errors="replace")] == []
