"""What the commands that only tell something do: read a project, and answer from it. Nothing is written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from claimsmith import crd_set, drawing, explain, pictures
from claimsmith import drift as drifting
from claimsmith import offers as offered
from claimsmith.drawing import Graph
from claimsmith.drift import Drift
from claimsmith.errors import CatalogError, EngineError, LoadError, Problem, Source, nearest
from claimsmith.explain import Facts, Story, Trace
from claimsmith.explain.facts import Known, named
from claimsmith.explain.parts import ChildStory
from claimsmith.explain.provenance import named_child
from claimsmith.models.klass import Class
from claimsmith.models.objects import GroupKind
from claimsmith.offers import Offer
from claimsmith.project import Project


@dataclass(frozen=True, slots=True)
class Offers:
    """A kind that can be claimed, and what serves it."""

    kind: GroupKind
    offers: list[Offer]

    def to_dict(self) -> dict[str, Any]:
        """The kind for a machine to read."""
        return {"kind": str(self.kind), "classes": [o.to_dict() for o in self.offers]}


def facts(project: Project, stack: str) -> Facts:
    """All that can be told of a stack's claims, whatever is wrong with some of them."""
    project.check_stack(stack)
    catalog = project.catalog(stack)
    return explain.gather(
        catalog,
        project.records(stack),
        project=project.name,
        stack=stack,
        table=project.table(),
        scopes=project.scopes(catalog),
        given=project.given(catalog),
        keeps_records=project.setting(stack, "records") == "true",
    )


def stories(project: Project, stack: str, claim: str | None = None) -> list[Story]:
    """The stories of a stack's claims, or of one."""
    known = facts(project, stack)
    chosen = known.find(claim) if claim else known.claims.values()
    return [explain.tell(known, one) for one in chosen]


def trace(project: Project, stack: str, claim: str | None, *, child: str | None, field: str) -> Trace:
    """How a field of a claim's child came about."""
    known = facts(project, stack)
    return explain.trace(known, _one(known, claim), child=child, path=field)


def traces(project: Project, stack: str, claim: str | None, *, child: str | None, field: str) -> list[Trace]:
    """How a field came about: of one child, or of each that has it."""
    known = facts(project, stack)
    one = _one(known, claim)
    if child:
        return [explain.trace(known, one, child=child, path=field)]
    return explain.traces(known, one, path=field)


def part(project: Project, stack: str, claim: str | None, child: str) -> ChildStory | Story:
    """The story of one of a claim's children."""
    known = facts(project, stack)
    story = explain.tell(known, _one(known, claim))
    return named_child(story.claim, dict(story.parts()), child)


def drift(project: Project, stack: str) -> Drift:
    """What a refresh of a stack would find, claim by claim, with what says how it should be."""
    from claimsmith import workspace

    project.check_stack(stack)
    found = drifting.drift_of(stack, workspace.refresh_preview(project, stack))
    if not found.claims:
        return found
    try:
        known = facts(project, stack)
    except EngineError:
        # Files that cannot be read tell nothing of what is deployed.
        return found

    def place_of(claim: str, child: str, path: str) -> Source | None:
        with suppress(EngineError):
            told = explain.trace(known, known.find(claim)[0], child=child, path=path)
            return next((s.where for s in reversed(told.steps) if s.where), None)
        return None

    return drifting.with_places(found, place_of)


def classes(project: Project, kind: str | None = None) -> list[Offers]:
    """What serves a kind of claim, or each kind that can be claimed."""
    catalog = project.catalog()
    kinds = offered.find_kinds(catalog, kind) if kind else offered.kinds(catalog)
    return [Offers(k, offered.offers(catalog, k)) for k in kinds]


def crds(project: Project, stack: str | None = None) -> list[dict[str, Any]]:
    """The definitions of the kinds that a platform makes up; with a stack, of those that it claims too."""
    if stack:
        project.check_stack(stack)
    return crd_set.own_crds(project.catalog(stack))


@dataclass(frozen=True, slots=True)
class Picture:
    """A graph with the words above it."""

    title: str
    lead: str
    graph: Graph

    @property
    def summary(self) -> str:
        """How many there are of each kind, in words."""
        return drawing.summary(self.graph)

    def text(self, *, html: bool) -> str:
        """The picture as SVG, or as a page with the same in words."""
        if html:
            return drawing.page(self.graph, title=self.title, lead=self.lead)
        return drawing.svg(self.graph, title=f"{self.title}: {self.summary}")


def picture(
    project: Project, stack: str | None = None, *, klass: str | None = None, claim: str | None = None
) -> Picture:
    """A picture of a stack, of the claims in it that a class serves, of one claim, or of a class by itself."""
    if klass and not stack and not claim:
        chosen = _class(project, None, klass)
        lead = f"a {offered.dialect_of(chosen)} for {chosen.serves}"
        return Picture(chosen.name, lead, pictures.of_class(chosen, project.table()))
    plan = project.plan(stack or _only_stack(project), unrecorded_ok=True)
    whole = pictures.of_stack(plan, project.table())
    lead = f"{plan.project}, stack {plan.stack}"
    if claim:
        keys = [*(c.binding.claim.key for c in plan.claims), *(w.placement.application.key for w in plan.workloads)]
        key = named(claim, [*keys, *(u.claim.key for u in plan.unbound)], plan.stack)
        return Picture(key.short, lead, pictures.narrowed(whole, [str(key)]))
    if klass:
        chosen = _class(project, plan.stack, klass)
        graph = pictures.narrowed(whole, pictures.served_by(plan, chosen.key))
        return Picture(chosen.name, f"what it serves in {lead}", graph)
    return Picture(plan.stack, plan.project, whole)


def _only_stack(project: Project) -> str:
    stacks = project.stacks()
    if len(stacks) == 1:
        return stacks[0]
    fix = f"name one of: {', '.join(stacks) or 'none yet'}"
    raise LoadError(Problem(f"the project has {len(stacks)} stacks", fix=fix))


def _class(project: Project, stack: str | None, name: str) -> Class:
    """The class that a name, or `Kind.group/name`, names."""
    known = project.catalog(stack).classes
    found = [c for c in known.values() if name in (c.name, str(c.key))]
    if len({c.key for c in found}) == 1:
        return found[0]
    if found:
        fix = f"say which: {', '.join(sorted({str(c.key) for c in found}))}"
        raise CatalogError(Problem(f"{name!r} names {len(found)} classes", fix=fix))
    names = sorted({c.name for c in known.values()})
    close = nearest(name, names)
    fix = f"did you mean {close}?" if close else f"use one of: {', '.join(names) or 'none yet'}"
    raise CatalogError(Problem(f"there is no class {name!r}", fix=fix))


def _one(known: Facts, claim: str | None) -> Known:
    if claim:
        return known.find(claim)[0]
    if len(known.claims) == 1:
        return next(iter(known.claims.values()))
    listed = ", ".join(str(key) for key in known.claims) or "none yet"
    raise LoadError(Problem(f"{known.stack} has {len(known.claims)} claims", fix=f"name one of: {listed}"))
