"""Field paths: how a patch names a place in a document, and reads or writes what is there.

A path is text, `spec.items[0].name` or `metadata.labels['app.io/x']`, parsed to a tuple of field names (str) and array
indexes (int). Documents are plain dicts and lists; anything else in them, a `Ref` for one, is a leaf. The errors say
what is wrong with which part of the path; the caller, who knows the file, adds where it was written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from claimsmith.base.errors import FieldPathError, NotFound, Problem
from claimsmith.base.printable import counted

Segment = str | int
Path = tuple[Segment, ...]
Value = Any

WILDCARD: Final = "*"
MAX_INDEX: Final = 1024
"""The largest index that `put` writes to, so that one typing error does not make a list of millions."""

MAX_STEPS: Final = 128
"""The most steps of a path: twice as deep as a document may be, for a document inside another."""

_QUOTES = "'\""
_MAX_UINT32 = 2**32 - 1
_INT64 = range(-(2**63), 2**63)
_FIELD = re.compile(r"[^.\[\]]+")
_INDEX = re.compile(r"0*([0-9]{1,10})")


@lru_cache(maxsize=4096)
def parse(text: str) -> Path:
    """The segments of a path. Digits in brackets are an index, anything else is a field; one leading dot is allowed."""
    segments: list[Segment] = []
    position = 0
    while position < len(text):
        match text[position]:
            case ".":
                position = _after_dot(text, position)
            case "[":
                end = _closing_bracket(text, position)
                segments.append(_field_or_index(text[position + 1 : end]))
                position = end + 1
            case "]":
                raise _unexpected(text, position)
            case _:
                field = _FIELD.match(text, position)
                assert field is not None, "the other characters are handled above"
                segments.append(field.group().strip(_QUOTES))
                position = field.end()
        if len(segments) > MAX_STEPS:
            what = f'cannot parse path "{text[:80]}…": it has more than {MAX_STEPS} steps'
            raise FieldPathError(Problem(what, fix="name a place that is less deep"))
    return tuple(segments)


def parse_or_root(text: str) -> Path:
    """The segments of a path; none where it cannot be parsed, which is reported elsewhere."""
    try:
        return parse(text)
    except FieldPathError:
        return ()


def to_text(path: Iterable[Segment]) -> str:
    """The path as it is written; fields that hold a dot, and wildcards, in brackets."""
    return "".join(_segment_text(segment) for segment in path).removeprefix(".")


def has_wildcard(path: Path | str) -> bool:
    """Whether the path, as written, has a `[*]`. (`a.*` is the field named "*".)"""
    return f"[{WILDCARD}]" in (path if isinstance(path, str) else to_text(path))


def get(data: Value, path: Path | str) -> Value:
    """The value at the path; a null that is there is found. The empty path gives null."""
    path = _parsed(path)
    here: Value = data if path else None
    for depth, segment in enumerate(path):
        usual = here.__class__ is dict and segment.__class__ is str and segment in here
        here = here[segment] if usual else _step(here, path, depth)
    return here


def put(data: Value, path: Path | str, value: Value, *, max_index: int | None = MAX_INDEX) -> None:
    """Write a copy of the value at the path, in place, making the objects and arrays on the way there.

    An array is lengthened with nulls. A null array element is replaced by a container, a null field is not. Floats
    that are whole numbers are written as integers, as they would be in JSON. The empty path writes nothing.
    """
    path = _parsed(path)
    value = _as_json(value)
    if max_index is not None:
        for segment in path:
            _check_index(segment, max_index)
    here = data
    for depth, segment in enumerate(path):
        _check_container(here, path, depth)
        if depth == len(path) - 1:
            here[segment] = value
        else:
            here = _prepared(here, segment, path[depth + 1])


def delete(data: Value, path: Path | str) -> None:
    """Remove what is at the path, in place; later elements of an array move up. Nothing there is fine."""
    path = _parsed(path)
    here = data
    for depth, segment in enumerate(path):
        _check_container(here, path, depth)
        if not _holds(here, segment):
            return
        if depth == len(path) - 1:
            del here[segment]
        else:
            here = here[segment]


def expand(data: Value, path: Path | str) -> list[Path]:
    """The existing paths that a path with wildcards stands for, over arrays and over objects in the order of the file.

    Without a wildcard: the path itself, if it exists.
    """
    path = _parsed(path)
    try:
        return _expanded(data, path, 0)
    except FieldPathError as error:
        message = f'cannot expand wildcards in "{to_text(path)}": {error.problems[0].what}'
        raise type(error)(Problem(message, fix=error.problems[0].fix)) from error


def overlap(one: Path, other: Path) -> bool:
    """Whether one of two paths is at or within the other; a wildcard stands for any segment."""
    return all(a == b or WILDCARD in (a, b) for a, b in zip(one, other, strict=False))


# Parsing


def _parsed(path: Path | str) -> Path:
    return parse(path) if isinstance(path, str) else path


def _after_dot(text: str, position: int) -> int:
    """The position after a dot, which must be followed by a field name."""
    if position == len(text) - 1:
        raise _unexpected(text, position)
    if text[position + 1] in ".[":
        raise _unexpected(text, position + 1)
    return position + 1


def _closing_bracket(text: str, position: int) -> int:
    end = text.find("]", position)
    if end < 0:
        raise _unparsable(text, f"unterminated '[' at position {position}", "close it: name[0] or name['a.b']")
    if end == position + 1:
        raise _unexpected(text, end)
    nested = text.find("[", position + 1, end)
    if nested >= 0:
        raise _unexpected(text, nested)
    return end


def _field_or_index(text: str) -> Segment:
    digits = _INDEX.fullmatch(text)
    if digits and int(digits[1]) <= _MAX_UINT32:
        return int(digits[1])
    return text.strip(_QUOTES)


def _unexpected(text: str, position: int) -> FieldPathError:
    what = f"unexpected '{text[position]}' at position {position}"
    return _unparsable(text, what, "write fields with single dots between them, and indexes as name[0]")


def _unparsable(text: str, what: str, fix: str) -> FieldPathError:
    return FieldPathError(Problem(f'cannot parse path "{text}": {what}', fix=fix))


def _segment_text(segment: Segment) -> str:
    if isinstance(segment, int):
        return f"[{segment}]"
    if segment == "":
        return "['']"
    return f"[{segment}]" if segment == WILDCARD or "." in segment else f".{segment}"


# Reading and writing


def _step(here: Value, path: Path, depth: int) -> Value:
    """The value one segment further, or why there is none."""
    segment = path[depth]
    if isinstance(segment, int):
        if not isinstance(here, list):
            raise _wrong(path[:depth], "not an array", f"{_kind(here)} has no elements; name a field instead")
        if segment >= len(here):
            what = f"{to_text(path[: depth + 1])}: no such element"
            raise NotFound(Problem(what, fix=f"the array has {counted(len(here), 'element')}, counted from 0"))
        return here[segment]
    if here is None:
        what = f"{to_text(path[:depth]) or 'the document'}: expected map, got nil"
        raise NotFound(Problem(what, fix="add the field, or fix the path"))
    if not isinstance(here, dict):
        raise _wrong(path[:depth], "not an object", f"{_kind(here)} has no fields")
    if segment not in here:
        raise NotFound(Problem(f"{to_text(path[: depth + 1])}: no such field", fix="set the field, or fix the path"))
    return here[segment]


def _expanded(here: Value, path: Path, depth: int) -> list[Path]:
    for position in range(depth, len(path)):
        if path[position] == WILDCARD:
            head, tail = path[:position], path[position + 1 :]
            keys = _keys(here, head)
            return [p for key in keys for p in _expanded(here[key], (*head, key, *tail), position + 1)]
        try:
            here = _step(here, path, position)
        except NotFound:
            return []
    return [path]


def _keys(here: Value, path: Path) -> Iterable[Segment]:
    if isinstance(here, dict):
        return list(here)
    if isinstance(here, list):
        return range(len(here))
    if here is None:
        raise NotFound(Problem(f"{to_text(path)}: wildcard over null", fix="give it elements, or drop the [*]"))
    fix = f"[*] stands for the elements of an array or object, not of {_kind(here)}"
    raise _wrong(path, "unexpected wildcard usage", fix)


def _holds(here: Value, segment: Segment) -> bool:
    return segment < len(here) if isinstance(segment, int) else segment in here


def _prepared(here: Value, segment: Segment, following: Segment) -> Value:
    """The container at a segment, created if there is none, and long enough for the index that follows."""
    missing = here[segment] is None if isinstance(segment, int) else segment not in here
    if missing:
        here[segment] = [] if isinstance(following, int) else {}
    inner = here[segment]
    if isinstance(following, int) and isinstance(inner, list):
        inner.extend([None] * (following + 1 - len(inner)))
    return inner


def _check_container(here: Value, path: Path, depth: int) -> None:
    indexed = isinstance(path[depth], int)
    if not isinstance(here, list if indexed else dict):
        what = f"{to_text(path[:depth]) or 'the document'} is not {'an array' if indexed else 'an object'}"
        raise FieldPathError(Problem(what, fix=f"it is {_kind(here)}: change it, or fix the path"))


def _check_index(segment: Segment, limit: int) -> None:
    if isinstance(segment, int) and segment > limit:
        what = f"index {segment} is greater than max allowed index {limit}"
        raise FieldPathError(Problem(what, fix=f"use an index of at most {limit}"))


def _as_json(value: Value) -> Value:
    """A copy that shares no container with the original, with numbers as JSON would have them."""
    match value:
        case dict():
            return {key: _as_json(item) for key, item in value.items()}
        case list() | tuple():
            return [_as_json(item) for item in value]
        case float():
            if not math.isfinite(value):
                raise FieldPathError(Problem(f"cannot write {value}: JSON has no such number", fix="use a finite one"))
            return int(value) if value.is_integer() and int(value) in _INT64 else value
        case _:
            return value


def _wrong(path: Path, what: str, fix: str) -> FieldPathError:
    return FieldPathError(Problem(f"{to_text(path) or 'the document'}: {what}", fix=fix))


def _kind(value: Value) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "an array"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return f"a {type(value).__name__}"
