"""The kinds of claim that components serve: the base type of their specs, and their schemas.

Takes a catalog. The fields of each base are defined in `deploy/claim_types.py`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.crossplane import claims
from claimsmith.dialects.definitions import spec_schema
from claimsmith.kubernetes import schema as schemas
from claimsmith.platform import crd_set
from claimsmith.platform.catalog import Catalog

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
    """A kind of claim, as far as its definition describes it."""

    base: str = "ClaimSpec"
    spec: Schema | None = None
    """The schema of its spec, with the fields of every claim; None if there is none."""
    defaults: Schema = field(default_factory=dict)
    """The part of that schema that has defaults."""


def claim_types(catalog: Catalog) -> dict[tuple[GroupKind, str], ClaimType]:
    """The kinds of claim that the catalog's classes serve, by kind and apiVersion."""
    return {(c.serves, c.claim_api_version): _claim_type(catalog, c) for c in catalog.classes.values()}


def _claim_type(catalog: Catalog, klass: Class) -> ClaimType:
    version = klass.claim_api_version.rpartition("/")[2]
    if defined := catalog.defined(klass.serves):
        definition, requirement = defined
        spec = spec_schema(definition, requirement=requirement)
        word = "Requirement" if requirement else definition.kind_of.capitalize()
        own = spec if definition.schema.get("properties") else None
        return ClaimType(f"{word}Spec", own, _defaults(spec))
    if crossplane := catalog.crossplane.defined(klass.serves):
        xrd, claim = crossplane
        base = "CompositeClaimSpec" if claim else "CrossplaneSpec" if xrd.modern else "CompositeSpec"
        known = claims.full_schema(xrd, version, claim=claim) if version in xrd.versions else {}
        spec = (known.get("properties") or {}).get("spec") or {}
        return ClaimType(base, spec if spec.get("properties") else None, _defaults(spec))
    crd = crd_set.given_crds(catalog).get(klass.serves)
    known = (schemas.crd_schema(crd.data, version) if crd else None) or {}
    spec = (known.get("properties") or {}).get("spec") or {}
    base = klass.dialect.spec_type(namespaced=False) if klass.dialect.crossplane else "ClaimSpec"
    # Claims of resource classes get no defaults from their definition, in a plan neither.
    return ClaimType(base, spec if spec.get("properties") else None)


def _defaults(schema: Schema) -> dict[str, Any]:
    """The schema without everything but its defaults."""
    kept: dict[str, Any] = {"default": schema["default"]} if schema.get("default") is not None else {}
    named = schema.get("properties")
    inner = {k: d for k, s in named.items() if (d := _defaults(s))} if isinstance(named, Mapping) else {}
    kept |= {"properties": inner} if inner else {}
    for word in ("items", "additionalProperties"):
        more = _defaults(schema[word]) if isinstance(schema.get(word), Mapping) else {}
        kept |= {word: more} if more else {}
    return kept
