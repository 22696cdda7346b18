"""What a schema knows: the part of it that rules a field path, and the field that a wrong path most likely meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from claimsmith.base import errors, fieldpath
from claimsmith.base.fieldpath import Path, Segment

Schema = Mapping[str, Any]

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
EMBEDDED: Final = "x-kubernetes-embedded-resource"
"""Marks an object that has apiVersion, kind and metadata, whether its schema declares them or not."""
ON_DEMAND: Final = "x-claimsmith-on-demand"
"""Marks an object whose fields are read when they are asked for. It may contain itself: no search goes through it."""

OPEN: Final[Schema] = {PRESERVE: True}
"""The schema of a value without rules."""

_TEXT = {"type": "string"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_TIME = {"type": "string", "format": "date-time", "nullable": True}
_COUNT = {"type": "integer"}
OBJECT_META: Final[Schema] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion", "selfLink"), _TEXT),
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "finalizers": {"type": "array", "items": _TEXT},
        "ownerReferences": {"type": "array", "items": {"type": "object", PRESERVE: True}},
        "managedFields": {"type": "array", "items": {"type": "object", PRESERVE: True}},
        "creationTimestamp": _TIME,
        "deletionTimestamp": _TIME,
        "generation": _COUNT,
        "deletionGracePeriodSeconds": _COUNT,
    },
}

_HEAD: Final[Mapping[str, Schema]] = {
    "apiVersion": {"type": "string", "pattern": "^[^/]+(/[^/]+)?$"},
    "kind": {"type": "string", "pattern": "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$"},
}

_CLOSE = 0.85
"""How alike two names must be to be taken for one with a slip of the finger."""


def properties_of(schema: Schema) -> Mapping[str, Schema]:
    """The fields that a schema names, with those that every resource has where it describes one."""
    declared: Mapping[str, Schema] = schema.get("properties") or {}
    if not schema.get(EMBEDDED):
        return declared
    own = (declared.get("metadata") or {}).get("properties") or {}
    meta: dict[str, Schema] = {**OBJECT_META["properties"], **own}
    return {**_HEAD, **declared, "metadata": {**OBJECT_META, "properties": meta}}


def field_schema(schema: Schema, field: str) -> Schema | None:
    """The schema of one field of an object; None where the object has no such field."""
    named = properties_of(schema)
    if field in named:
        return named[field]
    more = schema.get("additionalProperties")
    if more is True:
        return {}
    if isinstance(more, Mapping):
        return more
    return OPEN if schema.get(PRESERVE) else None


def at_path(schema: Schema, path: Path) -> Schema | None:
    """The part of the schema that rules the value at a path; None where nothing can be there."""
    for segment in path:
        inner = _step(schema, segment)
        if inner is None:
            return None
        schema = inner
    return schema


def knows(schema: Schema, path: Path) -> bool:
    """Whether a value written to the path would stay there; an API server drops any other without a word."""
    return at_path(schema, path) is not None


def nearest_field(schema: Schema, path: Path) -> str | None:
    """The known path that an unknown one most likely meant, if any is close; None for a path that is known.

    In this order: a slip of the finger, the same name further down, the same name elsewhere, a similar name.
    """
    for depth, segment in enumerate(path):
        if knows(schema, path[: depth + 1]):
            continue
        if not isinstance(segment, str):
            return None
        close = _nearest(schema, path[:depth], segment)
        if close is None:
            return None
        rest = path[depth + 1 :]
        further = (*close, *rest)
        return (
            fieldpath.to_text(further)
            if knows(schema, further)
            else nearest_field(schema, further) or fieldpath.to_text(close)
        )
    return None


def _step(schema: Schema, segment: Segment) -> Schema | None:
    typed = schema.get("type")
    if isinstance(segment, int):
        items = schema.get("items")
        if isinstance(items, Mapping):
            return items
        return OPEN if _is_open(schema) and typed in (None, "array") else None
    if segment == fieldpath.WILDCARD and segment not in properties_of(schema):
        return _any_of(schema)
    if typed not in (None, "object"):
        return None
    return field_schema(schema, segment)


def _any_of(schema: Schema) -> Schema | None:
    """The schema of each element, where they share one."""
    if isinstance(schema.get("items"), Mapping):
        return _step(schema, 0)
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping):
        return more
    return OPEN if properties_of(schema) or _is_open(schema) or more is True else None


def _is_open(schema: Schema) -> bool:
    return bool(schema.get(PRESERVE))


def _nearest(schema: Schema, parent: Path, field: str) -> Path | None:
    here = at_path(schema, parent) or {}
    siblings = {name.casefold(): name for name in properties_of(here)}
    slips = difflib.get_close_matches(field.casefold(), siblings, n=1, cutoff=_CLOSE)
    if slips:
        return (*parent, siblings[slips[0]])
    for start in (parent[:depth] for depth in range(len(parent), -1, -1)):
        same = [p for p in _fields(at_path(schema, start) or {}) if p[-1] == field]
        if same:
            return (*start, *min(same, key=len))
    similar = errors.nearest(field, siblings.values())
    return None if similar is None else (*parent, similar)


def _fields(schema: Schema, path: Path = ()) -> Iterator[Path]:
    """The path of every named field, elements of arrays by their first; metadata, which all share, is left out."""
    if path and schema.get(ON_DEMAND):
        return
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield from _fields(items, (*path, 0))
    for name, inner in (schema.get("properties") or {}).items():
        if path or name not in ("apiVersion", "kind", "metadata", "status"):
            yield (*path, name)
            yield from _fields(inner, (*path, name))
