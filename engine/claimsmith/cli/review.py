"""The command `review`: what a change does, before it is done."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.cli import arguments, completion, console

if TYPE_CHECKING:
    from claimsmith.tools.review import Review

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


_BY_ENDING = {
    ".md": ReviewFormat.markdown,
    ".html": ReviewFormat.html,
    ".json": ReviewFormat.json,
    ".txt": ReviewFormat.terminal,
}


@console.command
def review(
    base: Annotated[
        str, typer.Option(metavar="REVISION", help="The git revision to compare the working tree with.")
    ] = "HEAD",
    stack: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STACK", help="An environment; all where none is named.", autocompletion=completion.stacks
        ),
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Run the engine's preview too, and report where it differs.")
    ] = False,
    strict: arguments.Strict = False,
    output: Annotated[
        ReviewFormat | None,
        typer.Option("--output", help="How to write it; markdown is for a pull request.", show_default="terminal"),
    ] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--file",
            metavar="FILE",
            help="Write it to this file, by its ending: .md, .html, .json or .txt.",
            dir_okay=False,
        ),
    ] = None,
    link: Annotated[
        str, typer.Option(help="The address at which the page is published: the comment links to it.", metavar="URL")
    ] = "",
    no_cache: arguments.NoCache = False,
) -> None:
    """Show what a change does to every claim in every environment.

    The files of a git revision and those of the working tree are planned and compared; nothing is deployed, and without
    --preview no engine or cluster is needed.

    Exit codes: 0 nothing changes; 10 there are changes; 11 something is deleted or replaced; 1 it cannot be read, or
    could not be deployed as it is.

    Example: claimsmith review --base main --stack dev -o review.md -o review.html
    """
    from claimsmith.project.writing import output_path
    from claimsmith.tools.many import cores
    from claimsmith.tools.review.markdown import LINK
    from claimsmith.tools.review.project import review as review_of

    if link and not LINK.fullmatch(link):
        raise typer.BadParameter(f"{link!r} is no address that begins with https:// or http://", param_hint="--link")
    forms = [(path.absolute(), output or arguments.by_ending(path, _BY_ENDING)) for path in file or ()]
    project = console.find_project()
    written = [(output_path(path, root=project.root), form) for path, form in forms]
    with console.progress("review", len(stack) if stack else None, quiet=True) as tick:
        found = review_of(
            project,
            base,
            stacks=stack or (),
            preview=preview,
            strict=strict,
            link=link,
            cache=not no_cache,
            processes=cores(),
            tick=tick,
        )
    _write(found, written, output)
    raise typer.Exit(_code(found))


def _code(found: Review) -> int:
    if found.failed:
        return 1
    return DESTRUCTIVE if found.destructive else CHANGES if found.changes else 0


def _write(found: Review, files: list[tuple[Path, ReviewFormat]], output: ReviewFormat | None) -> None:
    from claimsmith.project.writing import write_atomically
    from claimsmith.tools.review import outputs

    for path, form in files:
        write_atomically(path, outputs.WRITERS[form.value](found))
        console.say(f"written: {path}")
    if not files and output in (None, ReviewFormat.terminal):
        print_review(found)
    elif not files and output:
        console.print_document(outputs.WRITERS[output.value](found))


def print_review(found: Review) -> None:
    """Write a review to standard output, coloured on a terminal."""
    from claimsmith.tools.review import text

    console.print_styled(text.lines(found), _COLOURS)
