"""The table of what a selector may select: built in, and extended by a project."""

from __future__ import annotations

from collections.abc import Iterable

from claimsmith.base.documents import Document
from claimsmith.base.model import Model
from claimsmith.base.names import GroupKind
from claimsmith.base.parse import parse
from claimsmith.compose.references import Table


class _File(Model):
    references: dict[str, dict[str, str | list[str]]]


def read_table(documents: Iterable[Document]) -> Table:
    """One table of several; later documents add to earlier ones, field by field."""
    table: dict[GroupKind, dict[str, tuple[GroupKind, ...]]] = {}
    for document in documents:
        for kind, fields in parse(_File, document).references.items():
            table.setdefault(GroupKind.parse(kind), {}).update({f: _kinds(t) for f, t in fields.items()})
    return table


def kinds_of(table: Table) -> set[GroupKind]:
    """The kinds that a table knows: those that refer, and those that are referred to. All are managed resources."""
    return {*table, *(kind for fields in table.values() for kinds in fields.values() for kind in kinds)}


def _kinds(value: str | list[str]) -> tuple[GroupKind, ...]:
    return tuple(GroupKind.parse(text) for text in ([value] if isinstance(value, str) else value))
