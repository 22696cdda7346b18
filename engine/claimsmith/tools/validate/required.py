"""Required fields that neither the base nor a patch always sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import EngineError, Problem
from claimsmith.base.values import copied
from claimsmith.dialects.common.klass import Class, Patch, Side, Template
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.schema import Schema
from claimsmith.tools.validate.bases import LATER, certain, is_later, is_whole
from claimsmith.tools.validate.rules import Findings
from claimsmith.tools.validate.schemas import Rules

_GIVEN = frozenset({("metadata", "name"), ("metadata", "uid"), ("metadata", "namespace")})
"""What every claim or composite has."""


def check_required(template: Template, klass: Class, rules: Rules) -> Findings:
    """The required fields that a template leaves open: for certain, or for some claims."""
    findings = Findings()
    found = rules.of_template(template)
    if found is None or is_whole(klass, template) or template.opaque or not template.based or not template.spec_at:
        return findings
    claimed = rules.of(klass.claim_api_version, klass.serves)
    incoming = [p for p in template.patches if p.target is Side.resource]
    base = certain(template, klass, rules)
    sure = [p for p in incoming if _is_sure(p, claimed)]
    least, most = _unset(base, sure, found), _unset(base, incoming, found)
    for path in dict.fromkeys((*least, *most)):
        if any(fieldpath.has_wildcard(p.to) for p in incoming):
            # A wildcard may reach it.
            continue
        never = path in least and path in most
        if path in most or claimed is not None:
            findings.report("required-field-unset", _problem(path, template, klass, incoming), never=never)
    return findings


def _problem(path: fieldpath.Path, template: Template, klass: Class, patches: list[Patch]) -> Problem:
    text = fieldpath.to_text(path)
    document = template.document or klass.document
    setting = next((p for p in patches if fieldpath.parse(p.to)[: len(path)] == path), None)
    place = setting.at if setting else template.place_of(text)
    what = f"{template.kind}: {text} is required, and nothing sets it"
    fix = f"add {path[-1]}: to the base, or a required patch that writes it"
    if setting:
        what = f"{template.kind}: {text} is required, and only a patch from an optional field sets it"
        fix = "require the field in the claim's definition, give it a default, or make the patch Required"
    return Problem(what, document.source_of(place), place, fix)


def _is_sure(patch: Patch, claimed: Schema | None) -> bool:
    """Whether a patch always has something to write, or refuses the claim."""
    if patch.required:
        return True
    if patch.origin is not Side.claim or claimed is None:
        return False
    return all(_is_there(claimed, fieldpath.parse(path)) for path in patch.reads)


def _is_there(schema: Schema, path: fieldpath.Path) -> bool:
    """Whether every claim has a value at a path: required or defaulted, with all that it is in."""
    if path in _GIVEN:
        return True
    here: Schema | None = schema
    for depth, segment in enumerate(path):
        if here is None or not isinstance(segment, str):
            return False
        inner = schemas.at_path(here, (segment,))
        named = segment in (here.get("required") or ()) or (inner is not None and "default" in inner)
        if not named and (depth or segment != "spec"):
            return False
        here = inner
    return True


def _unset(base: dict[str, Any], patches: list[Patch], found: Schema) -> list[fieldpath.Path]:
    """The required fields that are not there once these patches are applied."""
    document = copied(base)
    for patch in patches:
        with suppress(EngineError):
            _mark(document, fieldpath.parse(patch.to))
    return list(_missing(schemas.defaulted(document, found), found, ()))


def _mark(document: dict[str, Any], path: fieldpath.Path) -> None:
    """Note that there will be something at a path."""
    for depth in range(1, len(path)):
        with suppress(EngineError):
            if is_later(fieldpath.get(document, path[:depth])):
                return
    fieldpath.put(document, path, None)
    holder: Any = fieldpath.get(document, path[:-1]) if len(path) > 1 else document
    holder[path[-1]] = LATER


def _missing(data: Any, schema: Schema, path: fieldpath.Path) -> Iterator[fieldpath.Path]:
    match data:
        case dict():
            for name in schema.get("required") or ():
                if name not in data:
                    yield (*path, name)
            for name, item in data.items():
                yield from _missing(item, schemas.at_path(schema, (name,)) or {}, (*path, name))
        case list():
            for index, item in enumerate(data):
                yield from _missing(item, schemas.at_path(schema, (index,)) or {}, (*path, index))
        case _:
            return
