"""A run of many stacks: selected, guarded, in the order of their needs, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from claimsmith.base.errors import EngineError, LoadError, Problem
from claimsmith.base.printable import counted
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.toolchain import process
from claimsmith.tools.fleet import cluster, journal, links
from claimsmith.tools.fleet.engine import POLL, Children
from claimsmith.tools.fleet.journal import Journal
from claimsmith.tools.fleet.schedule import Job, Outcome, Report, State
from claimsmith.tools.fleet.schedule import run as scheduled
from claimsmith.tools.fleet.selection import Selection, Wanted, select
from claimsmith.tools.fleet.stack import Command, Fleet, Options, read_backend, refused, run_stack
from claimsmith.tools.review import StackReview
from claimsmith.tools.review.changes import DESTRUCTIVE as DESTRUCTIVE_OPS
from claimsmith.tools.review.changes import Level

CHANGED = 10
DESTRUCTIVE = 11
INTERRUPTED = 130
Steps = Callable[[str, Mapping[str, int]], None]


@dataclass(frozen=True, slots=True)
class Result:
    """How each stack of a run ended."""

    command: Command
    outcomes: tuple[Outcome, ...]
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """That of `review`: 0 nothing changed, 10 something did, 11 something was or would be destroyed, 1 failed."""
        states = {o.state for o in self.outcomes}
        if self.interrupted:
            return INTERRUPTED
        if states & {State.failed, State.stopped}:
            return 1
        if State.refused in states or any(o.destructive for o in self.outcomes):
            return DESTRUCTIVE
        return CHANGED if any(o.changes for o in self.outcomes) else 0

    def to_dict(self) -> dict[str, Any]:
        """The result for a machine to read."""
        return {
            "command": self.command.value,
            "interrupted": self.interrupted,
            "stacks": [o.to_dict() for o in self.outcomes],
        }


@dataclass(frozen=True, slots=True)
class Here:
    """The place of the jobs of a run: this machine. A cluster is another one (`cluster.py`)."""

    children: Children

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped the run."""
        return self.children.stopping

    @property
    def stopping(self) -> bool:
        """Whether no further job is to be started."""
        return self.children.stopping

    def interrupt(self) -> None:
        """Ask the engines to end."""
        self.children.interrupt()

    @contextmanager
    def jobs(self, fleet: Fleet, _stacks: Sequence[str], parallel: int) -> Iterator[tuple[Executor, Job]]:
        """The executor for the jobs of a run, and their job."""
        with ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="stack") as pool:
            yield pool, partial(run_stack, fleet)


def chosen(
    project: Project, options: Options, wanted: Wanted, *, resume: bool = False, processes: int = 1
) -> tuple[Selection, Journal | None]:
    """The stacks of a run, and the journal of the last one, if this one goes on with it."""
    _check(options, wanted)
    last = None
    if resume:
        if wanted.names or wanted.all or wanted.affected or wanted.labels:
            what = "--resume goes on with the stacks of the last run, and stacks are selected too"
            raise LoadError(Problem(what, fix="leave out one of them"))
        last = journal.read(project, options.command)
        wanted = replace(wanted, names=last.left(project))
        if not wanted.names:
            return Selection({}), last
    # A stack must not be destroyed before one that may need it.
    keep = options.command is not Command.destroy
    return select(project, wanted, cache=True, processes=processes, keep_unreadable=keep), last


def left_undone(project: Project, options: Options) -> list[Problem]:
    """A problem if the last run is not done: a new one is about to begin."""
    last = journal.unfinished(project, options.command)
    if last is None:
        return []
    command = f"claimsmith {options.command}"
    verb = "is" if len(last.undone) == 1 else "are"
    what = f"{counted(len(last.undone), 'stack')} of the last `{command}` {verb} not done: {', '.join(last.undone)}"
    fix = f"to go on with these, what a kill left behind recovered first, run: {command} --resume"
    return [Problem(what, fix=fix)]


