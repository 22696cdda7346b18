"""The commands for many stacks at once: `up`, `preview`, `refresh`, `destroy`, `ci matrix`, `operator`, `rollout`."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.base.errors import Problem
from claimsmith.base.printable import counted
from claimsmith.cli import arguments, completion, console
from claimsmith.cli.console import Format, Output
from claimsmith.cli.help import App
from claimsmith.tools.json_answers import Answer, foreign_text

if TYPE_CHECKING:
    from claimsmith.tools.fleet.schedule import Outcome
    from claimsmith.tools.fleet.selection import Wanted
    from claimsmith.tools.fleet.stack import Options

Row = tuple[str, str, str, str]
DESTRUCTIVE = 11
_COLUMNS = ("STACK", "STATE", "CHANGES", "TIME")
_URGENT = {"running": 0, "failed": 1, "refused": 1, "skipped": 1, "stopped": 1}
Stacks = Annotated[
    list[str] | None,
    typer.Argument(metavar="STACK", help="Environments: folders below stacks/.", autocompletion=completion.stacks),
]
All = Annotated[bool, typer.Option("--all", help="Every stack of the project.")]
Affected = Annotated[bool, typer.Option("--affected", help="The stacks that a change affects, by the review.")]
Base = Annotated[
    str | None,
    typer.Option(metavar="REVISION", help="The git revision of the review; with --affected, HEAD where none is named."),
]
Label = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Stacks with this label: claimsmith:labels in the stack's config."),
]
Parallel = Annotated[int, typer.Option("--parallel", min=1, metavar="N", help="How many stacks run at once.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the last run: all its stacks that are not done.")]
LockTimeout = Annotated[
    str | None,
    typer.Option(metavar="DURATION", help="Wait so long for a stack that another run has, such as 10m."),
]
AllowDestructive = Annotated[bool, typer.Option("--allow-destructive", help="Let resources be deleted and replaced.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask; without a terminal nothing is asked anyway.")]


@console.command
def up(
    stacks: Stacks = None,
    all_: All = False,
    affected: Affected = False,
    base: Base = None,
    label: Label = None,
    parallel: Parallel = 4,
    allow_destructive: AllowDestructive = False,
    skip_preview: Annotated[
        bool, typer.Option("--skip-preview", help="Leave the guard to the review of --base: no preview of the engine.")
    ] = False,
    until_settled: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Run a stack so often at most, while its pipelines find more to change."),
    ] = 1,
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
    wanted = _wanted(stacks, all_, label, affected=affected, base=base)
    _run(options, wanted, parallel=parallel, resume=resume, yes=yes, output=output)


@console.command
def preview(
    stacks: Stacks = None,
    all_: All = False,
    affected: Affected = False,
    base: Base = None,
    label: Label = None,
    parallel: Parallel = 4,
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
    wanted = _wanted(stacks, all_, label, affected=affected, base=base)
    _run(options, wanted, parallel=parallel, resume=resume, yes=True, output=output)


@console.command
def refresh(
    stacks: Stacks = None,
    all_: All = False,
    label: Label = None,
    parallel: Parallel = 4,
    resume: Resume = False,
    lock_timeout: LockTimeout = None,
    yes: Yes = False,
    output: Output = Format.text,
) -> None:
    """Update the state of many stacks from what exists.

    Example: claimsmith refresh --label region=eu
    """
    options = _options("refresh", lock_timeout)
    wanted = _wanted(stacks, all_, label)
    _run(options, wanted, parallel=parallel, resume=resume, yes=yes, output=output)


@console.command
def destroy(
    stacks: Stacks = None,
    all_: All = False,
    label: Label = None,
    parallel: Parallel = 4,
    allow_destructive: AllowDestructive = False,
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
    wanted = _wanted(stacks, all_, label)
    _run(options, wanted, parallel=parallel, resume=resume, yes=yes, output=output)


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


def _wanted(
    stacks: Sequence[str] | None,
    all_: bool,
    label: list[str] | None,
    *,
    affected: bool = False,
    base: str | None = None,
) -> Wanted:
    from claimsmith.tools.fleet.selection import Wanted

    return Wanted(stacks or (), all_, affected, arguments.pairs(label, "--label"), base)


def _run(options: Options, wanted: Wanted, *, parallel: int, resume: bool, yes: bool, output: Format) -> None:
    from claimsmith.tools.fleet.run import chosen
    from claimsmith.tools.fleet.run import run as run_fleet

    project = console.find_project()
    selection, killed = chosen(project, options, wanted, resume=resume)
    names = list(selection.needs)
    if not names and not selection.removed:
        console.say("nothing to resume: every stack of the last run is done" if resume else "no stack is selected")
    elif names and not yes and sys.stdin.isatty():
        question = f"Run `{options.command}` on {counted(len(names), 'stack')}: {', '.join(names)}?"
        typer.confirm(question, abort=True, err=True)
    board = _Board(names)
    with console.live_table(_COLUMNS, board.frame) as board.live:
        result = run_fleet(
            project, options, selection, parallel=parallel, killed=killed, report=board.report, steps=board.steps
        )
    rows = [_row(outcome) for outcome in result.outcomes]
    console.print_rows(output, Answer("fleet", result.to_dict()), _COLUMNS, rows)
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


class CiFormat(StrEnum):
    """Whose runners a matrix is for."""

    github = "github"
    gitlab = "gitlab"


ci = App(no_args_is_help=True, help="Deploy many stacks with CI runners.")


@ci.callback()
def _ci() -> None:
    """Deploy many stacks with CI runners."""


@ci.command()
@console.command
def matrix(
    base: Annotated[
        str, typer.Option(metavar="REVISION", help="The git revision to compare the working tree with.")
    ] = "HEAD",
    all_: Annotated[
        bool, typer.Option("--all", help="Every stack, and not only those that the change affects.")
    ] = False,
    label: Label = None,
    form: Annotated[CiFormat, typer.Option("--output", "--format", help="Whose runners it is for.")] = CiFormat.github,
    runners: Annotated[int, typer.Option(min=1, max=256, metavar="N", help="So many jobs in a wave at most.")] = 256,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="With gitlab: a file of the repository that the child pipeline includes."),
    ] = None,
) -> None:
    """Print the affected stacks in waves, for a pipeline.

    Each stack needs only stacks of earlier waves. github is one line of JSON, each wave of which is a matrix; gitlab is
    a child pipeline. Needs no engine and no credentials.

    Example: echo "plan=$(claimsmith ci matrix --base origin/main)" >> "$GITHUB_OUTPUT"

    Example: claimsmith ci matrix --base "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --output gitlab > stacks.yml
    """
    from claimsmith.tools.fleet.matrix import matrix as matrix_of
    from claimsmith.tools.fleet.selection import select

    wanted = _wanted(None, all_, label, affected=not all_, base=base)
    found = matrix_of(select(console.find_project(), wanted), runners=runners)
    for stack in found.removed:
        console.say(f"{stack} is gone from the files: destroy it from the base, or its resources stay")
    text = foreign_text(found.github(), one_line=True) if form == CiFormat.github else found.gitlab(include or ())
    console.print_document(text)


_MOST_STACKS = 5


def print_usage(kind: str | None, output: Format) -> None:
    """Print which claims of which stacks each class serves."""
    from claimsmith.tools.fleet.usage import usage

    found = usage(console.find_project(), kind)
    rows = []
    for u in found:
        stacks = [f"{stack} ({number})" for stack, number in u.stacks.items()]
        more = [f"and {len(stacks) - _MOST_STACKS} more"] if len(stacks) > _MOST_STACKS else []
        notes = [f"{number} from {name}" for name, number in (u.moved_from or {}).items()]
        notes += [f"{u.changed} bound to an older text"] if u.changed else []
        notes += [] if u.exists else ["the class is gone"]
        listed = ", ".join([*stacks[:_MOST_STACKS], *more])
        rows.append((str(u.kind), u.klass.name, str(u.claims), listed or "-", ", ".join(notes) or "-"))
    answer = Answer("classes-usage", {"classes": [u.to_dict() for u in found]})
    console.print_rows(output, answer, ("CLAIM", "CLASS", "CLAIMS", "STACKS", "NOTES"), rows)


@console.command
def rollout(
    klass: Annotated[
        str,
        typer.Argument(
            metavar="CLASS",
            help="The class that claims move from, by its name.",
            autocompletion=completion.class_names,
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="CLASS", help="The class that they move to.", autocompletion=completion.class_names
        ),
    ],
    wave: Annotated[
        str,
        typer.Option(
            metavar="N%|N|KEY=VALUE",
            help="Which move now: 5% of them, 12 of them, or those with a label of the claim or its stack.",
        ),
    ] = "100%",
    back: Annotated[bool, typer.Option("--back", help="Return the claims that a rollout moved.")] = False,
    edit_claims: Annotated[
        bool, typer.Option("--edit-claims", help="Move claims too that name the class: their files are changed.")
    ] = False,
    allow_destructive: AllowDestructive = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; only show what moves.")] = False,
    output: Output = Format.text,
) -> None:
    """Move the claims of a class to another class, in waves.

    Writes the bindings of one wave; `claimsmith review` shows what they do, and `claimsmith up --affected` deploys
    them. A wave that would delete or replace something is refused without --allow-destructive, with exit code 11.

    Example: claimsmith rollout postgresql-v1 --to postgresql-v2 --wave 5%

    Example: claimsmith rollout postgresql-v1 --to postgresql-v2 --back
    """
    from claimsmith.tools.fleet.rollout import Wave
    from claimsmith.tools.fleet.rollout import rollout as roll

    found = roll(
        console.find_project(),
        klass,
        to,
        Wave.parse(wave),
        back=back,
        edit_claims=edit_claims,
        allow_destructive=allow_destructive,
        check=check,
    )
    rows = [(c.stack, str(c.record.claim), "moves", "") for c in found.moved]
    rows += [(item.stack, str(item.claim), "stays", item.reason) for item in found.left]
    console.print_rows(output, Answer("rollout", found.to_dict()), ("STACK", "CLAIM", "CHANGE", "NOTE"), rows)
    console.say(found.summary)
    if found.written:
        console.say("written; now run: claimsmith review, then claimsmith up --affected")
    elif found.destructive and not allow_destructive:
        stacks = ", ".join(sorted(stack for stack, review in found.reviews.items() if review.destructive))
        problem = Problem(
            f"the wave would delete or replace something in {stacks}; nothing was written",
            fix="change the class so that its resources stay, or add --allow-destructive",
        )
        console.print_problems([problem])
        raise typer.Exit(DESTRUCTIVE)
    else:
        console.say("nothing was written")


@console.command
def operator(
    repository: Annotated[
        str, typer.Option(metavar="URL", help="The address of the git repository that the operator reads.")
    ],
    stacks: Stacks = None,
    all_: All = False,
    label: Label = None,
    branch: Annotated[str, typer.Option(metavar="BRANCH", help="The branch that it deploys.")] = "main",
    backend: Annotated[
        str | None, typer.Option(metavar="URL", help="The state backend; by default that of Pulumi.yaml.")
    ] = None,
    organization: Annotated[
        str | None, typer.Option(metavar="NAME", help="With a Pulumi service: the organization.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(metavar="NAMESPACE", help="The namespace of the objects.")] = None,
    service_account: Annotated[
        str | None, typer.Option(metavar="NAME", help="The service account of the stacks' workspaces.")
    ] = None,
    env_secret: Annotated[
        list[str] | None,
        typer.Option(metavar="VARIABLE=SECRET/KEY", help="A variable of the runs, from a Secret."),
    ] = None,
) -> None:
    """Print stacks as objects of the Pulumi Kubernetes Operator.

    Each names the stacks that it needs as its prerequisites. The operator deploys whatever is on the branch: review
    a change before you merge it.

    Example: claimsmith operator --all --repository https://git.example.org/platform.git --backend s3://state
    """
    from claimsmith.base.yaml_text import text_of
    from claimsmith.tools.fleet.operator import OperatorSource, stack_objects
    from claimsmith.tools.fleet.selection import select

    variables: dict[str, tuple[str, str]] = {}
    for name, place in arguments.pairs(env_secret, "--env-secret").items():
        secret, _, key = place.partition("/")
        if not secret or not key:
            raise typer.BadParameter(f"write VARIABLE=SECRET/KEY, not {name}={place}", param_hint="--env-secret")
        variables[name] = (secret, key)
    project = console.find_project()
    selection = select(project, _wanted(stacks, all_, label))
    source = OperatorSource(repository, branch, backend, organization, namespace, service_account, variables)
    objects = stack_objects(project, selection.needs, source)
    console.print_document("".join(f"---\n{text_of(item)}" for item in objects))
