"""All checks of a project, and what they found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.checks import choices, fields, names
from claimsmith.checks.components import component_problems
from claimsmith.checks.findings import Findings
from claimsmith.errors import Collector, Problem, in_order
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
    findings = Findings()
    found = Collector()
    with found.catch():
        catalog = project.catalog()
        rules = fields.Rules(catalog, project.table())
        findings.warnings += catalog.warnings
        findings.errors += [p for c in catalog.classes.values() for p in component_problems(project, c)]
        findings.add(choices.check_choices(catalog))
        findings.add(fields.check_classes(catalog, rules))
        report.summary.append(f"components: {len(catalog.classes)} classes")
        for stack in stacks:
            with found.catch():
                plan = project.plan(stack, unrecorded_ok=True)
                report.summary.append(_line(stack, plan))
                findings.add(_check_plan(plan, rules))
    report.errors = in_order([*findings.errors, *found.problems])
    report.warnings = in_order(findings.warnings)
    return report


def _check_plan(plan: Plan, rules: fields.Rules) -> Findings:
    """What is wrong with a stack's claims, though each could be planned."""
    findings = Findings(
        errors=[*(u.problem for u in plan.unbound if u.mistake), *fields.result_problems(plan, rules)],
        warnings=[*plan.warnings, *(u.problem for u in plan.unbound if not u.mistake)],
    )
    findings.warnings += names.same_external_names(plan)
    return findings


def _line(stack: str, plan: Plan) -> str:
    children = sum(len(c.children) for c in plan.claims)
    claims = f"{stack}: {len(plan.claims)} claims bound, {len(plan.unbound)} unbound, {children} resources"
    return f"{claims}, {len(plan.workloads)} applications scheduled" if plan.workloads else claims
