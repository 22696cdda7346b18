"""Documents of a platform and of its users in the older formats, and projects on disk made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from claimsmith.compose.plan import Plan
from claimsmith.project.project import Project
from tests.support.samples import GROUP, write_files

Data = dict[str, Any]
API = "apiextensions.crossplane.io/v1alpha1"
REDIS_API = "cache.crossplane.io/v1alpha1"
MEMORYSTORE = "cache.gcp.crossplane.io/v1beta1"
SERVER: Data = {
    "apiVersion": "database.azure.crossplane.io/v1beta1",
    "kind": "MySQLServer",
    "spec": {
        "forProvider": {"resourceGroupNameSelector": {"matchControllerRef": True}},
        "writeConnectionSecretToRef": {"namespace": "crossplane-system"},
    },
}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "data": {}}


def project(
    root: Path, platform: Sequence[Data], claims: Sequence[Data] = (), resources: Sequence[Data] = ()
) -> Project:
    """A project on disk with one folder of platform files and one stack, `dev`."""
    files: dict[str, str | bytes] = {
        "components/x/class.yaml": yaml.safe_dump_all(platform, sort_keys=False),
        "stacks/dev/claims/claims.yaml": yaml.safe_dump_all(claims, sort_keys=False),
        "stacks/dev/resources/resources.yaml": yaml.safe_dump_all(resources, sort_keys=False),
    }
    return Project(write_files(root, files))


def plan_of(root: Path, platform: Sequence[Data], claims: Sequence[Data], resources: Sequence[Data] = ()) -> Plan:
    return project(root, platform, claims, resources).plan("dev", unrecorded_ok=True)


def redis_class(name: str, for_provider: Data | None = None, **metadata: Any) -> Data:
    spec = {"forProvider": {"tier": "BASIC", **(for_provider or {})}}
    return {
        "apiVersion": MEMORYSTORE,
        "kind": "CloudMemorystoreInstanceClass",
        "metadata": {"name": name, **metadata},
        "specTemplate": spec,
    }


def redis(name: str = "cache", **spec: Any) -> Data:
    return {
        "apiVersion": REDIS_API,
        "kind": "RedisCluster",
        "metadata": {"namespace": "team", "name": name},
        "spec": spec,
    }


def definition(kind: str, *, group: str = "acme.example.org", word: str = "Infrastructure", **more: Any) -> Data:
    lower = kind.lower()
    names = {"kind": kind, "listKind": f"{kind}List", "plural": f"{lower}s", "singular": lower}
    schema = {
        "type": "object",
        "properties": {"size": {"type": "int", "default": 5}, "region": {"type": "string"}},
    }
    template = {"group": group, "version": "v1alpha1", "names": names, "validation": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": API,
        "kind": f"{word}Definition",
        "metadata": {"name": f"{lower}s.{group}"},
        "spec": {"crdSpecTemplate": template, **more},
    }


def composition(name: str, kind: str, *to: Data, group: str = "acme.example.org", **labels: str) -> Data:
    return {
        "apiVersion": API,
        "kind": "Composition",
        "metadata": {"name": name, "labels": labels},
        "spec": {"from": {"apiVersion": f"{group}/v1alpha1", "kind": kind}, "to": list(to)},
    }


def publication(plural: str) -> Data:
    return {
        "apiVersion": API,
        "kind": "InfrastructurePublication",
        "metadata": {"name": plural},
        "spec": {"infrastructureDefinitionReference": {"name": plural}},
    }


def instance(kind: str, *, group: str = "acme.example.org", namespace: str = "", **spec: Any) -> Data:
    place = {"namespace": namespace} if namespace else {}
    metadata = {"name": "one", **place}
    return {"apiVersion": f"{group}/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def named(name: str) -> Data:
    return {"apiVersion": API, "kind": "Composition", "name": name}


DETAIL = {"fromConnectionSecretKey": "password"}


def published() -> list[Data]:
    """A published kind with two compositions, one of which has siblings to select."""
    delivered = {"connectionDetails": [DETAIL]}
    alone = {**SERVER, "spec": {**SERVER["spec"], "forProvider": {}}}
    grow = {"fromFieldPath": "spec.size", "toFieldPath": "spec.forProvider.storageMB"}
    return [
        definition("Place", connectionDetails=["password"]),
        publication("places.acme.example.org"),
        composition("a", "Place", {"base": GROUP}, {"base": SERVER, "patches": [grow], **delivered}, tier="a"),
        composition("b", "Place", {"base": alone, "patches": [grow], **delivered}, tier="b"),
    ]


def requirement(size: int = 7, **infrastructure: Any) -> Data:
    wish = {"writeConnectionSecretToRef": {"name": "mine"}, **infrastructure}
    return instance("PlaceRequirement", namespace="team", size=size, infrastructure=wish)
