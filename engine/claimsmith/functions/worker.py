"""Child processes for the engines of functions: started once, reused by all steps, ended with the command.

An engine is native code or code of the platform: it may loop, crash, or take all memory. So it runs in a process of
its own with limits (`engines/sandbox.py`). A call that takes too long, answers too much, answers what it was not asked
or ends the process is a problem of that call; the next one gets a new process.

The time of a call does not include what its process waited for a processor, so that a busy machine refuses nothing that
an idle one runs.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from claimsmith.base.errors import ComposeError, Problem

_START = """
import json, sys, types
package = types.ModuleType("claimsmith")
package.__path__ = [sys.argv[3]]
sys.modules["claimsmith"] = package
sys.path += json.loads(sys.argv[1])
from claimsmith.functions.engines import {0}
{0}.main()
"""
"""Starts a module of `engines/`; an interpreter of its own sees this package, and none of the packages beside it."""
_PROCESSOR_SECONDS = 3600
"""For the whole life of a worker. Each call has its own limit, by the clock."""
_LONGEST_REPORT = 1 << 16
_LONGEST_BY_CLOCK = 10
"""After so many times its limit a call ends by the clock, however busy the machine is."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may take."""

    seconds: float
    megabytes: int
    answer_megabytes: int = 16


@dataclass(frozen=True, slots=True)
class Kind:
    """An engine: its name, its package, the extra that installs it, and what a call may take."""

    engine: str
    label: str
    package: str
    extra: str
    limits: Limits


CEL: Final = Kind("cel", "CEL", "cel_expr_python", "cel", Limits(seconds=10, megabytes=1024))
CEL_TYPES: Final = Kind("cel_types", "CEL", "cel_expr_python", "cel", CEL.limits)
KCL: Final = Kind("kcl", "KCL", "kcl_lib", "kcl", Limits(seconds=30, megabytes=4096))
PYTHON: Final = Kind("python", "Python functions", "crossplane.function", "grpc", Limits(seconds=60, megabytes=4096))


