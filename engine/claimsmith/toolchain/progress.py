"""How long work tells of itself, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable

#: Called with a step's title, how much of it is done, of how much (None: not known) and a word on the present piece.
Report = Callable[[str, int, int | None, str], None]


def silent(title: str, done: int, total: int | None, word: str) -> None:
    """Tell nobody."""
