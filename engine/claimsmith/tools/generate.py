"""`claimsmith generate`: write the component of each class."""

from __future__ import annotations

import subprocess
from pathlib import Path

from claimsmith.base.errors import GenerateError, Problem
from claimsmith.base.printable import one_line
from claimsmith.project.components import Components
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically


def generate(project: Project, *, check: bool = False) -> list[tuple[str, str]]:
    """Write each folder's component; returns for each whether it is new, changed or unchanged."""
    rows: list[tuple[str, str]] = []
    texts = component_texts(project)
    for path, text in texts.items():
        shown = path.relative_to(project.root).as_posix()
        old = path.read_bytes() if path.is_file() else None
        rows.append((shown, "new" if old is None else "none" if old == text.encode() else "changed"))
    if not check:
        for path, text in texts.items():
            write_atomically(path, text)
    return rows


def component_texts(project: Project) -> dict[Path, str]:
    """The source of every component, formatted."""
    found = Components(project)
    return {path: format_source(found.source(path)) for path in found.folders}


def format_source(source: str) -> str:
    """The source as the formatter writes it."""
    # Ruffs before 0.15.3 have it only here.
    from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]  # it has no types

    command = [find_ruff_bin(), "format", "--isolated", "--line-length", "120", "--target-version", "py311", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    if done.returncode:
        what = f"the generated source cannot be formatted: {one_line(done.stderr)}"
        raise GenerateError(Problem(what, fix="report this as a bug"))
    return done.stdout
