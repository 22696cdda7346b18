"""`claimsmith backend`: shows where the state of a project is, and shares it with colleagues."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.cli import console
from claimsmith.cli.arguments import Output
from claimsmith.cli.console import Format
from claimsmith.cli.help import App

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
    if rows or output == Format.json:
        console.print_rows(output, Answer("backend", found.to_dict()), ("STACK", "SECRETS", "READABLE HERE"), rows)
    else:
        console.say("no stack has state here yet")
    if not all(s.readable for s in found.stacks):
        console.print_problems(encryption.unfit(project, os.environ))
        raise typer.Exit(1)


@app.command()
@console.command
def move(
    url: Annotated[
        str,
        typer.Argument(metavar="URL", help="As in file:///shared, s3://bucket, postgres://host/database; or `local`."),
    ],
    output: Output = Format.text,
) -> None:
    """Move the state of all stacks to another backend.

    All of it, or none: if it fails, the project is as before, and nothing stays in the other backend. It writes
    Pulumi.yaml, lets git see the stacks' settings, and says what to commit and what to share. `local` moves the state
    to this machine. Copies of the states are kept in .claimsmith/moved.

    Example: claimsmith backend move s3://my-platform-state
    """
    from claimsmith.tools import backend, backend_move

    done = backend_move.move(console.find_project(), url)
    if output == Format.json:
        console.print_json(Answer("backend-move", done.to_dict()))
    for word, stacks in (("moved", done.moved), ("created", done.created)):
        if stacks:
            console.say(f"{word}: {', '.join(stacks)}")
    for stack in done.kept:
        console.say(
            f"warning: the backend from before still has {stack!r}, and could not remove it: never deploy there"
        )
    if os.environ.get("PULUMI_BACKEND_URL"):
        console.say("warning: PULUMI_BACKEND_URL is set here, and comes before Pulumi.yaml: set it to the new backend")
    if backend.is_local(done.url):
        return
    console.say("")
    console.say("Share it:")
    console.say(f"  git add {' '.join(done.files)} && git commit")
    console.say("  give colleagues the text of .claimsmith/passphrase: by a password manager, never in git")
    console.say("In their clone they run once:")
    console.say("  claimsmith backend join")


@app.command()
@console.command
def leave(output: Output = Format.text) -> None:
    """Use stacks of your own on this machine.

    Nothing is moved: what is deployed elsewhere stays there. Settings that you cannot decrypt are removed, and a
    passphrase of your own is used.

    Example: claimsmith backend leave
    """
    from claimsmith.tools import backend

    left = backend.leave(console.find_project())
    if output == Format.json:
        console.print_json(Answer("backend-move", left.to_dict()))
    for name in left.removed:
        console.say(f"removed, since nobody here can read it: {name}")
    console.say("The state is on this machine now. What is deployed elsewhere stays there.")
    console.say('Next: eval "$(claimsmith env)" && pulumi stack select STACK --create')


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
