"""Fields that a pipeline fills in from another of its resources, once that one exists.

A template that prints a field of a resource it composes itself prints nothing of use before there is one. Where such a
field is a whole value of another resource (`templating/readings.py`), it becomes a `Ref`: the engine creates the one
resource, then the other with what the template prints for it. That is what the next deployment would write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from claimsmith.base import fieldpath, topological
from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.base.values import Ref, copied, value_at
from claimsmith.dialects.common.klass import Template
from claimsmith.functions import pipeline
from claimsmith.functions.pipeline import Outcome
from claimsmith.functions.protocol import State
from claimsmith.templating.readings import NO_VALUE, Scalar

Scalars = Mapping[str, Mapping[fieldpath.Path, Scalar]]
"""The fields of each resource that another one fills in."""
_HEAD = frozenset({"apiVersion", "kind", "metadata"})
"""What identifies a resource, and how the engine treats it: known before it runs."""
_KNOWN = frozenset({"deletionPolicy", "managementPolicies", "publishConnectionDetailsTo", "reclaimPolicy"})
_PLACED = ("writeConnectionSecretToRef", "Selector")
"""Fields, by the ends of their names, that decide about the plan: where Secrets are, and what is selected."""


def scalars_of(outcome: Outcome, names: Iterable[str]) -> dict[str, dict[fieldpath.Path, Scalar]]:
    """The fields that resources of a pipeline fill in for each other; none that would make them wait in a circle."""
    composed = sorted(names)
    found = {name: _own(name, outcome, frozenset(composed)) for name in composed}
    needs: dict[str, set[str]] = {name: set() for name in composed}
    for name in composed:
        for path, scalar in [*found[name].items()]:
            source = scalar.reading.resource
            if _reaches(source, name, needs):
                del found[name][path]
            else:
                needs[name].add(source)
    return {name: fields for name, fields in found.items() if fields}


def _own(name: str, outcome: Outcome, composed: frozenset[str]) -> dict[fieldpath.Path, Scalar]:
    return {
        path: scalar
        for path, scalar in pipeline.later(name, outcome).items()
        if scalar.reading.resource in composed and _may_wait(path)
    }


def _may_wait(path: fieldpath.Path) -> bool:
    """Whether a field may be unknown until the engine runs."""
    decides = any(isinstance(step, str) and (step in _KNOWN or step.endswith(_PLACED)) for step in path)
    return path[0] not in _HEAD and not decides


def _reaches(start: str, end: str, needs: Mapping[str, set[str]]) -> bool:
    """Whether one resource is the other, or comes after it."""
    seen, waiting = {start}, [start]
    while waiting:
        further = needs.get(waiting.pop(), set()) - seen
        seen |= further
        waiting.extend(further)
    return end in seen


def awaited(first: Scalars) -> dict[str, tuple[str, ...]]:
    """The status fields of each resource that the engine waits for, by what is read while nothing is observed.

    A field that the template has another value for may never come. What was already there is not waited for either:
    the annotation for it would come and go with what exists.
    """
    found: dict[str, dict[str, None]] = {}
    for fields in first.values():
        for scalar in fields.values():
            reading = scalar.reading
            if not reading.optional and reading.path[0] == "status":
                found.setdefault(reading.resource, {})[fieldpath.to_text(reading.path)] = None
    return {name: tuple(sorted(paths)) for name, paths in found.items()}


def referring(
    templates: Iterable[Template], scalars: Scalars, claim: ClaimKey, observed: State
) -> tuple[Template, ...]:
    """The templates with a `Ref` in each field that another one fills in, each template after those it needs.

    Composites are composed before the engine runs: they neither wait nor are waited for.
    """
    by_name = {t.name: t for t in templates}
    waiting = without_composites(scalars, by_name.values())
    completed = {name: _with_refs(t, waiting.get(name, {}), claim, observed) for name, t in by_name.items()}
    needs = {
        name: [(s.reading.resource, fieldpath.to_text(path)) for path, s in fields.items()]
        for name, fields in waiting.items()
    }
    return tuple(completed[name] for name in topological.ordered(list(completed), needs))


def without_composites(scalars: Scalars, templates: Iterable[Template]) -> dict[str, dict[fieldpath.Path, Scalar]]:
    """The fields of plain resources that plain resources fill in."""
    plain = {t.name for t in templates if not t.composite}
    kept = {n: {p: s for p, s in fields.items() if s.reading.resource in plain} for n, fields in scalars.items()}
    return {name: fields for name, fields in kept.items() if name in plain and fields}


def _with_refs(template: Template, fields: Mapping[fieldpath.Path, Scalar], claim: ClaimKey, seen: State) -> Template:
    base = copied(dict(template.base)) if fields else template.base
    for path, scalar in fields.items():
        reading = scalar.reading
        source = seen.resources.get(reading.resource)
        there = source is not None and value_at(source.document, reading.path) is not None
        known = value_at(base, path) if there else None
        address = ChildAddress(claim, reading.resource)
        fieldpath.put(base, path, Ref(address, reading.path, known=None if known == NO_VALUE else known))
    return replace(template, base=base) if fields else template
