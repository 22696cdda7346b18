"""Runs the engine for one stack: a child process of its own, its output in a log, its events counted as they come.

The `pulumi` program is run as a child, as all other tools do, and not through Pulumi's Automation API. That starts the
same program with the same event log. But it is part of the SDK, which only `deploy/` imports, and its children share
our process group: Ctrl-C of the terminal would reach the engine beside our own signal, and two of them end it at once.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from claimsmith.base.printable import one_line
from claimsmith.toolchain import guardian, locks
from claimsmith.toolchain.locks import Lock
from claimsmith.tools.review.changes import DESTRUCTIVE
from claimsmith.tools.review.preview import is_object, op_of

POLL = 0.1
"""Seconds between two looks at a child."""
FLAGS = ("--non-interactive", "--color", "never", "--suppress-outputs")
_EVENT_LOG = {"PULUMI_DEBUG_COMMANDS": "true"}
"""The engine has `--event-log` only with this variable (seen in 3.259); the Automation API sets it too."""
_SAME = ("same", "read", "refresh")
Progress = Callable[[Mapping[str, int]], None]


@dataclass
class Events:
    """What the events of a run said so far."""

    steps: Counter[str] = field(default_factory=Counter)
    """The finished steps, by the engine's word for the operation."""
    destroyed: set[str] = field(default_factory=set)
    """The URNs of resources that are deleted or replaced; what a class retains is not among them."""
    summary: dict[str, int] | None = None
    errors: list[str] = field(default_factory=list)

    def add(self, event: Mapping[str, Any]) -> None:
        """Count one event."""
        match event:
            case {"resourcePreEvent": {"metadata": dict(metadata)}}:
                step = {"op": metadata.get("op", ""), "oldState": metadata.get("old") or {}}
                urn = str(metadata.get("urn", ""))
                if is_object(urn) and op_of(step) in DESTRUCTIVE:
                    self.destroyed.add(urn)
            case {"resOutputsEvent": {"metadata": dict(metadata)}}:
                self.steps[str(metadata.get("op", ""))] += 1
            case {"summaryEvent": {"resourceChanges": dict(changes)}}:
                self.summary = {str(op): int(number) for op, number in changes.items()}
            case {"diagnosticEvent": {"severity": "error", "message": str(message)}}:
                self.errors.append(one_line(message.strip().removeprefix("error: ")))

    @property
    def changes(self) -> dict[str, int]:
        """The operations that change something: the engine's own sums, or the steps of a run that did not end."""
        found = self.summary if self.summary is not None else self.steps
        return {op: number for op, number in sorted(found.items()) if op not in _SAME and number}


@dataclass(frozen=True, slots=True)
class Ran:
    """A command of the engine that has ended."""

    code: int
    events: Events
    output: str

    @property
    def locks(self) -> list[Lock]:
        """The locks of other runs, because of which it did nothing."""
        return locks.reported(self.output) if self.code else []


def running(log: Path) -> Path:
    """Where the process of a stack's engine is recorded while it runs: it may not have its lock yet."""
    return log.with_suffix(".engine")


class Children:
    """The engine's processes of a run. An interrupt reaches them from here alone."""

    def __init__(self, *, guarded: bool = False) -> None:
        """With `guarded`, a child that outlives this process is interrupted: nobody here would go on with it."""
        self._guard = [sys.executable, "-I", "-S", guardian.__file__] if guarded else []
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stop = threading.Event()

    @property
    def stopping(self) -> bool:
        """Whether the run was interrupted."""
        return self._stop.is_set()

    def interrupt(self) -> None:
        """Ask every child to end as Ctrl-C does; a second time the engine ends without waiting for its resources."""
        self._stop.set()
        with self._lock:
            for process in self._running:
                _interrupt(process)

    def wait(self, seconds: float) -> None:
        """Wait, or until the run is interrupted."""
        self._stop.wait(seconds)

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        progress: Progress = lambda _: None,
    ) -> Ran:
        """Run a command of the engine that has events, to its end; its output is added to the log."""
        events = Events()
        file = log.with_suffix(".events")
        _new(file)
        start = log.stat().st_size if log.exists() else 0
        try:
            with log.open("ab") as output, file.open("rb") as lines:
                output.write(f"$ {' '.join(command)}\n".encode())
                output.flush()
                whole = [*command, *FLAGS, "--event-log", str(file)]
                with self._started(whole, cwd, {**env, **_EVENT_LOG}, output) as process:
                    locks.write(running(log), process.pid)
                    while process.poll() is None:
                        _read(lines, events, progress)
                        time.sleep(POLL)
                _read(lines, events, progress)
        finally:
            # Whole resources stand in it.
            file.unlink(missing_ok=True)
            shutil.rmtree(running(log), ignore_errors=True)
        with log.open("rb") as written:
            written.seek(start)
            return Ran(process.returncode, events, written.read().decode(errors="replace"))

    def _started(self, command: Sequence[str], cwd: Path, env: Mapping[str, str], output: IO[bytes]) -> _Registered:
        process = subprocess.Popen(
            [*self._guard, *command],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if self._guard else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with self._lock:
            self._running.add(process)
            if self.stopping:
                _interrupt(process)
        return _Registered(process, self._ended)

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._running.discard(process)


@dataclass(frozen=True, slots=True)
class _Registered:
    """A child that is waited for, however the block ends."""

    process: subprocess.Popen[bytes]
    ended: Callable[[subprocess.Popen[bytes]], None]

    def __enter__(self) -> subprocess.Popen[bytes]:
        return self.process

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            _interrupt(self.process)
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        self.ended(self.process)


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)


def _new(file: Path) -> None:
    """An empty file that only the user can read."""
    file.unlink(missing_ok=True)
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _read(lines: IO[bytes], events: Events, progress: Progress) -> None:
    """Count the events that were written since; one that is half-written is left for later."""
    changed = False
    while line := lines.readline():
        if not line.endswith(b"\n"):
            lines.seek(-len(line), os.SEEK_CUR)
            break
        if b'"severity":"debug"' in line:
            continue
        with suppress(ValueError):
            events.add(json.loads(line))
            changed = True
    if changed:
        progress(dict(events.steps))
