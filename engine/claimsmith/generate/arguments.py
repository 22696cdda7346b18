"""The types of a component's arguments, told from the patches that read them.

A text where a map looks it up or a pattern is matched, a whole number where it is multiplied or
clamped, anything else where nothing can be told.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass

from claimsmith import fieldpath
from claimsmith.errors import FieldPathError
from claimsmith.models.klass import Class, Patch, Side
from claimsmith.models.transform import ConvertTransform, MapTransform, MatchTransform, MathTransform, StringTransform


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
    return [Argument(n, _narrowest(t), n in required) for n, t in types.items() if is_name(n)]


def is_name(field: str) -> bool:
    """Whether a field can stand in a TypedDict's body; one that cannot is still read, only without a type."""
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
    """The type of what the base holds in that place: the patch replaces it by its like."""
    try:
        value = fieldpath.get(base, path)
    except FieldPathError:
        return "Any"
    return {str: "str", int: "int", bool: "bool", float: "float"}.get(type(value), "Any")


def _narrowest(types: set[str]) -> str:
    known = types - {"Any"}
    return known.pop() if len(known) == 1 else "Any"
