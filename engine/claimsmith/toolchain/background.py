"""Background processes that outlive the command that started them, and that are never mistaken for others.

A record on disk holds a process's id together with when it started: an id that the system gave to another
process since does not match, and is left alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from claimsmith.base.posix import write_private

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """One process, distinct from every other that ever had its id."""

    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        _reap(self.pid)
        return bool(self.started) and started(self.pid) == self.started


def spawn(argv: Sequence[str], *, record: Path, log: Path, env: Mapping[str, str]) -> Process:
    """Start a program in a session of its own, its output going to a log, and record it.

    The log of the run before is kept beside as `.1`.
    """
    if log.exists():
        log.replace(log.with_suffix(".log.1"))
    write_private(log, "")
    # Not subprocess.Popen: it warns about children that are meant to live on.
    pid = os.posix_spawn(
        argv[0],
        list(argv),
        env,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGINT, signal.SIGTERM, signal.SIGPIPE),
    )
    process = Process(pid, started(pid))
    write_private(record, json.dumps(asdict(process)) + "\n")
    return process


def recorded(record: Path) -> Process | None:
    """The process of a record if it still runs."""
    try:
        process = Process(**json.loads(record.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return process if process.alive else None


def stop(process: Process, *, grace: float, number: signal.Signals = signal.SIGTERM) -> None:
    """End a process: ask with a signal, wait, then force. Does nothing to another one that has its id by now."""
    handle = _open(process)
    try:
        _send(process, handle, number)
        if not _gone(process, grace):
            _send(process, handle, signal.SIGKILL)
            _gone(process, 5.0)
    finally:
        if handle is not None:
            os.close(handle)


def started(pid: int) -> str:
    """When a process started, as the system reports it; empty where there is none, or only its remains."""
    if not _PROC.joinpath("self").exists():
        listed = subprocess.run(
            ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        state, _, when = listed.stdout.strip().partition(" ")
        return "" if state.startswith("Z") else when.strip()
    try:
        stat = _PROC.joinpath(str(pid), "stat").read_text()
        boot = _PROC.joinpath("sys", "kernel", "random", "boot_id").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    # The command's name is in brackets and may hold anything; fields are counted from behind it.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else f"{boot}/{fields[19]}"


def _open(process: Process) -> int | None:
    """A handle that stays with this very process; nothing where the system has no such thing or it is gone."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(process.pid)
    except OSError:
        return None


def _send(process: Process, handle: int | None, number: signal.Signals) -> None:
    # With the handle open, the check cannot be overtaken by a reuse of the id.
    if not process.alive:
        return
    with contextlib.suppress(ProcessLookupError):
        if handle is not None:
            signal.pidfd_send_signal(handle, number)
        else:
            os.kill(process.pid, number)


def _gone(process: Process, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while process.alive:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _reap(pid: int) -> None:
    """Clear away the remains of a child of ours; others' children are theirs to clear."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
