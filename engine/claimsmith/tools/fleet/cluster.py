"""Runs the jobs of a run on a Dask cluster, through the executor that Dask itself has."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import claimsmith
from claimsmith.base.errors import DeployError, EngineError, LoadError, Problem
from claimsmith.base.printable import one_line
from claimsmith.tools.fleet import archive, worker
from claimsmith.tools.fleet.archive import Archive
from claimsmith.tools.fleet.engine import POLL
from claimsmith.tools.fleet.schedule import Job, Outcome, State
from claimsmith.tools.fleet.stack import Command, Fleet, create
from claimsmith.tools.fleet.worker import Delivery, Order, run_on_worker, topic, without_credentials

if TYPE_CHECKING:
    from distributed import Client

SCHEME = "dask"
_TIMEOUT = "15s"
"""How long the scheduler is tried to be reached."""
_PORT = 8786
_ALONE = 60.0
"""For how many seconds a run without workers waits for one at least; for longer with a longer `--lock-timeout`."""
_LOOK = 1.0
"""Seconds between two looks at whether there are workers."""


class Cluster:
    """A connection to a Dask cluster, for one run."""

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self.lost = False
        self.deserted = False
        """Whether all workers are gone, and none came back in time."""
        self._run = uuid.uuid4().hex[:12]
        self._client = client
        self._interrupts = 0
        self._sent = 0
        self._began: set[str] = set()
        self._late = False
        """Whether a job began after an interrupt: its worker may not know of it."""
        self._jobs: dict[str, Future[Delivery]] = {}

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped the run."""
        return self._interrupts > 0

    @property
    def stopping(self) -> bool:
        """Whether no further job is to be started."""
        return self.interrupted or self.lost or self.deserted

    def interrupt(self) -> None:
        """Ask the engines on all workers to end, as Ctrl-C does."""
        # The handler of a signal: whatever takes a lock is left to a thread.
        self._interrupts += 1

    @contextmanager
    def jobs(self, fleet: Fleet, stacks: Sequence[str], parallel: int) -> Iterator[tuple[Executor, Job]]:
        """The executor for the jobs of a run, and their job."""
        refuse_unshared(fleet.backend, self.name)
        created, failed = _create(fleet, stacks, parallel)
        deployed = {**fleet.deployed, **created}
        packed = archive.pack(fleet.project)
        backend = without_credentials(fleet.backend)
        order = Order(self._run, claimsmith.__version__, fleet.options, backend, deployed, fleet.recovered)
        closed = threading.Event()
        threads = [
            threading.Thread(target=self._send, args=(closed,), daemon=True),
            threading.Thread(target=self._watch, args=(closed, max(fleet.options.lock_timeout, _ALONE)), daemon=True),
        ]
        self._client.subscribe_topic(topic(self._run), partial(self._seen, fleet))
        for thread in threads:
            thread.start()
        try:
            yield _Jobs(self, fleet, packed, failed), partial(run_on_worker, order=order)  # type: ignore[misc]
        finally:
            closed.set()
            for thread in threads:
                thread.join()
            if not self.lost:
                self._client.unsubscribe_topic(topic(self._run))
                self._client.run(worker.forget, self._run, on_error="ignore")

    def submit(self, job: Any, stack: str, files: Any) -> Future[Delivery]:
        """Give a job to the cluster."""
        # Not `pure`: a stack is run, not computed, and never twice under one key.
        executor = self._client.get_executor(pure=False, retries=0)
        self._jobs[stack] = executor.submit(job, stack, files, key=f"{topic(self._run, stack)}")
        return self._jobs[stack]

    def send_files(self, packed: Archive) -> Any:
        """The archive, as a future of Dask: sent once, and again where every worker that had it is gone."""
        return self._client.submit(archive.checked, packed, key=f"{topic(self._run)}-{packed.digest[:12]}", pure=False)

    def outcome(self, fleet: Fleet, stack: str, future: Future[Delivery]) -> Outcome:
        """How a job ended, with its log where those of this machine are."""
        if future.cancelled():
            if self.interrupted:
                return Outcome(stack, State.stopped)
            if self.deserted:
                what = f"{self.name} has no workers any more, and the stack {stack!r} has not ended"
                fix = f"start some that have {worker.REQUIREMENT}, see their logs, then use --resume"
                return Outcome(stack, State.failed, problem=Problem(what, fix=fix))
            self.lost = True
            what = f"the scheduler {self.name} was lost while the stack {stack!r} ran; its engine is interrupted"
            problem = Problem(what, fix="start the scheduler, then use --resume")
            return Outcome(stack, State.failed, problem=problem)
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            what = f"the workers died that ran the stack {stack!r}: {error}"
            problem = Problem(what, fix="see their logs, mostly for memory; then use --resume")
            return Outcome(stack, State.failed, problem=problem)
        delivery = future.result()
        died = "".join(f"run again: the worker {one} died while it ran this stack\n" for one in delivery.died)
        fleet.log(stack).write_bytes(died.encode() + delivery.log)
        return delivery.outcome

    def _seen(self, fleet: Fleet, event: tuple[float, Mapping[str, Any]]) -> None:
        """Take an event of a worker; called by Dask's own thread."""
        match event[1]:
            case {"stack": str(stack), "began": _}:
                self._began.add(stack)
                self._late = self.interrupted
            case {"stack": str(stack), "steps": dict(steps)}:
                fleet.progress(stack, steps)

    def _send(self, closed: threading.Event) -> None:
        """Pass interrupts on to the workers."""
        while not closed.wait(POLL):
            if (times := self._interrupts) > self._sent or self._late:
                self._late = False
                with suppress(Exception):
                    # A worker that dies meanwhile ends its engines by itself.
                    self._client.run(worker.interrupt, self._run, times, on_error="ignore")
                self._sent = times
                for stack, future in list(self._jobs.items()):
                    if stack not in self._began:
                        future.cancel()

    def _watch(self, closed: threading.Event, patience: float) -> None:
        """End the jobs once there has been no worker for so many seconds: Dask itself would wait for one for ever.

        A worker without claimsmith ends by itself at its first job, so it may have been the last.
        """
        seen = time.monotonic()
        while not closed.wait(_LOOK):
            if self._has_workers():
                seen = time.monotonic()
            elif time.monotonic() - seen >= patience:
                self.deserted = True
                for future in list(self._jobs.values()):
                    future.cancel()

    def _has_workers(self) -> bool:
        """Whether the scheduler has any; a scheduler that does not answer is reported by Dask."""
        try:
            return bool(self._client.sync(self._client.scheduler.ncores, workers=None, callback_timeout=5))
        except Exception:
            return True


