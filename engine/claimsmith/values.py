"""Values that are known only once something exists.

A `Ref` is a plain value of the core: "this field of that resource". Only the edge turns it
into a Pulumi Output; the offline render shows it as a placeholder. Transforms that a patch
would have applied are kept with it, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith import fieldpath
from claimsmith.models.transform import Transform


@dataclass(frozen=True, slots=True)
class Ref:
    """The value at `path` of a resource of the same plan, once that resource exists.

    `resource` is the resource's address in the plan: `<claim address>/<template>`.
    `known` is the value where it can be told in advance (a derived name), else None.
    """

    resource: str
    path: fieldpath.Path
    transforms: tuple[Transform, ...] = ()
    known: Any = None

    def __str__(self) -> str:
        return f"{self.resource}:{fieldpath.to_text(self.path)}"


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


def refs(value: Any, path: fieldpath.Path = ()) -> list[tuple[fieldpath.Path, Ref]]:
    """Every Ref in a document with its path, in file order."""
    found: list[tuple[fieldpath.Path, Ref]] = []
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, dict | list):
            found += refs(item, (*path, key))
        elif isinstance(item, Ref):
            found.append(((*path, key), item))
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
