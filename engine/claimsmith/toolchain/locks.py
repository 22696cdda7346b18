"""The engine's locks on a stack: one file for each run, with the owner's process.

The file backend shows them. In other backends the engine names them when it meets one (seen in 3.259).
"""

from __future__ import annotations

import json
import os
import re
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from claimsmith.toolchain import file_backend

MESSAGE = "the stack is currently locked by"
_PROC = Path("/proc")
_NAMED = re.compile(r"(\S+): created by (\S*)@(\S+) \(pid (\d+)\) at ([0-9T:.+Z-]+)")


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock and its owner."""

    file: Path
    """Its file; only the name, in a backend that is no folder."""
    pid: int
    user: str
    host: str
    since: datetime | None

    @property
    def foreign(self) -> bool:
        """Whether it was taken on another machine: nobody here can know whether its owner lives."""
        return self.host != socket.gethostname()

    @property
    def stale(self) -> bool:
        """Whether its owner is known to be gone."""
        return not self.foreign and not _runs(self.pid, self.since)

    def __str__(self) -> str:
        since = f", since {self.since:%Y-%m-%d %H:%M:%S}Z" if self.since else ""
        return f"the lock of {self.user}@{self.host} (process {self.pid}{since})"


def gone(lock: Lock) -> bool | None:
    """Whether the owner of a lock has ended; None where nobody here can know."""
    return None if lock.foreign else lock.stale


def folder(url: str, root: Path, project: str, stack: str) -> Path | None:
    """Where a file backend keeps the locks of a stack; nothing for other backends."""
    place = file_backend.folder(url, root)
    return place / "locks" / "organization" / project / stack if place else None


def locks(place: Path | None) -> list[Lock]:
    """The locks in a folder. One that cannot be read counts as one of another machine."""
    if place is None or not place.is_dir():
        return []
    return [_read(path) for path in sorted(place.glob("*.json"))]


def named_in(output: str) -> list[Lock]:
    """The locks that the engine named in its output, when it met a locked stack."""
    return [
        Lock(
            Path(url.partition("?")[0].rpartition("/")[2]),
            int(pid),
            user,
            host,
            datetime.fromisoformat(since).astimezone(UTC),
        )
        for url, user, host, pid, since in _NAMED.findall(output)
    ]


def _read(path: Path) -> Lock:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        since = datetime.fromisoformat(data["timestamp"]).astimezone(UTC)
        return Lock(path, int(data["pid"]), str(data["username"]), str(data["hostname"]), since)
    except (OSError, ValueError, KeyError, TypeError):
        return Lock(path, 0, "unknown", "unknown", None)


def _runs(pid: int, since: datetime | None) -> bool:
    """Whether a process runs that could have taken a lock then: one that began later has only inherited the number."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    started = start_time(pid)
    return started is None or since is None or started <= since.timestamp() + 1


def start_time(pid: int) -> float | None:
    """When a process started, in seconds of the clock; infinity for a zombie, None where the system has no record."""
    try:
        fields = _PROC.joinpath(str(pid), "stat").read_text().rpartition(")")[2].split()
        boot = next(line for line in _PROC.joinpath("stat").read_text().splitlines() if line.startswith("btime "))
    except (OSError, StopIteration):
        return None
    if fields[0] in "ZX":
        return float("inf")
    return int(boot.split()[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
