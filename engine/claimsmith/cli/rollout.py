"""`claimsmith rollout` and `claimsmith classes --usage`: which claims a class serves, and how they move to another."""

from __future__ import annotations

from typing import Annotated

import typer

from claimsmith.base.errors import Problem
from claimsmith.cli import completion, console, fleet, selection
from claimsmith.cli.console import Format, Output
from claimsmith.tools.json_answers import Answer

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
    allow_destructive: selection.AllowDestructive = False,
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
        raise typer.Exit(fleet.DESTRUCTIVE)
    else:
        console.say("nothing was written")
