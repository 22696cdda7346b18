"""`claimsmith explain`: answers from the files of a project."""

from __future__ import annotations

from claimsmith.base.errors import LoadError, Problem
from claimsmith.compose import clusters
from claimsmith.compose.plan import Plan
from claimsmith.project.project import Project
from claimsmith.tools import explain
from claimsmith.tools.explain import Explanation, Facts, Trace
from claimsmith.tools.explain.children import ExplainedChild
from claimsmith.tools.explain.facts import ClaimFacts
from claimsmith.tools.explain.provenance import named_child


def facts(project: Project, stack: str) -> Facts:
    """All that can be resolved of a stack's claims, whatever is wrong with some of them."""
    project.check_stack(stack)
    catalog = project.catalog(stack)
    given = project.given(catalog)
    found = explain.gather(
        catalog,
        project.records(stack),
        project=project.name,
        stack=stack,
        table=project.table(),
        scopes=project.scopes(catalog),
        given=given,
        keeps_records=project.setting(stack, "records") == "true",
        declared=project.declared_functions(programs=False),
    )
    if not given and not catalog.workloads.applications and not project.names_cluster(stack):
        _settle(found)
    return found


def _settle(found: Facts) -> None:
    """Leave out the Secrets of claims where no cluster is there for them, as the plan does."""
    known = [claim for claim in found.claims.values() if claim.planned]
    plan = Plan(found.project, found.stack, tuple(claim.planned for claim in known if claim.planned))
    for claim, planned in zip(known, clusters.settled(plan, cluster=False).claims, strict=True):
        claim.planned = planned


def explanations(project: Project, stack: str, claim: str | None = None) -> list[Explanation]:
    """The explanations of a stack's claims, or of one."""
    stack_facts = facts(project, stack)
    selected = stack_facts.find(claim) if claim else stack_facts.claims.values()
    return [explain.explain_claim(stack_facts, one) for one in selected]


def trace(project: Project, stack: str, claim: str | None, *, child: str | None, field: str) -> Trace:
    """How a field of a claim's child came about."""
    stack_facts = facts(project, stack)
    return explain.trace(stack_facts, _one(stack_facts, claim), child=child, path=field)


def traces(project: Project, stack: str, claim: str | None, *, child: str | None, field: str) -> list[Trace]:
    """How a field came about: of one child, or of each that has it."""
    stack_facts = facts(project, stack)
    one = _one(stack_facts, claim)
    if child:
        return [explain.trace(stack_facts, one, child=child, path=field)]
    return explain.traces(stack_facts, one, path=field)


def part(project: Project, stack: str, claim: str | None, child: str) -> ExplainedChild | Explanation:
    """The explanation of one of a claim's children."""
    stack_facts = facts(project, stack)
    explanation = explain.explain_claim(stack_facts, _one(stack_facts, claim))
    return named_child(explanation.claim, dict(explanation.parts()), child)


def _one(stack_facts: Facts, claim: str | None) -> ClaimFacts:
    if claim:
        return stack_facts.find(claim)[0]
    if len(stack_facts.claims) == 1:
        return next(iter(stack_facts.claims.values()))
    listed = ", ".join(str(key) for key in stack_facts.claims) or "none yet"
    raise LoadError(Problem(f"{stack_facts.stack} has {len(stack_facts.claims)} claims", fix=f"name one of: {listed}"))
