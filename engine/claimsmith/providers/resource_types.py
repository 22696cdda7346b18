"""The types of a provider's resources, as its Python SDK declares them: inputs, outputs, nested objects, enums.

Names are Pulumi's (camelCase), as YAML has them; `Property.python` is the SDK's own name of the same property. A nested
type is named by its module and class below the SDK (`s3.BucketCorsRuleArgs`, `s3.outputs.BucketCorsRule`), so that
generated code can write it as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ScalarKind = Literal["string", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, a number or a boolean."""

    kind: ScalarKind


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list with items of one type."""

    item: TypeRef


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with any keys and values of one type."""

    item: TypeRef


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """A nested object with properties of its own: `Index.object` has them."""

    name: str


@dataclass(frozen=True, slots=True)
class EnumOf:
    """One of the listed values; an open enum takes any other text too."""

    name: str
    values: tuple[str | int | float | bool, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class AnyType:
    """Whatever the provider takes: JSON, files, archives, and what the SDK leaves open."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value of any of several types."""

    options: tuple[TypeRef, ...]


TypeRef = Scalar | ListOf | MapOf | ObjectOf | EnumOf | AnyType | OneOf


@dataclass(frozen=True, slots=True)
class Property:
    """One input or output."""

    name: str
    python: str
    type: TypeRef
    required: bool = False
    deprecated: str = ""
    secret: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A nested type: its properties by their Pulumi names."""

    name: str
    properties: Mapping[str, Property]


@dataclass(frozen=True, slots=True)
class ResourceType:
    """A resource of a provider, and the Python class that creates it."""

    token: str
    package: str
    """The distribution that holds it, as pip names it: pulumi-aws."""
    import_name: str
    module: str
    """The module below the SDK, with dots: `s3`, `core.v1`; empty at the top."""
    python_class: str
    inputs: Mapping[str, Property]
    outputs: Mapping[str, Property]
    deprecated: str = ""
    component: bool = False
    description: str = ""

    def required(self) -> tuple[Property, ...]:
        """The inputs that must be set."""
        return tuple(p for p in self.inputs.values() if p.required)


def label(kind: TypeRef) -> str:
    """A type in a few words, for a message."""
    match kind:
        case Scalar(kind=name):
            return f"an {name}" if name == "integer" else f"a {name}"
        case ListOf():
            return "a list"
        case MapOf() | ObjectOf():
            return "an object"
        case EnumOf(values=values):
            return "one of " + ", ".join(repr(v) for v in values)
        case OneOf(options=options):
            return " or ".join(dict.fromkeys(label(o) for o in options))
        case AnyType():
            return "any value"
