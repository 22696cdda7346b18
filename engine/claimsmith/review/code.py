"""The generated code's diff, in short."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from claimsmith.review.changes import CodeChange

_AROUND = 1
_LONGEST = 60
_DIGEST = re.compile(r"(?<=sha256:)[0-9a-f]{64}")


def code_changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[CodeChange, ...]:
    """What changed in the generated components, file by file."""
    files = sorted({*old, *new})
    return tuple(_change(file, old.get(file), new.get(file)) for file in files if old.get(file) != new.get(file))


def _change(file: str, old: str | None, new: str | None) -> CodeChange:
    whole = _lines(old or "", new or "")
    added = sum(line.startswith("+") for line in whole)
    removed = sum(line.startswith("-") for line in whole)
    word = "added" if old is None else "removed" if new is None else "changed"
    # A digest follows its class, and says nothing to a reader.
    body = _lines(_DIGEST.sub("", old or ""), _DIGEST.sub("", new or "")) if word == "changed" else []
    left = len(body) - _LONGEST
    diff = [*body[:_LONGEST], *([f"… and {left} more lines"] if left > 0 else [])]
    return CodeChange(file, word, added, removed, tuple(diff))


def _lines(old: str, new: str) -> list[str]:
    return list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=_AROUND))[2:]
