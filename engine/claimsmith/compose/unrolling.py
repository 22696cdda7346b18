"""A class as one claim gets it: `forEach` and `when` resolved, so that each template has exactly one child.

A looped template becomes one template for each element, named after the element's key, whose patches read the element
by its place in the claim. Every later step handles plain templates only: plan, review, explanation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, ComposeError, EngineError, Problem
from claimsmith.base.values import Interpolation, SiblingOutput, mapped, value_at
from claimsmith.dialects.common.klass import Class, Loop, Patch, Side, Template
from claimsmith.dialects.common.loops import SIDES, is_path

_KEY = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")
MOST = 500
"""The most elements of a list that get a child each."""


def child_name(template: str, key: str) -> str:
    """The name of the child of an element: that of its template with the element's key behind it."""
    return f"{template}-{key}"


def is_varied(klass: Class) -> bool:
    """Whether the children of a class differ from claim to claim: in number, or in whether they are there."""
    return any(t.loop or t.when for t in klass.templates)


def unrolled(klass: Class, claim: Mapping[str, Any], document: Document) -> Class:
    """The class with a template for each child that a claim gets. Elements without a usable key are refused.

    `document` is the claim as it is written, for the places of problems. The digest stays that of the class.
    """
    if not is_varied(klass):
        return klass
    problems = Collector()
    templates: list[Template] = []
    for template in klass.templates:
        with problems.catch():
            templates += _templates(template, claim, klass, document)
    problems.problems += _doubled(templates, klass)
    problems.raise_as(ComposeError)
    found = replace(klass, templates=tuple(templates))
    found.memo["digest"] = klass.digest()
    return found


def _templates(template: Template, claim: Mapping[str, Any], klass: Class, document: Document) -> Iterator[Template]:
    if template.loop is None:
        if _holds(template, claim, klass):
            yield replace(template, when="")
        return
    looped = frozenset(t.name for t in klass.templates if t.loop)
    for index, (key, element) in enumerate(keyed(template.loop, claim, document)):
        if _holds(template, {**claim, template.loop.each: element}, klass):
            yield _of_element(template, template.loop, index, key, looped)


def keyed(loop: Loop, claim: Mapping[str, Any], document: Document | None = None) -> list[tuple[str, Any]]:
    """The elements of a claim's list with their keys. Keys that are no names, or not unique, are refused together."""
    listed = value_at(claim, loop.path)
    if listed is None:
        return []
    if not isinstance(listed, list) or len(listed) > MOST:
        what = "is not a list" if not isinstance(listed, list) else f"has more than {MOST} elements"
        raise ComposeError(_problem(f"{loop.path} {what}", loop.path, "write a list of elements", document))
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    for index, element in enumerate(listed):
        path = loop.path_of(index, f"{loop.each}.{loop.key}".removesuffix("."))
        key = element if not loop.key else value_at(element, loop.key)
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            what = f"{path} is not set" if key is None else f"{path}: {key!r} cannot name a resource"
            fix = "use at most 40 lower case letters, digits and dashes, each element its own"
            problems.append(_problem(what, path, fix, document))
        elif key in found:
            problems.append(_problem(f"{path}: {key!r} is there twice", path, "give each element its own", document))
        else:
            found[key] = element
    if problems:
        raise ComposeError(*problems)
    return [*found.items()]


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether a condition holds: a field that is set and neither false, zero nor empty, or a CEL expression."""
    if is_path(condition):
        return bool(value_at(values, condition))
    from claimsmith.functions import cel  # most classes have no expression: rendering them need not load it

    names = [name for name in values if name in SIDES or name not in ("apiVersion", "kind", "status")]
    return cel.expression(condition, names).is_true({name: values[name] for name in names})


def _holds(template: Template, values: Mapping[str, Any], klass: Class) -> bool:
    if not template.when:
        return True
    try:
        return holds(template.when, values)
    except EngineError as error:
        place = f"{template.at}.when"
        raise ComposeError(
            *(klass.document.problem(f"{template.name}: {p.what}", place, p.fix) for p in error.problems)
        ) from error


def _of_element(template: Template, loop: Loop, index: int, key: str, looped: frozenset[str]) -> Template:
    """The template of one element: its patches read that element, and it refers to siblings of the same element.

    `looped` are the names of the siblings that are looped too, each with the same list.
    """

    def read(patch: Patch) -> Patch:
        if patch.origin is not Side.claim:
            return patch
        return replace(patch, reads=tuple(loop.path_of(index, path) for path in patch.reads))

    def sibling(name: str) -> str:
        return child_name(name, key) if name in looped else name

    def named(leaf: Any) -> Any:
        if not isinstance(leaf, Interpolation):
            return leaf
        return Interpolation(
            tuple(replace(p, template=sibling(p.template)) if isinstance(p, SiblingOutput) else p for p in leaf.parts)
        )

    base = mapped(dict(template.base), named)
    if template.native and base.get("options", {}).get("dependsOn"):
        needs = [sibling(name) for name in base["options"]["dependsOn"]]
        base = {**base, "options": {**base["options"], "dependsOn": needs}}
    previous = child_name(template.previous_name, key) if template.previous_name else None
    return replace(
        template,
        name=child_name(template.name, key),
        base=base,
        patches=tuple(map(read, template.patches)),
        previous_name=previous,
        known_as=tuple(replace(k, name=child_name(k.name, key)) for k in template.known_as),
        details=(),
        loop=None,
        when="",
        element=(template.name, key),
    )


def _doubled(templates: list[Template], klass: Class) -> Iterator[Problem]:
    """The names that two children would share: that of an element, and that of another template."""
    seen: set[str] = set()
    for template in templates:
        if template.name in seen:
            what = f"two resources would be named {template.name}"
            yield klass.document.problem(what, template.at, "rename the template, or the element's key")
        seen.add(template.name)


def _problem(what: str, path: str, fix: str, document: Document | None) -> Problem:
    return document.problem(what, path, fix) if document else Problem(what, path=path, fix=fix)
