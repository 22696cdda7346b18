"""What commands share: options that select stacks or a format, and values of several words (KEY=VALUE, durations)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from claimsmith.cli import completion
from claimsmith.cli.console import Format

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
Strict = Annotated[bool, typer.Option("--strict", help="Refuse claims with fields that nothing reads.")]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Plan every stack anew, also those that are known to be silent.")
]
Output = Annotated[Format, typer.Option("--output", help="How to print the result.")]
_T = TypeVar("_T")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")


def pairs(values: list[str] | None, flag: str) -> dict[str, str]:
    """The pairs of a flag, in the order in which they are written; a later one wins."""
    found: dict[str, str] = {}
    for text in values or ():
        key, sign, value = text.partition("=")
        if not key or not sign:
            raise typer.BadParameter(f"write KEY=VALUE, not {text!r}", param_hint=flag)
        found[key] = value
    return found


def by_ending(path: Path, formats: Mapping[str, _T]) -> _T:
    """The format of a file to write, which its ending selects."""
    if path.suffix not in formats:
        raise typer.BadParameter(f"{path} ends in none of {', '.join(formats)}: set --output", param_hint="-o")
    return formats[path.suffix]


def seconds(text: str | None, flag: str) -> float | None:
    """The seconds of a duration such as 90s or 1m30s; None where there is none."""
    if text is None:
        return None
    if not text or _DURATION.sub("", text):
        raise typer.BadParameter(f"write a duration such as 90s or 1m30s, not {text!r}", param_hint=flag)
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text))


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

    return Wanted(stacks or (), all_, affected, pairs(label, "--label"), base)
