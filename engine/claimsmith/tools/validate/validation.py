"""All checks of a project, and what they found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, Problem, in_order
from claimsmith.base.printable import counted
from claimsmith.compose.native_types import native_types
from claimsmith.compose.plan import Plan
from claimsmith.compose.provider_names import unknown_providers
from claimsmith.dialects.common.claim import Claim
from claimsmith.platform.binding import folded
from claimsmith.platform.catalog import Catalog
from claimsmith.project import sdks
from claimsmith.project.components import component_problems
from claimsmith.project.project import Project
from claimsmith.project.settings import missing_plugins
from claimsmith.tools.validate import choices, crossplane, external_names, fields, files, native, references
from claimsmith.tools.validate.rules import Findings, caught, keep
from claimsmith.tools.validate.schemas import Rules


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


def validate(
    project: Project,
    stacks: Sequence[str],
    report_progress: Callable[[str], None] | None = None,
    *,
    strict: bool = False,
) -> Report:
    """Check the platform's files and each stack's claims; `report_progress` gets what is being checked.

    Where it is `strict`, every warning is an error: claims that no class serves, fields that nothing reads, and so on.
    """
    report, findings, found = Report(), Findings(), Collector()
    tell = report_progress or (lambda _: None)
    refused = partial(keep, found)
    with caught(found):
        tell("components")
        project = project.readable(refused)
        catalog = project.catalog(refused=refused)
        rules = Rules(catalog, project.table(), sdks.index_of)
        findings.add(_check_platform(project, catalog, rules, stacks, found))
        reported = {(p.where.file, p.path) for p in findings.errors if p.where}
        report.summary.append(f"components: {counted(len(catalog.classes), 'class')}")
        for stack in stacks:
            tell(stack)
            with caught(found):
                plan = project.plan(stack, unrecorded_ok=True, strict=strict, refused=refused)
                report.summary.append(_line(stack, plan))
                findings.add(_check_plan(plan, rules, reported))
                findings.add(_check_providers(project, plan))
        findings.odd("empty-stack", files.empty_stacks(project))
        with caught(found):
            findings.odd("unknown-table-kind", files.unknown_kinds(project, catalog))
    report.errors = in_order(folded([*findings.errors, *found.problems]))
    wrong = set(report.errors)
    warnings = [w for w in in_order(findings.warnings) if w not in wrong]
    if strict:
        report.errors = in_order([*report.errors, *warnings])
    else:
        report.warnings = warnings
    return report


def _check_platform(
    project: Project, catalog: Catalog, rules: Rules, stacks: Sequence[str], found: Collector
) -> Findings:
    """What is wrong with the platform's files, whether or not anybody claims anything."""
    findings = Findings()
    findings.odd("doubtful-document", catalog.warnings)
    findings.odd("plugin-missing", missing_plugins(project.root))
    findings.add(choices.check_choices(catalog))
    findings.odd("class-never-selected", choices.offered_nowhere(catalog, project.stacks()))
    findings.add(crossplane.check_crossplane(catalog, rules))
    findings.add(fields.check_classes(catalog, rules))
    findings.add(native.check_natives(catalog, rules))
    given: list[Document] = []
    for stack in stacks:
        with caught(found):
            given += project.given_documents(stack)
    findings.add(references.check_references(catalog, rules, given))
    findings.errors += _component_problems(project, catalog, findings.errors)
    return findings


def _component_problems(project: Project, catalog: Catalog, reported: Sequence[Problem]) -> list[Problem]:
    """What is wrong with the components.

    What the generator refuses in a file of which something is reported already is the same mistake, less precise.
    """
    files = {p.where.file for p in reported if p.where}
    found = component_problems(project, catalog.classes.values())
    return [p for p in found if p.rule or not p.where or p.where.file not in files]


def _check_plan(plan: Plan, rules: Rules, reported: fields.Reported) -> Findings:
    """What is wrong with a stack's claims, though each could be planned."""
    findings = Findings()
    for unbound in plan.unbound:
        if not _may_be_unreadable(unbound.claim, rules.unreadable):
            findings.report("unbound-claim", unbound.problem, never=unbound.mistake)
    findings.errors += plan.unread.errors
    findings.warnings += plan.unread.warnings
    unread = {(p.where, p.path) for p in plan.unread.errors}
    invalid = fields.claim_problems(plan, rules)
    findings.wrong("claim-invalid", (p for p in invalid if (p.where, p.path) not in unread))
    findings.wrong("result-invalid", fields.result_problems(plan, rules, reported))
    findings.odd("doubtful-plan", plan.warnings)
    findings.odd("shared-external-name", external_names.same_external_names(plan))
    findings.odd("shared-physical-name", external_names.same_physical_names(plan, native_types(rules.sdk).name))
    return findings


def _may_be_unreadable(claim: Claim, unreadable: Collection[str]) -> bool:
    """Whether the class of a claim may be one whose file cannot be read, which is reported already."""
    named = claim.class_ref.name if claim.class_ref else ""
    return (named or claim.key.group_kind.kind) in unreadable


def _check_providers(project: Project, plan: Plan) -> Findings:
    """What is wrong with the providers that native resources name, as far as the stack's files have them."""
    findings = Findings()
    providers = project.providers(plan.stack)
    if providers is not None:
        packages = {name: provider.package for name, provider in providers.items()}
        findings.wrong("provider-unknown", unknown_providers(plan, packages))
    return findings


def _line(stack: str, plan: Plan) -> str:
    children = sum(len(c.children) for c in plan.claims)
    claims = f"{counted(len(plan.claims), 'claim')} bound, {len(plan.unbound)} unbound"
    scheduled = f", {counted(len(plan.workloads), 'application')} scheduled" if plan.workloads else ""
    return f"{stack}: {claims}, {counted(children, 'resource')}{scheduled}"
