"""Regular expressions as Go has them: RE2, in time linear in the text, without lookaround or backreferences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

MAX_PATTERN = 4096
"""The longest pattern, in characters: RE2 is linear in the text, but not in what a pattern nests."""

_ONE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")


class BadPattern(ValueError):
    """A pattern that RE2 does not take; the text is the reason."""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """The pattern, ready to search with."""
    import re2  # type: ignore[import-untyped]  # it ships no types

    if len(pattern) > MAX_PATTERN:
        raise BadPattern(f"longer than {MAX_PATTERN} characters")
    if _ONE_BYTE.search(pattern):  # RE2 in C++ has it, Go does not
        raise BadPattern(r"invalid escape sequence: \C")
    options = re2.Options()
    options.log_errors = False  # else RE2 prints to stderr by itself
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise BadPattern(reason) from error


def first_match(pattern: str, text: str) -> tuple[str, ...] | None:
    """The first match and its groups, those that took no part being empty; None where there is no match."""
    # Halves of surrogate pairs have no bytes to search in.
    found = compiled(pattern).search(re.sub("[\ud800-\udfff]", "\ufffd", text))
    return None if found is None else (found.group(), *found.groups(default=""))


def matches(text: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns is the text; `*` stands for any text."""
    return any(fnmatchcase(text, pattern) for pattern in patterns)
