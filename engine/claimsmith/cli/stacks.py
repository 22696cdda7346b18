"""The commands for stacks in trouble or grown too large: `recover` and `shard`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.cli import console
from claimsmith.cli.arguments import Output
from claimsmith.cli.console import Format
from claimsmith.cli.queries import Stack

if TYPE_CHECKING:
    from claimsmith.tools.shard.cut import Cut


@console.command
def recover(
    stack: Stack,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do the steps; without it they are only shown.")] = False,
    unlock: Annotated[
        bool, typer.Option("--unlock", help="Free locks from other machines too: their owners are known to be gone.")
    ] = False,
    output: Output = Format.text,
) -> None:
    """Show and repair what a killed run left behind.

    Locks without an owner, interrupted operations, and leftover processes and files.

    Example: claimsmith recover dev --yes
    """
    from claimsmith.tools import recover as recovery

    project = console.find_project()
    report = (recovery.repair if yes else recovery.look)(project, stack, unlock=unlock)
    if output == Format.json:
        console.print_json(Answer("recover", {**report.to_dict(), "done": yes}))
    elif report.steps or report.notes:
        console.print_table(("FOUND", "STEP"), [(s.found, s.step) for s in (*report.steps, *report.notes)])
    console.print_problems(report.warnings, label="warning")
    if not report.steps:
        console.say(f"nothing to recover in {stack}")
    elif yes:
        console.say(f"done; now run: pulumi up --stack {stack}")
    else:
        console.say(f"nothing was changed; to do these steps: claimsmith recover {stack} --yes")


class By(StrEnum):
    """What a stack is cut by."""

    namespace = "namespace"
    team = "team"


@console.command
def shard(
    stack: Stack,
    by: Annotated[By, typer.Option("--by", help="Cut by the claims' namespaces, or by the label that names a team.")],
    label: Annotated[str, typer.Option(metavar="KEY", help="The label that names a claim's team.")] = "team",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Cut it; without it the cut is only shown.")] = False,
    output: Output = Format.text,
) -> None:
    """Split a large stack into several, by namespace or team.

    Moves files, bindings and state; nothing is replaced or deleted.

    Claims that refer to each other stay together; what the stack gives as it is stays, and is referred to from there.

    Example: claimsmith shard prod --by team --label example.org/team
    """
    from claimsmith.tools.shard import cut
    from claimsmith.tools.shard import stack as sharding

    project = console.find_project()
    key = cut.by_namespace if by == By.namespace else cut.by_label(label)
    done = (sharding.shard if yes else sharding.look)(project, stack, key)
    answer = Answer("shard", {**done.to_dict(), "done": yes})
    console.print_rows(output, answer, ("CLAIM", "STACK", "NOTE"), _rows(done.cut))
    for note in done.notes:
        console.say(note)
    if not done.cut.parts:
        console.say(f"nothing of {stack} can be split off")
    elif yes:
        ups = [f"pulumi up --stack {name}" for name in (stack, *(part.stack for part in done.cut.parts))]
        console.say(f"done; now run, in this order: {'; '.join(ups)}")
    else:
        words = f"claimsmith shard {stack} --by {by.value}" + (f" --label {label}" if by == By.team else "")
        console.say(f"nothing was changed; to split it, while no run of {stack} is active: {words} --yes")


def _rows(found: Cut) -> list[tuple[str, str, str]]:
    goes_with = {claim.address: f"goes with {other}" for claim, other in found.joined}
    rows = [(c.address, part.stack, goes_with.get(c.address, "")) for part in found.parts for c in part.claims]
    rows += [(c.address, found.stack, f"stays: {why}") for c, why in found.stays]
    shared = [(a, found.stack, f"stays; referred to by {p.stack}") for p in found.parts for a in p.shared]
    return [*rows, *shared]
