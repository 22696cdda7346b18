"""What only Linux and macOS have, imported in one place, so that other systems get one clear error.

File locks, process groups and signals hold the toolchain, the local control plane, recovery and with them every run of
the engine together. What reads and writes the project's files needs none of it.
"""

from __future__ import annotations

import os
from pathlib import Path

from claimsmith.base.errors import PlatformError, Problem

try:
    import fcntl
except ImportError as error:
    what = "the toolchain, the local control plane and deployments need Linux or macOS"
    fix = "on Windows, run this in WSL; validate, bind, render, generate, review and explain work here too"
    raise PlatformError(Problem(what, fix=fix)) from error

__all__ = ["fcntl", "write_private"]


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
    new.replace(path)
