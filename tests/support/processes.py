"""The processes of this machine, and whether some are gone."""

from __future__ import annotations

import os
import time
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


def ends(pid: int, seconds: float = 20) -> bool:
    """Whether a process ends within a time."""
    end = time.monotonic() + seconds
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_running(pid)


def children(pid: int | None = None) -> list[int]:
    """The processes that a process started and that run; those of this one where none is named."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if int(parent) == (pid or os.getpid()) and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def rests(pid: int, seconds: float = 20) -> bool:
    """Whether a process uses no processor time from now on, or ends; asked for a time."""
    end = time.monotonic() + seconds
    before = ""
    while time.monotonic() < end:
        try:
            used = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]
        except OSError:
            return True
        if used == before:
            return True
        before = used
        time.sleep(0.2)
    return False


def processes() -> list[tuple[int, int, str, Path]]:
    """All that run: id, parent, command and folder of each."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                cwd = Path(os.readlink(entry / "cwd"))
            except OSError:
                continue
            if state not in "ZX":
                found.append((int(entry.name), int(parent), command, cwd))
    return found
