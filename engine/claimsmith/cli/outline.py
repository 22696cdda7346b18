"""The help of all commands together: their names and what they are for, without a look at their options.

Making the options of all commands ready would take longer than all else that `claimsmith --help` does.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import typer


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
