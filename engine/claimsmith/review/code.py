"""The generated code's diff, in short."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from claimsmith.review.changes import CodeChange

_AROUND = 1
_LONGEST = 60


def code_changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[CodeChange, ...]:
    """What changed in the generated components, file by file."""
    files = sorted({*old, *new})
    return tuple(_change(file, old.get(file), new.get(file)) for file in files if old.get(file) != new.get(file))


def _change(file: str, old: str | None, new: str | None) -> CodeChange:
    lines = list(difflib.unified_diff((old or "").splitlines(), (new or "").splitlines(), lineterm="", n=_AROUND))[2:]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    word = "added" if old is None else "removed" if new is None else "changed"
    body = lines if word == "changed" else []
    left = len(body) - _LONGEST
    diff = [*body[:_LONGEST], *([f"… and {left} more lines"] if left > 0 else [])]
    return CodeChange(file, word, added, removed, tuple(diff))
