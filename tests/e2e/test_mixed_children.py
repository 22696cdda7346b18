"""Classes with children of both sorts, in one run: a real PostgreSQL server and a real API server."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lightkube.resources.core_v1 import ConfigMap, Secret

from claimsmith import lab
from claimsmith.base.labels import OWNER
from claimsmith.lab import install_crds, postgresql
from claimsmith.project.project import crds_needed
from tests.e2e.databases import GROUP, KIND, STACK, DatabaseRig, psql
from tests.e2e.rig import RESOURCE_GROUP

pytestmark = pytest.mark.e2e


DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "xdatabases.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "XDatabase", "plural": "xdatabases"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "referenceable": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"database": {"type": "string"}}},
                            "status": {"type": "object", "properties": {"group": {"type": "string"}}},
                        },
                    }
                },
            }
        ],
    },
}


def from_composite(source: str, target: str) -> dict[str, str]:
    return {"type": "FromCompositeFieldPath", "fromFieldPath": source, "toFieldPath": target}


def composition(namespace: str) -> dict[str, Any]:
    """Native outputs feed a Secret and a ConfigMap, and the status of a Kubernetes object feeds a native property."""
    resources = [
        {"name": "password", "base": {"type": "random:RandomPassword", "properties": {"length": 24, "special": False}}},
        {
            "name": "role",
            "base": {"type": "postgresql:Role", "properties": {"login": True, "password": "${password.result}"}},
            "patches": [from_composite("spec.database", "properties.name")],
        },
        {
            "name": "database",
            "base": {"type": "postgresql:Database", "properties": {"owner": "${role.name}"}},
            "patches": [from_composite("spec.database", "properties.name")],
        },
        {
            "name": "group",
            "base": {
                "apiVersion": "azure.crossplane.io/v1alpha3",
                "kind": "ResourceGroup",
                "spec": {"location": "West US"},
            },
            "patches": [
                {
                    "type": "ToCompositeFieldPath",
                    "fromFieldPath": "status.atProvider.provisioningState",
                    "toFieldPath": "status.group",
                }
            ],
        },
        {
            "name": "pet",
            "base": {"type": "random:RandomPet", "properties": {"length": 1}},
            "patches": [from_composite("status.group", "properties.prefix")],
        },
        {
            "name": "secret",
            "base": {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"namespace": namespace},
                "stringData": {"password": "${password.result}", "user": "${role.name}"},
            },
            "readinessChecks": [{"type": "None"}],
        },
        {
            "name": "config",
            "base": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"namespace": namespace},
                "data": {"database": "name=${database.name}", "pet": "${pet.id}"},
            },
            "readinessChecks": [{"type": "None"}],
        },
    ]
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "xdatabases.mixed"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XDatabase"},
            "mode": "Pipeline",
            "pipeline": [
                {
                    "step": "resources",
                    "functionRef": {"name": "function-patch-and-transform"},
                    "input": {
                        "apiVersion": "pt.fn.crossplane.io/v1beta1",
                        "kind": "Resources",
                        "resources": resources,
                    },
                }
            ],
        },
    }


def composite_class() -> dict[str, Any]:
    """The same as a composite class. Its ConfigMap and its Secret are in the provider's default namespace."""
    named = [{"fromClaimFieldPath": "metadata.name", "toResourceFieldPath": "properties.name"}]
    group = {"apiVersion": "azure.crossplane.io/v1alpha3", "kind": "ResourceGroup", "spec": {"location": "West US"}}
    secret = {"password": "${password.result}", "user": "${role.name}"}
    data = {"database": "name=${database.name}", "pet": "${pet.id}"}
    bases: dict[str, dict[str, Any]] = {
        "password": {"type": "random:RandomPassword", "properties": {"length": 24, "special": False}},
        "role": {"type": "postgresql:Role", "properties": {"login": True, "password": "${password.result}"}},
        "database": {"type": "postgresql:Database", "properties": {"owner": "${role.name}"}},
        "group": group,
        "pet": {
            "type": "random:RandomPet",
            "properties": {"length": 1, "prefix": "${group.status.atProvider.provisioningState}"},
        },
        "secret": {"apiVersion": "v1", "kind": "Secret", "stringData": secret},
        "config": {"apiVersion": "v1", "kind": "ConfigMap", "data": data},
    }
    patched = ("role", "database")
    resources = [{"name": n, "base": b, **({"patches": named} if n in patched else {})} for n, b in bases.items()]
    return {
        "apiVersion": "infrastructure.crossplane.io/v1alpha1",
        "kind": "CompositeResourceClass",
        "metadata": {"name": "mixed"},
        "spec": {"claim": {"apiVersion": f"{GROUP}/v1alpha1", "kind": KIND}, "resources": resources},
    }


