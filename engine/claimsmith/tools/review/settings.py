"""Settings that a pull request changes: a stack's config, and the permissions of application teams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claimsmith.base.absent import ABSENT
from claimsmith.base.documents import Document
from claimsmith.base.values import object_at
from claimsmith.tools.explain.formatting import shown
from claimsmith.tools.review.changes import Level, ReviewWarning
from claimsmith.tools.review.fields import differences

PLAIN = frozenset(f"claimsmith:{name}" for name in ("bind", "records", "context", "cluster", "strict", "takeover"))
"""Settings whose values may be shown: any other may hold credentials, whether or not it is marked as a secret."""


def config_changes(old: Sequence[Document], new: Sequence[Document]) -> Iterator[ReviewWarning]:
    """One warning for each setting of a stack that changes; a file that stands first wins over the next."""
    before, after = (
        {k: v for d in reversed(files) for k, v in object_at(d.data, "config").items()} for files in (old, new)
    )
    for name in sorted({*before, *after}):
        if before.get(name, ABSENT) == after.get(name, ABSENT):
            continue
        old_value, new_value = (shown(side.get(name, ABSENT)) for side in (before, after))
        values = f": {old_value} → {new_value}" if name in PLAIN else " changes"
        document = next((d for d in (*new, *old) if name in object_at(d.data, "config")), None)
        where = document.source_of(("config", name)) if document else None
        fix = "check every resource of the stack: claimsmith review --preview"
        yield ReviewWarning(
            "setting-changed", Level.warning, f"the stack's setting {name}{values}", where=where, fix=fix
        )


def permission_changes(old: Document | None, new: Document | None) -> Iterator[ReviewWarning]:
    """One warning for each part of the permissions of application teams that changes."""
    before, after = (dict(d.data) if d else {} for d in (old, new))
    for difference in differences(before, after):
        path = ".".join(map(str, difference.path))
        what = f"the permissions of application teams change: {path}: {shown(difference.old)} → {shown(difference.new)}"
        fix = "see which teams get which namespaces, classes and permissions"
        present = new or old
        where = present.source_of(difference.path) if present else None
        yield ReviewWarning("permissions-changed", Level.warning, what, where=where, fix=fix)
