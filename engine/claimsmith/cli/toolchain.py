"""`claimsmith toolchain`: shows the programs that the engine consists of, and installs those that are missing."""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Annotated, Any

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.cli import console
from claimsmith.cli.arguments import Output
from claimsmith.cli.console import Format
from claimsmith.cli.help import App

app = App(no_args_is_help=False)


class Use(StrEnum):
    """What parts are for, as `toolchain.USES` has it."""

    kubernetes = "kubernetes"
    postgresql = "postgresql"
    native = "native"


For = Annotated[
    Use | None, typer.Option("--for", help="Only the parts that a stack of such resources needs on this machine.")
]


@app.callback(invoke_without_command=True)
@console.command
def show(context: typer.Context, use: For = None, output: Output = Format.text) -> None:
    """Show or install Pulumi, its providers and a local control plane.

    Without a command: each part, its version and where it comes from; exit code 1 where one is missing. The environment
    variable CLAIMSMITH_TOOLCHAIN selects the versions: default (any compatible ones), oldest or newest (exact ones).

    Example: claimsmith toolchain --output json
    """
    if context.invoked_subcommand:
        return
    from claimsmith.toolchain import find_all

    found = find_all(_parts(use))
    _print(found, output)
    missing = [name for name, part in found.items() if not part]
    if missing:
        from claimsmith.base.errors import Problem
        from claimsmith.toolchain.parts import INSTALL

        fix = f"{INSTALL} --for {use}" if use else INSTALL
        console.print_problems([Problem(f"missing: {', '.join(missing)}", fix=fix)])
        raise typer.Exit(1)


@app.command()
@console.command
def install(use: For = None, output: Output = Format.text) -> None:
    """Install the missing parts.

    By an official download, else by a build with Go (about 20 minutes, once; less with --for postgresql).

    Example: claimsmith toolchain install --for postgresql
    """
    from claimsmith import toolchain

    steps = _Steps()
    try:
        found = toolchain.install(steps, _parts(use))
    finally:
        steps.close()
    _print(dict(found), output)


def _parts(use: Use | None) -> tuple[str, ...]:
    from claimsmith.toolchain.parts import NAMES, USES

    return USES[use] if use else NAMES


def _print(found: dict[str, Any], output: Format) -> None:
    listed = [
        {"part": name, "version": p and p.version, "origin": p and p.origin, "path": p and str(p.path)}
        for name, p in found.items()
    ]
    rows = [(name, p.version, p.origin, str(p.path)) if p else (name, "-", "missing", "") for name, p in found.items()]
    console.print_rows(output, Answer("toolchain", {"parts": listed}), ("PART", "VERSION", "FROM", "PATH"), rows)


class _Steps:
    """Shows the steps of an install, one progress bar after the other."""

    def __init__(self) -> None:
        self.step: tuple[str, int | None] | None = None
        self.bar: AbstractContextManager[Any] | None = None

    def __call__(self, title: str, done: int, total: int | None, word: str) -> None:
        """Show one report; a new title, or a total that became known, begins a new bar."""
        if (title, total) != self.step:
            self.close()
            self.step = (title, total)
            self.bar = console.progress(title, total)
            self.tick = self.bar.__enter__()
        self.tick(done, word)

    def close(self) -> None:
        """End the bar that is shown."""
        if self.bar:
            self.bar.__exit__(None, None, None)
            self.bar = None
