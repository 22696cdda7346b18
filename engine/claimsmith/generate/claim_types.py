"""The kinds of claim that components serve: which type their specs are built on, and what schemas say of them.

Takes a catalog. The fields of each base stand in `edge/claim_types.py`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith import crd_set
from claimsmith import schema as schemas
from claimsmith.catalog import Catalog
from claimsmith.models import composite
from claimsmith.models.definition import spec_schema
from claimsmith.models.klass import Class, Parent
from claimsmith.models.objects import GroupKind

Schema = Mapping[str, Any]
_COMPOSED = (
    *("compositionRef", "compositionSelector", "compositionRevisionRef", "compositionRevisionSelector"),
    *("compositionUpdatePolicy", "compositeDeletePolicy", "publishConnectionDetailsTo", "writeConnectionSecretToRef"),
)
RESERVED: Mapping[str, tuple[str, ...]] = {
    "ClaimSpec": ("classRef", "classSelector", "resourceRef", "writeConnectionSecretToRef"),
    "ApplicationSpec": ("application",),
    "InfrastructureSpec": ("infrastructure",),
    "RequirementSpec": ("infrastructure",),
    "CompositeSpec": (*_COMPOSED, "claimRef", "resourceRefs"),
    "CompositeClaimSpec": (*_COMPOSED, "resourceRef"),
    "CrossplaneSpec": ("crossplane",),
}
"""The fields that every claim of a dialect has, by the type that has them."""


@dataclass(frozen=True, slots=True)
class ClaimType:
    """What is known of a kind of claim beside the classes that serve it."""

    base: str = "ClaimSpec"
    spec: Schema | None = None
    """The schema of its spec, with what every claim has in it; None where nobody gives one."""
    defaults: Schema = field(default_factory=dict)
    """The part of that schema by which a claim gets its defaults."""


def claim_types(catalog: Catalog) -> dict[tuple[GroupKind, str], ClaimType]:
    """What is known of the kinds that the catalog's classes serve, by kind and apiVersion."""
    return {(c.serves, c.claim_api_version): _claim_type(catalog, c) for c in catalog.classes.values()}


def _claim_type(catalog: Catalog, klass: Class) -> ClaimType:
    version = klass.claim_api_version.rpartition("/")[2]
    if defined := catalog.defined(klass.serves):
        definition, requirement = defined
        spec = spec_schema(definition, requirement=requirement)
        word = "Requirement" if requirement else definition.kind_of.capitalize()
        own = spec if definition.schema.get("properties") else None
        return ClaimType(f"{word}Spec", own, _defaults(spec))
    if crossplane := catalog.today.defined(klass.serves):
        xrd, claim = crossplane
        base = "CompositeClaimSpec" if claim else "CrossplaneSpec" if xrd.modern else "CompositeSpec"
        known = composite.full_schema(xrd, version, claim=claim) if version in xrd.versions else {}
        spec = (known.get("properties") or {}).get("spec") or {}
        return ClaimType(base, spec if spec.get("properties") else None, _defaults(spec))
    given = crd_set.given_crds(catalog).get(klass.serves)
    known = (schemas.crd_schema(given.data, version) if given else None) or {}
    spec = (known.get("properties") or {}).get("spec") or {}
    bases = {Parent.xr: "CompositeSpec", Parent.xr_claim: "CompositeClaimSpec"}
    # Claims of resource classes get no defaults from their definition: a plan has none either.
    return ClaimType(bases.get(klass.parent, "ClaimSpec"), spec if spec.get("properties") else None)


def _defaults(schema: Schema) -> dict[str, Any]:
    """What is left of a schema when only defaults count."""
    kept: dict[str, Any] = {"default": schema["default"]} if schema.get("default") is not None else {}
    named = schema.get("properties")
    inner = {k: d for k, s in named.items() if (d := _defaults(s))} if isinstance(named, Mapping) else {}
    kept |= {"properties": inner} if inner else {}
    for word in ("items", "additionalProperties"):
        more = _defaults(schema[word]) if isinstance(schema.get(word), Mapping) else {}
        kept |= {word: more} if more else {}
    return kept
