"""The types of CEL variables, from the schemas of what they hold.

An object with named fields becomes a type of its own, so that CEL's own checker finds unknown fields, comparisons of a
number with a text, and methods that a value does not have. What a schema leaves open stays open: it may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from claimsmith.base.errors import suggest
from claimsmith.base.values import object_at

ANY: Final = "dyn"
NUMBER: Final = "number"
"""A number that may be whole or not: CEL has no such type, so both are tried."""
_SIMPLE: Final = {"integer": "int", "number": NUMBER, "string": "string", "boolean": "bool"}
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_OBJECTS: Final = 2000
_TEXTS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": {"type": "string"}}
_METADATA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        **{key: {"type": "string"} for key in ("name", "namespace", "generateName", "uid", "resourceVersion")},
        **{key: {"type": "string"} for key in ("selfLink", "creationTimestamp", "deletionTimestamp")},
        **{key: {"type": "integer"} for key in ("generation", "deletionGracePeriodSeconds")},
        **{"labels": _TEXTS, "annotations": _TEXTS},
        "finalizers": {"type": "array", "items": {"type": "string"}},
        **{key: {"type": "array"} for key in ("ownerReferences", "managedFields")},
    },
}
_STRUCT: Final = re.compile(r"'?claim\.T(\d+)'?")
_UNDEFINED: Final = re.compile(r"undefined field '([^']*)' not found in struct 'claim\.T(\d+)'")
_NO_OVERLOAD: Final = re.compile(r"found no matching overload for '([^']*)' applied to '\((.*)\)'")
_UNDECLARED: Final = re.compile(r"undeclared reference to '([^']*)'")
_COMPARISONS: Final = ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_")
_NUMBERS: Final = ("int", "double", "uint")


@dataclass
class Types:
    """Variables and their types; objects are numbered in the order in which they were found."""

    variables: dict[str, Any] = field(default_factory=dict)
    objects: list[dict[str, Any]] = field(default_factory=list)

    def declare(self, name: str, schema: Mapping[str, Any] | None, *, listed: bool = False) -> None:
        """A variable that holds what a schema describes, or a list of it; anything where there is no schema."""
        found = self._type(schema) if schema else ANY
        self.variables[name] = {"list": found} if listed else found

    def _type(self, schema: Any) -> Any:
        if not isinstance(schema, Mapping) or schema.get("nullable") or schema.get("x-kubernetes-int-or-string"):
            return ANY
        match schema.get("type"):
            case "array":
                return {"list": self._type(schema.get("items"))}
            case "object" | None if "properties" in schema or schema.get("type"):
                return self._object(schema)
            case "string" if schema.get("format"):  # data of a Secret is bytes, and a time is more than a text
                return ANY
            case kind:
                return _SIMPLE.get(str(kind), ANY)

    def _object(self, schema: Mapping[str, Any]) -> Any:
        properties, more = object_at(schema, "properties"), schema.get("additionalProperties")
        if schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("x-kubernetes-embedded-resource"):
            return ANY
        if not properties:
            return {"map": self._type(more)} if isinstance(more, Mapping) else ANY
        if more or len(self.objects) >= _MOST_OBJECTS:
            return ANY
        number = len(self.objects)
        self.objects.append({})
        self.objects[number] = {k: self._type(v) for k, v in properties.items() if _IDENTIFIER.fullmatch(str(k))}
        return {"object": number}

    def problem(self, message: str) -> tuple[str, str] | None:
        """What the checker reports, in words of the author, with a fix; None for what evaluation permits."""
        unknown = _UNDEFINED.search(message)
        if unknown:
            fields = self.objects[int(unknown[2])]
            return f"there is no field {unknown[1]!r}", suggest(unknown[1], sorted(fields))
        if _STRUCT.search(message):
            # An object of a claim is a map once it is evaluated: its keys can be looked up, counted and looped over.
            return None
        if undeclared := _UNDECLARED.search(message):
            return f"there is no function or variable {undeclared[1]!r}", "correct the name"
        if refused := _NO_OVERLOAD.search(message):
            takes = refused[2].split(", ")
            if refused[1] in _COMPARISONS and all(each in _NUMBERS for each in takes):
                return None  # whole numbers compare with others
            operator = refused[1].strip("_@")
            return f"{operator} does not take {' and '.join(takes)}", "convert one side, or compare with such a value"
        return message, "fix the expression"


def resource(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a whole resource, with the fields that every resource has."""
    properties = object_at(schema, "properties")
    if not properties:
        return schema
    head = {key: {"type": "string"} for key in ("apiVersion", "kind")}
    return {**schema, "properties": {**properties, **head, "metadata": metadata()}}


def metadata() -> Mapping[str, Any]:
    """The schema of a resource's metadata; more fields are permitted than it names."""
    return _METADATA
