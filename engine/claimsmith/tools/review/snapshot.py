"""An environment as some files have it, planned as if all blockers were resolved.

A class that was changed in place, or a claim that is not bound yet, would be refused by the engine's program. A review
reports that, and also the plan once the claims are bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from claimsmith.base.errors import BindingError, Problem, in_order
from claimsmith.base.names import ClaimKey
from claimsmith.compose import scheduling
from claimsmith.compose.candidates import candidates_of
from claimsmith.compose.drafts import Expansion
from claimsmith.compose.expand import expand
from claimsmith.compose.native_types import native_types
from claimsmith.compose.plan import Plan, PlannedClaim, candidate_of_given
from claimsmith.compose.references import Table
from claimsmith.compose.scheduling import Schedule
from claimsmith.dialects.common.klass import Class
from claimsmith.platform import binding
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog
from claimsmith.project import sdks
from claimsmith.project.components import component_problems, order_problems
from claimsmith.project.project import Project
from claimsmith.project.review_table import KindTable
from claimsmith.providers.package_schema import PackageSchema
from claimsmith.toolchain.package_schemas import package_schema
from claimsmith.tools.explain.facts import ClaimFacts, Facts
from claimsmith.tools.review.immutable import Rules, rules_of
from claimsmith.tools.review.resources import PlannedResource, planned_resources


@dataclass(frozen=True)
class Snapshot:
    """An environment on one side of a review: its plan, and what the plan comes from."""

    catalog: Catalog
    records: Mapping[ClaimKey, Record]
    table: Table
    kinds: KindTable
    expansion: Expansion
    plan: Plan
    refusals: tuple[Problem, ...] = ()
    """Why the engine's program would refuse this side as it is."""
    keeps_records: bool = False
    """Whether claims and composites are written to the cluster too."""
    package_schema: Callable[[str], PackageSchema | None] = field(default=lambda _: None, repr=False)
    """What the plugin of a provider says; None where it is not installed."""

    @cached_property
    def resources(self) -> dict[str, PlannedResource]:
        """Every object by its URN."""
        return planned_resources(self.plan, self.expansion.drafts, self.catalog.resources, records=self.keeps_records)

    @cached_property
    def claims(self) -> dict[str, PlannedClaim]:
        """The claims by their addresses, without those that are parts of others."""
        return {c.address: c for c in self.plan.claims}

    @cached_property
    def rules(self) -> Rules:
        """The fields that the platform's definitions do not let change."""
        return rules_of(d.data for d in self.catalog.crds)

    @cached_property
    def facts(self) -> Facts:
        """The same for those who trace a field."""
        drafts = {d.binding.claim.key: d for d in self.expansion.drafts}
        facts = Facts(self.catalog, self.records, self.table, self.plan.project, self.plan.stack)
        for planned in self.plan.claims:
            claim = planned.binding.claim
            facts.claims[claim.key] = ClaimFacts(claim, drafts.get(claim.key), planned)
        facts.targets = candidates_of(d for root in self.expansion.drafts for d in root.walk())
        for resource in self.plan.resources:
            facts.targets.setdefault(resource.key.group_kind, []).append(candidate_of_given(resource))
        return facts


def read_snapshot(
    project: Project, stack: str, *, strict: bool = False, plugins: Mapping[str, Path] | None = None
) -> Snapshot:
    """An environment of a project. One that does not exist plans nothing.

    Where it is `strict`, fields of claims that nothing reads are in the way too. `plugins` are programs of providers
    that are asked instead of installed ones.
    """
    here = _Here(project, stack, project.catalog(stack if project.has_stack(stack) else None), project.records(stack))
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
        *([] if project.setting(stack, "bind") == "auto" else _unrecorded(here, found, scheduled)),
        *project.taken_names(plan),
        *(u.problem for u in found.unbound if u.mistake),
        *component_problems(project, _used(plan)),
        *order_problems(project, plan),
    ]
    return Snapshot(
        catalog=here.catalog,
        records={r.claim: r for r in held},
        table=project.table(),
        kinds=project.kinds(),
        expansion=found,
        plan=plan,
        refusals=tuple(in_order(refusals)),
        keeps_records=project.setting(stack, "records") == "true",
        package_schema=lambda package: package_schema(package, (plugins or {}).get(package)),
    )


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
        static = bool(claim and claim.object_ref and claim.object_ref.key == record.klass)
        named = claim.class_ref if claim and not claim.force else None
        reads_another = claim is not None and binding.resource_of(claim) != record.resource
        if not static and (klass is None or reads_another or (named and named.key != record.klass)):
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
        return expand(
            catalog,
            held,
            project=project.name,
            stack=here.stack,
            scopes=scopes,
            rebind=again,
            types=native_types(sdks.index_of),
            declared=project.declared_functions(programs=False),
        )

    try:
        return expanded(rebind), ()
    except BindingError as error:
        inner = frozenset(r.claim for r in here.records if r.claim not in catalog.claims)
        return expanded(rebind | inner), error.problems


def _broken(here: _Here, found: Expansion, rebind: frozenset[ClaimKey]) -> list[Problem]:
    """Why recorded bindings do not hold, as the binding reports it."""
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
    return binding.folded(problems)


def _scheduled(here: _Here, found: Expansion, held: Sequence[Record]) -> tuple[Schedule, Sequence[Problem]]:
    """Every application with its target; where a record no longer holds, with the one that it would get now."""

    def scheduled(again: frozenset[ClaimKey] = frozenset()) -> Schedule:
        name = here.project.name
        return scheduling.schedule(here.catalog, found, held, project=name, stack=here.stack, rebind=again)

    try:
        return scheduled(), ()
    except BindingError as error:
        return scheduled(frozenset(r.claim for r in here.records)), error.problems


def _unrecorded(here: _Here, found: Expansion, scheduled: Schedule) -> list[Problem]:
    recorded = {r.claim for r in here.records}
    bindings = [b for b in found.bindings() if b.claim.key not in recorded]
    placements = [p for p in scheduled.placements if p.application.key not in recorded]
    return [*binding.unrecorded(bindings, here.stack), *scheduling.unrecorded(placements, here.stack)]


def _used(plan: Plan) -> Iterable[Class]:
    """The classes that serve the plan's claims, each once."""
    return {id(c.binding.klass): c.binding.klass for c in plan.walk() if c.binding.klass.generated}.values()
