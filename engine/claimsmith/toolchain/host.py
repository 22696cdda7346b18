"""Installs our Python language host, for engines that come without the official one.

Two files where the engine looks (see `parts.host_of`): a shell wrapper with the name that the engine looks for, and a
copy of `lab/language_host.py`. The wrapper serves every virtual environment: it runs `$CLAIMSMITH_PYTHON`, which
`environment()` sets to the running interpreter, else the Python of the active virtual environment, else the one that
wrote it.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

MARK = "# the language host of claimsmith"
SOURCE = Path(__file__).parents[1] / "lab" / "language_host.py"


def is_ours(path: Path) -> bool:
    """Whether a language host is our wrapper, not the official program."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(200)
    except OSError:
        return False


def is_current(path: Path) -> bool:
    """Whether our language host is there, as this version of claimsmith writes it."""
    try:
        return is_ours(path) and os.access(path, os.X_OK) and _copy(path).read_bytes() == SOURCE.read_bytes()
    except OSError:
        return False


def write(path: Path) -> Path:
    """Write our language host, each file whole or not at all; does nothing where it is current."""
    if not is_current(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        put(_copy(path), SOURCE.read_bytes(), 0o644)
        put(path, wrapper(_copy(path)).encode(), 0o755)
    return path


def wrapper(program: Path) -> str:
    """The text of the wrapper. `-P`: the folder of the program stays off the path that modules are found on."""
    return f"""#!/bin/sh
{MARK}
python=${{CLAIMSMITH_PYTHON:-${{VIRTUAL_ENV:+$VIRTUAL_ENV/bin/python}}}}
[ -x "$python" ] || python={shlex.quote(sys.executable)}
exec "$python" -u -P {shlex.quote(str(program))} "$@"
"""


def _copy(path: Path) -> Path:
    return path.with_name("language_host.py")


def put(path: Path, content: bytes, mode: int) -> None:
    """Write a file, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
