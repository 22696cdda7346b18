"""Loops and conditions before any claim exists: what they read, and whether a condition fits the claim's schema."""

from __future__ import annotations

from collections.abc import Iterator

from claimsmith.base import fieldpath
from claimsmith.base.errors import EngineError, Problem
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.dialects.common.loops import SIDES, claim_reads, is_path
from claimsmith.functions import cel, cel_types
from claimsmith.functions.cel_types import Types
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.schema import Schema
from claimsmith.tools.validate.rules import Findings
from claimsmith.tools.validate.schemas import Rules


def check_loops(template: Template, klass: Class, rules: Rules) -> Findings:
    """What is wrong with a template's loop and its condition."""
    findings = Findings()
    if not template.loop and not template.when:
        return findings
    source = rules.of(klass.claim_api_version, klass.serves)
    if source is not None:
        findings.wrong("loop-unsound", _unknown_fields(template, klass, source))
        findings.wrong("loop-unsound", _no_list(template, klass, source))
    if template.when and not is_path(template.when):
        unknown = list(_unknown_fields(template, klass, source)) if source is not None else []
        findings.wrong("condition-invalid", _invalid(template, klass, None if unknown else source))
    return findings


def _unknown_fields(template: Template, klass: Class, source: Schema) -> Iterator[Problem]:
    for read in dict.fromkeys(claim_reads(template)):
        path = tuple(0 if step == fieldpath.WILDCARD else step for step in fieldpath.parse(read))
        if not schemas.knows(source, path):
            close = schemas.nearest_field(source, path)
            fix = f"did you mean {close!r}?" if close else "read a field that its definition names"
            what = f"{template.name}: it depends on {read}, which no {klass.serves.kind} has"
            yield _problem(what, "forEach" if template.loop else "when", fix, template, klass)


def _no_list(template: Template, klass: Class, source: Schema) -> Iterator[Problem]:
    found = schemas.at_path(source, fieldpath.parse(template.loop.path)) if template.loop else None
    if template.loop and found is not None and found.get("type") not in (None, "array"):
        what = f"{template.name}: {template.loop.path} is of type {found['type']}, and forEach takes a list"
        yield _problem(what, "forEach.in", "name a list", template, klass)


def _invalid(template: Template, klass: Class, source: Schema | None) -> Iterator[Problem]:
    names = [*SIDES, *((template.loop.each,) if template.loop else ())]
    condition = cel.expression(template.when, names)
    try:
        returns = condition.returns()
        mistyped = condition.type_problems(_types(template, source)) if source is not None else []
    except EngineError as error:
        yield from (_problem(f"{template.name}: {p.what}", "when", p.fix, template, klass) for p in error.problems)
        return
    if returns != "BOOL":
        what = f"{template.name}: the condition `{template.when}` returns {returns.lower()}, and must return a boolean"
        yield _problem(what, "when", "compare the value, for example `… == true`", template, klass)
    for what, fix in mistyped:
        yield _problem(f"{template.name}: the condition `{template.when}`: {what}", "when", fix, template, klass)


def _types(template: Template, source: Schema) -> Types:
    """The types of what a condition reads, by the schema of the claim."""
    types = Types()
    types.declare("metadata", cel_types.metadata())
    types.declare("spec", schemas.at_path(source, ("spec",)))
    if template.loop:
        types.declare(template.loop.each, schemas.at_path(source, (*fieldpath.parse(template.loop.path), 0)))
    return types


def _problem(what: str, field: str, fix: str, template: Template, klass: Class) -> Problem:
    return (template.document or klass.document).problem(what, f"{template.at}.{field}", fix)
