"""The job of one stack: wait for its lock, guard it, run the engine, repeat it until it settles."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from claimsmith.base.errors import DeployError, EngineError, Problem
from claimsmith.base.printable import counted
from claimsmith.project import encryption, stack_locks, workspace
from claimsmith.project.project import Project
from claimsmith.toolchain import locks
from claimsmith.toolchain.locks import Lock
from claimsmith.tools import recover
from claimsmith.tools.fleet.engine import Children, Progress, Ran, running
from claimsmith.tools.fleet.schedule import Outcome, State

FOLDER = "fleet"
_LOOK = 1.0
"""Seconds between two looks at a lock."""
_recovering = threading.Lock()


class Command(StrEnum):
    """What is done to each stack."""

    up = "up"
    preview = "preview"
    refresh = "refresh"
    destroy = "destroy"

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The flags by which the engine asks no question."""
        return () if self is Command.preview else ("--yes", "--skip-preview")


@dataclass(frozen=True, slots=True)
class Options:
    """How the stacks of a run are treated."""

    command: Command
    allow_destructive: bool = False
    skip_preview: bool = False
    """Whether only the review of the files guards a stack, and not the engine's preview too."""
    until_settled: int = 1
    """How often a stack may run whose pipelines need what exists."""
    lock_timeout: float = 0.0
    """For how many seconds a stack that another run has is waited for."""


@dataclass(frozen=True)
class Fleet:
    """What the jobs of a run share."""

    project: Project
    options: Options
    children: Children
    env: Mapping[str, str]
    backend: str
    deployed: Mapping[str, int]
    """How many resources each stack in the backend has."""
    recovered: frozenset[str] = frozenset()
    """The stacks whose run was killed: they are recovered first."""
    progress: Callable[[str, Mapping[str, int]], None] = field(default=lambda _stack, _steps: None)
    gone: Callable[[Lock], bool | None] = locks.gone
    """Whether the owner of a lock has ended; None where nobody can know."""
    outlived: bool = False
    """Whether an engine of this very run may have outlived its worker: it ends by itself, and is waited for."""

    def log(self, stack: str) -> Path:
        """The log of a stack."""
        return self.project.private / FOLDER / f"{stack}.log"


def read_backend(project: Project) -> tuple[str, dict[str, int]]:
    """The address of the backend, and how many resources each stack of the project has there."""
    done = workspace.pulumi(project, "stack", "ls", "--json")
    if done.returncode:
        raise workspace.refused("the stacks of the backend cannot be listed", done.stderr, fix=workspace.LOGIN)
    # A service prefixes the name with that of the organization.
    found = {str(row["name"]).rpartition("/")[2]: int(row.get("resourceCount") or 0) for row in json.loads(done.stdout)}
    return workspace.backend(project), found


def create(project: Project, stack: str) -> None:
    """Create a stack in the backend; the engine writes its salt into the stack's settings."""
    # As the value of a flag: a folder may be called `--yes`, and whoever opens a pull request names folders.
    done = workspace.pulumi(project, "stack", "init", "--stack", stack, "--no-select")
    if done.returncode:
        what = f"the stack {stack!r} cannot be created: {workspace.errors_in(done.stderr)}"
        raise DeployError(Problem(what, fix=f"see: pulumi stack init {stack}"))


def run_stack(fleet: Fleet, stack: str) -> Outcome:
    """Do to one stack what the run is for."""
    started = time.monotonic()
    log = fleet.log(stack)
    _emptied(log)
    try:
        outcome = _Run(fleet, stack).outcome()
    except EngineError as error:
        state = State.stopped if fleet.children.stopping else State.failed
        outcome = Outcome(stack, state, problem=error.problems[0])
    shown = log.relative_to(fleet.project.root).as_posix()
    return replace(outcome, seconds=time.monotonic() - started, log=shown)