def run(
    project: Project,
    options: Options,
    selection: Selection,
    *,
    parallel: int,
    last: Journal | None = None,
    executor: str = "",
    report: Report = lambda _: None,
    steps: Steps = lambda _stack, _steps: None,
) -> Result:
    """Run a command on stacks; Ctrl-C stops it, after every stack that runs has ended in order.

    `last` is the journal of the run that this one goes on with.
    `executor` is the address of the cluster on whose workers the stacks run; without it they run here.
    """
    removed = [_removed(review) for review in selection.removed]
    unreadable = [Outcome(s, State.failed, problem=problem) for s, problem in selection.unreadable.items()]
    refusals = [*unreadable, *_review_refusals(options, selection)]
    for outcome in (*removed, *refusals):
        report(outcome)
    ended = {o.stack: o for o in refusals}
    if ended.keys() >= selection.needs.keys():
        return _result(options, [*removed, *refusals])
    workspace.require(project)
    left = [stack for stack in selection.needs if stack not in ended]
    place = cluster.connected(executor) if executor else nullcontext(Here(Children()))
    with (
        place as runner,
        journal.alone(project),
        process.handling(lambda *_: runner.interrupt(), process.STOPPING),
    ):
        try:
            backend, deployed = read_backend(project)
        except EngineError:
            # Ctrl-C of a terminal ends that command of the engine, too.
            if not runner.interrupted:
                raise
            stopped = [Outcome(stack, State.stopped) for stack in left]
            return _result(options, [*removed, *refusals, *stopped], interrupted=True)
        env = workspace.environment(project)
        children = runner.children if isinstance(runner, Here) else Children()
        recovered = last.begun if last else frozenset()
        fleet = Fleet(project, options, children, env, backend, deployed, recovered, steps)
        with runner.jobs(fleet, left, parallel) as (pool, job):
            kept = journal.begin(project, options.command, list(selection.needs), last)
            for outcome in refusals:
                kept.note(outcome)

            def note(outcome: Outcome) -> None:
                kept.note(outcome)
                report(outcome)

            found = scheduled(
                links.turned(selection.needs) if options.command is Command.destroy else selection.needs,
                job,
                executor=pool,
                parallel=parallel,
                before=ended,
                report=note,
                stopping=lambda: runner.stopping,
                poll=POLL,
            )
        interrupted = runner.interrupted
    return _result(options, [*removed, *found.values()], interrupted=interrupted)


def _result(options: Options, outcomes: Iterable[Outcome], *, interrupted: bool = False) -> Result:
    return Result(options.command, tuple(sorted(outcomes, key=lambda o: o.stack)), interrupted)


def _check(options: Options, wanted: Wanted) -> None:
    guarded = wanted.base or wanted.affected or options.allow_destructive
    if options.command is Command.up and options.skip_preview and not guarded:
        what = "--skip-preview leaves nothing that would notice a deletion or replacement"
        raise LoadError(Problem(what, fix="add --base REVISION, whose review guards it, or --allow-destructive"))
    if options.command is Command.destroy and not options.allow_destructive:
        what = "`destroy` deletes every resource of the stacks"
        raise LoadError(Problem(what, fix="confirm it: --allow-destructive"))


def _review_refusals(options: Options, selection: Selection) -> list[Outcome]:
    """The stacks that the review of their files stops."""
    if options.command is not Command.up:
        return []
    found = []
    for stack, review in selection.reviews.items():
        if stack not in selection.needs or stack in selection.unreadable:
            continue
        if problems := (*review.problems, *review.refusals):
            found.append(Outcome(stack, State.failed, problem=problems[0]))
        elif review.destructive and not options.allow_destructive:
            found.append(_refused(review))
    return found


def _refused(review: StackReview) -> Outcome:
    number = sum(r.op in DESTRUCTIVE_OPS for r in review.resources())
    if number:
        return refused(review.stack, number, "the review")
    loud = next(w for w in review.warnings if w.level is Level.danger)
    fix = f"{loud.fix}; or add --allow-destructive" if loud.fix else "add --allow-destructive"
    return Outcome(review.stack, State.refused, problem=Problem(loud.what, loud.where, fix=fix))


def _removed(review: StackReview) -> Outcome:
    """A stack that is gone from the files: no run of it can do anything."""
    loud = next((w for w in review.warnings if w.level is Level.danger), None)
    problem = Problem(loud.what, loud.where, fix=loud.fix) if loud else (review.problems or (None,))[0]
    return Outcome(review.stack, State.refused, problem=problem)
