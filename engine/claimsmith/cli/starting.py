"""The commands that begin something: `init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimsmith.cli import console


@console.command
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A folder that is empty or not there yet.", show_default=False)
    ] = Path(),
    name: Annotated[
        str | None, typer.Option(help="The project's name; the folder's where none is given.", show_default=False)
    ] = None,
) -> None:
    """Make a new platform project: a class, a claim, their tests, and what is needed to deploy them.

    Example: claimsmith init my-platform
    """
    from claimsmith.starting import skeleton

    for path in skeleton.init(folder, name):
        typer.echo(path)
    console.say(f"\n{'Next' if folder == Path() else f'Next, in {folder}'}:")
    console.say("  make check    # everything is valid, and makes what tests/golden says")
    console.say("  make up       # deploy it on this machine, with a simulated cloud")
