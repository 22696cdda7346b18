"""The job of one stack on a worker of a Dask cluster: the same job as on this machine, in an unpacked archive.

Nothing secret comes here: passphrase, credentials and the address of the backend are those of the worker's own
environment. What Dask does by itself is to run a job again whose worker died. So each run of a job is recorded at the
scheduler before its engine starts; one that finds an earlier record recovers the stack first.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import claimsmith
from claimsmith.base.errors import DeployError, EngineError, Problem
from claimsmith.project import encryption, workspace
from claimsmith.project.project import Project
from claimsmith.toolchain import locks
from claimsmith.tools.fleet import archive
from claimsmith.tools.fleet.archive import Archive
from claimsmith.tools.fleet.engine import Children
from claimsmith.tools.fleet.schedule import Outcome, State
from claimsmith.tools.fleet.stack import FOLDER, Fleet, Options, run_stack

if TYPE_CHECKING:
    from distributed import Client, Worker

REQUIREMENT = f"claimsmith[dask]=={claimsmith.__version__}"
"""What each worker needs."""
MOST = 3
"""How many workers may die while they run one stack."""
_LOOK = 0.5
"""Seconds between two looks at whether somebody still waits for a job."""
_LONGEST_LOG = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Order:
    """What a run asks its workers to do."""

    run: str
    version: str
    options: Options
    backend: str
    """The address of the backend, without credentials: the worker's own must be the same."""
    deployed: Mapping[str, int]
    """How many resources each stack has."""
    recovered: frozenset[str]
    """The stacks whose last run was killed."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a job ended, and its log."""

    outcome: Outcome
    log: bytes = b""
    died: tuple[str, ...] = ()
    """The workers that died while they ran this stack."""


@dataclass
class _Run:
    """What a worker has of a run."""

    interrupts: int = 0
    engines: list[Children] = field(default_factory=list)
    folder: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    backend: str = ""


_lock = threading.Lock()
_unpacking = threading.Lock()
_runs: dict[str, _Run] = {}


def topic(run: str, stack: str = "") -> str:
    """Where the scheduler keeps the steps of a run, or the records of a stack's jobs."""
    return f"claimsmith-{run}-{stack}" if stack else f"claimsmith-{run}"


def run_on_worker(stack: str, files: Archive, *, order: Order) -> Delivery:
    """Do to one stack what the run is for; what goes wrong names the worker."""
    from distributed import get_client, get_worker

    worker, log = get_worker(), b""
    died: tuple[str, ...] = ()
    try:
        if order.version != claimsmith.__version__:
            raise DeployError(unlike(worker.address, claimsmith.__version__, order.version))
        died = _recorded(worker, get_client(), stack, order)
        if len(died) >= MOST:
            what = f"{len(died)} workers died while they ran the stack {stack!r}: {', '.join(died)}"
            raise DeployError(Problem(what, fix="see their logs, mostly for memory; then use --resume"))
        with _engines(worker, order.run) as children:
            fleet = _fleet(worker, files, order, stack, children, again=bool(died))
            outcome = run_stack(fleet, stack)
            log = fleet.log(stack).read_bytes()[-_LONGEST_LOG:]
    except EngineError as error:
        outcome = Outcome(stack, State.failed, problem=error.problems[0])
    if outcome.problem:
        what = f"worker {worker.address}: {outcome.problem.what}"
        outcome = replace(outcome, problem=replace(outcome.problem, what=what))
    return Delivery(outcome, log, died)


def unlike(worker: str, its: str | None, ours: str) -> Problem:
    """The problem of a worker with another version."""
    what = f"the worker {worker} has {f'claimsmith {its}' if its else 'no claimsmith'}, and this is claimsmith {ours}"
    return Problem(what, fix=f"install it there: pip install '{REQUIREMENT}'")


def interrupt(run: str, times: int) -> None:
    """Interrupt the engines of a run on this worker so often, those that start later too."""
    with _lock:
        mine = _runs.setdefault(run, _Run())
        more, mine.interrupts = times - mine.interrupts, times
        engines = list(mine.engines)
    for children in engines:
        for _ in range(more):
            children.interrupt()


def forget(run: str) -> None:
    """Remove what a worker has of a run."""
    with _lock:
        mine = _runs.pop(run, None)
    if mine and mine.folder:
        shutil.rmtree(mine.folder, ignore_errors=True)


