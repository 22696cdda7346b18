"""The checks of each stack's claims. A stack in which nothing was found is not planned again while its files stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from claimsmith.base.errors import Collector, Problem
from claimsmith.base.printable import counted
from claimsmith.compose.native_types import native_types
from claimsmith.compose.plan import Plan
from claimsmith.compose.provider_names import unknown_providers
from claimsmith.dialects.common.claim import Claim
from claimsmith.project import sdks
from claimsmith.project.components import order_problems
from claimsmith.project.digest_cache import Numbers
from claimsmith.project.project import Project
from claimsmith.project.stack_inputs import Inputs, digest_of, is_repeatable
from claimsmith.tools.many import Elsewhere, Silence, Tick, each_of
from claimsmith.tools.validate import external_names, fields
from claimsmith.tools.validate.rules import Findings, caught, keep
from claimsmith.tools.validate.schemas import Rules

Reported = frozenset[tuple[str, str]]
"""The problems of the platform, by file and path: those of a stack that come from them are not reported again."""
WORTH = 3
"""The digests of a project take about as long as planning two small stacks."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks of a stack found."""

    summary: str = ""
    """Empty where it has no plan."""
    findings: Findings = field(default_factory=Findings)
    problems: tuple[Problem, ...] = ()
    """Why it, or a part of it, has no plan."""
    numbers: Numbers | None = None
    """Claims and resources of a stack in which nothing is found, as long as its files stay."""


class StackKeys:
    """The digests of what the checks of stacks depend on.

    The first ones are of the platform as it was before: what was read of it since then is not newer than they say.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._first: Inputs | None = Inputs(project).read()

    def of(self, stacks: Sequence[str], *, strict: bool, reported: Reported) -> dict[str, str]:
        """The digests of the stacks that have one."""
        inputs, self._first = self._first or Inputs(self._project), None
        found = {stack: digest_of([inputs], stack, "validate", strict, sorted(reported)) for stack in stacks}
        return {stack: digest for stack, digest in found.items() if digest}


def check_stacks(
    project: Project,
    rules: Rules,
    stacks: Sequence[str],
    reported: Reported,
    *,
    strict: bool,
    keys: StackKeys | None = None,
    processes: int = 1,
    tick: Tick | None = None,
) -> list[Checked]:
    """What is wrong with the stacks, in their order; without `keys` all are planned."""
    silence = None
    if keys:
        digests = partial(keys.of, strict=strict, reported=reported)
        silence = Silence(project.root, "validate", digests, lambda c: c.numbers, count=2, result=_silent)
    arguments = project.root, project.left_out, reported, strict
    return each_of(
        stacks,
        partial(_check, project, rules, reported, strict),
        silence=silence,
        elsewhere=None if project.pending else Elsewhere(_checker, arguments),
        processes=processes,
        tick=tick,
    )


def _checker(root: Path, left_out: frozenset[str], reported: Reported, strict: bool) -> Callable[[str], Checked]:
    """The same in another process. What is wrong with the platform is reported already."""
    project = Project(root, left_out=left_out)
    catalog = project.catalog(refused=lambda _: None)
    return partial(_check, project, Rules(catalog, project.table(), sdks.index_of), reported, strict)


def _silent(stack: str, numbers: Numbers) -> Checked:
    claims, resources = numbers
    return Checked(_line(stack, claims, resources), numbers=numbers)


def _check(project: Project, rules: Rules, reported: Reported, strict: bool, stack: str) -> Checked:
    found, findings, line, numbers = Collector(), Findings(), "", None
    with caught(found):
        plan = project.plan(stack, unrecorded_ok=True, strict=strict, refused=partial(keep, found))
        counts = len(plan.claims), sum(len(c.children) for c in plan.walk())
        line = _line(stack, *counts, unbound=len(plan.unbound), workloads=len(plan.workloads))
        findings.add(_check_plan(plan, rules, reported))
        findings.add(_check_providers(project, plan))
        findings.errors += order_problems(project, plan)
        silent = not (findings.errors or findings.warnings or found.problems or plan.unbound)
        numbers = counts if silent and is_repeatable(plan) else None
    return Checked(line, findings, tuple(found.problems), numbers)


def _check_plan(plan: Plan, rules: Rules, reported: Reported) -> Findings:
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


def _line(stack: str, claims: int, resources: int, *, unbound: int = 0, workloads: int = 0) -> str:
    bound = f"{counted(claims, 'claim')} bound, {unbound} unbound"
    scheduled = f", {counted(workloads, 'application')} scheduled" if workloads else ""
    return f"{stack}: {bound}, {counted(resources, 'resource')}{scheduled}"
