"""`claimsmith render STACK`: what a stack deploys, as YAML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from claimsmith import render as renderer
from claimsmith.compose.plan import Plan
from claimsmith.project.project import Project
from claimsmith.tools.explain.facts import named


def rendered(project: Project, stack: str, claim: str | None = None) -> Iterator[str]:
    """What a stack makes, as YAML, claim by claim."""
    return renderer.stream(_narrowed(project.plan(stack, unrecorded_ok=True), claim))


def rendered_documents(project: Project, stack: str, claim: str | None = None) -> list[dict[str, Any]]:
    """What a stack makes, as documents."""
    plan = _narrowed(project.plan(stack, unrecorded_ok=True), claim)
    documents = [document for c in plan.claims for document in renderer.documents(c)]
    return [*documents, *(document for w in plan.workloads for document in w.documents())]


def _narrowed(plan: Plan, claim: str | None) -> Plan:
    if claim is None:
        return plan
    keys = [*(c.binding.claim.key for c in plan.claims), *(w.placement.application.key for w in plan.workloads)]
    address = str(named(claim, keys, plan.stack))
    chosen = tuple(c for c in plan.claims if c.address == address)
    workloads = tuple(w for w in plan.workloads if w.address == address)
    return replace(plan, claims=chosen, workloads=workloads)
