"""Connection details: which Secrets of a claim's children feed the one Secret of the claim.

Only places are known here, never a value: the keys are read once the children exist.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base.errors import ConnectionError_, Problem
from claimsmith.base.labels import OWNER, SECRET_TYPE
from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.common.klass import Detail
from claimsmith.patching import details

PREFIX = "aggregation.crossplane.io/connection-secret-prefix"


@dataclass(frozen=True, slots=True)
class SecretSource:
    """A Secret that a child's controller, or a composite, writes; and which of its keys count under which names."""

    child: str
    kind: str
    namespace: str
    name: str
    keys: tuple[tuple[str, str], ...] | None = None
    """(name, key) of each detail; None for every key under its own name."""
    prefix: str = ""
    own: tuple[Detail, ...] = ()
    """The details without a Secret: fields of the child, and fixed texts."""
    composed: bool = False
    """Whether it is the Secret of a nested Crossplane composite, which leaves out what its children lack."""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.name else f"no Secret, but fields of {self.child}"

    @property
    def key_names(self) -> list[str]:
        """The keys that it is sure to deliver."""
        return [*(name for name, _ in self.keys or ()), *(d.name for d in self.own)]

    @property
    def reads_secret(self) -> bool:
        """Whether there is a Secret to be read."""
        return bool(self.name) and self.keys != ()

    def taken(self, data: Mapping[str, str], live: Mapping[str, Any] | None = None) -> dict[str, str]:
        """What of the Secret's data, and of the live child, counts under which name.

        A key that the Secret of a child lacks is named; a field that the child lacks is left out, as in Crossplane.
        """
        if self.own:
            found, _ = details.extract(self.own, live or {}, {})
            own = {f"{self.prefix}{name}": base64.b64encode(value).decode() for name, value in found.items()}
            return {**replace(self, own=()).taken(data), **own}
        if self.keys is None:
            return {f"{self.prefix}{key}": value for key, value in data.items()}
        if self.composed:
            return {f"{self.prefix}{name}": data[key] for name, key in self.keys if key in data}
        for name, key in self.keys:
            if key not in data:
                what = f"the Secret {self} of {self.child!r} ({self.kind}) has no key {key!r} for the detail {name!r}"
                raise ConnectionError_(Problem(what, fix=f"its keys are: {', '.join(sorted(data)) or 'none'}"))
        return {f"{self.prefix}{name}": data[key] for name, key in self.keys}

    def missing(self, data: Mapping[str, str], live: Mapping[str, Any] | None = None) -> dict[str, Problem]:
        """What `taken` leaves out, by the name that it would have, and why."""
        _, absent = details.extract(self.own, live or {}, {})
        paths = {d.name: d.field_path for d in self.own}
        fields = {f"{self.prefix}{name}": f"{self.child!r} ({self.kind}) has no {paths[name]}" for name in absent}
        keys = {} if not self.composed else {n: k for n, k in self.keys or () if k not in data}
        inner = {f"{self.prefix}{n}": f"{self.child!r} ({self.kind}) has no detail {k!r}" for n, k in keys.items()}
        fix = "let its controller write it: the next up takes it; or remove the detail"
        return {n: Problem(f"{w} for the detail {n!r}", fix=fix) for n, w in {**fields, **inner}.items()}


@dataclass(frozen=True, slots=True)
class Connection:
    """A Secret of ours, and the Secrets whose keys it unites."""

    namespace: str
    name: str
    sources: tuple[SecretSource, ...]
    only: tuple[str, ...] = ()
    """The keys that it takes of all that its sources offer; empty means all."""


