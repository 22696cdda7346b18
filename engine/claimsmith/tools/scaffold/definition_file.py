"""A new definition as YAML: a kind of claim with its fields, for Crossplane (v2 or v1) or in the definitions format.

Takes a kind and fields, gives text; a class that serves the kind is written by `class_file`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import yaml

from claimsmith.base.errors import LoadError, Problem, suggest
from claimsmith.kubernetes.crds import plural_of
from claimsmith.tools.scaffold.class_file import Kind, block

_TYPES = ("string", "integer", "number", "boolean", "object", "array")


class DefinitionFormat(StrEnum):
    """The formats of definitions."""

    crossplane = "crossplane"
    crossplane_v1 = "crossplane-v1"
    definitions = "definitions"


@dataclass(frozen=True, slots=True)
class NewField:
    """A field of a claim's spec."""

    name: str
    schema: Mapping[str, Any]
    required: bool

    @classmethod
    def parse(cls, text: str) -> NewField:
        """What `name:type`, `name?:type` or `name:type=default` describes; a type may be a list of values, `a|b`."""
        head, found, rest = text.partition(":")
        name = head.removesuffix("?")
        kind, has_default, default = rest.partition("=")
        if not found or not kind or not name.isidentifier():
            fix = "write it as NAME:TYPE, NAME?:TYPE or NAME:TYPE=DEFAULT, as in storageGB:integer=20"
            raise LoadError(Problem(f"{text!r} is no field", fix=fix))
        schema: dict[str, Any] = {"type": "string", "enum": kind.split("|")} if "|" in kind else {"type": kind}
        if schema["type"] not in _TYPES:
            fix = suggest(kind, _TYPES, f"use one of: {', '.join(_TYPES)}; or the allowed values, as in small|large")
            raise LoadError(Problem(f"{kind!r} is no type of a field", fix=fix))
        if has_default:
            schema["default"] = default if schema["type"] == "string" else _value(default, text)
        return cls(name, schema, required=not has_default and not head.endswith("?"))


def _value(written: str, text: str) -> Any:
    try:
        return yaml.safe_load(written)
    except yaml.YAMLError as error:
        raise LoadError(Problem(f"{text!r} has no default that can be read", fix="write it as in YAML")) from error


def definition_text(kind: Kind, fields: Sequence[NewField], written_as: DefinitionFormat) -> str:
    """The definition's file."""
    match written_as:
        case DefinitionFormat.crossplane:
            return block(_crossplane(kind, fields))
        case DefinitionFormat.crossplane_v1:
            return block(_with_claims(kind, fields))
        case DefinitionFormat.definitions:
            return "---\n".join(block(document) for document in _published(kind, fields))


def _crossplane(kind: Kind, fields: Sequence[NewField]) -> dict[str, Any]:
    """Crossplane v2: teams write the composite itself, in their own namespace."""
    names = {"kind": kind.kind, "plural": plural_of(kind.kind)}
    spec = {"scope": "Namespaced", "group": kind.group_kind.group, "names": names, "versions": _versions(kind, fields)}
    return _document("apiextensions.crossplane.io/v2", "CompositeResourceDefinition", kind, spec, names["plural"])


def _with_claims(kind: Kind, fields: Sequence[NewField]) -> dict[str, Any]:
    """Crossplane v1: teams write claims, each of which creates a composite."""
    composite = f"X{kind.kind}"
    names = {"kind": composite, "plural": plural_of(composite)}
    spec = {
        "group": kind.group_kind.group,
        "names": names,
        "claimNames": {"kind": kind.kind, "plural": plural_of(kind.kind)},
        "versions": _versions(kind, fields),
    }
    return _document("apiextensions.crossplane.io/v1", "CompositeResourceDefinition", kind, spec, names["plural"])


def _published(kind: Kind, fields: Sequence[NewField]) -> list[dict[str, Any]]:
    """The definitions format: a cluster-scoped kind, published for teams as a requirement in their namespaces."""
    plural = plural_of(kind.kind)
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": plural, "singular": kind.kind.lower()}
    template = {
        "group": kind.group_kind.group,
        "version": kind.version,
        "names": names,
        "validation": {"openAPIV3Schema": _object(fields)},
    }
    api = "apiextensions.crossplane.io/v1alpha1"
    definition = _document(api, "InfrastructureDefinition", kind, {"crdSpecTemplate": template}, plural)
    reference = {"infrastructureDefinitionReference": {"name": definition["metadata"]["name"]}}
    return [definition, _document(api, "InfrastructurePublication", kind, reference, plural)]


def _document(api_version: str, kind: str, defined: Kind, spec: Mapping[str, Any], plural: str) -> dict[str, Any]:
    name = f"{plural}.{defined.group_kind.group}"
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": dict(spec)}


def _versions(kind: Kind, fields: Sequence[NewField]) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"spec": _object(fields)}}
    return [{"name": kind.version, "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}]


def _object(fields: Sequence[NewField]) -> dict[str, Any]:
    required = [f.name for f in fields if f.required]
    properties = {f.name: dict(f.schema) for f in fields}
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}
