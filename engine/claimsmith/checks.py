"""`claimsmith validate`: everything that can be told without an engine or a cluster, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.errors import Collector, Problem, in_order
from claimsmith.models.klass import Class
from claimsmith.plan import Plan
from claimsmith.project import Project


@dataclass(slots=True)
class Report:
    """What a validation found."""

    summary: list[str] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The report for a machine to read."""
        return {
            "valid": not self.errors,
            "errors": [p.to_dict() for p in self.errors],
            "warnings": [p.to_dict() for p in self.warnings],
        }


def validate(project: Project, stacks: Sequence[str]) -> Report:
    """Check the platform's files and each stack's claims."""
    report = Report()
    found = Collector()
    with found.catch():
        catalog = project.catalog()
        report.warnings += catalog.warnings
        found.problems += [p for c in catalog.classes.values() for p in component_problems(project, c)]
        report.summary.append(f"components: {len(catalog.classes)} classes")
        for stack in stacks:
            with found.catch():
                plan = project.plan(stack, unrecorded_ok=True)
                report.summary.append(_line(stack, plan))
                report.warnings += plan.warnings
                report.warnings += [u.problem for u in plan.unbound if not u.mistake]
                found.problems += [u.problem for u in plan.unbound if u.mistake]
    report.errors = in_order(found.problems)
    report.warnings = in_order(report.warnings)
    return report


def component_problems(project: Project, klass: Class) -> list[Problem]:
    """A component that is missing, or was generated from another state of its class."""
    path = project.component_path(klass)
    shown = path.relative_to(project.root).as_posix()
    where = klass.document.source_of("metadata.name")
    if not path.is_file():
        return [Problem(f"{klass.key} has no component: {shown} is missing", where, fix="run: claimsmith generate")]
    if klass.digest().encode() not in path.read_bytes():
        return [Problem(f"{shown} is stale: {klass.key} has changed since", where, fix="run: claimsmith generate")]
    return []


def _line(stack: str, plan: Plan) -> str:
    children = sum(len(c.children) for c in plan.claims)
    claims = f"{stack}: {len(plan.claims)} claims bound, {len(plan.unbound)} unbound, {children} resources"
    return f"{claims}, {len(plan.workloads)} applications scheduled" if plan.workloads else claims
