"""Connection details: which Secrets of a claim's children feed the one Secret of the claim.

Only places are known here, never a value: the keys are read once the children exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.errors import ConnectionError_, Problem

PREFIX = "aggregation.crossplane.io/connection-secret-prefix"


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """A Secret that a child's controller, or a composite, writes; and which of its keys count under which names."""

    child: str
    kind: str
    namespace: str
    name: str
    keys: tuple[tuple[str, str], ...] | None = None
    """(name, key) of each detail; None for every key under its own name."""
    prefix: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def taken(self, data: Mapping[str, str]) -> dict[str, str]:
        """What of the Secret's data counts, under its names; a detail whose key is not there is named."""
        if self.keys is None:
            return {f"{self.prefix}{key}": value for key, value in data.items()}
        for name, key in self.keys:
            if key not in data:
                what = f"the Secret {self} of {self.child!r} ({self.kind}) has no key {key!r} for the detail {name!r}"
                raise ConnectionError_(Problem(what, fix=f"its keys are: {', '.join(sorted(data)) or 'none'}"))
        return {f"{self.prefix}{name}": data[key] for name, key in self.keys}


@dataclass(frozen=True, slots=True)
class Connection:
    """A Secret of ours, and the Secrets whose keys it unites."""

    namespace: str
    name: str
    sources: tuple[SecretPlace, ...]


def secret_place(
    child: str, document: Mapping[str, Any], details: Iterable[tuple[str, str]] | None = None
) -> SecretPlace | None:
    """Where the connection details of a child go, if anywhere."""
    spec = document.get("spec") or {}
    reference = spec.get("writeConnectionSecretToRef") if isinstance(spec, dict) else None
    if not isinstance(reference, dict):
        return None
    missing = [key for key in ("namespace", "name") if not isinstance(reference.get(key), str)]
    if missing:
        path = f"spec.writeConnectionSecretToRef.{missing[0]}"
        what = f"the child {child!r} does not say where its connection secret goes: no {missing[0]}"
        raise ConnectionError_(Problem(what, path=path, fix=f"give it a {missing[0]}"))
    prefix = ((document.get("metadata") or {}).get("annotations") or {}).get(PREFIX, "")
    keys = None if details is None else tuple(details)
    return SecretPlace(child, str(document["kind"]), reference["namespace"], reference["name"], keys, prefix)


def unite(parts: Sequence[tuple[SecretPlace, Mapping[str, str]]]) -> dict[str, str]:
    """The union of several Secrets' data; a key that two of them hold is named."""
    united: dict[str, str] = {}
    origin: dict[str, SecretPlace] = {}
    for place, data in parts:
        for key, value in place.taken(data).items():
            if key in united:
                what = f"the connection key {key!r} comes from both {origin[key].child} and {place.child}"
                fix = f"let one of them write no such key, or annotate one with {PREFIX}"
                raise ConnectionError_(Problem(what, fix=fix))
            united[key], origin[key] = value, place
    return dict(sorted(united.items()))
