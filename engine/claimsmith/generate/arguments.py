"""The types of a component's arguments, inferred from the patches that read them.

A field is a string if a map looks it up or a pattern is matched, an integer if it is multiplied or clamped, and Any if
nothing can be inferred.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass

from claimsmith.base import fieldpath
from claimsmith.base.transform import ConvertTransform, MapTransform, MatchTransform, MathTransform, StringTransform
from claimsmith.base.values import value_at
from claimsmith.dialects.common.klass import Class, Patch, Side
from claimsmith.dialects.common.loops import claim_reads


@dataclass(frozen=True, slots=True)
class Argument:
    """A field of the claim's spec that the class reads."""

    name: str
    type: str
    required: bool


def fields_of(klass: Class) -> list[Argument]:
    """The spec's fields that the class reads, in the order of the patches."""
    types: dict[str, set[str]] = {}
    required: set[str] = set()
    for template in klass.templates:
        for patch in template.patches:
            if patch.origin is not Side.claim:
                continue
            for read in patch.reads:
                path = fieldpath.parse(read)
                if len(path) < 2 or path[0] != "spec" or not isinstance(path[1], str):
                    continue
                name = path[1]
                deep = len(path) > 2
                types.setdefault(name, set()).add("dict[str, Any]" if deep else _type_of(patch, template.base))
                if patch.required:
                    required.add(name)
        for read in claim_reads(template):
            path = fieldpath.parse(read)
            if path[:1] == ("spec",) and len(path) > 1 and isinstance(path[1], str):
                types.setdefault(path[1], set()).add("list[Any]" if path[2:3] == (fieldpath.WILDCARD,) else "Any")
    return [Argument(n, _narrowest(t), n in required) for n, t in types.items() if n != fieldpath.WILDCARD]


def is_name(field: str) -> bool:
    """Whether the class of a TypedDict can have the field. Any other is written as a key of a mapping."""
    return field.isascii() and field.isidentifier() and not keyword.iskeyword(field) and not field.startswith("__")


def _type_of(patch: Patch, base: object) -> str:
    match patch.transforms:
        case (MapTransform() | MatchTransform(), *_):
            return "str"
        case (MathTransform(), *_):
            return "int"
        case (StringTransform() | ConvertTransform(), *_):
            return "Any"
        case _:
            return _type_in_base(patch.to, base)


def _type_in_base(path: str, base: object) -> str:
    """The type of the base's value in that place: a patch replaces it by a value of the same type."""
    return {str: "str", int: "int", bool: "bool", float: "float"}.get(type(value_at(base, path)), "Any")


def _narrowest(types: set[str]) -> str:
    known = types - {"Any"}
    return known.pop() if len(known) == 1 else "Any"
