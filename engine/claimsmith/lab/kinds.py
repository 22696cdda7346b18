"""Managed kinds, what the simulated cloud does to the objects of each (`data/simulated-cloud.yaml`), and their keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import yaml

from claimsmith.kubernetes import crds
from claimsmith.kubernetes.client import Object, Resource


@dataclass(frozen=True, slots=True)
class Profile:
    """What the controller of one kind does; the file describes each field."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    rewrites: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    assigned: str = ""
    connection: str = "endpoint"
    port: int = 443
    endpoint: str = "{name}.simulated-cloud.invalid"
    atProvider: Mapping[str, Any] = field(default_factory=dict)
    observed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profiles:
    """The profiles of all kinds, and where their references may point to."""

    kinds: Mapping[str, Profile]
    references: Mapping[str, tuple[str, ...]]

    def of(self, group: str, kind: str) -> Profile:
        """The profile of a kind: its own, in its group's first."""
        keys = (*(f"{kind}.{part}" for part in group.split(".")), kind)
        return next((self.kinds[key] for key in keys if key in self.kinds), Profile())

    def targets(self, name: str) -> tuple[str, ...]:
        """The kinds that a reference field may point to; none where the file has none."""
        return self.references.get(name) or self.references.get(f"{name}s") or ()


def load_profiles() -> Profiles:
    """The profiles that come with the package."""
    data = yaml.safe_load(resources.files("claimsmith").joinpath("data", "simulated-cloud.yaml").read_text())
    return Profiles(
        kinds={key: Profile(**profile) for key, profile in data["kinds"].items()},
        references={name: tuple(kinds) for name, kinds in data["references"].items()},
    )


@dataclass(frozen=True)
class Kind:
    """A managed kind, as its definition describes it."""

    name: str
    resource: Resource
    profile: Profile
    schema: Mapping[str, Any]
    has_status: bool


@dataclass(frozen=True)
class Key:
    """One object: its definition's name, its namespace if any, its name."""

    crd: str
    namespace: str
    name: str


def kind_of(crd: Object, profiles: Profiles) -> Kind | None:
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
        resource=Resource(f"{group}/{version['name']}", names["plural"]),
        profile=profiles.of(group, names["kind"]),
        schema=version.get("schema", {}).get("openAPIV3Schema", {}),
        has_status="status" in version.get("subresources", {}),
    )


def key_of(crd: str, seen: Object) -> Key:
    """The key of an object."""
    return Key(crd, seen["metadata"].get("namespace", ""), seen["metadata"]["name"])
