"""The folders of the engine's file backend. Other backends keep nothing on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

_ATTRIBUTES = (
    "stacks/{project}/{stack}.json*.attrs",
    "backups/{project}/{stack}/*.attrs",
    "history/{project}/{stack}/*.attrs",
)


def folder(url: str, root: Path) -> Path | None:
    """Where a file backend keeps everything; nothing for other backends."""
    if not url.startswith("file://"):
        return None
    base = Path(unquote(url.removeprefix("file://").partition("?")[0])).expanduser()
    return root / base / ".pulumi"


def half_written(place: Path | None, project: str, stack: str) -> list[Path]:
    """The attributes of a stack's files that a killed engine was writing: it cannot read a file with such ones.

    The engine replaces a file itself in one step, and writes its attributes (`NAME.attrs`) in place before that. The
    file is whole, and can be read again once they are gone.
    """
    if place is None:
        return []
    # The names are the project's own: they hold no wildcards.
    patterns = [pattern.format(project=project, stack=stack) for pattern in _ATTRIBUTES]
    return sorted(path for pattern in patterns for path in place.glob(pattern) if not _whole(path))


def _whole(path: Path) -> bool:
    """Whether a file holds JSON. What is no file was not begun by the engine, and counts as whole."""
    try:
        json.loads(path.read_bytes() if path.is_file() else b"{}")
    except ValueError:
        return False
    return True
