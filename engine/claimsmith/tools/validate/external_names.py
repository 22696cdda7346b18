"""External and physical names: two things of one kind must not get the same in the cloud."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem, Source
from claimsmith.base.labels import EXTERNAL_NAME, EXTERNAL_NAME_SUFFIX
from claimsmith.base.values import is_later, known, object_at, value_at
from claimsmith.compose.expand import Child
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.dialects.common.klass import Side
from claimsmith.dialects.common.native import OPTIONS, PROPERTIES
from claimsmith.providers.tokens import is_native

_PARENTS = (
    *("account", "bucket", "cluster", "database", "instance", "namespace", "parent", "project", "resourceGroup"),
    *("schema", "server", "topic", "vpc", "workspace", "zone"),
)
_SCOPES = ("location", "region", *(f"{word}{ending}" for word in _PARENTS for ending in ("", "Id", "Name")))
"""The properties that say where a name is unique: a schema `app` may be in every database."""


def same_external_names(plan: Plan) -> Iterator[Problem]:
    """One warning for each kind of which a claim's external name reaches several children unchanged."""
    for claim in plan.walk():
        if claim.identity.external_name and claim.identity.dialect.passes_external_name:
            yield from _shared(claim)


def _shared(claim: PlannedClaim) -> Iterator[Problem]:
    named: dict[tuple[str, str], list[Child]] = {}
    for child in claim.children:
        name = (child.document["metadata"].get("annotations") or {}).get(EXTERNAL_NAME)
        if isinstance(name, str):
            named.setdefault((str(child.template.group_kind), name), []).append(child)
    for (kind, name), children in named.items():
        if len(children) > 1:
            listed = ", ".join(c.template.name for c in children)
            what = f"{claim.address}: {listed}, all of {kind}, get the one external name {name!r}"
            path = ("metadata", "annotations", EXTERNAL_NAME)
            where = claim.binding.claim.document.source_of(path)
            fix = f"annotate their bases in {claim.binding.klass.key} with {EXTERNAL_NAME_SUFFIX}, each with its own"
            yield Problem(what, where, f"metadata.annotations[{EXTERNAL_NAME}]", fix)


def same_physical_names(plan: Plan, name_of: Callable[[str], str]) -> Iterator[Problem]:
    """One warning for each native resource with the physical name of another: same type, provider and parent.

    `name_of` is the property of a type that is its physical name; empty where that is unknown.
    """
    first: dict[tuple[str, ...], tuple[PlannedClaim, Child]] = {}
    for claim in plan.walk():
        for child in claim.children:
            property_ = name_of(child.document["type"]) if is_native(child.document) else ""
            name = _known(object_at(child.document, PROPERTIES).get(property_)) if property_ else None
            if not isinstance(name, str):
                continue
            other, before = first.setdefault(_outside(child, name), (claim, child))
            if before is not child:
                where, path = _origin(claim, child, property_)
                elsewhere = _origin(other, before, property_)[0]
                what = (
                    f"{child.address}: {child.document['type']} would be named {name!r}, "
                    f"as {before.address} is ({elsewhere})"
                )
                yield Problem(what, where, path, "choose another name, or leave it to the provider")


def _known(value: Any) -> Any:
    return known(value) if is_later(value) else value


def _outside(child: Child, name: str) -> tuple[str, ...]:
    """What a resource is for its provider, as far as its properties tell."""
    properties = object_at(child.document, PROPERTIES)
    # Not as a reader sees it: the fields of two resources that do not exist yet are two values.
    scope = (f"{key}={_known(properties[key]) or properties[key]!r}" for key in _SCOPES if key in properties)
    return child.document["type"], str(object_at(child.document, OPTIONS).get("provider", "")), name, *scope


def _origin(claim: PlannedClaim, child: Child, property_: str) -> tuple[Source | None, str]:
    """The field of the claim that the name comes from; its own name where the class decides."""
    document, template = claim.binding.claim.document, child.template
    annotation: fieldpath.Path = ("metadata", "annotations", EXTERNAL_NAME)
    name = object_at(child.document, PROPERTIES)[property_]
    if claim.identity.dialect.passes_external_name and value_at(document.data, annotation) == name:
        return document.source_of(annotation), f"metadata.annotations[{EXTERNAL_NAME}]"
    patches = [p for p in template.patches if p.target is Side.resource and p.to == f"{PROPERTIES}.{property_}"]
    reads = [path for patch in patches for path in patch.reads if path.startswith(("metadata.", "spec."))]
    read = reads[0] if reads else "metadata.name"
    return document.source_of(read), read
