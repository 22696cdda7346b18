"""The sides of a review: an environment as some files have it, planned as if all that is in the way were settled.

A class that was changed in place, or a claim that is not bound yet, would be refused by the engine's program. A review
tells that, and also what would come of it once the claims are bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from claimsmith import binding, workload
from claimsmith.binding import Record
from claimsmith.catalog import Catalog
from claimsmith.checks import component_problems
from claimsmith.errors import BindingError, Problem, in_order
from claimsmith.expand import Expansion, expand
from claimsmith.models.klass import Class
from claimsmith.models.objects import ClaimKey
from claimsmith.plan import Plan
from claimsmith.project import Project
from claimsmith.review import Side
from claimsmith.workload import Schedule


def read_side(project: Project, stack: str, *, strict: bool = False) -> Side:
    """An environment of a project. One that is not there makes nothing.

    Where it is `strict`, fields of claims that nothing reads are in the way too.
    """
    here = _Here(project, stack, project.catalog(stack if stack in project.stacks() else None), project.records(stack))
    held, rebind = _settled(here)
    found, unsettled = _expanded(here, held, rebind)
    scheduled, moved = _scheduled(here, found, held)
    unread = project.unread(stack, here.catalog, strict=strict)
    plan = replace(project.planned(stack, here.catalog, found, scheduled), unread=unread)
    refusals = [
        *unread.errors,
        *unsettled,
        *_broken(here, found, rebind),
        *moved,
        *([] if binds_itself(project, stack) else _unrecorded(here, found, scheduled)),
        *project.taken_names(plan),
        *(u.problem for u in found.unbound if u.mistake),
        *component_problems(project, _used(plan)),
    ]
    return Side(
        catalog=here.catalog,
        records={r.claim: r for r in held},
        table=project.table(),
        kinds=project.kinds(),
        expansion=found,
        plan=plan,
        refusals=tuple(in_order(refusals)),
        keeps_records=project.setting(stack, "records") == "true",
    )


def binds_itself(project: Project, stack: str) -> bool:
    """Whether the stack's config lets a claim go unrecorded."""
    return project.setting(stack, "bind") == "auto"


@dataclass(frozen=True, slots=True)
class _Here:
    project: Project
    stack: str
    catalog: Catalog
    records: Sequence[Record]


def _settled(here: _Here) -> tuple[list[Record], frozenset[ClaimKey]]:
    """The records as binding anew would write them, and the claims that need another class."""
    held: list[Record] = []
    rebind: set[ClaimKey] = set()
    digests: dict[int, str] = {}
    for record in here.records:
        claim = here.catalog.claims.get(record.claim)
        klass = here.catalog.classes.get((record.klass, record.claim.group_kind))
        static = bool(claim and claim.resource_ref and claim.resource_ref.key == record.klass)
        named = claim.class_ref if claim and not claim.force else None
        if not static and (klass is None or (named and named.key != record.klass)):
            rebind.add(record.claim)
        if klass and id(klass) not in digests:
            digests[id(klass)] = klass.digest()
        held.append(replace(record, digest=digests[id(klass)]) if klass else record)
    return held, frozenset(rebind)


def _expanded(here: _Here, held: Sequence[Record], rebind: frozenset[ClaimKey]) -> tuple[Expansion, Sequence[Problem]]:
    """Every claim with its class and children; composites within claims may get another class."""
    project, catalog = here.project, here.catalog

    def expanded(again: frozenset[ClaimKey]) -> Expansion:
        scopes = project.scopes(catalog)
        return expand(catalog, held, project=project.name, stack=here.stack, scopes=scopes, rebind=again)

    try:
        return expanded(rebind), ()
    except BindingError as error:
        inner = frozenset(r.claim for r in here.records if r.claim not in catalog.claims)
        return expanded(rebind | inner), error.problems


def _broken(here: _Here, found: Expansion, rebind: frozenset[ClaimKey]) -> list[Problem]:
    """Why recorded bindings do not hold, in the words of the binding itself."""
    records = {r.claim: r for r in here.records}
    problems: list[Problem] = []
    seen = {u.claim.key for u in found.unbound} | {p.key for p in here.catalog.workloads.applications.values()}
    for bound in found.bindings():
        key = bound.claim.key
        seen.add(key)
        record = records.get(key)
        if record and (key in rebind or (bound.klass.digest() != record.digest and not record.released)):
            try:
                binding.bind_one(bound.claim, record, here.catalog, project=here.project.name, stack=here.stack)
            except BindingError as error:
                problems += error.problems
    problems += binding.changed_and_gone(here.catalog, [r for r in here.records if r.claim not in seen])
    return [replace(p, fix=p.fix.replace("bind STACK", f"bind {here.stack}")) for p in problems]


def _scheduled(here: _Here, found: Expansion, held: Sequence[Record]) -> tuple[Schedule, Sequence[Problem]]:
    """Every application with its target; where a record no longer holds, with the one that it would get now."""

    def scheduled(again: frozenset[ClaimKey] = frozenset()) -> Schedule:
        name = here.project.name
        return workload.schedule(here.catalog, found, held, project=name, stack=here.stack, rebind=again)

    try:
        return scheduled(), ()
    except BindingError as error:
        return scheduled(frozenset(r.claim for r in here.records)), error.problems


def _unrecorded(here: _Here, found: Expansion, scheduled: Schedule) -> list[Problem]:
    known = {r.claim for r in here.records}
    bindings = [b for b in found.bindings() if b.claim.key not in known]
    placements = [p for p in scheduled.placements if p.application.key not in known]
    return [*binding.unrecorded(bindings, here.stack), *workload.unrecorded(placements, here.stack)]


def _used(plan: Plan) -> Iterable[Class]:
    """The classes that serve the plan's claims, each once."""
    return {id(c.binding.klass): c.binding.klass for c in plan.walk() if not c.binding.klass.static}.values()
