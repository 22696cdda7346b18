"""Fields against their schemas: bases, and what comes out for each claim.

Only kinds whose CustomResourceDefinition is among the platform's files, or that are defined there, can be checked. What
an API server would drop silently is reported here, with the field that was most likely meant.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem
from claimsmith.compose.drafts import Child
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.dialects.common.klass import Template
from claimsmith.dialects.common.loops import of_element
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.schema import Schema
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.unread import CHOOSING
from claimsmith.tools.validate import loops, patches, required
from claimsmith.tools.validate.bases import base_problems, is_later, quotable, version_problems
from claimsmith.tools.validate.rules import Findings
from claimsmith.tools.validate.schemas import Rules, classes, readable

_OURS = ("claimRef", "classRef", "compositeRef", "aggregateRef")


def check_classes(catalog: Catalog, rules: Rules) -> Findings:
    """What is wrong with the classes' bases and patches."""
    findings = Findings()
    for klass in classes(catalog):
        for template in klass.templates:
            findings.wrong("version-not-served", version_problems(template, klass, rules))
            findings.wrong("base-invalid", base_problems(template, klass, rules))
            one = of_element(template)
            findings.add(required.check_required(readable(one), klass, rules))
            findings.add(patches.check_patches(one, klass, rules))
            findings.add(loops.check_loops(template, klass, rules))
        for step in klass.steps:
            # Between composite and environment, or to the place of a Secret: there is no resource.
            others = Template(name=step.name, base={}, patches=(*step.environment, *step.secret.patches))
            findings.add(patches.check_patches(others, klass, rules))
    return findings


def claim_problems(plan: Plan, rules: Rules) -> Iterator[Problem]:
    """Problems of claims with the provided CRDs of their kinds; defined kinds are checked as they are read."""
    for claim in (c.binding.claim for c in plan.claims):
        found = rules.given(claim.api_version, claim.key.group_kind)
        if found is not None:
            yield from map(quotable, schemas.check(_kept(claim.data, CHOOSING, found), found, document=claim.document))


Reported = Container[tuple[str, str]]
"""The problems that are reported already, by file and path."""


def result_problems(plan: Plan, rules: Rules, reported: Reported = frozenset()) -> Iterator[Problem]:
    """What is wrong with the claims' children, beside what is wrong with their classes already."""
    bases: dict[int, set[str]] = {}
    for claim in plan.walk():
        for child in claim.children:
            found = rules.of_template(child.template)
            if found is None or child.template.existing_id:
                continue
            key = id(child.template)
            if key not in bases:
                bases[key] = {p.path for p in base_problems(child.template, claim.binding.klass, rules)}
            for problem in schemas.check(_kept(child.document, _OURS, found), found, document=None, skip=is_later):
                yield from _blamed(problem, child, claim, found, bases[key], reported)


def _kept(document: dict[str, Any], ours: Container[str], found: Schema) -> dict[str, Any]:
    """The document without what binds it, where its kind does not know that."""
    spec = document.get("spec")
    if not isinstance(spec, dict):
        return document
    return {**document, "spec": {k: v for k, v in spec.items() if k not in ours or schemas.knows(found, ("spec", k))}}


def _blamed(
    problem: Problem, child: Child, claim: PlannedClaim, found: Schema, known: set[str], reported: Reported
) -> Iterator[Problem]:
    """The problem of a result at the claim's field that it comes from, else at the base's."""
    template, klass = child.template, claim.binding.klass
    document = template.document or klass.document
    path = fieldpath.parse(problem.path)
    for outcome in reversed([o for o in child.outcomes if o.applied]):
        to = fieldpath.parse(outcome.patch.to)
        if not schemas.knows(found, to) and (_within(path, to) or _within(to, path)):
            # The patch itself is reported.
            return
        if _within(path, to):
            if (document.file, outcome.patch.at) in reported:
                return
            read = outcome.patch.reads[0]
            place = document.source_of(outcome.patch.at)
            what = f"{claim.address}, child {template.name!r}: {problem.path}: {problem.what} (patch at {place})"
            yield quotable(replace(problem, what=what, where=claim.binding.claim.document.source_of(read), path=read))
            return
    written = claim.piped.written_by(template.name, path) if claim.piped else None
    if written:
        step, where = written
        what = f"{claim.address}, child {template.name!r}: {problem.what} (written by the step {step.name!r})"
        yield quotable(replace(problem, what=what, where=where))
        return
    if template.opaque:
        what = f"{claim.address}, child {template.name!r}: {problem.path}: {problem.what}"
        yield replace(problem, what=what, where=document.source_of(template.at), path=template.at)
        return
    place_text = template.place_of(problem.path)
    if place_text not in known and (document.file, place_text) not in reported:
        what = f"{template.kind}: {problem.what}"
        yield quotable(replace(problem, what=what, where=document.source_of(place_text), path=place_text))


def _within(path: fieldpath.Path, to: fieldpath.Path) -> bool:
    """Whether a path is at or below another."""
    return fieldpath.overlap(path, to) and len(path) >= len(to)
