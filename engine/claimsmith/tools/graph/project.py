"""`claimsmith graph`: a picture of a stack, a claim or a class of a project."""

from __future__ import annotations

from dataclasses import dataclass

from claimsmith.base.errors import CatalogError, LoadError, Problem, suggest
from claimsmith.dialects.common.klass import Class
from claimsmith.platform import offers as offered
from claimsmith.project.project import Project
from claimsmith.tools import graph as drawing
from claimsmith.tools.explain.facts import named
from claimsmith.tools.graph import Graph, pictures


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
        fix = f"use one of: {', '.join(sorted({str(c.key) for c in found}))}"
        raise CatalogError(Problem(f"{name!r} names {len(found)} classes", fix=fix))
    names = sorted({c.name for c in known.values()})
    raise CatalogError(Problem(f"there is no class {name!r}", fix=suggest(name, names)))
