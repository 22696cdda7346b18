"""What all commands share: formats, exit codes, how problems, tables and progress are shown.

Results go to standard output, everything else to standard error. Colours and moving
progress only on a terminal; elsewhere progress is one plain line per step.

No other module writes to the terminal: what is quoted from files is made visible here (`printable`).

typer is imported where it is used: a command that runs without its parser (`cli/composite.py`) prints without it, too.
"""

from __future__ import annotations

import errno
import functools
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from claimsmith.base.errors import EngineError, LoadError, Problem
from claimsmith.base.json_answers import Answer
from claimsmith.base.printable import visible

if TYPE_CHECKING:
    from claimsmith.project.project import Project

P = ParamSpec("P")
R = TypeVar("R")


class Format(StrEnum):
    """How a command prints its result."""

    text = "text"
    json = "json"


class CheckFormat(StrEnum):
    """How findings are printed: for a person, or for what shows them beside the code."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


class TextFormat(StrEnum):
    """How a command prints documents."""

    yaml = "yaml"
    json = "json"


def command(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a command: problems are printed without a traceback and become the exit code."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except EngineError as error:
            raise _refusal(error, kwargs) from error
        except KeyboardInterrupt:
            say("interrupted")
            raise SystemExit(130) from None
        except BrokenPipeError:
            # The reader (head, a pager) has seen enough: with stdout elsewhere, the last flush stays quiet.
            sys.stdout = open("/dev/null", "w")  # noqa: SIM115 - lives until the process ends
            raise SystemExit(141) from None
        except Exception as error:
            import typer

            if isinstance(error, (typer.Exit, typer.Abort, typer.BadParameter)):
                raise
            if _terminal_is_gone(error):
                sys.stdout = open("/dev/null", "w")  # noqa: SIM115 - lives until the process ends
                raise SystemExit(129) from None
            if _folder_is_gone():
                what = "the current folder was removed or moved while a shell or a program was in it"
                fix = "change into a folder that exists, or use --project FOLDER with an absolute path"
                raise _refusal(LoadError(Problem(what, fix=fix)), kwargs) from error
            if os.environ.get("CLAIMSMITH_DEBUG"):
                raise
            say(f"this is a bug of claimsmith: {type(error).__name__}: {error}")
            say("  fix: report it with what CLAIMSMITH_DEBUG=1 prints for the same command")
            raise SystemExit(3) from error

    return run


def _refusal(error: EngineError, arguments: Mapping[str, object]) -> SystemExit:
    """Print the problems of an error in the format that the command was asked for; returns its exit."""
    if arguments.get("output") == Format.json:
        print_json(Answer("problems", {"problems": [p.to_dict() for p in error.problems]}))
    print_problems(error.problems)
    return SystemExit(error.exit_code)


def _folder_is_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _terminal_is_gone(error: Exception) -> bool:
    """Whether a terminal that was closed took no more text."""
    return isinstance(error, OSError) and error.errno == errno.EIO and error.filename is None


@contextmanager
def _to_somebody() -> Iterator[None]:
    """Write to standard error: if nobody reads it any more, what is at work goes on.

    Its terminal was closed, or the program at the other end of its pipe has ended: `claimsmith up --all 2>&1 | head`.
    """
    try:
        yield
    except BrokenPipeError:
        # What this stream still holds would be written again with each line, and at the end of the process.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - lives until the process ends
    except OSError as error:
        if not _terminal_is_gone(error):
            raise


def _coloured() -> bool | None:
    """False where NO_COLOR is set; else None: colours on a terminal only."""
    return False if os.environ.get("NO_COLOR") else None


def _plain() -> dict[str, Any]:
    """Without any colour or style where NO_COLOR is set: rich itself would keep bold and dim."""
    return {"color_system": None} if os.environ.get("NO_COLOR") else {}


def interactive() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def find_project() -> Project:
    """The project that the current folder is in."""
    from claimsmith.project.project import Project, find_root

    return Project(find_root())


def print_problems(problems: Iterable[Problem], *, label: str = "error") -> None:
    """Write problems to standard error, the fix below each."""
    problems = list(problems)
    if not problems:
        return
    import typer

    colour = {"error": typer.colors.RED, "warning": typer.colors.YELLOW}[label]
    with _to_somebody():
        for problem in problems:
            typer.secho(f"{label}: ", fg=colour, bold=True, err=True, nl=False, color=_coloured())
            typer.echo(str(problem), err=True)


def print_json(answer: Answer) -> None:
    """Write an answer to standard output as JSON."""
    print_document(answer.text())


def print_line(text: str) -> None:
    """Write one line to standard output."""
    _echo(visible(text))


def print_document(text: str) -> None:
    """Write a whole text to standard output as it is: its writer has made visible what it quotes."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_result(output: StrEnum, answer: Answer, text: str) -> None:
    """Write a result to standard output: its answer in JSON where that is asked for, else its text."""
    if output == Format.json:
        print_json(answer)
    else:
        print_document(text)


