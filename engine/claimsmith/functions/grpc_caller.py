"""Functions behind gRPC: at an address, at a unix socket, or programs that are started for the command.

A program is started at its first call, reused by all steps, and ended with the command (`engines/guard.py` also after a
kill). The protocol's v1 is used, or v1beta1 where a function implements only that. Each call has a limit of
time and of size, and its answer is checked (`messages.py`). Needs `claimsmith[grpc]`.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Final

from claimsmith.base.errors import ComposeError, EngineError, Problem
from claimsmith.functions import messages, worker
from claimsmith.functions.protocol import Function, Request, Response
from claimsmith.functions.registry import Place

ARGUMENTS: Final = ("--insecure", "--network=unix", "--address={socket}")
"""The arguments by which a function's program knows where to listen, unless its declaration says otherwise."""
_PREFIX: Final = "claimsmith-function-"
_LONGEST_SOCKET: Final = 107
_GRPC: Final = worker.Kind("grpc", "A function behind gRPC", "crossplane.function", "grpc", worker.Limits(20, 0))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a function may take."""

    seconds: float = 20
    start_seconds: float = 60
    """The most that a program takes until it listens: Python imports take their time on a busy CI machine."""
    megabytes: int = 16


@dataclass(frozen=True, slots=True)
class Address:
    """A function that runs already: `localhost:9443`, `unix:///path/to/socket`."""

    target: str


@dataclass(frozen=True, slots=True)
class Program:
    """A function's own program, and its arguments: `{socket}` and `{port}` stand for where it listens."""

    path: str
    arguments: tuple[str, ...] = ARGUMENTS
    folder: str = "/"


def of_function(name: str, place: Address | Program, limits: Limits | None = None) -> Callable[[Place], Function]:
    """The function of that name at an address or in a program."""
    bounds = limits or Limits()

    def bound(step: Place) -> Function:
        own = replace(bounds, seconds=step.timeout) if step.timeout else bounds
        return lambda request: _served(name, place, own).call(request)

    return bound


