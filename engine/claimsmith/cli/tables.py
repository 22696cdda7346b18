"""Tables as lines of text: as wide as they are where a program reads them, fitted to a terminal where a person does.

In a terminal, cells are wrapped between words and long paths are shortened in their middle; a word is never broken. A
table that does not fit even so is written as a list of blocks. Everywhere else a row is one line, for `grep` and `cut`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_GAP = "  "
_ABSENT = ("", "-")


@dataclass(frozen=True)
class Lines:
    """A table: the lines of its header, which a list of blocks has none of, and those of its rows."""

    header: list[str]
    body: list[str]


def lines(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> Lines:
    """Rows under their columns, aligned; at most `width` characters wide where there is one."""
    natural = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    room = None if width is None else width - len(_GAP) * (len(columns) - 1)
    if room is None or sum(natural) <= room:
        return Lines(_wrapped(columns, natural), [line for row in rows for line in _wrapped(row, natural)])
    least = [max(_least(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    if sum(least) > room:
        return Lines([], [line for row in rows for line in _block(columns, row, width or room)])
    widths = _shared(least, natural, room)
    return Lines(_wrapped(columns, widths), [line for row in rows for line in _wrapped(row, widths)])


def shortened(path: str, width: int) -> str:
    """A path with `…` for folders in its middle, so that it fits; its last part stays whole."""
    parts = path.split("/")
    for kept in range(len(parts) - 2, -1, -1):
        shown = path if len(path) <= width else "/".join([*parts[:kept], "…", parts[-1]])
        if len(shown) <= width:
            return shown
    return f"…/{parts[-1]}"


def _is_path(cell: str) -> bool:
    return cell.startswith("/") and " " not in cell and cell.count("/") > 1


def _least(cell: str) -> int:
    """The width below which a cell would break a word."""
    if _is_path(cell):
        return len(shortened(cell, 0))
    return _indent(cell) + max(map(len, cell.split()), default=0)


def _indent(cell: str) -> int:
    return len(cell) - len(cell.lstrip(" "))


def _shared(least: list[int], natural: list[int], room: int) -> list[int]:
    """The widths of columns that fit together: narrow ones as they are, wide ones equally wide."""
    cap = max(c for c in range(room + 1) if sum(map(max, least, (min(n, c) for n in natural))) <= room)
    widths = [max(low, min(high, cap)) for low, high in zip(least, natural, strict=True)]
    for index, high in enumerate(natural):
        widths[index] += min(high - widths[index], room - sum(widths))
    return widths


def _wrapped(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The lines of one row."""
    cells = [_cell(cell, width) for cell, width in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    padded = [[*cell, *[""] * (height - len(cell))] for cell in cells]
    return [
        _GAP.join(cell[i].ljust(width) for cell, width in zip(padded, widths, strict=True)).rstrip()
        for i in range(height)
    ]


def _cell(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    if _is_path(cell):
        return [shortened(cell, width)]
    return _words(cell.lstrip(" "), width, " " * _indent(cell))


def _words(text: str, width: int, indent: str, further: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _block(columns: Sequence[str], row: Sequence[str], width: int) -> list[str]:
    """A row as a block: its first cell, and below it each other one with the name of its column."""
    label = max(map(len, columns[1:]), default=0)
    found = [row[0]]
    for name, cell in zip(columns[1:], row[1:], strict=True):
        if cell not in _ABSENT:
            begin = f"{' ' * _indent(row[0])}  {name.ljust(label)}  "
            found += _words(cell.lstrip(" "), width, begin, " " * len(begin))
    return found
