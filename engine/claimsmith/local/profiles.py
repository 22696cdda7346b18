"""What the simulated cloud does to the objects of each kind, as data (`data/simulated-cloud.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Profile:
    """The ways of one kind's controller; the file says what each word means."""

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
    """Those of all kinds, and where their references may point to."""

    kinds: Mapping[str, Profile]
    references: Mapping[str, tuple[str, ...]]

    def of(self, group: str, kind: str) -> Profile:
        """The profile of a kind: its own, in its group's first."""
        keys = (*(f"{kind}.{part}" for part in group.split(".")), kind)
        return next((self.kinds[key] for key in keys if key in self.kinds), Profile())

    def targets(self, name: str) -> tuple[str, ...]:
        """The kinds that a reference field may point to; none where that is not known."""
        return self.references.get(name) or self.references.get(f"{name}s") or ()


def load() -> Profiles:
    """The profiles that come with the package."""
    told = yaml.safe_load(resources.files("claimsmith").joinpath("data", "simulated-cloud.yaml").read_text())
    return Profiles(
        kinds={key: Profile(**profile) for key, profile in told["kinds"].items()},
        references={name: tuple(kinds) for name, kinds in told["references"].items()},
    )
