"""Fields that a schema does not know, left out as an API server leaves them out before it stores an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claimsmith.base.fieldpath import Path
from claimsmith.kubernetes.schema.lookup import OPEN, Schema, field_schema


def pruned(data: Any, schema: Schema, path: Path = ()) -> tuple[Any, list[Path]]:
    """The data without unknown fields, and the paths of these. Values that are no plain data are left alone."""
    match data:
        case dict():
            return _object(data, schema, path)
        case list():
            items = schema.get("items")
            each = items if isinstance(items, Mapping) else OPEN
            items = [pruned(item, each, (*path, index)) for index, item in enumerate(data)]
            return [item for item, _ in items], [lost for _, paths in items for lost in paths]
        case _:
            return data, []


def _object(data: dict[str, Any], schema: Schema, path: Path) -> tuple[dict[str, Any], list[Path]]:
    kept: dict[str, Any] = {}
    lost: list[Path] = []
    for key, value in data.items():
        inner = field_schema(schema, key)
        if inner is None:
            lost.append((*path, key))
            continue
        kept[key], below = pruned(value, inner, (*path, key))
        lost += below
    return kept, lost
