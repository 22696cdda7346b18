"""Bases against their schemas, by themselves: what a class contains whatever the claim is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from claimsmith.base import fieldpath
from claimsmith.base.errors import EngineError, Problem
from claimsmith.base.values import Interpolation, Mix, Ref
from claimsmith.compose import references
from claimsmith.compose.references import Table
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.dialects.composite_classes import reading as composite_classes
from claimsmith.kubernetes import schema as schemas
from claimsmith.tools.validate.schemas import Rules

_SECRET = "writeConnectionSecretToRef"


class _Later:
    """A value that is resolved only at deploy time."""


LATER: Final = _Later()


def base_problems(template: Template, klass: Class, rules: Rules) -> list[Problem]:
    """What is wrong with a base under its definition.

    Document 001 wants the base to be valid by itself, even where patches overwrite all of it; other bases are parts.
    """
    found = rules.of_template(template)
    if found is None or not template.spec_at or template.opaque:
        return []
    data: Any = certain(template, klass, rules)
    at = fieldpath.parse(template.spec_at)
    if at[-2:] == ("base", "spec"):
        at = at[:-1]
    else:
        data, found = data.get("spec") or {}, schemas.at_path(found, ("spec",)) or {}
    whole = is_whole(klass, template)
    document = template.document or klass.document
    problems = schemas.check(data, found, document=document, at=at, skip=is_later, partial=not whole)
    return [quotable(replace(p, what=f"{template.kind}: {p.what}")) for p in problems]


def version_problems(template: Template, klass: Class, rules: Rules) -> Iterator[Problem]:
    """A base of a version that is not served."""
    served = rules.versions(template.group_kind)
    version = template.api_version.rpartition("/")[2]
    if served is not None and version not in served:
        path = template.place_of("apiVersion") if template.spec_at.endswith("base.spec") else "apiVersion"
        document = template.document or klass.document
        what = f"{template.group_kind} has no version {version}"
        fix = f"write one of: {', '.join(served)}" if served else "serve one in its definition"
        yield Problem(what, document.source_of(path), path, fix)


def certain(template: Template, klass: Class, rules: Rules) -> dict[str, Any]:
    """What a template composes for every claim; providers, not claimsmith, resolve Crossplane selectors."""
    return dict(template.base) if klass.steps or template.native else _with_references(template.base, rules.table)


def _with_references(base: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """The base with what is added to it whatever the claim: references for selectors, the name of its Secret."""
    data = dict(base)
    # A selector that matches nothing is reported with the claims that use it.
    with suppress(EngineError):
        data = references.replace_selectors(base, table, lambda _: LATER)
    spec = data.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get(_SECRET), dict):
        data["spec"] = {**spec, _SECRET: {"name": LATER, **spec[_SECRET]}}
    return data


def is_whole(klass: Class, template: Template) -> bool:
    """Whether a base must be valid by itself, as composite classes require of objects; others have partial bases."""
    return klass.key.group_kind in composite_classes.KINDS and not template.native


def quotable(problem: Problem) -> Problem:
    """The problem; under a name of its own where only quotes are missing."""
    return replace(problem, rule="unquoted-text") if problem.fix.startswith("quote it") else problem


def is_later(value: Any) -> bool:
    """Whether a value is resolved only at deploy time."""
    return value is LATER or isinstance(value, Ref | Mix | Interpolation)
