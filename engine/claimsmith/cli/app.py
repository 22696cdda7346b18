"""The commands of `claimsmith`. Each parses its flags, calls one function, prints, and chooses the exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from claimsmith.base.json_answers import Answer, foreign_text
from claimsmith.cli import (
    accept,
    backend,
    completion,
    console,
    convert,
    crds,
    fleet,
    fleet_files,
    local,
    outline,
    queries,
    render,
    review,
    scaffold,
    stacks,
    toolchain,
)
from claimsmith.cli.arguments import NoCache, Output, Strict
from claimsmith.cli.console import CheckFormat, Format
from claimsmith.cli.help import App
from claimsmith.cli.queries import Stack

app = App(
    cls=outline.Grouped,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Claims and compositions for Pulumi.",
)
app.add_typer(toolchain.app, name="toolchain")
app.add_typer(local.app, name="local")
app.add_typer(backend.app, name="backend")
app.add_typer(crds.app, name="crds")
app.command()(queries.explain)
app.command()(queries.drift)
app.command()(queries.connection)
app.command()(queries.classes)
app.command()(queries.schema)
app.command()(review.review)
app.command()(accept.accept)
app.command()(queries.graph)
app.command()(scaffold.init)
app.add_typer(scaffold.new, name="new")
app.command()(convert.convert)
app.add_typer(fleet_files.ci, name="ci")
app.command()(fleet_files.rollout)
app.command()(fleet_files.operator)
app.command()(fleet.up)
app.command()(fleet.preview)
app.command()(fleet.refresh)
app.command()(fleet.destroy)
app.command()(stacks.recover)
app.command()(stacks.shard)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    project: Annotated[
        Path | None,
        typer.Option("--project", "-C", metavar="FOLDER", help="Run in this folder.", exists=True, file_okay=False),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)] = False,
) -> None:
    """Claims and compositions for Pulumi."""
    if project:
        os.chdir(project)
    if version:
        from claimsmith import __version__

        console.print_line(f"claimsmith {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        console.print_document(f"{context.get_help()}\n")
        raise typer.Exit(2)


@app.command()
@console.command
def validate(
    stacks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STACK", help="Environments; all where none is named.", autocompletion=completion.stacks
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Treat warnings as errors, such as claims that no class serves."),
    ] = False,
    output: Annotated[CheckFormat, typer.Option("--output", help="How to print the findings.")] = CheckFormat.text,
    no_cache: NoCache = False,
) -> None:
    """Check classes, claims, bindings and components. Reports all problems at once.

    Needs no engine and no cluster.

    SARIF is for tools that show findings beside the code, `github` for a step of a workflow. docs/reference/checks.md
    describes each check.

    Example: claimsmith validate dev prod

    Example: claimsmith validate --output sarif > claimsmith.sarif
    """
    from claimsmith.tools import validate as checks
    from claimsmith.tools.many import cores

    project = console.find_project()
    names = stacks or project.stacks()
    with console.progress("checking", len(names), quiet=True) as tick:
        report = checks.validate(project, names, strict=strict, cache=not no_cache, processes=cores(), tick=tick)
    match output:
        case CheckFormat.json:
            console.print_json(Answer("validate", report.to_dict()))
        case CheckFormat.sarif:
            console.print_document(foreign_text(checks.sarif(report, folder=project.folder())))
        case CheckFormat.github:
            for line in checks.commands(report, folder=project.folder()):
                console.print_document(f"{line}\n")
        case CheckFormat.text:
            for line in report.summary:
                console.print_line(line)
    if output != CheckFormat.github:
        console.print_problems(report.warnings, label="warning")
        console.print_problems(report.errors)
    raise typer.Exit(1 if report.errors else 0)


@app.command()
@console.command
def bind(
    stack: Stack,
    rebind: Annotated[
        list[str] | None,
        typer.Option(metavar="CLAIM", help="A claim to choose a class for anew.", autocompletion=completion.claims),
    ] = None,
    rebind_class: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS",
            help="A class whose claims all choose anew, and may move to another one.",
            autocompletion=completion.class_names,
        ),
    ] = None,
    repick: Annotated[
        list[str] | None,
        typer.Option(metavar="CLAIM", help="A claim whose selectors pick anew.", autocompletion=completion.claims),
    ] = None,
    forget: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLAIM",
            help="A claim whose record is to go: one that is gone and was released, or one with a broken record.",
            autocompletion=completion.claims,
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where something would change.")] = False,
    strict: Strict = False,
    output: Output = Format.text,
) -> None:
    """Choose a class for each claim and record the choice.

    Claims that are bound already keep their class. The record is stacks/STACK/bindings.yaml. Shows the records that
    change; --output json has all.

    Example: claimsmith bind dev --rebind sql

    Example: claimsmith bind prod --rebind-class private-mysql-server
    """
    from claimsmith.base.printable import counted
    from claimsmith.tools.bind import bind as bind_stack

    result = bind_stack(
        console.find_project(),
        stack,
        rebind=rebind or [],
        rebind_class=rebind_class or [],
        repick=repick or [],
        forget=forget or [],
        check=check,
        strict=strict,
    )
    rows = [(r.claim.short, r.klass.name, r.reason, r.change) for r in result.rows if r.change != "none"]
    if rows or output == Format.json:
        console.print_rows(output, Answer("bind", result.to_dict()), ("CLAIM", "CLASS", "REASON", "CHANGE"), rows)
    else:
        console.print_line(f"no change: {counted(len(result.rows), 'record')}")
    console.print_problems([*result.warnings, *result.unread], label="warning")
    console.print_problems(result.errors)
    raise typer.Exit(1 if result.errors or (check and result.changed) else 0)


app.command()(render.render)


@app.command()
@console.command
def generate(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where a component is stale.")] = False,
    output: Output = Format.text,
) -> None:
    """Generate the Pulumi component of each class.

    It is written beside the class: components/NAME/component.py.

    Example: claimsmith generate --check
    """
    from claimsmith.tools.generate import generate as generate_components

    rows = generate_components(console.find_project(), check=check)
    listed = [{"component": path, "change": change} for path, change in rows]
    console.print_rows(output, Answer("generate", {"components": listed}), ("COMPONENT", "CHANGE"), rows)
    raise typer.Exit(1 if check and any(change != "none" for _, change in rows) else 0)


@app.command()
@console.command
def status(stack: Stack, output: Output = Format.text) -> None:
    """Show the claims of a deployed stack.

    Each with its class, phase, all children and the keys of its connection Secret. For children in the cluster, it
    shows whether they are ready now, and below the table what is waited for.

    Example: claimsmith status dev
    """
    from claimsmith.tools.status import status as status_of

    found = status_of(console.find_project(), stack)
    if output == Format.json:
        console.print_json(Answer("status", {"stack": stack, **found.to_dict()}))
    else:
        rows: list[tuple[str, ...]] = []
        for c in found.claims:
            rows.append((c.claim.short, c.details["class"].rpartition("/")[2], c.details["phase"], c.secret))
            rows += [(f"{'  ' * child.depth}{child.kind}", child.name, child.state, "") for child in c.children]
        if rows:
            console.print_table(("CLAIM AND CHILDREN", "CLASS OR NAME", "PHASE", "CONNECTION SECRET"), rows)
        else:
            console.say(f"no claim is deployed in {stack}")
        for c in found.claims:
            for child in c.children:
                if child.waiting:
                    console.print_line(f"waiting for {child.shown} of {c.claim.short}: {child.waiting}")
            if c.following:
                console.print_line(f"with the next deployment of {c.claim.short} follow: {', '.join(c.following)}")
    console.print_problems(found.warnings, label="warning")


@app.command()
@console.command
def env() -> None:
    """Print the environment variables for plain `pulumi` commands.

    Among them are the PATH of the engine and the passphrase of this project's local state.

    Example: eval "$(claimsmith env)" && pulumi preview --stack dev
    """
    import shlex

    from claimsmith.project import encryption, workspace

    project = console.find_project()
    for name, value in workspace.settings(project).items():
        # For a shell to read back: exactly as it is.
        console.print_document(f"export {name}={shlex.quote(value)}\n")
    if problem := workspace.legacy_state(project):
        console.print_problems([problem], label="warning")
    if problems := encryption.unfit(project, os.environ):
        console.print_problems(problems)
        # So that `eval "$(claimsmith env)" && pulumi …` ends here: the engine would only refuse the passphrase.
        console.print_document("false\n")


def main() -> None:
    """Run the command line."""
    # A shell that completes passes the words of the line in its own way.
    completes = "_CLAIMSMITH_COMPLETE" in os.environ
    (app if completes else outline.outline(app, sys.argv[1:]))(prog_name="claimsmith")