def written_secret(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """Namespace and name of the Secret that a child's controller writes, as far as the child names it."""
    metadata, spec = document.get("metadata") or {}, document.get("spec")
    reference = spec.get("writeConnectionSecretToRef") if isinstance(spec, dict) else None
    if not isinstance(reference, dict):
        return None
    namespace, name = reference.get("namespace") or metadata.get("namespace"), reference.get("name")
    return (namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None


def secret_source(
    child: str, document: Mapping[str, Any], wanted: Sequence[Detail] | None = None
) -> SecretSource | None:
    """Where the connection details of a child are found, if anywhere."""
    keys = None if wanted is None else tuple((d.name, d.key) for d in wanted if d.key)
    own = tuple(d for d in wanted or () if not d.key)
    spec = document.get("spec") or {}
    reference = spec.get("writeConnectionSecretToRef") if isinstance(spec, dict) else None
    if not own and not isinstance(reference, dict):
        return None
    kind = GroupKind.of(document).kind
    if not isinstance(reference, dict) or (own and not keys):
        return SecretSource(child, kind, "", "", (), own=own) if own else None
    metadata = document.get("metadata") or {}
    if isinstance(metadata.get("namespace"), str):
        reference = {"namespace": metadata["namespace"], **reference}
    missing = [key for key in ("namespace", "name") if not isinstance(reference.get(key), str)]
    if missing:
        path = f"spec.writeConnectionSecretToRef.{missing[0]}"
        what = f"the child {child!r} has no place for its connection secret: no {missing[0]}"
        raise ConnectionError_(Problem(what, path=path, fix=f"give it a {missing[0]}"))
    prefix = (metadata.get("annotations") or {}).get(PREFIX, "")
    return SecretSource(child, kind, reference["namespace"], reference["name"], keys, prefix, own)


def composite_source(
    child: str, kind: str, secret: tuple[str, str] | None, wanted: Sequence[Detail] | None, *, composed: bool
) -> SecretSource | None:
    """Where the connection details of a nested composite are found, if anywhere; `secret` is the one that it has."""
    keys = None if wanted is None else tuple((d.name, d.key) for d in wanted if d.key)
    own = tuple(d for d in wanted or () if not d.key)
    if secret and keys != ():
        return SecretSource(child, kind, *secret, keys, own=own, composed=composed)
    return SecretSource(child, kind, "", "", (), own=own, composed=composed) if own else None


def unite(
    parts: Sequence[tuple[SecretSource, Mapping[str, str]]],
    live: Sequence[Mapping[str, Any] | None] = (),
    *,
    only: Sequence[str] = (),
    later_wins: bool = False,
) -> dict[str, str]:
    """The union of several Secrets' data, and of fields of the live children.

    A key that two of them hold is named, unless the later wins. Of `only` some keys nothing else is taken.
    """
    united: dict[str, str] = {}
    origin: dict[str, SecretSource] = {}
    for (place, data), document in itertools.zip_longest(parts, live[: len(parts)]):
        for key, value in place.taken(data, document).items():
            if only and key not in only:
                continue
            if key in united and not later_wins:
                what = f"the connection key {key!r} comes from both {origin[key].child} and {place.child}"
                fix = f"let one of them write no such key, or annotate one with {PREFIX}"
                raise ConnectionError_(Problem(what, fix=fix))
            united[key], origin[key] = value, place
    return dict(sorted(united.items()))


def left_out(
    parts: Sequence[tuple[SecretSource, Mapping[str, str]]],
    live: Sequence[Mapping[str, Any] | None] = (),
    *,
    only: Sequence[str] = (),
) -> dict[str, Problem]:
    """The details that `unite` leaves out since nobody offers them, by name, and why."""
    found: dict[str, Problem] = {}
    offered: set[str] = set()
    for (place, data), document in itertools.zip_longest(parts, live[: len(parts)]):
        found |= place.missing(data, document)
        offered |= place.taken(data, document).keys()
    return {name: p for name, p in found.items() if name not in offered and (not only or name in only)}


def connections_of(
    identity: Identity, secret: tuple[str, str] | None, places: Sequence[SecretSource], only: Sequence[str] = ()
) -> list[Connection]:
    """The Secrets of a claim: its composite's own, where that has one, and the one that it asks for.

    An aggregate's own Secret is named after the aggregate; the claim's is a copy of it.
    """
    own = []
    if secret and identity.namespaced and secret[0] != identity.namespace:
        what = f"its connection Secret would be in {secret[0]!r}, and it is in {identity.namespace!r} itself"
        path = "spec.writeConnectionSecretToRef.namespace"
        raise ConnectionError_(Problem(what, path=path, fix="let the composition name no other namespace"))
    if identity.secret_namespace and identity.dialect.own_secret:
        own.append(Connection(identity.secret_namespace, identity.composite_name, tuple(places), tuple(only)))
    return [*own, *([Connection(*secret, tuple(places), tuple(only))] if secret else [])]


def secret_document(identity: Identity, secret: Connection) -> dict[str, Any]:
    """A Secret of ours without its data."""
    metadata = {
        "name": secret.name,
        "namespace": secret.namespace,
        "labels": identity.labels(),
        "annotations": {OWNER: identity.owner},
    }
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": SECRET_TYPE}
