"""The fields of a kind that a new class composes: from its CustomResourceDefinition, else by its group.

Providers name the same things differently: `providerRef` and `reclaimPolicy` at first, then `providerConfigRef` and
`deletionPolicy`, and in namespaced kinds `providerConfigRef` with a kind, and no policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base.names import GroupKind
from claimsmith.kubernetes.schema.lookup import properties_of
from claimsmith.kubernetes.scope import Scopes

Schema = Mapping[str, Any]
_BUILT_IN = Scopes({})
_DATA = ("ConfigMap", "Secret")
_NAMESPACED = (".m.upbound.io", ".m.crossplane.io")


@dataclass(frozen=True, slots=True)
class KindFields:
    """The top of an object: where the provider's fields are, and those that every managed resource of its age has."""

    provider: str = ""
    """The path of the provider's fields, below the object: `spec.forProvider`, `spec` or `data`."""
    required: tuple[str, ...] = ()
    """The provider's fields that must have a value, as far as a definition says so."""
    rest: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the spec with their usual values."""


_OLDER = {"providerRef": {"name": "example"}, "reclaimPolicy": "Delete"}
_CURRENT = {"providerConfigRef": {"name": "default"}, "deletionPolicy": "Delete"}
_MODERN = {"providerConfigRef": {"kind": "ClusterProviderConfig", "name": "default"}}


def fields_of(api_version: str, kind: str, schema: Schema | None) -> KindFields:
    """The fields of a kind; `schema` is that of its definition, where the platform has one."""
    group = GroupKind.of({"apiVersion": api_version, "kind": kind}).group
    spec = properties_of(schema).get("spec") if schema else None
    if spec:
        return _of_schema(spec)
    if _BUILT_IN.namespaced(GroupKind(group, kind)) is not None:
        return KindFields("data" if kind in _DATA else "spec")
    if group.endswith(_NAMESPACED):
        return KindFields("spec.forProvider", rest=_MODERN)
    if group.endswith(".upbound.io"):
        return KindFields("spec.forProvider", rest=_CURRENT)
    if group.endswith(".crossplane.io"):
        return KindFields("spec" if "alpha" in api_version else "spec.forProvider", rest=_OLDER)
    return KindFields("spec")


def _of_schema(spec: Schema) -> KindFields:
    known = properties_of(spec)
    inner = known.get("forProvider")
    return KindFields(
        "spec.forProvider" if inner else "spec",
        tuple((inner or spec).get("required") or ()),
        dict(_managed(known)),
    )


def _managed(known: Mapping[str, Schema]) -> Iterator[tuple[str, Any]]:
    """The fields of managed resources that a definition has."""
    if "providerConfigRef" in known:
        kinded = "kind" in properties_of(known["providerConfigRef"])
        yield "providerConfigRef", (_MODERN if kinded else _CURRENT)["providerConfigRef"]
    elif "providerRef" in known:
        yield "providerRef", _OLDER["providerRef"]
    yield from ((name, "Delete") for name in ("deletionPolicy", "reclaimPolicy") if name in known)
