"""Reads `forEach` and `when` of a template, in the dialects whose classes list their templates.

Both depend on fields of the claim alone, so the set of children is known before anything is deployed. The child of an
element is identified by the element's key, never by its index: an element that moves in the list keeps its child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, Field

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, FieldPathError, ModelError, Problem
from claimsmith.base.fieldpath import parse_or_root
from claimsmith.base.model import Model
from claimsmith.base.values import Interpolation, walk
from claimsmith.dialects.common.klass import Loop, Template

_VARIABLE = re.compile(r"[a-z][A-Za-z0-9]*")
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_-]*|\[[^\]]+\])*")
_RESERVED = ("apiVersion", "kind", "metadata", "spec", "status", "environment")
SIDES = ("metadata", "spec")
"""The parts of a claim that a loop or a condition may read."""


def _variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name) or name in _RESERVED:
        raise ValueError(f"{name!r} cannot name an element; fix: use a word like zone, in lower case")
    return name


def _in_claim(path: str) -> str:
    if parse_or_root(path.removeprefix("."))[:1] not in [(side,) for side in SIDES] or fieldpath.has_wildcard(path):
        raise ValueError(f"{path!r} is no field of a claim; fix: name a list below spec")
    return path.removeprefix(".")


def _in_element(path: str) -> str:
    try:
        fieldpath.parse(path)
    except FieldPathError as error:
        raise ValueError(f"{error.problems[0].what}; fix: {error.problems[0].fix}") from error
    return path


class ForEach(Model):
    """`forEach` of a template."""

    each: Annotated[str, AfterValidator(_variable)]
    in_: Annotated[str, AfterValidator(_in_claim)] = Field(alias="in")
    key: Annotated[str, AfterValidator(_in_element)] = ""

    def loop(self) -> Loop:
        """The loop as a class keeps it."""
        return Loop(self.each, self.in_, self.key)


def is_path(condition: str) -> bool:
    """Whether a condition is a field of the claim or of an element, and no expression."""
    return bool(_PATH.fullmatch(condition)) and condition not in ("true", "false", "null")


def condition_reads(template: Template) -> Iterator[str]:
    """The fields that the condition of a template reads, as far as its text shows them."""
    if template.when:
        names = "|".join((*SIDES, *((re.escape(template.loop.each),) if template.loop else ())))
        # A name before a parenthesis is a method, and no field.
        yield from re.findall(rf"(?<![\w.'\"])(?:{names})(?:\.[A-Za-z_]\w*\b(?!\s*\())*", template.when)


def claim_reads(template: Template) -> Iterator[str]:
    """The fields of the claim that a template's loop and condition read; those of elements with a wildcard."""
    if template.loop:
        yield template.loop.path_of("*", f"{template.loop.each}.{template.loop.key}".removesuffix("."))
    for read in condition_reads(template):
        yield template.loop.path_of("*", read) if template.loop else read


def of_element(template: Template) -> Template:
    """A looped template as it is for the first element: its patches read fields of the claim."""
    loop = template.loop
    if loop is None:
        return template
    patches = tuple(replace(p, reads=tuple(loop.path_of(0, read) for read in p.reads)) for p in template.patches)
    return replace(template, patches=patches)


def check_loops(templates: Sequence[Template], document: Document) -> None:
    """Refuse conditions that read no field, and references to children of which there may be none or several."""
    problems = Collector()
    by_name = {template.name: template for template in templates}
    for template in templates:
        problems.problems += [*_condition_problems(template, document), *_loop_problems(template, document)]
        for name, place in _siblings(template):
            other = by_name.get(name)
            if other and (other.loop or other.when) and (other.loop, other.when) != (template.loop, template.when):
                why = "there is one for each element" if other.loop else "there is one only under its condition"
                what = f"{template.name} refers to {name}, and {why}"
                fix = "give both the same forEach and when, or refer to another resource"
                problems.add(document.problem(what, place, fix))
    problems.raise_as(ModelError)


def _condition_problems(template: Template, document: Document) -> Iterator[Problem]:
    if template.when and not any(condition_reads(template)):
        what = f"{template.name}: the condition {template.when!r} reads no field of the claim"
        yield document.problem(what, f"{template.at}.when", "name a field like spec.replica, or compare one in CEL")


def _loop_problems(template: Template, document: Document) -> Iterator[Problem]:
    if template.loop and template.details:
        what = f"{template.name}: each element would deliver the same connection details"
        yield document.problem(what, f"{template.at}.connectionDetails", "take them from a resource without forEach")
    if template.loop and template.opaque:
        what = f"{template.name}: an opaque template cannot be repeated"
        yield document.problem(what, f"{template.at}.forEach", "repeat a resource with a base and patches")


def _siblings(template: Template) -> Iterator[tuple[str, str]]:
    """The siblings that a template names, and where."""
    for path, leaf in walk(dict(template.base)):
        for output in leaf.outputs if isinstance(leaf, Interpolation) else ():
            yield output.template, template.place_of(fieldpath.to_text(path))
    for name in (template.base.get("options") or {}).get("dependsOn", ()) if template.native else ():
        yield name, f"{template.at}.base.options.dependsOn"
    for index, detail in enumerate(template.details or ()):
        if detail.from_resource:
            yield detail.from_resource, f"{template.at}.connectionDetails[{index}].fromResource"
