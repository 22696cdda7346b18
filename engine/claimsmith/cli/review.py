"""The command `review`: what a change does, before it is done."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.cli import console

if TYPE_CHECKING:
    from claimsmith.review import Review

CHANGES = 10
DESTRUCTIVE = 11
_COLOURS = {
    "title": "bold",
    "created": "green",
    "updated": "cyan",
    "deleted": "red",
    "danger": "bold red",
    "warning": "yellow",
    "note": "blue",
    "dim": "dim",
}


class ReviewFormat(StrEnum):
    """How a review is written."""

    terminal = "terminal"
    markdown = "markdown"
    json = "json"
    html = "html"


@console.command
def review(
    base: Annotated[str, typer.Option(help="The git revision to compare the working tree with.")] = "HEAD",
    stack: Annotated[
        list[str] | None, typer.Option(help="An environment; all where none is named.", show_default=False)
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Ask the real engine too, and tell where it says something else.")
    ] = False,
    output: Annotated[
        ReviewFormat, typer.Option("--output", help="How to write it; markdown is for a pull request.")
    ] = ReviewFormat.terminal,
    file: Annotated[
        Path | None, typer.Option("-o", "--file", help="Write it to this file.", dir_okay=False, show_default=False)
    ] = None,
) -> None:
    """Tell what a change does to every claim in every environment, before it is done.

    The files of a git revision and those of the working tree are planned and compared; nothing is deployed, and without
    --preview no engine or cluster is needed.

    Exit codes: 0 nothing changes; 10 there are changes; 11 something is deleted or made anew; 1 it cannot be told, or
    could not be deployed as it is.

    Example: claimsmith review --base main --stack dev --output markdown -o review.md
    """
    from claimsmith import reviews
    from claimsmith.project import Project, find_root

    project = Project(find_root())
    with console.progress("review", len(stack) if stack else None) as tick:
        found = reviews.review(project, base, stacks=stack or (), preview=preview, tick=tick)
    _write(found, output, file)
    raise typer.Exit(_code(found))


def _code(found: Review) -> int:
    if found.failed:
        return 1
    return DESTRUCTIVE if found.destructive else CHANGES if found.changes else 0


def _write(found: Review, output: ReviewFormat, file: Path | None) -> None:
    from claimsmith.project import write_atomically

    if output is ReviewFormat.terminal and file is None:
        _print(found)
        return
    text = _text(found, output)
    if file:
        write_atomically(file.absolute(), text)
        console.say(f"written: {file}")
    else:
        typer.echo(text, nl=False)


def _text(found: Review, output: ReviewFormat) -> str:
    from claimsmith.review import outputs

    return outputs.WRITERS[output.value](found)


def _print(found: Review) -> None:
    """To the terminal, coloured where it is one."""
    from rich.console import Console
    from rich.text import Text

    from claimsmith.review import text

    out = Console(highlight=False, soft_wrap=True)
    for line in text.lines(found):
        out.print(Text.assemble(*((part, _COLOURS.get(style, "")) for style, part in line)))
