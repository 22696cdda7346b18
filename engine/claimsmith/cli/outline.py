"""The help of all commands together: their names and what they are for, without a look at their options.

Making the options of all commands ready would take longer than all else that `claimsmith --help` does.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

import typer
from typer.core import TyperGroup

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "Start": ("init",),
    "Write": ("new", "classes", "generate", "convert", "schema"),
    "Check and review": ("validate", "render", "review", "explain", "graph"),
    "Deploy": ("bind", "crds", "env", "preview", "up", "refresh", "destroy", "ci", "operator"),
    "Operate": ("status", "connection", "drift", "recover", "shard", "rollout"),
    "Tools": ("toolchain", "local"),
}
"""The commands in the order in which somebody meets them. The first sentence of a command's help is shown beside it."""


class Grouped(TyperGroup):
    """The commands under the headings of `GROUPS`; what is in none of them stands under the last.

    Contexts and formatters are of typer's own click in newer versions, and of the package of that name in older ones.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of the groups."""
        order = [name for names in GROUPS.values() for name in names]
        found = super().list_commands(ctx)
        return [*(n for n in order if n in found), *(n for n in found if n not in order)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group with a heading of its own, all in the same columns."""
        names = self.list_commands(ctx)
        width = max(map(len, names))
        known = {name: heading for heading, grouped in GROUPS.items() for name in grouped}
        for heading in GROUPS:
            rows = []
            for name in (n for n in names if known.get(n, [*GROUPS][-1]) == heading):
                command = self.get_command(ctx, name)
                if command is not None and not command.hidden:
                    rows.append((name.ljust(width), command.get_short_help_str(formatter.width)))
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def outline(app: typer.Typer) -> typer.Typer:
    """The commands with their names and help alone."""
    short = copy.copy(app)
    short.registered_commands = []
    for command in app.registered_commands:
        named = copy.copy(command)
        named.callback = _without_options(command.callback)
        short.registered_commands.append(named)
    short.registered_groups = []
    for group in app.registered_groups:
        empty = copy.copy(group)
        empty.typer_instance = outline(group.typer_instance) if group.typer_instance else None
        short.registered_groups.append(empty)
    return short


def _without_options(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    def nothing() -> None:
        """Only asked for its name and its help."""

    if callback is not None:
        nothing.__name__, nothing.__doc__ = callback.__name__, callback.__doc__
    return nothing
