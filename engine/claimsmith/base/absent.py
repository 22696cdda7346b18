"""The value of something that is not there, as distinct from null, which is a value."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Absent(Enum):
    """The type of `ABSENT`. There is one member, so copies and pickles of it are itself."""

    ABSENT = "absent"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"

    __str__ = __repr__


ABSENT: Final = Absent.ABSENT
"""A transform returns it unchanged: an absent value stays absent."""
