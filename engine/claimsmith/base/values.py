"""Values that are known only once something exists.

A `Ref` is a plain value of the core: "this field of that resource". Only the edge turns it
into a Pulumi Output; the offline render shows it as a placeholder. Transforms that a patch
would have applied are kept with it, in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError
from claimsmith.base.transform import Transform


@dataclass(frozen=True, slots=True)
class Ref:
    """The value at `path` of a resource of the same plan, once that resource exists.

    `resource` is the resource's address in the plan: `<claim address>/<template>`.
    `known` is the value if it is known in advance (a derived name), else None.
    """

    resource: str
    path: fieldpath.Path
    transforms: tuple[Transform, ...] = ()
    known: Any = None
    text: str = ""
    """What the transforms make of the placeholder, where that can be shown."""

    def __str__(self) -> str:
        return f"{self.resource}:{fieldpath.to_text(self.path)}"


@dataclass(frozen=True, slots=True)
class Mix:
    """A value of several, some of them resolved only at deploy time: combined, merged, or read inside one.

    `known` is the result if all of them are resolved at plan time, else None.
    """

    sources: tuple[Any, ...]
    how: str
    known: Any = None
    text: str = ""
    """What comes out of placeholders, where that can be shown."""
    joined: bool = False
    """Whether it is a text of its sources, one behind the other."""

    def __str__(self) -> str:
        return f"{', '.join(str(r) for source in self.sources for r in refs(source))}: {self.how}"


@dataclass(frozen=True, slots=True)
class SiblingOutput:
    """A field of a sibling, as a class names it: `role.name`.

    Of a native resource it is an output; of a Kubernetes object it is a field of the object, `metadata.name`.
    """

    template: str
    path: fieldpath.Path

    def __str__(self) -> str:
        return fieldpath.to_text((self.template, *self.path))


@dataclass(frozen=True, slots=True)
class Interpolation:
    """A text of a class with fields of siblings in it: `postgres://${role.name}@${server.host}`.

    It is read from a class, and never from a claim: a claim's value that looks like one stays a text.
    """

    parts: tuple[str | SiblingOutput, ...]

    def __str__(self) -> str:
        return "".join(f"${{{p}}}" if isinstance(p, SiblingOutput) else escaped(p) for p in self.parts)

    @property
    def outputs(self) -> tuple[SiblingOutput, ...]:
        """The fields of siblings in it, in order."""
        return tuple(part for part in self.parts if isinstance(part, SiblingOutput))


def escaped(text: str) -> str:
    """A text in which nothing is an interpolation, as Pulumi YAML writes it: `$$` is a dollar sign."""
    return re.sub(r"\$\$+|\$(?=\{|\Z)", lambda match: match[0] * 2, text)


Later = Ref | Mix
"""The placeholder in a document for a value that is not known yet."""


def is_later(value: Any) -> bool:
    """Whether a value, or anything in it, is known only later."""
    match value:
        case Ref() | Mix():
            return True
        case dict():
            return any(is_later(item) for item in value.values())
        case list():
            return any(is_later(item) for item in value)
        case _:
            return False


def known(value: Any) -> Any:
    """The value as far as it is resolved at plan time; None if a part of it is not."""
    match value:
        case Ref() | Mix():
            return value.known
        case dict():
            resolved = {key: known(item) if is_later(item) else item for key, item in value.items()}
            return None if any(resolved[k] is None and is_later(value[k]) for k in value) else resolved
        case list():
            items = [known(item) if is_later(item) else item for item in value]
            return None if any(i is None and is_later(v) for i, v in zip(items, value, strict=True)) else items
        case _:
            return value


def shown(value: Any) -> Any:
    """A value for a person to read: what is resolved at plan time, else a placeholder with its origin."""
    match value:
        case Ref() | Mix():
            return value.known if value.known is not None else value.text or f"<{value}>"
        case _:
            return value


def inside(data: Any, path: fieldpath.Path) -> Any:
    """The value at a path on which something is known only later; None where there is nothing of the kind."""
    here = data
    for depth, step in enumerate(path):
        match here:
            case Ref(transforms=()):
                resolved = value_at(here.known, path[depth:])
                return Ref(here.resource, (*here.path, *path[depth:]), known=resolved)
            case Ref() | Mix():
                rest = path[depth:]
                return Mix((here,), f"its {fieldpath.to_text(rest)}", known=value_at(here.known, rest))
        here = value_at(here, (step,))
    return None


def value_at(data: Any, path: str | fieldpath.Path, otherwise: Any = None) -> Any:
    """The value at a path; `otherwise` where there is none."""
    try:
        return fieldpath.get(data, path)
    except FieldPathError:
        return otherwise


def walk(value: Any, path: fieldpath.Path = ()) -> Iterator[tuple[fieldpath.Path, Any]]:
    """Every leaf of a document with its path, in file order; empty containers count as leaves."""
    match value:
        case dict() if value:
            for key, item in value.items():
                yield from walk(item, (*path, key))
        case list() if value:
            for index, item in enumerate(value):
                yield from walk(item, (*path, index))
        case _:
            yield path, value


def refs(value: Any) -> Iterator[Ref]:
    """Every Ref in a value, in file order."""
    return (ref for _, ref in refs_at({"": value}))


def refs_at(value: Any, path: fieldpath.Path = ()) -> list[tuple[fieldpath.Path, Ref]]:
    """Every Ref in a document with the path of the field that needs it, in file order."""
    found: list[tuple[fieldpath.Path, Ref]] = []
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, dict | list):
            found += refs_at(item, (*path, key))
        elif isinstance(item, Ref):
            found.append(((*path, key), item))
        elif isinstance(item, Mix):
            found += [((*path, key), ref) for source in item.sources for ref in refs(source)]
    return found


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The document again, each leaf that is no container put through `change`."""
    match value:
        case dict():
            return {key: mapped(item, change) for key, item in value.items()}
        case list():
            return [mapped(item, change) for item in value]
        case _:
            return change(value)


def object_at(data: Any, key: str) -> Mapping[str, Any]:
    """The object under a key; empty where there is none."""
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def copied(value: Any) -> Any:
    """A deep copy of a document; leaves are immutable and shared."""
    match value:
        case dict():
            return {key: copied(item) for key, item in value.items()}
        case list():
            return [copied(item) for item in value]
        case _:
            return value


def has(document: Mapping[str, Any], path: str | fieldpath.Path) -> bool:
    """Whether the document has a value at a path."""
    try:
        fieldpath.get(document, path)
    except FieldPathError:
        return False
    return True