@dataclass(frozen=True)
class _Run:
    fleet: Fleet
    stack: str

    def outcome(self) -> Outcome:
        """The outcome of this stack."""
        command, present = self.fleet.options.command, self.stack in self.fleet.deployed
        if self.stack in self.fleet.recovered and present:
            self._recover()
        if not present:
            if command in (Command.refresh, Command.destroy):
                return Outcome(self.stack, State.done)
            create(self.fleet.project, self.stack)
        return self._repeated()

    def _recover(self) -> None:
        """Repair what the killed run left behind; a run of the engine that outlived it is waited for first."""
        deadline = time.monotonic() + max(self.fleet.options.lock_timeout, 1.0)
        while held := self._held():
            if all(self.fleet.gone(lock) for lock in held):
                stack_locks.free(self.fleet.project, self.stack, held)
                break
            if not self._waits(held, deadline):
                raise self._taken(held)
            self.fleet.children.wait(_LOOK)
        with _recovering:
            recover.repair(self.fleet.project, self.stack)

    def _held(self) -> list[Lock]:
        """The locks on the stack, and an engine that outlived its run: one that has just begun has no lock yet."""
        outlived = locks.locks(running(self.fleet.log(self.stack)))
        return [*outlived, *stack_locks.held(self.fleet.project, self.stack, self.fleet.backend)]

    def _waits(self, held: Sequence[Lock], deadline: float) -> bool:
        """Whether to wait for the owners of locks."""
        ends = self.fleet.outlived and any(self.fleet.gone(lock) is False for lock in held)
        return not self.fleet.children.stopping and (ends or time.monotonic() < deadline)

    def _guarded(self, run: int) -> Outcome | None:
        """The refusal of a run that would delete or replace something; also if nobody can tell."""
        options = self.fleet.options
        needless = options.command is not Command.up or options.allow_destructive or options.skip_preview
        if needless or (run == 1 and not self.fleet.deployed.get(self.stack)):
            return None
        ran = self._engine(Command.preview)
        if ran.code:
            # It changed nothing.
            return replace(self._failed(ran, runs=1), changes={}, destructive=0)
        if not ran.events.destroyed:
            return None
        by = f"the engine's preview of run {run}" if run > 1 else "the engine's preview"
        return refused(self.stack, len(ran.events.destroyed), by, runs=1)

    def _repeated(self) -> Outcome:
        """Run it; again while its pipelines find more to change, so often as is allowed."""
        options = self.fleet.options
        most = options.until_settled if self._needs_observed_values() else 1
        changes: dict[str, int] = {}
        destroyed: set[str] = set()
        for runs in range(1, most + 1):
            if refusal := self._guarded(runs):
                number = refusal.destructive + len(destroyed)
                return replace(refusal, changes=changes, destructive=number, runs=refusal.runs + runs - 1)
            ran = self._engine(options.command)
            changes = {op: changes.get(op, 0) + ran.events.changes.get(op, 0) for op in {*changes, *ran.events.changes}}
            destroyed |= ran.events.destroyed
            if ran.code:
                return replace(self._failed(ran, runs=runs), changes=changes, destructive=len(destroyed))
            if not ran.events.changes:
                break
        done = Outcome(self.stack, State.done, changes, len(destroyed), runs=runs)
        if most > 1 and ran.events.changes:
            what = f"the stack {self.stack!r} still changed in run {runs}: its pipelines may need more of what exists"
            problem = Problem(what, fix="run it again, or raise --until-settled")
            return replace(done, state=State.failed, problem=problem)
        return done

    def _needs_observed_values(self) -> bool:
        """Whether a pipeline of the stack decides by what exists."""
        if self.fleet.options.command is not Command.up or self.fleet.options.until_settled < 2:
            return False
        plan = self.fleet.project.plan(self.stack, unrecorded_ok=True)
        return any(claim.piped for claim in plan.walk())

    def _engine(self, command: Command) -> Ran:
        """Run a command of the engine; a stack that another run has is waited for."""
        deadline = time.monotonic() + self.fleet.options.lock_timeout
        words = ["pulumi", command.value, "--stack", self.stack, *command.confirmed]
        progress: Progress = lambda steps: self.fleet.progress(self.stack, steps)  # noqa: E731
        while True:
            held = self._locks()
            if any(lock.stale for lock in held):
                what = f"the stack {self.stack!r} has {', '.join(map(str, held))}, whose run was killed"
                raise DeployError(Problem(what, fix=f"run: claimsmith recover {self.stack} --yes; or use --resume"))
            if not held:
                project = self.fleet.project
                ran = self.fleet.children.run(
                    words, cwd=project.root, env=self.fleet.env, log=self.fleet.log(self.stack), progress=progress
                )
                held = ran.locks
                if not held:
                    return ran
            if not self._waits(held, deadline):
                raise self._taken(held)
            self.fleet.children.wait(_LOOK)

    def _taken(self, held: Sequence[Lock]) -> DeployError:
        unlock = " --unlock" if any(lock.foreign for lock in held) else ""
        killed = f"claimsmith recover {self.stack}{unlock} --yes"
        fix = f"wait for it, or use --lock-timeout; if it was killed: {killed}"
        return DeployError(Problem(f"another run has the stack {self.stack!r}: {', '.join(map(str, held))}", fix=fix))

    def _locks(self) -> list[Lock]:
        """The locks in the file backend. Of others, the engine reports them when it meets them."""
        project = self.fleet.project
        return locks.locks(locks.folder(self.fleet.backend, project.root, project.name, self.stack))

    def _failed(self, ran: Ran, *, runs: int) -> Outcome:
        if self.fleet.children.stopping:
            return Outcome(self.stack, State.stopped, ran.events.changes, len(ran.events.destroyed), runs=runs)
        reason = "; ".join(dict.fromkeys(ran.events.errors)) or workspace.errors_in(ran.output)
        unfit = encryption.unfit(self.fleet.project, self.fleet.env, self.stack) if "passphrase" in reason else []
        if unfit:
            return Outcome(self.stack, State.failed, runs=runs, problem=unfit[0])
        log = self.fleet.log(self.stack).relative_to(self.fleet.project.root).as_posix()
        problem = Problem(f"the stack {self.stack!r} failed: {reason}", fix=f"see {log}")
        return Outcome(
            self.stack, State.failed, ran.events.changes, len(ran.events.destroyed), runs=runs, problem=problem
        )


def _emptied(log: Path) -> None:
    """Begin a log anew; only the user can read it."""
    log.unlink(missing_ok=True)
    os.close(os.open(log, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def refused(stack: str, number: int, by: str, *, runs: int = 0) -> Outcome:
    """The refusal of a stack in which something would be deleted or replaced."""
    what = f"by {by}, {counted(number, 'resource')} of {stack!r} would be deleted or replaced"
    fix = "look at it (claimsmith review), then add --allow-destructive"
    return Outcome(stack, State.refused, destructive=number, runs=runs, problem=Problem(what, fix=fix))