@dataclass(frozen=True, slots=True)
class Mixed:
    """A claim of one of them, deployed."""

    rig: DatabaseRig
    database: str
    namespace: str
    """Where its ConfigMap and its Secret are."""


def of_a_composition(rig: DatabaseRig, name: str) -> str:
    rig.namespace(rig.name)
    rig.write("components/mixed/definition.yaml", [DEFINITION, composition(rig.name)])
    composite = {"metadata": {"name": "mixed"}, "spec": {"database": name}}
    rig.write(f"stacks/{STACK}/claims/mixed.yaml", {"apiVersion": "example.org/v1", "kind": "XDatabase", **composite})
    return rig.name


def of_a_composite_class(rig: DatabaseRig, name: str) -> str:
    rig.write("components/mixed/class.yaml", composite_class())
    rig.claim(name, klass="mixed")
    return "default"


@pytest.fixture(params=[of_a_composition, of_a_composite_class], ids=["composition", "composite-class"])
def mixed(
    request: pytest.FixtureRequest, control_plane: lab.Status, postgresql_server: postgresql.Server, tmp_path: Path
) -> Iterator[Mixed]:
    rig = DatabaseRig(tmp_path / "project", Path(control_plane.kubeconfig), "pmixed", server=postgresql_server)
    name = rig.named()
    namespace = request.param(rig, name)
    rig.prepare()
    install_crds(Path(control_plane.kubeconfig), crds_needed(rig.root))
    rig.ok(rig.pulumi("config", "set", "--stack", STACK, "claimsmith:kubeconfig", str(control_plane.kubeconfig)))
    rig.ok(rig.up(STACK))
    yield Mixed(rig, name, namespace)
    rig.destroy(STACK)
    rig.drop()
    rig.close()


def owner(live: dict[str, Any]) -> str:
    return str((live["metadata"].get("annotations") or {}).get(OWNER, ""))


def test_values_pass_between_both_sorts_in_one_run(mixed: Mixed) -> None:
    rig, name = mixed.rig, mixed.database
    (group,) = [found for found in rig.live(RESOURCE_GROUP) if owner(found).startswith(f"{rig.name}/")]
    configs = rig.client.list(ConfigMap, namespace=mixed.namespace)
    (config,) = [c for c in configs if (c.data or {}).get("database") == f"name={name}"]
    assert config.data["pet"].startswith(f"{group['status']['atProvider']['provisioningState']}-")
    user = base64.b64encode(name.encode()).decode()
    secrets = rig.client.list(Secret, namespace=mixed.namespace)
    (found,) = [s for s in secrets if (s.data or {}).get("user") == user]
    secret = rig.secret_values(mixed.namespace, found.metadata.name)
    assert rig.server
    address = f"postgresql://{name}@{rig.server.host}:{rig.server.port}/{name}"
    assert rig.ok(psql(address, "SELECT current_user", password=secret["password"])).out == f"{name}\n"
    assert rig.steps(STACK) == {}
    # In the state, neither the password nor what was derived from it stands in plain text.
    assert secret["password"] not in "".join(rig.printed)
    state = (rig.root / ".claimsmith" / "state").rglob("*.json")
    assert [path.name for path in state if secret["password"] in path.read_text(errors="replace")] == []
