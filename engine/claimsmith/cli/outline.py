"""The commands with their names and what they are for; options only for those that the arguments name.

Preparing the options of all commands takes longer than all else that `claimsmith --help` does.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import typer

from claimsmith.cli import help

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "Start": ("init",),
    "Write": ("new", "classes", "generate", "convert", "schema"),
    "Check and review": ("validate", "render", "review", "accept", "explain", "graph"),
    "Deploy": ("bind", "crds", "env", "backend", "preview", "up", "refresh", "destroy", "ci", "operator"),
    "Operate": ("status", "connection", "drift", "recover", "shard", "rollout"),
    "Tools": ("toolchain", "local"),
}
"""The commands in the order in which somebody meets them. The first sentence of a command's help is shown beside it."""


class Grouped(help.Group):
    """The commands under the headings of `GROUPS`; what is in none of them stands under the last."""

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
            under = [n for n in names if known.get(n, [*GROUPS][-1]) == heading]
            self.write_commands(ctx, formatter, heading, under, width)


def outline(app: typer.Typer, arguments: Sequence[str] = ()) -> typer.Typer:
    """The commands with their names and help alone, but for those that are named among the arguments.

    A command can run only if the arguments name it, so that none of the others needs its parameters. Where no argument
    begins with a dash, no option is used, and each has its default.
    """
    plain = bool(arguments) and not any(argument.startswith("-") for argument in arguments)
    short = copy.copy(app)
    if plain and app.registered_callback and app.registered_callback.callback:
        short.registered_callback = copy.copy(app.registered_callback)
        short.registered_callback.callback = _without_options(app.registered_callback.callback)
    short.registered_commands = []
    for command in app.registered_commands:
        named = copy.copy(command)
        if name_of(command) not in arguments:
            named.callback = _without_parameters(command.callback)
        elif plain and command.callback:
            named.callback = _without_options(command.callback)
        short.registered_commands.append(named)
    short.registered_groups = []
    for group in app.registered_groups:
        empty = copy.copy(group)
        empty.typer_instance = outline(group.typer_instance, arguments) if group.typer_instance else None
        short.registered_groups.append(empty)
    return short


def name_of(command: Any) -> str:
    """The name by which a registered command is called."""
    return str(command.name or typer.main.get_command_name(command.callback.__name__))


def _without_parameters(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    def nothing() -> None:
        """Only asked for its name and its help."""

    if callback is not None:
        nothing.__name__, nothing.__doc__ = callback.__name__, callback.__doc__
    return nothing


def _without_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """The command with its arguments, and with those options alone that must be given."""
    signature = inspect.signature(callback, eval_str=True)
    kept = [p for p in signature.parameters.values() if p.default is p.empty or not _is_option(p.annotation)]

    @functools.wraps(callback)
    def run(**given: Any) -> Any:
        return callback(**given)

    run.__annotations__ = {p.name: p.annotation for p in kept}
    run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]  # what `signature` looks for
    return run


def _is_option(annotation: Any) -> bool:
    return any(isinstance(note, typer.models.OptionInfo) for note in getattr(annotation, "__metadata__", ()))
