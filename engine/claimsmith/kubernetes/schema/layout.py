"""Where a custom resource definition keeps its schema, and how the slips of hand-written ones are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from claimsmith.base import values
from claimsmith.base.documents import Document
from claimsmith.base.fieldpath import Path
from claimsmith.kubernetes import crds
from claimsmith.kubernetes.schema.lookup import EMBEDDED, INT_OR_STRING, OPEN, PRESERVE, Schema
from claimsmith.kubernetes.schema.structure import refuse_unreadable

_WORD = "openAPIV3Schema"
_TYPES = {
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "long": "integer",
    "str": "string",
    "text": "string",
    "bool": "boolean",
    "float": "number",
    "double": "number",
    "list": "array",
    "map": "object",
    "dict": "object",
}


def normalised(schema: Schema) -> dict[str, Any]:
    """The schema with common mistakes fixed: `type: int` is an integer, an object with fields is an object.

    An array without items is one of anything; a union with null is nullable. The original is not changed.
    """
    return _rebuilt(schema, _fixed)


def crd_schema(crd: Mapping[str, Any], version: str) -> dict[str, Any] | None:
    """The schema of a version's whole documents; None where the definition takes anything, or has no such version.

    Definitions in the layout of v1beta1 keep unknown fields unless they set it otherwise; in them an object that names
    its fields is taken at its word all the same, and one that names none takes any.
    """
    spec = crd["spec"]
    written = _written(spec, version)
    if written is None or crds.is_permissive(dict(crd)):
        return None
    if written.get(PRESERVE) and not written.get("properties"):
        return None
    schema = normalised(written)
    if str(crd.get("apiVersion", "")).endswith("/v1beta1") and spec.get("preserveUnknownFields") is not False:
        schema = _rebuilt(schema, _opened)
    return {**schema, "type": "object", EMBEDDED: True}


def refuse_unreadable_crd(document: Document) -> None:
    """Refuse a definition with a schema that nothing can be read through."""
    spec = document.data["spec"]
    places: list[tuple[Path, Any]] = [(("spec", "validation"), spec.get("validation"))]
    places += [(("spec", "versions", i, "schema"), v.get("schema")) for i, v in enumerate(spec.get("versions") or ())]
    for path, place in places:
        found = place.get(_WORD) if isinstance(place, Mapping) else None
        if isinstance(found, Mapping):
            refuse_unreadable(found, document=document, at=(*path, _WORD))


def _written(spec: Mapping[str, Any], version: str) -> Schema | None:
    versions = {v["name"]: v for v in spec.get("versions") or ()}
    if version not in versions and version != spec.get("version"):
        return None
    own = (versions.get(version, {}).get("schema") or {}).get(_WORD)
    shared = (spec.get("validation") or {}).get(_WORD)
    schema: Schema | None = own or shared
    return schema


def _rebuilt(schema: Schema, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The schema again, it and every schema in it put through `change`, the inner ones first."""
    result: dict[str, Any] = {}
    for key, value in schema.items():
        match key, value:
            case "properties", Mapping():
                result[key] = {n: _rebuilt(s, change) if isinstance(s, Mapping) else s for n, s in value.items()}
            case (("items" | "additionalProperties" | "not"), Mapping()):
                result[key] = _rebuilt(value, change)
            case (("anyOf" | "oneOf" | "allOf"), list()):
                # Branches only add rules; they do not define what a value is.
                result[key] = [_rebuilt(s, _respelt) if isinstance(s, Mapping) else s for s in value]
            case _:
                result[key] = values.copied(value)
    return change(result)


def _respelt(schema: dict[str, Any]) -> dict[str, Any]:
    written = schema.get("type")
    if isinstance(written, list):
        names = [t for t in written if t != "null"]
        nullable = {"nullable": True} if len(names) < len(written) else {}
        if len(names) == 1:
            schema = {**schema, "type": names[0], **nullable}
    written = schema.get("type")
    return {**schema, "type": _TYPES.get(written.lower(), written)} if isinstance(written, str) else schema


def _fixed(schema: dict[str, Any]) -> dict[str, Any]:
    schema = _respelt(schema)
    if schema.get("additionalProperties") is False:
        # Nothing else is ever allowed, and Kubernetes has no way to write that.
        schema = {key: value for key, value in schema.items() if key != "additionalProperties"}
    if "type" not in schema and not schema.get(INT_OR_STRING):
        if "properties" in schema or "additionalProperties" in schema:
            schema = {"type": "object", **schema}
        elif "items" in schema:
            schema = {"type": "array", **schema}
    if schema.get("type") == "array" and "items" not in schema:
        schema = {**schema, "items": dict(OPEN)}
    return schema


def _opened(schema: dict[str, Any]) -> dict[str, Any]:
    bare = schema.get("type") in (None, "object") and not schema.get("properties")
    typed = "additionalProperties" in schema or schema.get(INT_OR_STRING)
    return {**schema, PRESERVE: True} if bare and not typed else schema
