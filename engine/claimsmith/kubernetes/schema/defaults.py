"""Defaults, applied as an API server applies them before it looks at a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claimsmith.base import values
from claimsmith.kubernetes.schema.lookup import Schema, properties_of

_NOTHING: Schema = {}


def defaulted(data: Any, schema: Schema) -> Any:
    """A copy of the data with defaults for missing values, and without nulls where none may be.

    An absent object gets no fields unless it has a default itself. A null that the schema does not allow counts as
    nothing given; in an array it stays where there is no default. Values that are no plain data are left alone.
    """
    match data:
        case dict():
            return _object(data, schema)
        case list():
            items = schema.get("items")
            each = items if isinstance(items, Mapping) else _NOTHING
            return [defaulted(_provided(item, each), each) for item in data]
        case _:
            return data


def _object(data: dict[str, Any], schema: Schema) -> dict[str, Any]:
    named = properties_of(schema)
    more = schema.get("additionalProperties")
    others = more if isinstance(more, Mapping) else None
    result: dict[str, Any] = {}
    for key, value in data.items():
        inner = named.get(key, others)
        if inner is None:
            result[key] = values.copied(value)
            continue
        provided = _provided(value, inner)
        if provided is not None or inner.get("nullable"):
            result[key] = defaulted(provided, inner)
    for key, inner in named.items():
        if key not in result and inner.get("default") is not None:
            result[key] = defaulted(values.copied(inner["default"]), inner)
    return result


def _provided(value: Any, schema: Schema) -> Any:
    """The value, or the default in place of a null that is not allowed."""
    return values.copied(schema.get("default")) if value is None and not schema.get("nullable") else value
