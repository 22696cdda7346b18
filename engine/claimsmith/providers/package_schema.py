"""What a provider's plugin says of itself: for the change of which inputs it replaces a resource.

The SDK does not have it; `pulumi package get-schema` prints it. Of that text, which has up to a hundred megabytes, only
the marks are kept. Not every provider sets them: where one says nothing at all, a change may replace or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem, ProviderError

_REFERENCE: Final = "#/types/"
_MARKS: Final = ("willReplaceOnChanges", "replaceOnChanges")


class Effect(StrEnum):
    """What the change of an input does to a resource."""

    replaced = "replaced"
    in_place = "updated in place"
    unknown = "unknown"


@dataclass(frozen=True, slots=True)
class PackageSchema:
    """The marks of one provider."""

    package: str
    version: str
    replaced: Mapping[str, tuple[fieldpath.Path, ...]]
    """For each type, by its full token, the inputs for whose change the provider replaces it."""

    @property
    def speaks(self) -> bool:
        """Whether the provider marks such inputs anywhere: only then a missing mark means something."""
        return any(self.replaced.values())


def effect_of(
    path: fieldpath.Path, token: str, schema: PackageSchema | None, asked: Iterable[fieldpath.Path] = ()
) -> Effect:
    """What a change of an input does; `asked` are the inputs that the class itself lists under replaceOnChanges."""
    if _touches(path, asked):
        return Effect.replaced
    if schema is None or not schema.speaks or token not in schema.replaced:
        return Effect.unknown
    return Effect.replaced if _touches(path, schema.replaced[token]) else Effect.in_place


def _touches(path: fieldpath.Path, listed: Iterable[fieldpath.Path]) -> bool:
    """Whether a path is at, below or above one of the listed."""
    return any(fieldpath.overlap(path, other) for other in listed)


def read_schema(text: str) -> PackageSchema:
    """The marks in what `pulumi package get-schema` prints."""
    try:
        data = json.loads(text)
        types = data.get("types") or {}
        inner = _Types(types)
        replaced = {
            token: tuple(dict.fromkeys(inner.marked(resource.get("inputProperties") or {})))
            for token, resource in (data.get("resources") or {}).items()
        }
        return PackageSchema(str(data["name"]), str(data.get("version") or ""), replaced)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProviderError(
            Problem(f"this is no schema of a provider: {error}", fix="install the plugin again")
        ) from error


class _Types:
    """The nested types of a schema, each looked through once."""

    def __init__(self, types: Mapping[str, Any]) -> None:
        self._types = types
        self._found: dict[str, tuple[fieldpath.Path, ...]] = {}

    def marked(self, properties: Mapping[str, Any]) -> Iterator[fieldpath.Path]:
        """The paths of marked properties, and of those within the objects that others are."""
        for name, declared in properties.items():
            if any(declared.get(mark) for mark in _MARKS):
                yield (name,)
            else:
                yield from ((name, *path) for path in self._within(declared))

    def _within(self, declared: Mapping[str, Any]) -> Iterator[fieldpath.Path]:
        reference = str(declared.get("$ref") or "")
        if reference.startswith(_REFERENCE):
            yield from self._of(reference.removeprefix(_REFERENCE))
        for word in ("items", "additionalProperties"):
            if isinstance(declared.get(word), Mapping):
                yield from ((fieldpath.WILDCARD, *path) for path in self._within(declared[word]))

    def _of(self, name: str) -> tuple[fieldpath.Path, ...]:
        if name not in self._found:
            # A type that contains itself has no marks within itself: the first round has them all.
            self._found[name] = ()
            properties = (self._types.get(name) or {}).get("properties") or {}
            self._found[name] = tuple(self.marked(properties))
        return self._found[name]


def to_text(schema: PackageSchema) -> str:
    """The marks as text, to be kept."""
    replaced = {token: [list(path) for path in paths] for token, paths in schema.replaced.items()}
    return json.dumps({"package": schema.package, "version": schema.version, "replaced": replaced}, sort_keys=True)


def from_text(text: str) -> PackageSchema | None:
    """The marks that were kept; None where that is not what the text has."""
    try:
        data = json.loads(text)
        replaced = {token: tuple(tuple(path) for path in paths) for token, paths in data["replaced"].items()}
        return PackageSchema(str(data["package"]), str(data["version"]), replaced)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
