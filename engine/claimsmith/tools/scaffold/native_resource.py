"""A native resource of a new class as YAML: required inputs from the claim's fields, optional ones as comments.

What the provider's SDK requires is read from it, so that the class is valid as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from claimsmith.base.names import kebab, lower_first
from claimsmith.base.printable import visible
from claimsmith.providers.index import Index, short_token
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
from claimsmith.tools.scaffold.claim_file import flow

_WIDTH = 118
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_UNNAMED = ("postgresql",)
"""Providers that name nothing themselves, although their SDKs call the name optional (pulumi-postgresql 3.18)."""
_DEEPEST = 4
"""Required objects in required objects: deeper ones are taken from the claim as they are."""


@dataclass(frozen=True, slots=True)
class Words:
    """How a format names the parts of a patch, and selects a sibling."""

    origin: str
    target: str
    sibling: str


CLASSES = Words("fromClaimFieldPath", "toResourceFieldPath", "matchComposite")
COMPOSITIONS = Words("fromFieldPath", "toFieldPath", "matchControllerRef")


@dataclass(frozen=True, slots=True)
class Native:
    """A type of a provider that a class composes."""

    type: ResourceType
    index: Index

    @classmethod
    def of(cls, token: str, index: Index) -> Native:
        """The type of a token; refused, with the nearest one, where the SDK has none."""
        return cls(index.require(token), index)

    @property
    def token(self) -> str:
        """The type as a class has it."""
        return short_token(self.type.token)

    @property
    def requirement(self) -> str:
        """The line of a requirements file that installs the SDK, in the major version that the class is written for."""
        return self.index.requirement


@dataclass(frozen=True, slots=True)
class _Input:
    """A required input: its path below properties, and the type of its value."""

    path: tuple[str, ...]
    type: TypeRef


def resource_lines(native: Native, name: str, others: Sequence[Native], words: Words = CLASSES) -> Iterator[str]:
    """The lines of one resource; `others` are those of the class that it may refer to."""
    inputs = list(_required(native))
    selected = {i.path: s for i in inputs if (s := _selector(i, others, words)) is not None}
    fixed = {i.path: i.type.values[0] for i in inputs if isinstance(i.type, EnumOf) and i.type.values}
    patched = [i.path for i in inputs if i.path not in selected and i.path not in fixed]
    yield f"  - name: {name}\n    base:\n      type: {native.token}"
    yield from _base(native, {**fixed, **selected})
    named = _named_by_claim(native, name)
    if patched or named:
        yield "    patches:"
    if named:
        yield f"    - {words.origin}: metadata.name\n      {words.target}: properties.name"
    for path in patched:
        yield f"    - {words.origin}: spec.{'.'.join(path)}"
        yield f"      {words.target}: properties.{'.'.join(path)}"
    yield from _details(native)


def _named_by_claim(native: Native, name: str) -> bool:
    """Whether the claim must name the resource; the second one of a type is left to the class."""
    found = native.type.inputs.get("name")
    return native.index.package in _UNNAMED and found is not None and name == kebab(native.type.python_class)


def names_of(natives: Sequence[Native]) -> list[str]:
    """The names of the resources: those of their types, numbered where they repeat."""
    names: list[str] = []
    for native in natives:
        base = kebab(native.type.python_class)
        count = sum(1 for n in natives[: len(names)] if kebab(n.type.python_class) == base)
        names.append(f"{base}-{count + 1}" if count else base)
    return names


def _required(native: Native) -> Iterator[_Input]:
    for found in native.type.required():
        yield from _within((found.name,), found.type, native.index)


def _within(path: tuple[str, ...], kind: TypeRef, index: Index) -> Iterator[_Input]:
    """An input, or the required ones of the object that it is."""
    inner = index.object(kind.name) if isinstance(kind, ObjectOf) and len(path) < _DEEPEST else None
    required = [p for p in inner.properties.values() if p.required] if inner else []
    if not required:
        yield _Input(path, kind)
    for found in required:
        yield from _within((*path, found.name), found.type, index)


def _selector(wanted: _Input, others: Sequence[Native], words: Words) -> dict[str, object] | None:
    """The selector for an input that names another resource of the class: `bucket`, `roleArn`, `resourceGroupName`."""
    if wanted.type != Scalar("string"):
        return None
    for other in others:
        stem = lower_first(other.type.python_class)
        word = wanted.path[-1].removeprefix(stem)
        outputs = {"": "id", "Id": "id", "Arn": "arn", "Name": "name"}
        if wanted.path[-1].startswith(stem) and word in outputs and outputs[word] in other.type.outputs:
            picked = {} if outputs[word] == "id" else {"output": outputs[word]}
            return {words.sibling: True, "type": other.token, **picked}
    return None


def _base(native: Native, values: dict[tuple[str, ...], object]) -> Iterator[str]:
    tree: dict[str, object] = {}
    for path, value in values.items():
        here = tree
        for step in path[:-1]:
            here = here.setdefault(step, {})  # type: ignore[assignment]
        name = f"{path[-1]}Selector" if isinstance(value, dict) else path[-1]
        here[name] = value
    optional = [p for p in native.type.inputs.values() if not p.required and not p.deprecated]
    # Comments below an empty object could not be turned into fields: nothing at all is an empty object too.
    yield "      properties:" if tree or optional else "      properties: {}"
    yield from (f"        {name}: {flow(value)}" for name, value in tree.items())
    if optional:
        yield "        # What else it takes; write what is the same for every claim, and patch the rest:"
    yield from (_comment(found, native.index) for found in optional)


def _comment(found: Property, index: Index) -> str:
    kind = f"{_shown(found.type, index)}, secret" if found.secret else _shown(found.type, index)
    about = _SENTENCE.split(" ".join(found.description.split()))[0]
    line = visible(f"        # {found.name}: ({kind}) {about}".rstrip())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _shown(kind: TypeRef, index: Index) -> str:
    match kind:
        case Scalar(kind=name):
            return name
        case EnumOf(values=values):
            return " | ".join(map(str, values))
        case ListOf(item=item):
            return f"list of {_shown(item, index)}"
        case MapOf(item=item):
            return f"map of {_shown(item, index)}"
        case ObjectOf(name=name):
            inner = index.object(name)
            return f"{{{', '.join(inner.properties)}}}" if inner else "object"
        case OneOf(options=options):
            return " or ".join(_shown(option, index) for option in options)
        case AnyType():
            return "any"


def _details(native: Native) -> Iterator[str]:
    """Connection details: what the resource gives that it does not take; secret ones first."""
    given = [p for p in native.type.outputs.values() if p.name not in native.type.inputs and p.name != "urn"]
    named = sorted(given, key=lambda p: not p.secret)
    yield "    # connectionDetails:"
    yield from (f"    # - {{name: {p.name}, fromFieldPath: outputs.{p.name}}}" for p in named[:6])