class Worker:
    """One engine in a child process; `call` is for one thread at a time, and others wait."""

    def __init__(
        self, kind: Kind, folders: tuple[str, ...] = (), limits: Limits | None = None, interpreter: str = ""
    ) -> None:
        self._kind, self._folders, self._limits = kind, folders, limits or kind.limits
        self._interpreter = interpreter
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def call(self, request: Mapping[str, Any], seconds: float | None = None) -> Mapping[str, Any]:
        """The engine's answer; a problem where it gives none in the time that it may take."""
        number = secrets.token_hex(8)
        line = json.dumps({"number": number, "request": request}).encode() + b"\n"
        with self._lock:
            process = self._running()
            try:
                answer = self._exchange(process, line, number, seconds or self._limits.seconds)
            except BaseException:
                self._end()
                raise
        if "error" in answer:
            raise ComposeError(Problem(str(answer["error"])))
        return answer

    def stop(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._end()

    @property
    def pid(self) -> int | None:
        """The id of the process while there is one."""
        return self._process.pid if self._process else None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process and self._process.poll() is None:
            return self._process
        self._end()
        if not self._interpreter:
            require(self._kind)
        settings = {
            "engine": self._kind.engine,
            "folders": self._folders,
            "megabytes": self._limits.megabytes,
            "processor_seconds": _PROCESSOR_SECONDS,
            "parent": os.getpid(),
        }
        self._process = subprocess.Popen(
            command("child", settings, self._interpreter),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,  # the child writes to it only until its engine is loaded
            cwd="/",
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        return self._process

    def _exchange(
        self, process: subprocess.Popen[bytes], line: bytes, number: str, seconds: float
    ) -> Mapping[str, Any]:
        watch = _Watch(process, seconds)
        try:
            received = self._send_and_receive(process, line)
        finally:
            watch.end()
        if watch.late:
            what = f"took longer than {seconds:g} seconds"
            raise ComposeError(Problem(what, fix="look for a loop that does not end, or allow more time"))
        if not received.endswith(b"\n"):
            raise ComposeError(self._crashed(process))
        try:
            answer = json.loads(received)
        except (ValueError, RecursionError) as error:
            raise ComposeError(Problem(f"the {self._kind.label} engine answered with what is no JSON")) from error
        if not isinstance(answer, dict) or answer.get("number") != number or not isinstance(answer.get("answer"), dict):
            # A script that writes to the channel itself must not answer for another one.
            what = f"the {self._kind.label} engine answered what it was not asked"
            raise ComposeError(Problem(what, fix="let the code use compose(req, rsp) and nothing of its process"))
        return dict(answer["answer"])

    def _send_and_receive(self, process: subprocess.Popen[bytes], line: bytes) -> bytes:
        if process.stdin is None or process.stdout is None:  # both are pipes: see above
            return b""
        with suppress(BrokenPipeError):
            process.stdin.write(line)
            process.stdin.flush()
        most = self._limits.answer_megabytes << 20
        received = process.stdout.readline(most + 1)
        if len(received) > most:
            what = f"answered with more than {self._limits.answer_megabytes} MB"
            raise ComposeError(Problem(what, fix="let it compose less"))
        return received

    def _crashed(self, process: subprocess.Popen[bytes]) -> Problem:
        code = process.wait()
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        last = process.stderr.read(_LONGEST_REPORT).decode("utf-8", "replace").strip() if process.stderr else ""
        if last:
            what = f"the {self._kind.label} engine cannot be started: {last.splitlines()[-1]}"
            return Problem(what, fix=f"install it for its interpreter: claimsmith[{self._kind.extra}]")
        what = f"the {self._kind.label} engine ended while it ran ({cause})"
        return Problem(what, fix=f"look for a recursion that does not end, or more than {self._limits.megabytes} MB")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        _kill(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        process.wait()


class _Watch:
    """Ends a process that takes longer than it may."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process, self._seconds = process, seconds
        self._done = threading.Event()
        self._start, self._waited = time.monotonic(), _waits(process.pid)
        self.late = False
        threading.Thread(target=self._run, daemon=True).start()

    def end(self) -> None:
        """Stop watching."""
        self._done.set()

    def _run(self) -> None:
        left = self._seconds
        while left > 0:
            if self._done.wait(left):
                return
            left = self._left()
        self.late = True
        _kill(self._process)

    def _left(self) -> float:
        """The seconds that the process has left of its own, or that are left by the clock."""
        elapsed = time.monotonic() - self._start
        waits = _waits(self._process.pid)
        waited = max((each - self._waited.get(thread, 0.0) for thread, each in waits.items()), default=0.0)
        return min(self._seconds - (elapsed - waited), _LONGEST_BY_CLOCK * self._seconds - elapsed)


def _waits(pid: int) -> dict[str, float]:
    """The seconds that each thread of a process waited for a processor; empty where the system does not count them."""
    folder = f"/proc/{pid}/task"
    found: dict[str, float] = {}
    with suppress(OSError, ValueError, IndexError):
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/schedstat", encoding="ascii") as file:
                found[thread] = int(file.read().split()[1]) / 1e9  # on a processor, waiting, time slices
    return found


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def command(module: str, settings: Mapping[str, Any], interpreter: str = "") -> list[str]:
    """The command that runs a module of `engines/`, with an interpreter and packages of its own where one is named."""
    own = [interpreter, "-I"] if interpreter else [sys.executable, "-I", "-S"]
    paths = [] if interpreter else [str(Path(p).resolve()) for p in sys.path if p]
    package = str(Path(__file__).resolve().parents[1])
    return [*own, "-c", _START.format(module), json.dumps(paths), json.dumps(settings), package]


def require(kind: Kind) -> None:
    """Refuse an engine whose package is not installed."""
    try:
        installed = find_spec(kind.package) is not None
    except ModuleNotFoundError:
        installed = False
    if not installed:
        what = f"{kind.label} needs the package {kind.package.partition('.')[0]}, which is not installed"
        raise ComposeError(Problem(what, fix=f"pip install 'claimsmith[{kind.extra}]'"))


_workers: dict[tuple[str, tuple[str, ...], str, str], Worker] = {}
_workers_lock = threading.Lock()


def worker(kind: Kind, folders: Iterable[str] = (), interpreter: str = "", purpose: str = "") -> Worker:
    """The worker of an engine that may read these folders; the same one for the whole command and a purpose."""
    key = (kind.engine, tuple(sorted(folders)), interpreter, purpose)
    with _workers_lock:
        if not _workers:
            atexit.register(stop_all)
        return _workers.setdefault(key, Worker(kind, key[1], interpreter=interpreter))


def stop_all() -> None:
    """End all workers."""
    with _workers_lock:
        workers = list(_workers.values())
        _workers.clear()
    for each in workers:
        each.stop()
