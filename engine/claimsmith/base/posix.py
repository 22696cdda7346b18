"""What only Linux and macOS have, imported in one place, so that other systems get one clear error.

File locks, process groups and signals hold the toolchain, the local control plane, recovery and with them every run of
the engine together. What reads and writes the project's files needs none of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claimsmith.base.errors import DeployError, PlatformError, Problem, WriteError

try:
    import fcntl
except ImportError as error:
    what = "the toolchain, the local control plane and deployments need Linux or macOS"
    fix = "on Windows, run this in WSL; validate, bind, render, generate, review and explain work here too"
    raise PlatformError(Problem(what, fix=fix)) from error

__all__ = ["alone", "fcntl", "write_private"]


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
    new.replace(path)


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Hold the lock of a file; whoever wants it at the same time is refused, and told what is going on."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        problem = f"{path} cannot be written: {error.strerror}"
        raise WriteError(Problem(problem, fix="free some space, or check the permissions")) from error
    with os.fdopen(lock, "r+"):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DeployError(Problem(what, fix="wait until it ends")) from None
        try:
            yield
        finally:
            # Not by closing it: a child that another thread is starting has a copy of the descriptor until its program
            # begins, and would hold the lock as long as that. Two stacks of a fleet on a busy machine met so.
            fcntl.flock(lock, fcntl.LOCK_UN)
