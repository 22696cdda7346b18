"""A resource type of a provider's SDK as a schema, so that one set of checks serves native and Kubernetes resources.

The document is `{type, metadata, properties, options, outputs}`. Nested types are read when a check looks into them:
some contain themselves, and those of one resource of a large provider may be thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from claimsmith.kubernetes.schema.lookup import OBJECT_META, ON_DEMAND, OPEN, Schema
from claimsmith.providers.index import Index
from claimsmith.providers.resource_types import (
    AnyType,
    EnumOf,
    ListOf,
    MapOf,
    ObjectOf,
    OneOf,
    Property,
    ResourceType,
    Scalar,
    TypeRef,
)

DEPRECATED: Final = "x-claimsmith-deprecated"
"""Of an object: its deprecated properties, with what the provider says about each."""
_READ: Final = ("properties", "required", DEPRECATED)
_KEYS: Final = ("type", ON_DEMAND, *_READ)


class _Nested(Mapping[str, Any]):
    """The schema of a nested type, which is read once its fields are asked for."""

    def __init__(self, name: str, index: Index) -> None:
        self._name, self._index = name, index
        self._whole: Schema | None = None

    def __getitem__(self, key: str) -> Any:
        if key in _READ:
            return self._read()[key]
        # Known without reading the type: a check asks every field for these.
        return {"type": "object", ON_DEMAND: True}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    def _read(self) -> Schema:
        if self._whole is None:
            found = self._index.object(self._name)
            self._whole = _object(found.properties if found else {}, self._index)
        return self._whole


def document_schema(resource: ResourceType, index: Index) -> Schema:
    """The schema of the documents of a resource type."""
    outputs = {name: schema_of(p.type, index) for name, p in resource.outputs.items()}
    return {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "metadata": OBJECT_META,
            "options": {"type": "object", **OPEN},
            "properties": _object(resource.inputs, index),
            "outputs": {"type": "object", "properties": outputs},
        },
        "required": ["type", "properties"],
    }


def schema_of(kind: TypeRef, index: Index) -> Schema:
    """The schema of one type."""
    match kind:
        case Scalar(kind=name):
            return {"type": name}
        case ListOf(item=item):
            return {"type": "array", "items": schema_of(item, index)}
        case MapOf(item=item):
            return {"type": "object", "additionalProperties": schema_of(item, index)}
        case ObjectOf(name=name):
            return _Nested(name, index)
        case EnumOf(values=values, open=False):
            return {"enum": list(dict.fromkeys(values))}
        case EnumOf():
            return {"type": "string"}
        case OneOf() | AnyType():
            # A value may be any of several: what fits none of them is left to the generated code's type check.
            return OPEN


def _object(properties: Mapping[str, Property], index: Index) -> Schema:
    return {
        "type": "object",
        "properties": {name: schema_of(p.type, index) for name, p in properties.items()},
        "required": [name for name, p in properties.items() if p.required],
        DEPRECATED: {name: p.deprecated for name, p in properties.items() if p.deprecated},
    }
