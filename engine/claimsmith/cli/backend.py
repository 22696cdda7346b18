"""`claimsmith backend`: shows where the state of a project is, and shares it with colleagues."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from claimsmith.cli import console
from claimsmith.cli.console import Format, Output
from claimsmith.cli.help import App
from claimsmith.tools.json_answers import Answer

app = App(no_args_is_help=False)


@app.callback(invoke_without_command=True)
@console.command
def show(context: typer.Context, output: Output = Format.text) -> None:
    """Show where the state is, or share it with colleagues.

    Without a command: the backend, and for each stack how its secrets are encrypted, and whether they can be read here.
    Exit code 1 where some cannot.

    Example: claimsmith backend --output json
    """
    if context.invoked_subcommand:
        return
    from claimsmith.project import encryption
    from claimsmith.tools import backend

    project = console.find_project()
    found = backend.describe(project)
    if output == Format.text:
        console.print_line(f"state: {found.url or 'the backend that you are logged in to'}")
    rows = [(s.stack, s.secrets, "yes" if s.readable else "no") for s in found.stacks]
    console.print_rows(output, Answer("backend", found.to_dict()), ("STACK", "SECRETS", "READABLE HERE"), rows)
    if not all(s.readable for s in found.stacks):
        import os

        console.print_problems(encryption.unfit(project, os.environ))
        raise typer.Exit(1)


@app.command("set")
@console.command
def set_backend(
    url: Annotated[
        str,
        typer.Argument(metavar="URL", help="As in file:///shared, s3://bucket, postgres://host/database; or `local`."),
    ],
    output: Output = Format.text,
) -> None:
    """Keep the state in a backend that colleagues reach.

    Writes Pulumi.yaml, moves the state of all stacks, and lets git see their settings. Then it says what to commit and
    what to share. `local` goes back to state on this machine, with a passphrase of its own.

    Example: claimsmith backend set s3://my-platform-state
    """
    from claimsmith.tools import backend

    project = console.find_project()
    if url == "local":
        left = backend.leave(project)
        if output == Format.json:
            console.print_json(Answer("backend-set", left.to_dict()))
        for name in left.removed:
            console.say(f"removed, since nobody here can read it: {name}")
        console.say("The state is on this machine now. What is deployed elsewhere stays there.")
        console.say('Next: eval "$(claimsmith env)" && pulumi stack select STACK --create')
        return
    done = backend.move(project, url)
    if output == Format.json:
        console.print_json(Answer("backend-set", done.to_dict()))
    for word, stacks in (("moved", done.moved), ("created", done.created)):
        if stacks:
            console.say(f"{word}: {', '.join(stacks)}")
    console.say("")
    console.say("Share it:")
    console.say(f"  git add {' '.join(done.files)} && git commit")
    console.say("  give colleagues the text of .claimsmith/passphrase: by a password manager, never in git")
    console.say("In their clone they run once:")
    console.say("  claimsmith backend join")


@app.command()
@console.command
def join(
    passphrase_file: Annotated[
        Path | None,
        typer.Option(
            "--passphrase-file",
            metavar="FILE",
            help="The file that holds it; by default asked for, or standard input.",
        ),
    ] = None,
) -> None:
    """Use the passphrase that colleagues shared.

    It is checked against the stacks' settings, and kept in .claimsmith/passphrase, which only you can read.

    Example: claimsmith backend join --passphrase-file shared.txt
    """
    from claimsmith.base.errors import LoadError, Problem
    from claimsmith.project import encryption
    from claimsmith.tools import backend

    project = console.find_project()
    if passphrase_file:
        found = encryption.read_passphrase(passphrase_file)
        if found is None:
            raise LoadError(Problem(f"{passphrase_file} cannot be read", fix="name a file with the passphrase"))
    elif sys.stdin.isatty():
        found = str(typer.prompt("Passphrase", hide_input=True, err=True))
    else:
        found = sys.stdin.read()
    stacks = backend.join(project, found)
    console.say(f"it fits: {', '.join(stacks)}")
    console.say(f'Next: eval "$(claimsmith env)" && pulumi preview --stack {stacks[0]}')
