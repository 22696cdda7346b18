"""`claimsmith render XR COMPOSITION [FUNCTIONS]`: without options, it runs without the parser of the command line.

It runs in loops of editors and tests, so its start counts. typer, the options of commands and what converts arguments
took a fifth of the whole, for words that are used as they are. This module and what it imports do without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from claimsmith.cli import console
from claimsmith.cli.console import TextFormat
from claimsmith.render import as_stream
from claimsmith.tools.render import composite
from claimsmith.tools.render.composite import JUST_RESOURCES, Files, Parts


def print_composite(
    files: Files,
    parts: Parts = JUST_RESOURCES,
    timeout: float | None = None,
    output: TextFormat = TextFormat.yaml,
) -> None:
    """Print the resources composed for a composite, from files."""
    composed, warnings = composite.render(files, parts, timeout=timeout)
    console.print_problems(warnings, label="warning")
    if output == TextFormat.json:
        from claimsmith.base.json_answers import Answer

        console.print_json(Answer("render", {"items": composed}))
    else:
        console.print_document(as_stream(composed))


@console.command
def run(words: Sequence[str]) -> None:
    """The whole command for the words after `render`: the files of composite, composition and, maybe, functions."""
    xr, composition, *functions = map(Path, words)
    print_composite(Files(xr, composition, functions[0] if functions else None))
