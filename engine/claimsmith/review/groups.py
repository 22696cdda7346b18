"""What is said of many claims in the same way is said once: claims whose changes differ in names and values alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.errors import Problem, Source
from claimsmith.explain.words import shown
from claimsmith.review.changes import Change, ClaimChange, FieldChange, Op, ResourceChange, Warned

_VALUES = 3


@dataclass(frozen=True, slots=True)
class Group:
    """Claims to which the same happens."""

    claims: tuple[ClaimChange, ...]

    @property
    def sample(self) -> ClaimChange:
        """The first of them, which stands for all."""
        return self.claims[0]

    def fields_like(self, part: int, place: int, *, settings: bool = False) -> list[FieldChange]:
        """One field of each claim: by its place among the changed fields of a resource, by its place in turn."""
        chosen = [c.resources[part] for c in self.claims]
        return [(r.settings if settings else r.fields)[place] for r in chosen]


def groups(claims: Iterable[ClaimChange]) -> list[Group]:
    """Claims by what happens to them, the most destructive first, then the larger groups."""
    found: dict[Hashable, list[ClaimChange]] = {}
    for claim in claims:
        found.setdefault(_key(claim), []).append(claim)
    made = [Group(tuple(same)) for same in found.values()]
    return sorted(made, key=lambda g: (_loudness(g.sample), -len(g.claims)))


def values(fields: Sequence[FieldChange]) -> list[str]:
    """The values of one field in many claims, each pair once: `10240 → 20480`, and how many more there are."""
    pairs: dict[str, int] = {}
    for field in fields:
        text = pair(field)
        pairs[text] = pairs.get(text, 0) + 1
    listed = list(pairs.items())
    if len(listed) == 1:
        return [listed[0][0]]
    told = [f"{text} ({count} claims)" if count > 1 else text for text, count in listed[:_VALUES]]
    more = len(listed) - _VALUES
    return [*told, *([f"and {more} other values"] if more > 0 else [])]


def pair(field: FieldChange) -> str:
    """A field's value before and after."""
    if field.secret:
        return "changed (not shown)"
    return f"{shown(field.old)} → {shown(field.new)}"


def same_words(problems: Iterable[Problem]) -> list[tuple[Problem, int]]:
    """Problems that are told at one place, each place once with the first of them and how many more there are."""
    found: dict[tuple[Source | None, str], list[Problem]] = {}
    for problem in problems:
        key = (problem.where, problem.path) if problem.where else (None, problem.what)
        found.setdefault(key, []).append(problem)
    return [(same[0], len(same) - 1) for same in found.values()]


def same_warnings(warnings: Iterable[Warned]) -> list[tuple[Warned, int]]:
    """Warnings of one rule about one template, once with the first of them and how many more there are."""
    found: dict[Hashable, list[Warned]] = {}
    for warning in warnings:
        found.setdefault((warning.rule, warning.level, warning.where, warning.part), []).append(warning)
    return [(same[0], len(same) - 1) for same in found.values()]


def class_words(claim: ClaimChange) -> str:
    """The class of a claim, or the two that it moves between."""
    before, after = claim.class_before.rpartition("/")[2], claim.class_after.rpartition("/")[2]
    if claim.change is Change.rebound:
        return f"{before} → {after}"
    return after or before


def _key(claim: ClaimChange) -> Hashable:
    resources = tuple(_resource_key(r) for r in claim.resources)
    return (
        claim.change,
        claim.class_before,
        claim.class_after,
        claim.claim.partition("/")[0],
        resources,
        len(claim.kept),
    )


def _resource_key(resource: ResourceChange) -> Hashable:
    fields = tuple((f.path, f.replaces, f.secret, _cause_key(f)) for f in resource.fields)
    settings = tuple((f.path, shown(f.old), shown(f.new)) for f in resource.settings)
    return resource.part, resource.api_version, resource.kind, resource.op, resource.why, fields, settings


def _cause_key(field: FieldChange) -> Any:
    cause = field.cause
    return cause and (cause.by, cause.what, cause.where, cause.was, cause.claim_where, cause.gone)


def _loudness(claim: ClaimChange) -> int:
    order = (Op.deleted, Op.replaced, Op.retained, Op.updated, Op.settings, Op.created, Op.same)
    return min((order.index(r.op) for r in claim.resources), default=len(order))