@dataclass(slots=True)
class _Served:
    """A function while the command runs: its channel, and its process where it is a program."""

    name: str
    place: Address | Program
    limits: Limits
    lock: threading.Lock = field(default_factory=threading.Lock)
    folder: str = ""
    guard: subprocess.Popen[bytes] | None = None
    channel: Any = None
    old: bool = False
    """Whether it implements v1beta1 only."""

    def call(self, request: Request) -> Response:
        worker.require(_GRPC)
        with self.lock:
            try:
                return self._called(request)
            except EngineError:
                # Nothing is known of a function that failed: a program is started anew for the next call.
                self._end()
                raise

    def stop(self) -> None:
        with self.lock:
            self._end()

    def _called(self, request: Request) -> Response:
        grpc = _grpc()
        self._connect()
        while True:
            try:
                return self._run(request)
            except grpc.RpcError as error:
                if error.code() is grpc.StatusCode.UNIMPLEMENTED and not self.old:
                    self.old = True
                    continue
                raise ComposeError(self._failure(error.code().name, str(error.details() or ""))) from error

    def _run(self, request: Request) -> Response:
        package = f"crossplane.function.proto.{'v1beta1' if self.old else 'v1'}"
        generated, services = (import_module(f"{package}.run_function_pb2{kind}") for kind in ("", "_grpc"))
        stub = services.FunctionRunnerServiceStub(self.channel)
        return messages.decoded(stub.RunFunction(messages.encoded(request, generated), timeout=self.limits.seconds))

    def _connect(self) -> None:
        grpc = _grpc()
        if self.guard and self.guard.poll() is not None:
            self._end()
        if self.channel is not None:
            return
        target = self.place.target if isinstance(self.place, Address) else self._start(self.place)
        most = self.limits.megabytes << 20
        sizes = [("grpc.max_receive_message_length", most), ("grpc.max_send_message_length", most)]
        # A proxy of the environment must not see what a claim contains.
        self.channel = grpc.insecure_channel(target, options=[*sizes, ("grpc.enable_http_proxy", 0)])
        self._await(grpc.channel_ready_future(self.channel))

    def _await(self, ready: Any) -> None:
        grpc = _grpc()
        end = time.monotonic() + self.limits.start_seconds
        while True:
            try:
                ready.result(timeout=0.2)
            except grpc.FutureTimeoutError:
                if self.guard and self.guard.poll() is not None:
                    raise ComposeError(self._failure("", "")) from None
                if time.monotonic() > end:
                    ready.cancel()
                    what = f"the function {self.name} does not listen after {self.limits.start_seconds:g} seconds"
                    fix = "start it" if isinstance(self.place, Address) else "check its arguments"
                    raise ComposeError(Problem(f"{what} ({self._place()})", fix=fix)) from None
            else:
                return

    def _start(self, program: Program) -> str:
        if not os.access(program.path, os.X_OK):
            what = f"the function {self.name} is no program that can be started: {program.path}"
            raise ComposeError(Problem(what, fix="build it, or correct the annotation claimsmith.io/function-binary"))
        self.folder = tempfile.mkdtemp(prefix=_PREFIX, dir=_folder_for_sockets())
        listening = os.path.join(self.folder, "s")
        port = _free_port() if any("{port}" in argument for argument in program.arguments) else 0
        arguments = [a.replace("{socket}", listening).replace("{port}", str(port)) for a in program.arguments]
        settings = {
            "command": [program.path, *arguments],
            "folder": program.folder,
            "temporary": self.folder,
            "environment": {"PATH": os.environ.get("PATH", os.defpath), "HOME": self.folder, "TMPDIR": self.folder},
        }
        self.guard = subprocess.Popen(
            worker.command("guard", settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        return f"127.0.0.1:{port}" if port else f"unix:{listening}"

    def _failure(self, code: str, details: str) -> Problem:
        """Why a call gave no response, in words of its user."""
        ended = self._ended()
        if ended:
            return Problem(f"the function {self.name} ended: {ended}", fix="see what it reports, and fix its input")
        match code:
            case "DEADLINE_EXCEEDED":
                what = f"took longer than {self.limits.seconds:g} seconds"
            case "RESOURCE_EXHAUSTED":
                what = f"answered with more than {self.limits.megabytes} MB"
            case "UNAVAILABLE":
                what = f"is not reachable ({self._place()})"
            case "UNIMPLEMENTED":
                what = "is no composition function: it implements neither v1 nor v1beta1 of the protocol"
            case _:
                what = f"failed: {code}: {details[:500]}"
        return Problem(f"the function {self.name} {what}", fix="see what it reports, and fix its input or the function")

    def _ended(self) -> str:
        if self.guard is None or self.guard.stdout is None:
            return ""
        with suppress(subprocess.TimeoutExpired):
            self.guard.wait(1)
        if self.guard.poll() is None:
            return ""
        try:
            report: Mapping[str, Any] = json.loads(self.guard.stdout.read() or b"{}")
        except ValueError:
            report = {}
        last = str(report.get("last", "")).strip().splitlines()
        return f"exit code {report.get('code', 'unknown')}{': ' + last[-1][:500] if last else ''}"

    def _place(self) -> str:
        return self.place.target if isinstance(self.place, Address) else self.place.path

    def _end(self) -> None:
        channel, self.channel = self.channel, None
        if channel is not None:
            channel.close()
        guard, self.guard = self.guard, None
        if guard is not None:
            for pipe in (guard.stdin, guard.stdout):
                if pipe:
                    with suppress(OSError):
                        pipe.close()
            try:
                guard.wait(10)
            except subprocess.TimeoutExpired:
                guard.kill()
                guard.wait()
        folder, self.folder = self.folder, ""
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _grpc() -> Any:
    """The package, which takes a while to import, and is an extra."""
    return import_module("grpc")


def _folder_for_sockets() -> str:
    """A folder for temporary files whose path leaves room for a socket's name: the system takes 107 characters.

    A deployment has temporary files in a folder of the project, which may be deep.
    """
    usual = tempfile.gettempdir()
    others = (folder for folder in ("/tmp", "/var/tmp") if os.access(folder, os.W_OK | os.X_OK))
    fits = len(os.path.join(usual, f"{_PREFIX}12345678", "s")) <= _LONGEST_SOCKET
    return usual if fits else next(others, usual)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


_running: dict[tuple[str, Address | Program, Limits], _Served] = {}
_running_lock = threading.Lock()


def _served(name: str, place: Address | Program, limits: Limits) -> _Served:
    with _running_lock:
        if not _running:
            atexit.register(stop_all)
        return _running.setdefault((name, place, limits), _Served(name, place, limits))


def processes() -> Sequence[int]:
    """The ids of the guards of programs that run."""
    with _running_lock:
        return [served.guard.pid for served in _running.values() if served.guard]


def stop_all() -> None:
    """End all programs, and close all channels."""
    with _running_lock:
        running = list(_running.values())
        _running.clear()
    for served in running:
        served.stop()
