"""Groups of claims whose changes differ in names and values only, so that each change is shown once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import Problem
from claimsmith.base.grouping import grouped
from claimsmith.tools.explain.formatting import shown
from claimsmith.tools.review.changes import (
    Change,
    ClaimChange,
    FieldChange,
    Op,
    ResourceChange,
    ReviewWarning,
    StackReview,
    Stay,
)


@dataclass(frozen=True, slots=True)
class Group:
    """Claims to which the same happens."""

    claims: tuple[ClaimChange, ...]
    dangers: frozenset[str] = frozenset()
    """Its parts that are in danger, an empty text for the claims themselves."""

    @property
    def title(self) -> str:
        """The claim, or how many of which kind."""
        many = len(self.claims) > 1
        return f"{len(self.claims)} {self.sample.claim.partition('.')[0]} claims" if many else self.sample.short

    @property
    def sample(self) -> ClaimChange:
        """The first of them, which stands for all."""
        return self.claims[0]

    def stays(self) -> list[tuple[Stay, ...]]:
        """The objects that stay though their template is another one, by template: each as all claims have it."""
        columns = zip(*(c.stays for c in self.claims), strict=True)
        return [column for column in columns if column[0].moved or not column[0].sure]

    def stays_alike(self) -> tuple[str, ...]:
        """The templates whose objects stay under the same name and type."""
        return tuple(s.part for s in self.sample.stays if s.sure and not s.moved)

    def columns(self, part: int) -> list[tuple[FieldChange, ...]]:
        """The changed fields and settings of a resource, by its place: each as all claims of the group have it."""
        chosen = [c.resources[part] for c in self.claims]
        return list(zip(*((*r.fields, *r.settings) for r in chosen), strict=True))


def groups(stack: StackReview) -> list[Group]:
    """The claims by what happens to them: those in danger first, then the most destructive, then the larger groups."""
    endangered = stack.endangered()
    marked = ((c, tuple(_in_danger(c, endangered))) for c in stack.claims)
    unsorted = [
        Group(tuple(c for c, _ in same), dangers=frozenset(same[0][1]))
        for same in grouped(marked, lambda pair: (_key(pair[0]), pair[1])).values()
    ]
    return sorted(unsorted, key=lambda g: (not g.dangers, _loudness(g.sample), -len(g.claims)))


def _in_danger(claim: ClaimChange, endangered: frozenset[tuple[str, str]]) -> Iterator[str]:
    """The parts of a claim that are in danger, an empty text for the claim itself."""
    yield from (r.part for r in claim.resources if (claim.claim, r.part) in endangered)
    if (claim.claim, "") in endangered:
        yield ""


def folded_problems(problems: Iterable[Problem]) -> list[tuple[Problem, ...]]:
    """The problems, those together that one command fixes, or that are at one place."""
    return [tuple(same) for same in grouped(problems, _problem_key).values()]


def folded_warnings(warnings: Iterable[ReviewWarning]) -> list[tuple[ReviewWarning, ...]]:
    """The warnings, those together that differ only in the resource or claim that they are about."""
    return [tuple(same) for same in grouped(warnings, warning_key).values()]


def warning_key(warning: ReviewWarning) -> Hashable:
    """What warnings have in common that are folded to one."""
    what = warning.what.replace(warning.subject, "") if warning.subject else warning.what
    # A template of another class is another place to look at. Each claim is a place of its own.
    own = warning.where is None or warning.where.file.startswith("stacks/")
    return warning.rule, warning.level, warning.part, what, None if own else warning.where


def _problem_key(problem: Problem) -> Hashable:
    if problem.rule and problem.fix.startswith("run: "):
        return problem.rule, problem.fix
    return problem.where, problem.path if problem.where else problem.what


def class_label(claim: ClaimChange) -> str:
    """The class of a claim, or the two that it moves between."""
    before, after = claim.class_before.rpartition("/")[2], claim.class_after.rpartition("/")[2]
    if claim.change is Change.rebound:
        return f"{before} → {after}"
    return after or before


def _key(claim: ClaimChange) -> Hashable:
    kind, resources = claim.claim.partition("/")[0], tuple(_resource_key(r) for r in claim.resources)
    stays = tuple((s.part, s.was, s.kind, s.type, s.type_before, s.op, s.sure) for s in claim.stays)
    return claim.change, claim.class_before, claim.class_after, kind, resources, len(claim.kept), stays


def _resource_key(resource: ResourceChange) -> Hashable:
    fields = tuple((f.path, f.replaces, f.immutable, f.secret, _cause_key(f)) for f in resource.fields)
    settings = tuple((f.path, shown(f.old), shown(f.new)) for f in resource.settings)
    return resource.part, resource.api_version, resource.kind, resource.op, resource.why, fields, settings


def _cause_key(field: FieldChange) -> Any:
    cause = field.cause
    # Claims that change a field in the same way, each in its own file, are one change. Other values are another change.
    values = (shown(field.old), shown(field.new)) if cause and cause.claim_path and not field.secret else ()
    return cause and (cause.by, cause.what, cause.where, cause.was, cause.claim_path, cause.whose, cause.gone, values)


def _loudness(claim: ClaimChange) -> int:
    order = (Op.deleted, Op.replaced, Op.retained, Op.updated, Op.settings, Op.created, Op.read, Op.same)
    return min((order.index(r.op) for r in claim.resources), default=len(order))
