"""The annotations by which a platform's files direct claimsmith: a slip in one would be ignored without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from claimsmith.base import errors, labels
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, Problem
from claimsmith.base.values import object_at
from claimsmith.dialects.common.klass import Class

_PREFIX = labels.DIRECTING[0]
_KNOWN = (
    *(labels.PROTECT, labels.ADOPT, labels.GIVEN_BY, labels.CONTROLLER_OWNED, labels.TIMEOUT, labels.IMPORT),
    *(labels.TAGS, labels.PREVIOUS_API_VERSION, labels.OWNER),
    *(f"{_PREFIX}{word}" for word in ("class", "description", "stacks")),
)
_SWITCH = ("true", "false")


def check_annotations(classes: Iterable[Class], problems: Collector, warnings: list[Problem]) -> None:
    """Refuse values of `protect` that protect nothing, and warn about annotations with almost the name of one."""
    seen: set[tuple[int, str]] = set()
    for document, place, key, value in (found for klass in classes for found in _annotations(klass)):
        path = f"{place}[{key}]"
        if (id(document), path) in seen:
            continue
        seen.add((id(document), path))
        if key == labels.PROTECT and value not in _SWITCH:
            what = f"{key} is {value!r}, which protects nothing"
            problems.add(document.problem(what, path, 'write "true", or "false"'))
        elif key.startswith(_PREFIX) and key not in _KNOWN and (meant := _nearest(key)):
            warnings.append(document.problem(f"there is no annotation {key}", path, f"did you mean {meant!r}?"))


def _nearest(key: str) -> str:
    """The annotation that was most likely meant; empty where none is close. All of them begin alike."""
    meant = errors.nearest(key.removeprefix(_PREFIX), [known.removeprefix(_PREFIX) for known in _KNOWN])
    return f"{_PREFIX}{meant}" if meant else ""


def _annotations(klass: Class) -> Iterator[tuple[Document, str, str, Any]]:
    """The annotations of a class and of the bases of its templates, with their places."""
    place = "metadata.annotations"
    yield from ((klass.document, place, k, v) for k, v in klass.annotations.items())
    for template in klass.templates:
        metadata = object_at(dict(template.base), "metadata")
        document = template.document or klass.document
        given = metadata.get("annotations")
        for key, value in given.items() if isinstance(given, Mapping) else ():
            yield document, template.place_of(place), str(key), value
