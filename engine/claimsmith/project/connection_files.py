"""Files of connection details: one for each claim, which only the user can read, removed when the claim goes.

Only files that were written here are removed: `.claimsmith/connections.json` lists them, by stack.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from claimsmith.base.errors import ConnectionError_, Problem
from claimsmith.project.connection_settings import FileSink
from claimsmith.project.layout import Layout
from claimsmith.project.writing import output_path, write_atomically
from claimsmith.render import connection

WRITTEN = "connections.json"
_MODE = 0o600
_ENDINGS = {"dotenv": ".env", "json": ".json"}


def write(layout: Layout, stack: str, sink: FileSink, claim: str, details: Mapping[str, str]) -> Path:
    """Write the file of a claim, whole or not at all; gives its path."""
    path = _path(layout, stack, sink, claim)
    text = connection.as_env(details, export=False) if sink.format == "dotenv" else connection.as_json(details)
    # Noted before it is written: a run that is killed between the two leaves no file that nobody removes.
    _note(layout, stack, claim, path)
    _private_folder(path.parent, layout)
    write_atomically(path, text, mode=_MODE)
    return path


def remove_gone(layout: Layout, stack: str, sink: FileSink | None, claims: Collection[str]) -> list[Path]:
    """Remove the files of claims that have gone, and those that the setting puts elsewhere now."""
    written = _written(layout)
    own = written.get(stack, {})
    kept = {c: p for c, p in own.items() if sink and c in claims and p == str(_path(layout, stack, sink, c))}
    gone = [Path(path) for claim, path in own.items() if claim not in kept]
    for path in gone:
        path.unlink(missing_ok=True)
        with suppress(OSError):
            path.parent.rmdir()
    if kept != own:
        _keep(layout, {**written, stack: kept})
    return gone


def _path(layout: Layout, stack: str, sink: FileSink, claim: str) -> Path:
    folder = layout.root / sink.folder / stack
    path = folder / f"{claim}{_ENDINGS[sink.format]}"
    if ".." in Path(claim).parts or not path.is_relative_to(folder):
        raise ConnectionError_(Problem(f"{claim!r} cannot be the name of a file", fix="rename the claim"))
    return output_path(path, root=layout.root)


def _private_folder(folder: Path, layout: Layout) -> None:
    """Create the folder of a file, for this user alone."""
    layout.private.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _note(layout: Layout, stack: str, claim: str, path: Path) -> None:
    written = _written(layout)
    own = {**written.get(stack, {}), claim: str(path)}
    if own != written.get(stack):
        _keep(layout, {**written, stack: own})


def _written(layout: Layout) -> dict[str, dict[str, str]]:
    path = layout.private / WRITTEN
    try:
        written: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return written
    except ValueError as error:
        what = f".claimsmith/{WRITTEN} is broken: it lists the files of connection details"
        raise ConnectionError_(Problem(what, fix="remove it, and the files of claims that are gone")) from error


def _keep(layout: Layout, written: Mapping[str, Mapping[str, str]]) -> None:
    layout.private.mkdir(mode=0o700, exist_ok=True)
    shown = {stack: files for stack, files in written.items() if files}
    write_atomically(layout.private / WRITTEN, json.dumps(shown, indent=2, sort_keys=True) + "\n")
