"""How `--help` looks: each value by a word that says what it is, and whole sentences at every width.

typer itself shows Python's types (`<list[str]>`), and cuts the sentences of commands off where a terminal is narrow.
Contexts and formatters are of typer's own click in newer versions, and of the package of that name in older ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_WHOLE = 1_000
"""More than any first sentence has: it is wrapped, and not cut off."""


class Command(TyperCommand):
    """A command whose arguments are shown by their metavars alone: `STACK [CLAIM]`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a value that is refused is reported without the words of typer's own validation."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            # typer 0.29 passes the text of pydantic on, which begins with the kind of its error.
            error.message = error.message.removeprefix("Value error, ")
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line behind the command's name."""
        del ctx
        return [self.options_metavar or "", *(_in_usage(a) for a in _arguments(self))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options, each with what is said of it."""
        arguments = [(a.metavar or a.name, a.help or "") for a in _arguments(self)]
        options = [p.get_help_record(ctx) for p in self.get_params(ctx) if p.param_type_name == "option"]
        for heading, rows in (("Arguments", arguments), ("Options", [row for row in options if row])):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class Group(TyperGroup):
    """Commands, each with the whole first sentence of its help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under one heading."""
        self.write_commands(ctx, formatter, "Commands", self.list_commands(ctx))

    def write_commands(self, ctx: Any, formatter: Any, heading: str, names: list[str], width: int = 0) -> None:
        """Write commands under a heading, their names so wide at least."""
        commands = [(name, self.get_command(ctx, name)) for name in names]
        rows = [(n.ljust(width), c.get_short_help_str(_WHOLE)) for n, c in commands if c is not None and not c.hidden]
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)


class App(typer.Typer):
    """A group of commands that show their help in this way."""

    def __init__(self, *, cls: type[TyperGroup] = Group, **options: Any) -> None:
        super().__init__(cls=cls, rich_markup_mode=None, **options)

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = Command, **options: Any
    ) -> Callable[[Any], Any]:
        """Add a command."""
        return super().command(name, cls=cls, **options)


def _arguments(command: TyperCommand) -> list[Any]:
    return [p for p in command.params if p.param_type_name == "argument" and not getattr(p, "hidden", False)]


def _in_usage(argument: Any) -> str:
    name = str(argument.metavar or argument.name)
    return f"{name if argument.required else f'[{name}]'}{'...' if argument.nargs != 1 else ''}"
