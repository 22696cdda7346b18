"""What a function answered, checked like any input: names, kinds, numbers, depth and counts.

It is one check for all functions, built in or not: a program, a script and a template can all go wrong, or mean harm.
What a function only passed on was checked before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sized
from typing import Any, Final

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.names import is_native
from claimsmith.functions.protocol import Request, Requirements, Resource, Response

MOST_RESOURCES: Final = 10_000
_MOST_REQUIREMENTS: Final = 1_000
_MOST_RESULTS: Final = 10_000
_MOST_VALUES: Final = 1_000_000
"""In all documents of one answer."""
_LONGEST_NAME: Final = 1_000
_DEEPEST: Final = 100


def check(response: Response, request: Request) -> None:
    """Refuse a response that Crossplane would not take, or that is larger than any composition needs."""
    before, desired = request.desired, response.desired
    _few(desired.resources, MOST_RESOURCES, "desired resources")
    _few(response.results, _MOST_RESULTS, "results")
    _few(response.conditions, _MOST_RESULTS, "conditions")
    _requirements(response.requirements)
    for condition in response.conditions:
        _named(condition.type)
    size = 0
    for name, resource in desired.resources.items():
        if before.resources.get(name) is resource:
            continue
        if name:  # a KCL program may leave one resource without a name, as in Crossplane
            _named(name.replace("\n", " "))  # a name of several lines is odd, and no harm
        where = f"the desired resource {name!r}"
        _head(resource.document, where)
        size = _document(resource, where, size)
    if desired.composite is not before.composite:
        size = _document(desired.composite, "the composite", size)
    if response.context is not request.context:
        _plain(response.context, "the context", size)


def _requirements(requirements: Requirements) -> None:
    for wanted in (requirements.extra_resources, requirements.resources, requirements.schemas):
        _few(wanted, _MOST_REQUIREMENTS, "requirements")
        for name in wanted:
            _named(name)


def _few(items: Sized, most: int, what: str) -> None:
    if len(items) > most:
        raise refused(f"it has {len(items)} {what}; the most is {most}")


def _named(text: str) -> str:
    if not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise refused(f"it uses {text[:40]!r} as a name")
    return text


def _head(document: Mapping[str, Any], where: str) -> None:
    for key in () if is_native(document) else ("apiVersion", "kind"):
        if not isinstance(document.get(key), str) or not document[key]:
            raise refused(f"{where} has no {key}")
    metadata = document.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise refused(f"{where} has a metadata that is no object")


def _document(resource: Resource, where: str, size: int) -> int:
    for name in resource.details:
        _named(name)
    return _plain(resource.document, where, size)


def _plain(document: Any, where: str, size: int) -> int:
    """Refuse what no JSON document can hold; how many values there are so far."""
    waiting: list[tuple[Any, int]] = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        size += 1
        if depth > _DEEPEST:
            raise refused(f"{where} nests more than {_DEEPEST} levels")
        inner: Iterable[Any] = ()
        match value:
            case float() if not math.isfinite(value):
                raise refused(f"{where} has a number that is not finite")
            case Mapping():
                inner = value.values()
            case list() | tuple():
                inner = value
        waiting.extend((item, depth + 1) for item in inner)
        if size + len(waiting) > _MOST_VALUES:
            raise refused(f"its documents have more than {_MOST_VALUES} values")
    return size


def refused(what: str) -> ComposeError:
    """The refusal of an answer."""
    fix = "fix the function or its input, or pin another version"
    return ComposeError(Problem(f"the function's answer is refused: {what}", fix=fix))
