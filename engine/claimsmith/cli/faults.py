"""The command for what went wrong on the way: `recover`."""

from __future__ import annotations

from typing import Annotated

import typer

from claimsmith.cli import console
from claimsmith.cli.console import Format, Output
from claimsmith.cli.questions import Stack


@console.command
def recover(
    stack: Stack,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do the steps; without it they are only shown.")] = False,
    unlock: Annotated[
        bool, typer.Option("--unlock", help="Free locks from other machines too: their owners are known to be gone.")
    ] = False,
    output: Output = Format.text,
) -> None:
    """Show what a killed run left behind, and mend it: locks without owner, interrupted operations, leftovers.

    Example: claimsmith recover dev --yes
    """
    from claimsmith import recovery
    from claimsmith.project import Project, find_root

    project = Project(find_root())
    report = (recovery.mend if yes else recovery.look)(project, stack, unlock=unlock)
    if output == Format.json:
        console.print_json({**report.to_dict(), "done": yes})
    elif report.steps or report.notes:
        console.print_table(("FOUND", "STEP"), [(s.found, s.step) for s in (*report.steps, *report.notes)])
    console.print_problems(report.warnings, label="warning")
    if not report.steps:
        console.say(f"nothing to recover in {stack}")
    elif yes:
        console.say(f"done; now run: pulumi up --stack {stack}")
    else:
        console.say(f"nothing was changed; to do these steps: claimsmith recover {stack} --yes")
