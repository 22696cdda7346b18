"""Values before and after, as short texts: long ones are cut around the difference, JSON texts shown key by key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from claimsmith.base.absent import ABSENT
from claimsmith.base.grouping import grouped
from claimsmith.tools.explain.formatting import whole
from claimsmith.tools.review.changes import FieldChange

ROOM = 100
"""How long a value may be before it is cut."""
PARTS = 12
"""How many parts of a JSON text are shown."""
_AROUND = 24
HIDDEN = "changed (not shown)"


@dataclass(frozen=True, slots=True)
class Row:
    """One value before and after; with a path if it is a part of a JSON text."""

    old: str
    new: str
    path: str = ""

    @property
    def text(self) -> str:
        """`10240 → 20480`."""
        change = f"{self.old} → {self.new}" if self.new else self.old
        return f"{self.path}: {change}" if self.path else change


@dataclass(frozen=True, slots=True)
class Variant:
    """The change of one field as some claims of a group have it."""

    rows: tuple[Row, ...]
    claims: tuple[int, ...]
    """Which claims of the group these are."""


def variants(fields: Iterable[FieldChange]) -> list[Variant]:
    """The change of one field in many claims: each different one once, with the claims that have it."""
    found = grouped(enumerate(fields), lambda pair: rows_of(pair[1]))
    return [Variant(rows, tuple(index for index, _ in same)) for rows, same in found.items()]


def rows_of(field: FieldChange) -> tuple[Row, ...]:
    """The values of a field, before and after. A secret field shows that it changed, and no value."""
    if field.secret:
        return (Row(HIDDEN, ""),)
    if not field.parts:
        return (Row(*around(_text(field.old), _text(field.new))),)
    rows = [Row(*around(_text(p.old), _text(p.new)), p.path) for p in field.parts[:PARTS]]
    more = len(field.parts) - PARTS
    return (*rows, *([Row(f"and {more} more in this text", "")] if more > 0 else []))


def around(old: str, new: str, *, room: int = ROOM) -> tuple[str, str]:
    """Two texts, each cut to about `room` so that where they differ can be seen."""
    if max(len(old), len(new)) <= room:
        return old, new
    start = _shared(old, new)
    end = min(_shared(old[::-1], new[::-1]), min(len(old), len(new)) - start)
    return _cut(old, start, end, room), _cut(new, start, end, room)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _cut(text: str, start: int, end: int, room: int) -> str:
    """The part of a text that the other has not, with a little around it."""
    first = start - _AROUND if start > _AROUND + 1 and len(text) > room else 0
    last = min(len(text), len(text) - end + _AROUND)
    # What differs may be longer than a line.
    last = min(last, first + room)
    head, tail = "…" if first else "", "…" if last < len(text) else ""
    return f"{head}{text[first:last]}{tail}"


def _text(value: object) -> str:
    return "nothing" if value is ABSENT else whole(value)
