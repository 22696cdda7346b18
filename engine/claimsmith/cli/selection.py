"""The options that select stacks, for the commands that work on many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.cli import arguments, completion

if TYPE_CHECKING:
    from claimsmith.tools.fleet.selection import Wanted

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
AllowDestructive = Annotated[bool, typer.Option("--allow-destructive", help="Let resources be deleted and replaced.")]


def wanted(
    stacks: Sequence[str] | None,
    all_: bool,
    label: list[str] | None,
    *,
    affected: bool = False,
    base: str | None = None,
) -> Wanted:
    """What these options select."""
    from claimsmith.tools.fleet.selection import Wanted

    return Wanted(stacks or (), all_, affected, arguments.pairs(label, "--label"), base)