@dataclass(frozen=True)
class _Jobs(Executor):
    """The executor of Dask, whose results are outcomes."""

    cluster: Cluster
    fleet: Fleet
    packed: Archive
    failed: Mapping[str, Problem]
    """The stacks that cannot be created, and why."""

    @cached_property
    def _files(self) -> Any:
        return self.cluster.send_files(self.packed)

    def submit(self, job: Any, stack: str) -> Future[Outcome]:  # type: ignore[override]
        """Give the job of a stack to the cluster."""
        ended: Future[Outcome] = Future()
        if problem := self.failed.get(stack):
            ended.set_result(Outcome(stack, State.failed, problem=problem))
            return ended

        def end(future: Future[Delivery]) -> None:
            try:
                ended.set_result(self.cluster.outcome(self.fleet, stack, future))
            except BaseException as error:
                ended.set_exception(error)

        self.cluster.submit(job, stack, self._files).add_done_callback(end)
        return ended


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """A connection to the cluster of an address `dask://HOST:PORT`; refused if it cannot run anything."""
    place = _place(address)
    try:
        from distributed import Client, Security
    except ImportError:
        what = "the executor of Dask is not installed"
        raise LoadError(Problem(what, fix="run: pip install 'claimsmith[dask]'")) from None
    # Its own messages would go into the table; what matters of them is reported as an error.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    protocol = "tls" if Security().tls_client_cert else "tcp"
    try:
        client = Client(f"{protocol}://{place}", timeout=_TIMEOUT, set_as_default=False, name="claimsmith")
    except (OSError, ValueError, RuntimeError) as error:
        what = f"the Dask scheduler {protocol}://{place} cannot be reached: {one_line(str(error))}"
        raise DeployError(Problem(what, fix="start it: dask scheduler; or correct --executor")) from None
    try:
        _refuse_unlike(client, address)
        yield Cluster(client, address)
    finally:
        client.close()


def refuse_unshared(backend: str, name: str) -> None:
    """Refuse state in a folder: workers do not share it, and its locks hold on one machine only."""
    if backend.startswith("file://"):
        what = f"the state is in a folder ({backend}), and workers of {name} share nothing but the backend"
        fix = "move it first: claimsmith backend move 'postgres://USER@HOST/DATABASE?table=NAME'"
        raise DeployError(Problem(what, fix=fix))


def _place(address: str) -> str:
    """Host and port of an address."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        parts, host, port = None, None, 0
    if not parts or not host or parts.scheme != SCHEME or parts.path.strip("/") or parts.query or "@" in parts.netloc:
        what = f"--executor {address!r} is not the address of a scheduler"
        raise LoadError(Problem(what, fix="use: --executor dask://HOST:8786"))
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _refuse_unlike(client: Client, name: str) -> None:
    """Refuse a cluster without workers, or with one that has another version."""
    workers: dict[str, dict[str, Any]] = client.get_versions(packages=["claimsmith"])["workers"]
    if not workers:
        raise DeployError(Problem(f"{name} has no workers", fix="start some: dask worker SCHEDULER"))
    found = {address: row["packages"].get("claimsmith") for address, row in workers.items()}
    ours = claimsmith.__version__
    if problems := [worker.unlike(address, its, ours) for address, its in found.items() if its != ours]:
        raise DeployError(*problems)


def _create(fleet: Fleet, stacks: Sequence[str], parallel: int) -> tuple[dict[str, int], dict[str, Problem]]:
    """Create the stacks that are missing; those that are there now, and those that cannot be created.

    The engine writes into their settings, and those of workers are not kept.
    """
    if fleet.options.command in (Command.refresh, Command.destroy):
        return {}, {}
    missing = [stack for stack in stacks if stack not in fleet.deployed]
    failed: dict[str, Problem] = {}

    def create_one(stack: str) -> None:
        try:
            create(fleet.project, stack)
        except EngineError as error:
            failed[stack] = error.problems[0]

    with ThreadPoolExecutor(max_workers=parallel) as executor:
        list(executor.map(create_one, missing))
    return {stack: 0 for stack in missing if stack not in failed}, failed
