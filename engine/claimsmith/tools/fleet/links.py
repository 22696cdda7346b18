"""Which stacks a stack needs, and its labels: both are read from the project's files.

A stack needs another if one of its resources is marked `claimsmith.io/given-by`, or if its config lists it:

    config:
      claimsmith:after: [network]
      claimsmith:labels: {team: shop, region: eu}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, EngineError, LoadError, Problem, Source, suggest
from claimsmith.base.labels import GIVEN_BY
from claimsmith.base.topological import ordered
from claimsmith.base.values import object_at
from claimsmith.project.project import Project
from claimsmith.project.settings import found_setting

AFTER = "after"
"""The setting that lists the stacks whose outputs a stack reads in a way that claimsmith cannot see."""
LABELS = "labels"
Needs = dict[str, tuple[str, ...]]
"""The stacks that each stack needs."""
Unreadable = dict[str, Problem]
"""The stacks whose files cannot be read, with the reason."""


def needs(project: Project, stacks: Sequence[str], *, unreadable: Unreadable | None = None) -> Needs:
    """What each of the stacks needs; a stack that is not there, or a circle, is refused.

    `unreadable` takes the problem of each stack whose files cannot be read, where the others are to go on.
    """
    present = set(project.stacks())
    problems = Collector()
    found: dict[str, list[tuple[str, str]]] = {}
    for stack in stacks:
        listed: list[tuple[str, Source]] = []
        with kept(unreadable, stack):
            listed = [*_given_by(project, stack), *_after(project, stack)]
        for name, where in listed:
            if name not in present:
                what = f"the stack {stack!r} needs the stack {name!r}, which is not there"
                problems.add(Problem(what, where, fix=suggest(name, sorted(present))))
            elif name == stack:
                problems.add(Problem(f"the stack {stack!r} needs itself", where, fix="remove that entry"))
        found[stack] = [(name, str(where)) for name, where in listed]
    problems.raise_as(LoadError)
    ordered(list(stacks), found)
    return {stack: tuple(dict.fromkeys(name for name, _ in listed)) for stack, listed in found.items()}


@contextmanager
def kept(unreadable: Unreadable | None, stack: str) -> Iterator[None]:
    """Keep the problem of a stack's own files, where somebody takes it; what is wrong for all stacks is raised."""
    try:
        yield
    except EngineError as error:
        own = all(p.where and p.where.file.startswith("stacks/") for p in error.problems)
        if unreadable is None or not own:
            raise
        unreadable.setdefault(stack, error.problems[0])


def unknown(needed: Needs, stacks: Iterable[str], unreadable: Unreadable) -> Unreadable:
    """The stacks of a run whose place in its order is not known: unreadable ones, and those that need one outside."""
    selected = set(stacks)
    found = {stack: unreadable[stack] for stack in unreadable if stack in selected}
    for stack in selected - found.keys():
        if far := next((n for n in _reached(needed, stack) if n in unreadable and n not in selected), None):
            what = f"the stack {stack!r} needs {far!r}, which cannot be read: {unreadable[far].what}"
            found[stack] = replace(unreadable[far], what=what)
    return found


def within(needed: Needs, stacks: Iterable[str]) -> Needs:
    """The needs among some stacks alone, also those that go through stacks that are not among them."""
    selected = list(stacks)
    among = set(selected)
    return {stack: tuple(name for name in _reached(needed, stack) if name in among) for stack in selected}


def turned(needed: Needs) -> Needs:
    """The needs the other way round: what a stack's removal has to wait for."""
    return {stack: tuple(other for other in needed if stack in needed[other]) for stack in needed}


def labels(project: Project, stack: str) -> dict[str, str]:
    """The labels of a stack."""
    found = found_setting(project.root, stack, LABELS)
    if found is None:
        return {}
    document, path, value = found
    entries = _parsed(value)
    if not isinstance(entries, Mapping) or any(isinstance(v, dict | list) for v in entries.values()):
        raise LoadError(_wrong(document, path, LABELS, "an object of texts", "{team: shop}"))
    return {str(key): _text(item) for key, item in entries.items()}


def _reached(needed: Needs, stack: str) -> list[str]:
    """All that a stack needs, near and far."""
    seen: dict[str, None] = {}
    waiting = list(needed.get(stack, ()))
    while waiting:
        name = waiting.pop(0)
        if name not in seen:
            seen[name] = None
            waiting += needed.get(name, ())
    return list(seen)


def _given_by(project: Project, stack: str) -> list[tuple[str, Source]]:
    """The stacks that provide resources of this one, each with the place that says so."""
    path = ("metadata", "annotations", GIVEN_BY)
    found = []
    for document in project.given_documents(stack):
        name = object_at(object_at(document.data, "metadata"), "annotations").get(GIVEN_BY)
        if name:
            found.append((str(name), document.source_of(path)))
    return found


def _after(project: Project, stack: str) -> list[tuple[str, Source]]:
    found = found_setting(project.root, stack, AFTER)
    if found is None:
        return []
    document, path, value = found
    listed = _parsed(value)
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise LoadError(_wrong(document, path, AFTER, "a list of stacks", "[network]"))
    return [(name, document.source_of(path)) for name in listed]


def _wrong(document: Document, path: fieldpath.Path, name: str, wanted: str, example: str) -> Problem:
    return Problem(
        f"claimsmith:{name} is not {wanted}",
        document.source_of(path),
        fieldpath.to_text(path),
        f"write it as claimsmith:{name}: {example}",
    )


def _parsed(value: Any) -> Any:
    """The value as it is written, or as `pulumi config set` keeps an object: JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _text(value: Any) -> str:
    """A label as text: what YAML reads as a truth value or a number is meant as it is written."""
    return str(value).lower() if isinstance(value, bool) else str(value)
