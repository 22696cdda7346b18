"""Runs jobs in the order of their needs, some at a time. Knows no engine, file or clock: an executor runs the jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from claimsmith.base.errors import EngineError, Problem
from claimsmith.base.topological import ordered


class State(StrEnum):
    """How a stack stands."""

    waiting = "waiting"
    running = "running"
    done = "done"
    failed = "failed"
    refused = "refused"
    """Something would be deleted or replaced, and that was not allowed."""
    skipped = "skipped"
    """A stack that it needs was not done."""
    stopped = "stopped"
    """The run was interrupted before or while it ran."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the job of one stack ended."""

    stack: str
    state: State
    changes: Mapping[str, int] = field(default_factory=dict)
    """How many resources there were of each operation of the engine, without those that stay the same."""
    destructive: int = 0
    """How many resources were, or would be, deleted or replaced."""
    seconds: float = 0.0
    runs: int = 0
    """How often the engine ran."""
    problem: Problem | None = None
    log: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The outcome for a machine to read."""
        return {
            "stack": self.stack,
            "state": self.state.value,
            "changes": dict(self.changes),
            "destructive": self.destructive,
            "seconds": round(self.seconds, 1),
            "runs": self.runs,
            "problem": self.problem.to_dict() if self.problem else None,
            "log": self.log,
        }


Job = Callable[[str], Outcome]
Report = Callable[[Outcome], None]


def run(
    needs: Mapping[str, Sequence[str]],
    job: Job,
    *,
    executor: Executor,
    parallel: int,
    before: Mapping[str, Outcome] | None = None,
    report: Report = lambda _: None,
    stopping: Callable[[], bool] = lambda: False,
    poll: float | None = None,
) -> dict[str, Outcome]:
    """The outcome of each job; one starts once all that it needs are done, at most `parallel` at a time.

    `before` has the jobs that ended already. A job that is not done ends those that need it, near and far, as skipped;
    all others go on. Once `stopping` is true, no job is started, and those that run are waited for. It is asked again
    after each job, and every `poll` seconds.
    """
    ended = dict(before or {})
    running: dict[Future[Outcome], str] = {}
    waiting = [stack for stack in by_weight(needs) if stack not in ended]

    def end(outcome: Outcome) -> None:
        ended[outcome.stack] = outcome
        report(outcome)

    while waiting or running:
        if stopping():
            for stack in waiting:
                end(Outcome(stack, State.stopped))
            waiting = []
        for stack, needed in _blocked(waiting, needs, ended):
            waiting.remove(stack)
            what = f"not run: it needs {needed!r}, which is {ended[needed].state.value}"
            end(Outcome(stack, State.skipped, problem=Problem(what, fix=f"fix {needed!r}, then run it again")))
        done = {s for s, outcome in ended.items() if outcome.state is State.done}
        ready = [s for s in waiting if all(n in done for n in needs[s] if n in needs)]
        for stack in ready[: parallel - len(running)]:
            waiting.remove(stack)
            report(Outcome(stack, State.running))
            running[executor.submit(job, stack)] = stack
        if running:
            completed, _ = wait(running, timeout=poll, return_when=FIRST_COMPLETED)
            for future in completed:
                end(_outcome(running.pop(future), future))
    return {stack: ended[stack] for stack in needs}


def waves(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The stacks in waves: each needs only stacks of earlier waves."""
    level: dict[str, int] = {}
    for stack in _in_order(needs):
        level[stack] = 1 + max((level[n] for n in needs[stack] if n in level), default=-1)
    return [[s for s in needs if level[s] == wave] for wave in range(max(level.values(), default=-1) + 1)]


def by_weight(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """The stacks, those first that the longest chain of others waits for: the run takes as long as that chain."""
    weight = dict.fromkeys(needs, 0)
    for stack in reversed(_in_order(needs)):
        for needed in needs[stack]:
            if needed in weight:
                weight[needed] = max(weight[needed], weight[stack] + 1)
    return sorted(needs, key=lambda stack: -weight[stack])


def _in_order(needs: Mapping[str, Sequence[str]]) -> list[str]:
    return ordered(list(needs), {stack: [(name, "needs") for name in needed] for stack, needed in needs.items()})


def _blocked(
    waiting: Sequence[str], needs: Mapping[str, Sequence[str]], ended: Mapping[str, Outcome]
) -> list[tuple[str, str]]:
    """Those that cannot run any more, each with what it needs."""
    found = []
    for stack in waiting:
        needed = next((n for n in needs[stack] if n in ended and ended[n].state is not State.done), None)
        if needed:
            found.append((stack, needed))
    return found


def _outcome(stack: str, future: Future[Outcome]) -> Outcome:
    """How a job ended; one that raised has failed, and the others go on."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, EngineError):
        return Outcome(stack, State.failed, problem=error.problems[0])
    what = f"the job of {stack!r} ended without a result: {type(error).__name__}: {error}"
    return Outcome(stack, State.failed, problem=Problem(what, fix="run it again with --resume"))
