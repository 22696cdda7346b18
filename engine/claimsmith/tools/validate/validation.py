"""All checks of a project, and what they found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, Problem, in_order
from claimsmith.base.printable import counted
from claimsmith.platform.binding import folded
from claimsmith.platform.catalog import Catalog
from claimsmith.project import sdks
from claimsmith.project.components import component_problems
from claimsmith.project.project import Project
from claimsmith.project.settings import missing_plugins
from claimsmith.tools.many import Tick
from claimsmith.tools.validate import choices, crossplane, fields, files, native, references
from claimsmith.tools.validate.rules import Findings, caught, keep
from claimsmith.tools.validate.schemas import Rules
from claimsmith.tools.validate.stacks import WORTH, StackKeys, check_stacks


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
    *,
    strict: bool = False,
    cache: bool = False,
    processes: int = 1,
    tick: Tick | None = None,
) -> Report:
    """Check the platform's files and each stack's claims.

    Where it is `strict`, every warning is an error: claims that no class serves, fields that nothing reads, and so on.
    With `cache`, stacks in which nothing was found are not planned again; for `processes` and `tick` see `each_of`.
    """
    report, findings, found = Report(), Findings(), Collector()
    refused = partial(keep, found)
    if tick:
        tick(0, "components")
    with caught(found):
        keys = StackKeys(project) if cache and len(stacks) >= WORTH else None
        project = project.readable(refused)
        catalog = project.catalog(refused=refused)
        rules = Rules(catalog, project.table(), sdks.index_of)
        findings.add(_check_platform(project, catalog, rules, stacks, found))
        reported = frozenset((p.where.file, p.path) for p in findings.errors if p.where and p.path)
        report.summary.append(f"components: {counted(len(catalog.classes), 'class')}")
        for checked in check_stacks(
            project, rules, stacks, reported, strict=strict, keys=keys, processes=processes, tick=tick
        ):
            report.summary += [checked.summary] if checked.summary else []
            findings.add(checked.findings)
            found.problems += checked.problems
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
