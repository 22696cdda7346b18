"""The processes of this machine, and whether some are gone."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.support.eventually import eventually


def is_running(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    return _state(pid) not in "ZX"


def _is_runnable(pid: int) -> bool:
    """Whether a process has a processor, or waits for one."""
    return _state(pid) == "R"


def _state(pid: int) -> str:
    """The state of a process as the kernel has it: X for one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "X"


def await_end(pid: int) -> None:
    """Wait until a process has ended, however long it takes: a hang meets the time limit of all tests."""
    eventually(lambda: not is_running(pid))


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
    """Whether a process has nothing left to do, or ends, before it has used so much more processor time.

    Its own time, not that of the clock: on a busy machine, a process that is about to rest waits for a processor.
    """
    start = used = _used(pid)
    while used is not None and used - (start or 0) < seconds:
        time.sleep(0.2)
        before, used = used, _used(pid)
        if used == before and not _is_runnable(pid):
            return True
    return used is None


def _used(pid: int) -> float | None:
    """The seconds of processor time that a process has used; None once it has ended."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except (OSError, IndexError):
        return None


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