def print_rows(output: StrEnum, answer: Answer, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a result to standard output: its answer in JSON where that is asked for, else its rows as a table."""
    if output == Format.json:
        print_json(answer)
    else:
        print_table(columns, rows)


def print_styled(lines: Iterable[Sequence[tuple[str, str]]], colours: Mapping[str, str]) -> None:
    """Write lines of styled parts to standard output, coloured on a terminal; their writer made them visible."""
    from rich.console import Console
    from rich.text import Text

    out = Console(highlight=False, soft_wrap=True, **_plain())
    for line in lines:
        out.print(Text.assemble(*((part, colours.get(style, "")) for style, part in line)))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write rows under their columns: fitted to a terminal, elsewhere one line each, to be cut and searched."""
    import typer

    from claimsmith.cli import tables

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    table = tables.lines(columns, [[visible(cell) for cell in row] for row in rows], width)
    for line in table.header:
        typer.secho(line, bold=True, color=_coloured())
    for line in table.body:
        print_line(line)


def say(message: str) -> None:
    """Tell the user something beside the result, on one line."""
    with _to_somebody():
        _echo(visible(message), err=True)


def _echo(line: str, *, err: bool = False) -> None:
    import typer

    typer.echo(line, err=err)


def _nothing(_done: int, _word: str = "") -> None:
    """Show nothing."""


@contextmanager
def progress(title: str, total: int | None = None, *, quiet: bool = False) -> Iterator[Callable[[int, str], None]]:
    """Show the progress of long work: a bar on a terminal, a line every tenth elsewhere, or nothing where `quiet`.

    Gives a function to call with the number of parts done and a word on the present one.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[word]}", markup=False),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True, **_plain()), transient=True) as bar:
            task = bar.add_task(title, total=total, word="")

            def move(done: int, word: str = "") -> None:
                bar.update(task, completed=done, word=visible(word))

            yield move
        return
    if quiet:
        yield _nothing
        return
    say(f"{title} …")
    shown = 0

    def tick(done: int, word: str = "") -> None:
        nonlocal shown
        tenth = done * 10 // total if total else 0
        if tenth > shown:
            shown = tenth
            say(f"{title}: {tenth * 10}% {word}".rstrip())

    yield tick


@contextmanager
def steps(title: str) -> Iterator[Callable[[str], None]]:
    """Show the steps of long work, however many there are: the present one on a terminal, a line for each elsewhere.

    Gives a function to call with a word on each step.
    """
    if not sys.stderr.isatty():
        yield say
        return
    with progress(title) as move:
        yield lambda word: move(0, word)


@contextmanager
def live_table(columns: Sequence[str], frame: Callable[[int], Sequence[Sequence[str]]]) -> Iterator[bool]:
    """Show a table that changes, on a terminal; gives whether there is one. `frame` gives its rows, at most so many."""
    if not sys.stderr.isatty():
        yield False
        return
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    out = Console(stderr=True, **_plain())

    def table() -> Table:
        shown = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in frame(max(out.height - 2, 2)):
            # One line for a row, so that the table is never higher than the terminal.
            shown.add_row(*(Text(visible(cell), no_wrap=True, overflow="ellipsis") for cell in row))
        return shown

    live = Live(get_renderable=table, console=out, transient=True)
    live.start()
    try:
        yield True
    finally:
        with _to_somebody():
            live.stop()
