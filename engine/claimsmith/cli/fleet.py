"""The commands that run the engine for many stacks at once: `up`, `preview`, `refresh`, `destroy`."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.base.printable import counted
from claimsmith.cli import arguments, console
from claimsmith.cli.arguments import Output
from claimsmith.cli.console import Format

if TYPE_CHECKING:
    from claimsmith.tools.fleet.schedule import Outcome
    from claimsmith.tools.fleet.selection import Wanted
    from claimsmith.tools.fleet.stack import Options

Row = tuple[str, str, str, str]
DESTRUCTIVE = 11
_COLUMNS = ("STACK", "STATE", "CHANGES", "TIME")
_URGENT = {"running": 0, "failed": 1, "refused": 1, "skipped": 1, "stopped": 1}
Parallel = Annotated[int, typer.Option("--parallel", min=1, metavar="N", help="How many stacks run at once.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the last run: all its stacks that are not done.")]
LockTimeout = Annotated[
    str | None,
    typer.Option(metavar="DURATION", help="Wait so long for a stack that another run has, such as 10m."),
]
Executor = Annotated[
    str,
    typer.Option(metavar="ADDRESS", help="Run the stacks on the workers of a Dask cluster: dask://scheduler:8786."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask; without a terminal nothing is asked anyway.")]


@console.command
def up(
    stacks: arguments.Stacks = None,
    all_: arguments.All = False,
    affected: arguments.Affected = False,
    base: arguments.Base = None,
    label: arguments.Label = None,
    parallel: Parallel = 4,
    allow_destructive: arguments.AllowDestructive = False,
    skip_preview: Annotated[
        bool, typer.Option("--skip-preview", help="Leave the guard to the review of --base: no preview of the engine.")
    ] = False,
    until_settled: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Run a stack so often at most, while its pipelines find more to change."),
    ] = 1,
    executor: Executor = "",
    resume: Resume = False,
    lock_timeout: LockTimeout = None,
    yes: Yes = False,
    output: Output = Format.text,
) -> None:
    """Deploy many stacks, in the order in which they need each other.

    A stack that fails does not stop those that do not need it. A stack in which something would be deleted or replaced
    is refused without --allow-destructive. The log of each stack is .claimsmith/fleet/STACK.log.

    Exit codes are those of review: 0 nothing changed; 10 something did; 11 something was deleted or replaced, or was
    refused for that; 1 a stack failed.

    Example: claimsmith up --all --parallel 8

    Example: claimsmith up --affected --base origin/main --label region=eu
    """
    options = _options(
        "up",
        lock_timeout,
        allow_destructive=allow_destructive,
        skip_preview=skip_preview,
        until_settled=until_settled,
    )
    wanted = arguments.wanted(stacks, all_, label, affected=affected, base=base)
    _run(options, wanted, parallel=parallel, executor=executor, resume=resume, yes=yes, output=output)


@console.command
def preview(
    stacks: arguments.Stacks = None,
    all_: arguments.All = False,
    affected: arguments.Affected = False,
    base: arguments.Base = None,
    label: arguments.Label = None,
    parallel: Parallel = 4,
    executor: Executor = "",
    resume: Resume = False,
    lock_timeout: LockTimeout = None,
    output: Output = Format.text,
) -> None:
    """Preview many stacks with the engine.

    Nothing is deployed; a stack that the backend does not have yet is created there, empty. `claimsmith review` shows
    a change claim by claim, without the engine.

    Exit codes: 0 nothing would change; 10 something would; 11 something would be deleted or replaced; 1 it failed.

    Example: claimsmith preview --affected --base origin/main
    """
    options = _options("preview", lock_timeout)
    wanted = arguments.wanted(stacks, all_, label, affected=affected, base=base)
    _run(options, wanted, parallel=parallel, executor=executor, resume=resume, yes=True, output=output)


@console.command
def refresh(
    stacks: arguments.Stacks = None,
    all_: arguments.All = False,
    label: arguments.Label = None,
    parallel: Parallel = 4,
    executor: Executor = "",
    resume: Resume = False,
    lock_timeout: LockTimeout = None,
    yes: Yes = False,
    output: Output = Format.text,
) -> None:
    """Update the state of many stacks from what exists.

    Example: claimsmith refresh --label region=eu
    """
    options = _options("refresh", lock_timeout)
    wanted = arguments.wanted(stacks, all_, label)
    _run(options, wanted, parallel=parallel, executor=executor, resume=resume, yes=yes, output=output)


@console.command
def destroy(
    stacks: arguments.Stacks = None,
    all_: arguments.All = False,
    label: arguments.Label = None,
    parallel: Parallel = 4,
    allow_destructive: arguments.AllowDestructive = False,
    executor: Executor = "",
    resume: Resume = False,
    lock_timeout: LockTimeout = None,
    yes: Yes = False,
    output: Output = Format.text,
) -> None:
    """Delete the resources of many stacks.

    Each is destroyed before those that it needs.

    Example: claimsmith destroy --label purpose=test --allow-destructive
    """
    options = _options("destroy", lock_timeout, allow_destructive=allow_destructive)
    wanted = arguments.wanted(stacks, all_, label)
    _run(options, wanted, parallel=parallel, executor=executor, resume=resume, yes=yes, output=output)


def _options(
    command: str,
    lock_timeout: str | None,
    *,
    allow_destructive: bool = False,
    skip_preview: bool = False,
    until_settled: int = 1,
) -> Options:
    from claimsmith.tools.fleet.stack import Command, Options

    seconds = arguments.seconds(lock_timeout, "--lock-timeout") or 0
    return Options(Command(command), allow_destructive, skip_preview, until_settled, seconds)


def _run(
    options: Options, wanted: Wanted, *, parallel: int, executor: str, resume: bool, yes: bool, output: Format
) -> None:
    from claimsmith.tools.fleet.run import chosen, left_undone
    from claimsmith.tools.fleet.run import run as run_fleet
    from claimsmith.tools.many import cores

    project = console.find_project()
    selected, last = chosen(project, options, wanted, resume=resume, processes=cores())
    console.print_problems(last.gone(project) if last else left_undone(project, options), label="warning")
    names = list(selected.needs)
    if not names and not selected.removed:
        console.say("nothing to resume: every stack of the last run is done" if resume else "no stack is selected")
    elif names and not yes and sys.stdin.isatty():
        question = f"Run `{options.command}` on {counted(len(names), 'stack')}: {', '.join(names)}?"
        typer.confirm(question, abort=True, err=True)
    board = _Board(names)
    with console.live_table(_COLUMNS, board.frame) as board.live:
        result = run_fleet(
            project,
            options,
            selected,
            parallel=parallel,
            last=last,
            executor=executor,
            report=board.report,
            steps=board.steps,
        )
    rows = [_row(outcome) for outcome in result.outcomes]
    try:
        console.print_rows(output, Answer("fleet", result.to_dict()), _COLUMNS, rows)
    finally:  # nobody may read the table: `claimsmith up --all | head`
        console.print_problems([o.problem for o in result.outcomes if o.problem])
        if result.interrupted:
            console.say(f"interrupted; to go on: claimsmith {options.command} --resume")
    raise typer.Exit(result.exit_code)


class _Board:
    """How the stacks of a run stand: rows of a live table on a terminal, a line for each change elsewhere."""

    def __init__(self, stacks: Sequence[str]) -> None:
        self.live = False
        self._lock = threading.Lock()
        self._rows = {stack: (stack, "waiting", "", "") for stack in stacks}

    def report(self, outcome: Outcome) -> None:
        """Show how a stack stands now."""
        row = _row(outcome)
        with self._lock:
            self._rows[outcome.stack] = row
        if not self.live:
            console.say("  ".join(cell for cell in row if cell))

    def steps(self, stack: str, steps: Mapping[str, int]) -> None:
        """Show the steps that the engine has done; called by the thread of the stack."""
        with self._lock:
            self._rows[stack] = (stack, "running", _changes(steps), "")

    def frame(self, most: int) -> list[Row]:
        """The rows to show, at most so many: what runs and what went wrong first."""
        with self._lock:
            rows = list(self._rows.values())
        if len(rows) <= most:
            return rows
        states = Counter(state for _, state, _, _ in rows)
        first = sorted(rows, key=lambda row: _URGENT.get(row[1], 2))[: most - 1]
        return [*first, ("…", ", ".join(f"{number} {state}" for state, number in states.items()), "", "")]


def _row(outcome: Outcome) -> Row:
    seconds = f"{outcome.seconds:.0f} s" if outcome.runs else ""
    return outcome.stack, outcome.state.value, _changes(outcome.changes) or _unchanged(outcome), seconds


def _changes(changes: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {op}" for op, number in changes.items() if number)


def _unchanged(outcome: Outcome) -> str:
    return "no changes" if outcome.state.value == "done" else ""
