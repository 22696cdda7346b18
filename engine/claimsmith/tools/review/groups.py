"""Groups of claims whose changes differ in names and values only, so that each change is shown once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import Problem
from claimsmith.base.grouping import grouped
from claimsmith.tools.explain.formatting import shown
from claimsmith.tools.review.changes import Change, ClaimChange, FieldChange, Op, ResourceChange, ReviewWarning

_VALUES = 3


@dataclass(frozen=True, slots=True)
class Group:
    """Claims to which the same happens."""

    claims: tuple[ClaimChange, ...]

    @property
    def sample(self) -> ClaimChange:
        """The first of them, which stands for all."""
        return self.claims[0]

    def columns(self, part: int) -> list[tuple[FieldChange, ...]]:
        """The changed fields and settings of a resource, by its place: each as all claims of the group have it."""
        chosen = [c.resources[part] for c in self.claims]
        return list(zip(*((*r.fields, *r.settings) for r in chosen), strict=True))


def groups(claims: Iterable[ClaimChange]) -> list[Group]:
    """Claims by what happens to them, the most destructive first, then the larger groups."""
    unsorted = [Group(tuple(same)) for same in grouped(claims, _key).values()]
    return sorted(unsorted, key=lambda g: (_loudness(g.sample), -len(g.claims)))


def values(fields: Sequence[FieldChange]) -> list[str]:
    """The values of one field in many claims, each pair once: `10240 → 20480`, and how many more there are."""
    listed = list(Counter(map(pair, fields)).items())
    if len(listed) == 1:
        return [listed[0][0]]
    shown = [f"{text} ({count} claims)" if count > 1 else text for text, count in listed[:_VALUES]]
    more = len(listed) - _VALUES
    return [*shown, *([f"and {more} other values"] if more > 0 else [])]


def pair(field: FieldChange) -> str:
    """A field's value before and after."""
    if field.secret:
        return "changed (not shown)"
    return f"{shown(field.old)} → {shown(field.new)}"


def merged_problems(problems: Iterable[Problem]) -> list[tuple[Problem, int]]:
    """The problems by place: the first of each place, and the number of others there."""
    found = grouped(problems, lambda p: (p.where, p.path if p.where else p.what))
    return [(same[0], len(same) - 1) for same in found.values()]


def same_warnings(warnings: Iterable[ReviewWarning]) -> list[tuple[ReviewWarning, int]]:
    """Warnings of one rule about one template, once with the first of them and how many more there are."""
    found = grouped(warnings, lambda w: (w.rule, w.level, w.where, w.part))
    return [(same[0], len(same) - 1) for same in found.values()]


def class_label(claim: ClaimChange) -> str:
    """The class of a claim, or the two that it moves between."""
    before, after = claim.class_before.rpartition("/")[2], claim.class_after.rpartition("/")[2]
    if claim.change is Change.rebound:
        return f"{before} → {after}"
    return after or before


def _key(claim: ClaimChange) -> Hashable:
    kind, resources = claim.claim.partition("/")[0], tuple(_resource_key(r) for r in claim.resources)
    return claim.change, claim.class_before, claim.class_after, kind, resources, len(claim.kept)


def _resource_key(resource: ResourceChange) -> Hashable:
    fields = tuple((f.path, f.replaces, f.secret, _cause_key(f)) for f in resource.fields)
    settings = tuple((f.path, shown(f.old), shown(f.new)) for f in resource.settings)
    return resource.part, resource.api_version, resource.kind, resource.op, resource.why, fields, settings


def _cause_key(field: FieldChange) -> Any:
    cause = field.cause
    return cause and (cause.by, cause.what, cause.where, cause.was, cause.claim_where, cause.gone)


def _loudness(claim: ClaimChange) -> int:
    order = (Op.deleted, Op.replaced, Op.retained, Op.updated, Op.settings, Op.created, Op.read, Op.same)
    return min((order.index(r.op) for r in claim.resources), default=len(order))
