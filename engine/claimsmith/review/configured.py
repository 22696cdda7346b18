"""Settings that change with a pull request: of a stack's config, and of what application teams may say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from claimsmith.absent import ABSENT
from claimsmith.documents import Document
from claimsmith.errors import Source
from claimsmith.explain.words import shown
from claimsmith.review.changes import Level, Warned
from claimsmith.review.fields import differences
from claimsmith.values import object_at

PLAIN = frozenset(f"claimsmith:{name}" for name in ("bind", "records", "context", "cluster", "strict"))
"""Settings whose values may be shown: any other may hold credentials, whether or not it is marked as a secret."""


def config_changes(old: Sequence[Document], new: Sequence[Document]) -> Iterator[Warned]:
    """One warning for each setting of a stack that changes; a file that stands first wins over the next."""
    before, after = (
        {k: v for d in reversed(files) for k, v in object_at(d.data, "config").items()} for files in (old, new)
    )
    for name in sorted({*before, *after}):
        if before.get(name, ABSENT) == after.get(name, ABSENT):
            continue
        values = f": {_value(name, before)} → {_value(name, after)}" if name in PLAIN else " changes"
        said = next((d for d in (*new, *old) if name in object_at(d.data, "config")), None)
        where = said.source_of(("config", name)) if said else None
        fix = "see what it does to every resource of the stack: claimsmith review --preview"
        yield Warned("setting-changed", Level.warning, f"the stack's setting {name}{values}", where=where, fix=fix)


def permission_changes(old: Document | None, new: Document | None) -> Iterator[Warned]:
    """One warning for each part of the permissions of application teams that changes."""
    before, after = (dict(d.data) if d else {} for d in (old, new))
    for difference in differences(before, after):
        path = ".".join(map(str, difference.path))
        what = f"what application teams may do changes: {path}: {_told(difference.old)} → {_told(difference.new)}"
        fix = "see which teams get which namespaces, classes and permissions"
        where = _place(old, new, difference.path)
        yield Warned("permissions-changed", Level.warning, what, where=where, fix=fix)


def _value(name: str, config: Any) -> str:
    return _told(config.get(name, ABSENT))


def _told(value: Any) -> str:
    return "nothing" if value is ABSENT else shown(value)


def _place(old: Document | None, new: Document | None, path: Any) -> Source | None:
    known = new or old
    return known.source_of(path) if known else None
