"""Python types of a claim's spec: from its schema where there is one, else from the patches that read it.

An object becomes a TypedDict, a text with few values an enum. Pulumi's component Analyzer takes no `Literal` and no
union, so neither is used.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.dialects.common.klass import Class
from claimsmith.generate import text
from claimsmith.generate.arguments import fields_of, is_name
from claimsmith.generate.claim_types import RESERVED, ClaimType

_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_ANY_OBJECT = "dict[str, Any]"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a type, or a member of an enum."""

    name: str
    type: str
    """The type, or the member's value as Python."""
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Type:
    """A class that only holds types."""

    name: str
    base: str
    description: str
    fields: tuple[Field, ...] = ()
    others: tuple[Field, ...] = ()
    """The fields whose names no class can have, such as `class`: they stand in a mapping of a type of their own."""

    @property
    def bases(self) -> str:
        """What the class is derived from."""
        if not self.others:
            return self.base
        return self.other_fields if self.base == "TypedDict" else f"{self.base}, {self.other_fields}"

    @property
    def other_fields(self) -> str:
        """The name of the type that has the others."""
        return f"_{self.name}More"

    @property
    def is_enum(self) -> bool:
        """Whether its fields are values."""
        return self.base == "StrEnum"

    @property
    def uses(self) -> frozenset[str]:
        """The names that it needs."""
        fields = () if self.is_enum else (*self.fields, *self.others)
        optional = {"NotRequired"} if any(not f.required for f in fields) else set()
        wants_any = {"Any"} if any("Any" in f.type for f in fields) else set()
        return frozenset({self.base, *optional, *wants_any})


class Names:
    """The names of a module's classes: each is used once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def free(self, wanted: str) -> str:
        """The name, or the name with the first number that makes it free."""
        name, number = wanted, 2
        while name in self._taken or keyword.iskeyword(name):
            name, number = f"{wanted}{number}", number + 1
        self._taken.add(name)
        return name


def types_of(klass: Class, name: str, claim: ClaimType, names: Names) -> list[Type]:
    """The types of a component's spec, the spec itself last."""
    reserved = RESERVED[claim.base]
    types: list[Type] = []
    if claim.spec is None:
        fields = [
            Field(a.name, f"pulumi.Input[{a.type}]", a.required) for a in fields_of(klass) if a.name not in reserved
        ]
        what = f"The spec of {text.article(klass.serves.kind)}, as far as this class reads it."
    else:
        fields = _Reader(names, types).fields(claim.spec, name, without=reserved)
        what = f"The spec of {text.article(klass.serves.kind)}."
    return [*types, _type(f"{name}Spec", claim.base, what, fields)]


def _type(name: str, base: str, description: str, fields: Sequence[Field]) -> Type:
    named, others = ([f for f in fields if is_name(f.name) is wanted] for wanted in (True, False))
    return Type(name, base, description, tuple(named), tuple(others))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads a schema; the classes that it needs are added to `types`."""

    names: Names
    types: list[Type]

    def fields(self, schema: Mapping[str, Any], name: str, *, without: Sequence[str] = ()) -> list[Field]:
        required = schema.get("required") or ()
        named = {k: s for k, s in schema["properties"].items() if k not in without}
        fields = [
            # A field with a default is optional.
            Field(k, self._input(s, name + text.pascal(k), k), k in required and "default" not in s, _described(s))
            for k, s in named.items()
        ]
        return sorted(fields, key=lambda f: not f.required)

    def _input(self, schema: Mapping[str, Any], name: str, field: str) -> str:
        return f"pulumi.Input[{self._type(schema, name, field)}]"

    def _type(self, schema: Mapping[str, Any], name: str, field: str) -> str:
        match schema:
            case {"x-kubernetes-int-or-string": True}:
                return "Any"
            case {"enum": [*values]} if values and all(isinstance(v, str) for v in values):
                return self._enum(name, field, values)
            case {"type": "array", "items": Mapping() as items}:
                return f"list[{self._input(items, f'{name}Item', field)}]"
            case {"properties": Mapping() as properties} if properties:
                return self._object(schema, name, field)
            case {"additionalProperties": Mapping() as inner}:
                return f"dict[str, {self._input(inner, f'{name}Value', field)}]"
            case {"type": "object"}:
                return _ANY_OBJECT
            case {"type": str(word)} if word in _PLAIN:
                return _PLAIN[word]
            case {"type": "array"}:
                return "list[Any]"
            case _:
                return "Any"

    def _object(self, schema: Mapping[str, Any], wanted: str, field: str) -> str:
        name = self.names.free(wanted)
        fields = self.fields(schema, wanted)
        what = _described(schema) or text.docstring(f"The fields of {field}")
        self.types.append(_type(name, "TypedDict", what, fields))
        return name

    def _enum(self, wanted: str, field: str, values: Sequence[str]) -> str:
        name = self.names.free(wanted)
        members = Names(("mro", "name", "value"))
        fields = tuple(Field(members.free(text.constant(v)), repr(v)) for v in dict.fromkeys(values))
        self.types.append(Type(name, "StrEnum", text.docstring(f"The values of {field}"), fields))
        return name


def _described(schema: Mapping[str, Any]) -> str:
    description = schema.get("description")
    return text.docstring(description) if isinstance(description, str) else ""
