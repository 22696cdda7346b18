"""What a review must know of kinds: fields that the engine, or nobody, can change in place; what holds data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pydantic import Field

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import at
from claimsmith.base.model import Model
from claimsmith.base.names import GroupKind
from claimsmith.base.parse import parse

Fields = Mapping[GroupKind, tuple[fieldpath.Path, ...]]


class _File(Model):
    replaced: dict[str, list[str]] = Field(default_factory=dict)
    immutable: dict[str, list[str]] = Field(default_factory=dict)
    holds_data: list[str] = Field(default_factory=list)
    holds_no_data: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KindTable:
    """Facts about kinds that their definitions do not contain."""

    replaced: Fields = field(default_factory=dict)
    """Fields for whose change the engine replaces the object."""
    immutable: Fields = field(default_factory=dict)
    """Fields that the provider cannot change once the thing exists."""
    data: tuple[str, ...] = ()
    no_data: tuple[str, ...] = ()

    def holds_data(self, kind: GroupKind) -> bool:
        """Whether deleting one of the kind loses something that cannot be created again."""
        text = str(kind)
        named = any(fnmatchcase(text, pattern) for pattern in self.data)
        return named and not any(fnmatchcase(text, pattern) for pattern in self.no_data)


def read_kind_table(documents: Iterable[Document]) -> KindTable:
    """One table of several; later documents add to earlier ones."""
    replaced: dict[GroupKind, tuple[fieldpath.Path, ...]] = {}
    immutable: dict[GroupKind, tuple[fieldpath.Path, ...]] = {}
    data: list[str] = []
    no_data: list[str] = []
    for document in documents:
        file = parse(_File, document)
        for section, into, listed in (("replaced", replaced, file.replaced), ("immutable", immutable, file.immutable)):
            for kind, paths in listed.items():
                key = GroupKind.parse(kind)
                with at(document.source_of((section, kind)), fieldpath.to_text((section, kind))):
                    into[key] = (*into.get(key, ()), *(fieldpath.parse(p) for p in paths))
        data += file.holds_data
        no_data += file.holds_no_data
    return KindTable(replaced, immutable, tuple(data), tuple(no_data))
