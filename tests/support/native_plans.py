"""Classes with native resources: a password, a role and a database of PostgreSQL, and their neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.project.project import Project
from tests.support.samples import claim_data, class_data, class_ref, patch, planned, write_files

PASSWORD = {"name": "password", "base": {"type": "random:RandomPassword", "properties": {"length": 24}}}
ROLE = {
    "name": "role",
    "base": {
        "type": "postgresql:Role",
        "properties": {"login": True, "password": "${password.result}"},
        "options": {"provider": "main"},
    },
    "patches": [patch("metadata.name", "properties.name")],
}
DATABASE = {
    "name": "database",
    "base": {
        "type": "postgresql:Database",
        "properties": {"ownerSelector": {"matchComposite": True, "type": "postgresql:Role", "output": "name"}},
        "options": {"provider": "main"},
    },
    "patches": [
        patch("metadata.name", "properties.name"),
        patch("spec.connections", "properties.connectionLimit"),
    ],
    "connectionDetails": [
        {"name": "database", "fromFieldPath": "outputs.name"},
        {"name": "username", "fromResource": "role", "fromFieldPath": "outputs.name"},
        {"name": "password", "fromResource": "password", "fromFieldPath": "outputs.result"},
        {"name": "host", "fromConfig": "postgresql:host"},
    ],
}
POSTGRESQL = [PASSWORD, ROLE, DATABASE]
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


def native(name: str, type_: str = "random:RandomPet", **base: Any) -> dict[str, Any]:
    """A native resource of a class."""
    return {"name": name, "base": {"type": type_, **base}}


def native_class(*resources: dict[str, Any], name: str = "native", **metadata: Any) -> dict[str, Any]:
    return class_data(name, *(resources or POSTGRESQL), **metadata)


def native_plan(*resources: dict[str, Any], name: str = "orders", metadata: Any = None, **spec: Any) -> Plan:
    """The plan of one claim of a class with these resources."""
    claim = claim_data(name, classRef=class_ref("native"), **spec)
    claim["metadata"] |= metadata or {}
    return planned([native_class(*resources)], [claim])


def native_claim(*resources: dict[str, Any], **options: Any) -> PlannedClaim:
    [claim] = native_plan(*resources, **options).claims
    return claim


def document_of(claim: PlannedClaim, template: str) -> dict[str, Any]:
    """The document of one child."""
    return next(c.document for c in claim.children if c.template.name == template)


def native_project(root: Path, *resources: dict[str, Any], claims: list[dict[str, Any]] | None = None) -> Project:
    """A project on disk whose claims are of a class with these resources."""
    listed = [claim_data("orders", classRef=class_ref("native"), connections=5)] if claims is None else claims
    files: dict[str, str | bytes] = {
        "components/native/class.yaml": yaml.safe_dump(native_class(*resources), sort_keys=False),
        "stacks/dev/claims/claims.yaml": yaml.safe_dump_all(listed, sort_keys=False),
    }
    return Project(write_files(root, files))
