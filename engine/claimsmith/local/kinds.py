"""Managed kinds and their objects, told apart by definition, namespace and name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith import crds
from claimsmith.local import api
from claimsmith.local.profiles import Profile, Profiles


@dataclass(frozen=True)
class Kind:
    """A managed kind, as its definition has it."""

    name: str
    resource: api.Resource
    profile: Profile
    schema: Mapping[str, Any]
    has_status: bool


@dataclass(frozen=True)
class Key:
    """One object: its definition's name, its namespace if any, its name."""

    crd: str
    namespace: str
    name: str


def kind_of(crd: api.Object, profiles: Profiles) -> Kind | None:
    """The kind of a definition in the version that it stores, if that is served; nothing before it is established."""
    spec = crd["spec"]
    if not crds.is_established(crd):
        return None
    served = [v for v in spec["versions"] if v["served"]]
    version = next((v for v in served if v["storage"]), served[0] if served else None)
    if version is None:
        return None
    group, names = spec["group"], spec["names"]
    return Kind(
        name=names["kind"],
        resource=api.Resource(group, version["name"], names["plural"], spec["scope"] == "Namespaced"),
        profile=profiles.of(group, names["kind"]),
        schema=version.get("schema", {}).get("openAPIV3Schema", {}),
        has_status="status" in version.get("subresources", {}),
    )


def key_of(crd: str, seen: api.Object) -> Key:
    """The key of an object."""
    return Key(crd, seen["metadata"].get("namespace", ""), seen["metadata"]["name"])
