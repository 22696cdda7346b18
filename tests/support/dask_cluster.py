"""A Dask scheduler and workers on this machine: processes of their own that share no folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.eventually import eventually
from tests.support.processes import processes

_DASK = [sys.executable, "-m", "dask"]
# Without its dashboard, a server still answers on its port.
_LOOPBACK = ["--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]


@dataclass
class Worker:
    """One worker, in a folder of its own."""

    process: subprocess.Popen[bytes]
    folder: Path

    def parts(self) -> list[int]:
        """The worker and all that runs in its folder: engines with their guardians and plugins."""
        return [self.process.pid, *(pid for pid, _, _, cwd in processes() if cwd.is_relative_to(self.folder / "files"))]

    def kill(self, *, all_of_it: bool) -> None:
        """Kill the worker; with all that it started, as when its machine is switched off."""
        for pid in self.parts() if all_of_it else [self.process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def projects(self) -> list[Path]:
        """The unpacked projects."""
        return sorted((self.folder / "files").rglob("claimsmith-*"))


@dataclass
class Dask:
    """A scheduler and its workers."""

    folder: Path
    env: Mapping[str, str]
    stack: ExitStack
    scheduler: subprocess.Popen[bytes]
    address: str
    workers: list[Worker] = field(default_factory=list)

    @property
    def executor(self) -> str:
        """The address for `--executor`."""
        return self.address.replace("tcp://", "dask://")

    def add(self, *, env: Mapping[str, str] | None = None, threads: int = 1) -> Worker:
        """Start a worker, and wait until the scheduler has it."""
        folder = self.folder / f"worker-{len(self.workers)}"
        folder.mkdir()
        words = [self.address, "--no-nanny", "--nthreads", str(threads), *_LOOPBACK]
        words += ["--local-directory", str(folder / "files"), "--memory-limit", "0", "--name", folder.name]
        process = _started(self.stack, ["worker", *words], folder, {**self.env, **(env or {})})
        worker = Worker(process, folder)
        self.workers.append(worker)
        eventually(lambda: process.poll() is not None or "Registered to:" in (folder / "log").read_text())
        assert process.poll() is None, (folder / "log").read_text()
        return worker


def _started(stack: ExitStack, words: list[str], folder: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with (folder / "log").open("w") as log:
        command = [*_DASK, *words]
        # A scheduler that is killed leaves its own folder behind: in that of the test, not among all temporary files.
        own = {**env, "DASK_TEMPORARY_DIRECTORY": str(folder)}
        process = subprocess.Popen(command, cwd=folder, env=own, stdout=log, stderr=log, start_new_session=True)
    stack.callback(process.wait)
    stack.callback(lambda: process.poll() is not None or process.kill())
    return process


@contextmanager
def running(folder: Path, env: Mapping[str, str]) -> Iterator[Dask]:
    """A scheduler without workers; it and all that was started since end with the block."""
    folder.mkdir()
    file = folder / "scheduler.json"
    with ExitStack() as stack:
        words = ["scheduler", "--port", "0", *_LOOPBACK, "--scheduler-file", str(file)]
        scheduler = _started(stack, words, folder, env)
        eventually(lambda: scheduler.poll() is not None or file.exists())
        assert scheduler.poll() is None, (folder / "log").read_text()
        dask = Dask(folder, env, stack, scheduler, eventually(lambda: _address(file)))
        try:
            yield dask
        finally:
            for worker in dask.workers:
                for pid in worker.parts():
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)


def _address(file: Path) -> str:
    with suppress(ValueError):
        return str(json.loads(file.read_text())["address"])
    return ""
