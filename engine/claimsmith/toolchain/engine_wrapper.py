"""Puts a wrapper of `pulumi` into the cache: it runs the engine with a private temporary folder; see `private_runs.py`.

A wrapper, because the engine starts its plugins with its own environment: no program and no setting can choose their
temporary folder, and a `TMPDIR` for the whole shell would be that of every other program too. It is kept in the cache
and not in the project, so that no file of a repository comes to stand on `PATH`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from claimsmith.toolchain import host, parts, private_runs

SOURCE = Path(private_runs.__file__)


def write(env: Mapping[str, str] = os.environ) -> Path:
    """Write the wrapper into the cache, each file whole or not at all; returns the folder for PATH."""
    folder = parts.toolchain_folder(env) / "run"
    path, copy = folder / parts.PULUMI, folder / SOURCE.name
    if not _is_current(path, copy):
        folder.mkdir(parents=True, exist_ok=True)
        host.put(copy, SOURCE.read_bytes(), 0o644)
        host.put(path, wrapper(copy).encode(), 0o755)
    return folder


def wrapper(program: Path) -> str:
    """The text of the wrapper. `-I -S`: nothing of the user's Python set-up is read, and it starts sooner."""
    return f"""#!/bin/sh
{private_runs.MARK.decode()}
python=${{CLAIMSMITH_PYTHON:-}}
[ -x "$python" ] || python={shlex.quote(sys.executable)}
exec "$python" -I -S {shlex.quote(str(program))} "$@"
"""


def _is_current(path: Path, copy: Path) -> bool:
    try:
        return private_runs.is_ours(path) and os.access(path, os.X_OK) and copy.read_bytes() == SOURCE.read_bytes()
    except OSError:
        return False
