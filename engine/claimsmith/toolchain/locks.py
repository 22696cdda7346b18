"""The engine's locks on a stack, with the owner of each: the files of its file backend, or what it reports of others.

A backend that machines share keeps the same content. Only the engine reads it there: it lists the locks of a stack when
it refuses to take one of its own.
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

_PROC = Path("/proc")
_REFUSAL = "the stack is currently locked by"
_REPORTED = re.compile(r": created by (?P<user>.*)@(?P<host>.*?) \(pid (?P<pid>\d+)\) at (?P<since>\S+)")


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock and its owner."""

    file: Path | None
    """Its file in the file backend; nothing in a backend that machines share."""
    pid: int
    user: str
    host: str
    since: datetime | None

    @property
    def foreign(self) -> bool:
        """Whether nobody here can know that its owner lives: it was taken on another machine, or may have been.

        Machines that share a backend may have the same name, as many containers have. A process that is not here says
        nothing then.
        """
        return self.host != socket.gethostname() or (self.file is None and not _runs(self.pid, self.since))

    @property
    def stale(self) -> bool:
        """Whether its owner is known to be gone."""
        return not self.foreign and not _runs(self.pid, self.since)

    @property
    def owner(self) -> str:
        """Where the owner is, for a sentence about the lock."""
        if self.host != socket.gethostname():
            return "on another machine"
        return "on a machine of this name, where it does not run" if self.foreign else "who is gone"

    def __str__(self) -> str:
        since = f", since {self.since:%Y-%m-%d %H:%M:%S}Z" if self.since else ""
        return f"the lock of {self.user}@{self.host} (process {self.pid}{since})"


def gone(lock: Lock) -> bool | None:
    """Whether the owner of a lock has ended, where no two machines have one name; None if it was taken elsewhere."""
    return None if lock.host != socket.gethostname() else not _runs(lock.pid, lock.since)


def folder(url: str, root: Path, project: str, stack: str) -> Path | None:
    """Where a file backend keeps the locks of a stack; nothing for other backends."""
    place = file_backend.folder(url, root)
    return place / "locks" / "organization" / project / stack if place else None


def locks(place: Path | None) -> list[Lock]:
    """The locks in a folder. One that cannot be read counts as one of another machine."""
    if place is None or not place.is_dir():
        return []
    return [_read(path) for path in sorted(place.glob("*.json"))]


def write(place: Path, pid: int) -> None:
    """Record a process of this machine in a folder, as the engine's file backend records the owner of a lock."""
    place.mkdir(mode=0o700, exist_ok=True)
    owner = {"pid": pid, "username": "claimsmith", "hostname": socket.gethostname()}
    text = json.dumps({**owner, "timestamp": datetime.now(UTC).isoformat()})
    (place / f"{pid}.json").write_text(text, encoding="utf-8")


def reported(output: str) -> list[Lock]:
    """The locks that the engine lists when it refuses to take one. If it lists none, one of which nothing is known."""
    if _REFUSAL not in output:
        return []
    found = [
        Lock(None, int(each["pid"]), each["user"], each["host"], _since(each["since"]))
        for each in _REPORTED.finditer(output)
    ]
    # A list of errors may repeat the refusal.
    return list(dict.fromkeys(found)) or [Lock(None, 0, "unknown", "unknown", None)]


def _read(path: Path) -> Lock:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        since = datetime.fromisoformat(data["timestamp"]).astimezone(UTC)
        return Lock(path, int(data["pid"]), str(data["username"]), str(data["hostname"]), since)
    except (OSError, ValueError, KeyError, TypeError):
        return Lock(path, 0, "unknown", "unknown", None)


def _since(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None


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
