"""Connection details: which Secrets of a claim's children feed the one Secret of the claim.

Only places are known here, never a value: the keys are read once the children exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.errors import ConnectionError_, Problem


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """A Secret that a child's controller writes."""

    child: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Connection:
    """The claim's Secret, and the Secrets whose keys it unites."""

    namespace: str
    name: str
    sources: tuple[SecretPlace, ...]


def secret_place(child: str, document: Mapping[str, Any]) -> SecretPlace | None:
    """Where the controller of a child writes its connection details, if anywhere."""
    reference = (document.get("spec") or {}).get("writeConnectionSecretToRef")
    if not isinstance(reference, dict):
        return None
    missing = [key for key in ("namespace", "name") if not isinstance(reference.get(key), str)]
    if missing:
        path = f"spec.writeConnectionSecretToRef.{missing[0]}"
        what = f"the child {child!r} does not say where its connection secret goes: no {missing[0]}"
        raise ConnectionError_(Problem(what, path=path, fix=f"give it a {missing[0]}"))
    return SecretPlace(child, str(document["kind"]), reference["namespace"], reference["name"])


def gather(name: str | None, namespace: str, places: Sequence[SecretPlace]) -> Connection | None:
    """The claim's Secret with its sources; none for a claim that asks for no Secret."""
    return Connection(namespace, name, tuple(places)) if name else None


def unite(parts: Sequence[tuple[SecretPlace, Mapping[str, str]]]) -> dict[str, str]:
    """The union of several Secrets' data; a key that two of them hold with different values is named."""
    united: dict[str, str] = {}
    origin: dict[str, SecretPlace] = {}
    for place, data in parts:
        for key, value in data.items():
            if united.setdefault(key, value) != value:
                what = f"the connection key {key!r} comes from both {origin[key].child} and {place.child}"
                raise ConnectionError_(Problem(what, fix="let one of them write no secret, or no such key"))
            origin.setdefault(key, place)
    return dict(sorted(united.items()))
