"""External and physical names: two things of one kind must not get the same in the cloud."""

from __future__ import annotations

from collections.abc import Iterator

from claimsmith.base.errors import Problem
from claimsmith.base.labels import EXTERNAL_NAME, EXTERNAL_NAME_SUFFIX
from claimsmith.compose.drafts import Child
from claimsmith.compose.external_names import NameOf, origin_of, physical_name, physical_names, scope_of, taken
from claimsmith.compose.plan import Plan, PlannedClaim


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


def same_physical_names(plan: Plan, name_of: NameOf) -> Iterator[Problem]:
    """One warning for each native resource with the physical name of another: same type, provider and parent.

    One that a claim took from another claim is refused already, and not warned of.
    """
    refused = {(p.where, p.path) for p in taken(physical_names(plan, name_of), ())}
    first: dict[tuple[str, ...], tuple[PlannedClaim, Child]] = {}
    for claim in plan.walk():
        for child in (c for c in claim.children if c.template.native):
            property_, name = physical_name(child, name_of)
            if not name:
                continue
            key = (str(child.document["type"]), name, *scope_of(child))
            other, before = first.setdefault(key, (claim, child))
            if before is not child:
                where, path = origin_of(claim, child, property_)
                if (where, path) in refused:
                    continue
                elsewhere = origin_of(other, before, property_)[0]
                what = (
                    f"{child.address}: {child.document['type']} would be named {name!r}, "
                    f"as {before.address} is ({elsewhere})"
                )
                yield Problem(what, where, path, "choose another name, or leave it to the provider")