def _recorded(worker: Worker, client: Client, stack: str, order: Order) -> tuple[str, ...]:
    """The workers that ran this stack before; this one is recorded at the scheduler once it is known."""
    mine = uuid.uuid4().hex
    events = [topic(order.run), topic(order.run, stack)]
    worker.log_event(events, {"stack": stack, "began": mine, "worker": worker.address})
    while True:
        known = [event for _, event in client.get_events(events[1])]
        if any(event["began"] == mine for event in known):
            return tuple(str(event["worker"]) for event in known if event["began"] != mine)
        time.sleep(0.02)


@contextmanager
def _engines(worker: Worker, run: str) -> Iterator[Children]:
    """The engines of one job: interrupted with its run, and once nobody waits for it any more."""
    children, ended = Children(guarded=True), threading.Event()
    wanted = _wanted(worker)
    with _lock:
        mine = _runs.setdefault(run, _Run())
        mine.engines.append(children)
        interrupts = mine.interrupts
    for _ in range(interrupts):
        children.interrupt()
    watch = threading.Thread(target=_watch, args=(wanted, children, ended), daemon=True)
    watch.start()
    try:
        yield children
    finally:
        ended.set()
        with _lock:
            mine.engines.remove(children)
            last = not mine.engines
        if last and not wanted():
            # The one who would say so at the end is gone.
            forget(run)


def _wanted(worker: Worker) -> Callable[[], bool]:
    """Whether somebody waits for the job of this thread: neither its caller nor the scheduler is gone."""
    from distributed.core import Status

    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled" and worker.status in (Status.running, Status.paused)

    return wanted


def _watch(wanted: Callable[[], bool], children: Children, ended: threading.Event) -> None:
    while not ended.wait(_LOOK):
        if not wanted():
            children.interrupt()
            return


def _unpacked(worker: Worker, order: Order, files: Archive) -> _Run:
    """The project, unpacked once for all jobs of a run into a folder that only this user can read."""
    with _unpacking:
        mine = _runs[order.run]
        if mine.folder is None:
            folder = Path(tempfile.mkdtemp(prefix="claimsmith-", dir=worker.local_directory))
            try:
                archive.unpack(files, folder)
                _prepare(mine, Project(folder), order)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            mine.folder = folder
        return mine


def _prepare(mine: _Run, project: Project, order: Order) -> None:
    """Refuse a worker without an engine, or with another backend."""
    workspace.require(project)
    workspace.prepare(project)
    (project.private / FOLDER).mkdir(mode=0o700, exist_ok=True)
    mine.env, mine.backend = workspace.environment(project), workspace.backend(project)
    if (its := without_credentials(mine.backend)) != order.backend:
        what = f"its state is in {its}, and that of the run in {order.backend}"
        raise DeployError(Problem(what, fix="name the backend in Pulumi.yaml: claimsmith backend move URL"))


def _fleet(worker: Worker, files: Archive, order: Order, stack: str, children: Children, *, again: bool) -> Fleet:
    mine = _unpacked(worker, order, files)
    assert mine.folder
    project = Project(mine.folder)
    _refuse_without_passphrase(project, stack)

    def progress(name: str, steps: Mapping[str, int]) -> None:
        worker.log_event(topic(order.run), {"stack": name, "steps": dict(steps)})

    killed = frozenset({stack}) if again else order.recovered
    env, backend, deployed = mine.env, mine.backend, order.deployed
    return Fleet(project, order.options, children, env, backend, deployed, killed, progress, _gone, outlived=again)


def _refuse_without_passphrase(project: Project, stack: str) -> None:
    """Refuse a stack that a passphrase encrypts where the worker has none: the engine would take a new one."""
    if {encryption.VARIABLE, encryption.FILE_VARIABLE} & os.environ.keys():
        return
    if any(s.salt and s.stack == stack for s in encryption.stack_secrets(project)):
        what = f"it has no passphrase for the stack {stack!r}"
        raise DeployError(Problem(what, fix=f"set {encryption.VARIABLE} in the environment in which it is started"))


def _gone(lock: locks.Lock) -> bool | None:
    """Whether the owner of a lock has ended, as the workers on its machine know it; None if there are none."""
    from distributed import get_client

    if (here := locks.gone(lock)) is not None:
        return here
    answers: dict[str, Any] = get_client().run(locks.gone, lock, on_error="ignore")
    known = [answer for answer in answers.values() if answer is not None]
    return all(known) if known else None


def without_credentials(url: str) -> str:
    """The address of a backend, without a password that it may hold."""
    head, mark, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    return f"{head}{mark}{user.partition(':')[0]}{at}{host}{slash}{path}"
