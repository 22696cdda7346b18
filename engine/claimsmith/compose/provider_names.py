"""The providers that native resources are created with: classes and claims name them, the stack's config has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from claimsmith.base.errors import Problem, Source, suggest
from claimsmith.base.names import GroupKind, is_native
from claimsmith.base.values import object_at
from claimsmith.compose.drafts import Child
from claimsmith.compose.plan import Plan, PlannedClaim

PATH = "options.provider"


def unknown_providers(plan: Plan, packages: Mapping[str, str]) -> Iterator[Problem]:
    """A problem for each provider that a native child names and the stack lacks, or that is of another package.

    `packages` are the packages of the stack's providers, by name. A class that many claims use is reported once.
    """
    reported: set[tuple[Source | None, str]] = set()
    for claim in (*plan.walk(), *plan.sinks.values()):
        for child in claim.children:
            problem = _problem(claim, child, plan.stack, packages) if is_native(child.document) else None
            if problem and (problem.where, problem.path) not in reported:
                reported.add((problem.where, problem.path))
                yield problem


def used_providers(plan: Plan) -> set[str]:
    """The names of all providers that the native children of a plan are created with."""
    claims = (*plan.walk(), *plan.sinks.values())
    children = (child for claim in claims for child in claim.children if is_native(child.document))
    return {name for child in children if isinstance(name := _name(child), str)}


def _name(child: Child) -> object:
    return object_at(child.document, "options").get("provider")


def _problem(claim: PlannedClaim, child: Child, stack: str, packages: Mapping[str, str]) -> Problem | None:
    name = _name(child)
    if name is None:
        return None
    package = GroupKind.of(child.document).group.partition(":")[0]
    head = f"{claim.address}: its child {child.template.name!r}"
    where, path = _place(claim, child, name)
    if not isinstance(name, str):
        what, fix = f"{head} has no name of a provider in {PATH}", "write the name of one in the stack's config"
    elif name not in packages:
        what = f"{head} uses the provider {name!r}, which the stack {stack!r} does not have"
        fitting = sorted(n for n, p in packages.items() if p == package)
        add = f"add it to claimsmith:providers in stacks/Pulumi.{stack}.yaml"
        fix = suggest(name, fitting, add)
    elif packages[name] != package:
        what = f"{head} is of the package {package!r}, and its provider {name!r} of {packages[name]!r}"
        fix = f"use a provider of {package}: {', '.join(n for n, p in packages.items() if p == package) or 'none yet'}"
    else:
        return None
    return Problem(what, where, path, fix)


def _place(claim: PlannedClaim, child: Child, name: object) -> tuple[Source, str]:
    """Where the name is written: in the class, or in the claim that a patch took it from."""
    template = child.template
    if object_at(template.base, "options").get("provider") == name:
        path = template.place_of(PATH)
        return (template.document or claim.binding.klass.document).source_of(path), path
    read = next((o.patch.reads[0] for o in child.outcomes if o.patch.to == PATH and o.patch.reads), "spec")
    return claim.binding.claim.document.source_of(read), read
