"""The way to an output of a native resource in its SDK: attributes of the resource and its types, elements of values.

Generated code writes this way down; the runtime goes it for a resource that is only read.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from claimsmith.base import fieldpath
from claimsmith.providers.index import Index
from claimsmith.providers.resource_types import AnyType, ListOf, MapOf, ObjectOf, Property, ResourceType, TypeRef


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute, by its name in Python."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """An entry of a list or of a map."""

    key: str | int


class UnknownOutput(Exception):
    """A step that the SDK has no attribute for, and those that it has."""

    def __init__(self, step: str, known: Mapping[str, Property]) -> None:
        super().__init__(step)
        self.step, self.known = step, known


def way_to(path: fieldpath.Path, kind: ResourceType, sdk: Index) -> Iterator[Attribute | Element]:
    """The steps from a resource to one of its outputs; an output that the SDK lacks raises `UnknownOutput`."""
    here: TypeRef = ObjectOf("")
    known: Mapping[str, Property] | None = kind.outputs
    for step in path:
        if known is not None and isinstance(step, str):
            if step not in known or not is_name(known[step].python):
                raise UnknownOutput(step, known)
            yield Attribute(known[step].python)
            here = known[step].type
        else:
            yield Element(step)
            here = here.item if isinstance(here, ListOf | MapOf) else AnyType()
        known = properties_of(here, sdk)


def properties_of(kind: TypeRef, sdk: Index) -> Mapping[str, Property] | None:
    """The properties of a nested type; None if it is no such type."""
    if not isinstance(kind, ObjectOf):
        return None
    found = sdk.object(kind.name)
    return found.properties if found else None


def is_name(name: str) -> bool:
    """Whether a text can be written as a name in Python."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
