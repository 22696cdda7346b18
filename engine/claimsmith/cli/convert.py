"""The command that rewrites: `convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.cli import console
from claimsmith.cli.console import TextFormat


@console.command
def convert(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Files or folders with classes, definitions and claims; the whole project where none is named.",
        ),
    ] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write files below this folder, named as the files that they come from."),
    ] = None,
    output: Annotated[TextFormat, typer.Option("--output", help="How to print it.")] = TextFormat.yaml,
) -> None:
    """Convert classes and claims to Crossplane compositions and claims.

    Classes and definitions of the older formats become CompositeResourceDefinitions, and Compositions of mode Pipeline.
    What these cannot express is reported with its place, and the exit code is 1; the rest is printed or written all the
    same. An existing file with other content is never overwritten.

    Example: claimsmith convert components/private-mysql-server stacks/dev/claims --output-dir converted
    """
    from claimsmith.tools.convert import files

    result = files.of_files(paths) if paths else files.of_project(console.find_project())
    rows = files.write(result, output_dir) if output_dir else []
    if output == TextFormat.json:
        listed = [{"file": f, "change": c} for f, c in rows]
        console.print_json(Answer("convert", {**result.to_dict(), "files": listed}))
    elif output_dir:
        console.print_table(("FILE", "CHANGE"), rows)
    else:
        console.print_document(result.text())
    console.print_problems(result.warnings(), label="warning")
    console.print_problems(result.conversion.unsupported)
    raise typer.Exit(1 if result.conversion.unsupported else 0)
