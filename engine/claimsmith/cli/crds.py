"""The command `crds`, which prints the definitions of the platform's own kinds, and `crds add`."""

from __future__ import annotations

from typing import Annotated

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.cli import completion, console
from claimsmith.cli.arguments import Output
from claimsmith.cli.console import Format, TextFormat
from claimsmith.cli.help import App

app = App(help="Print the CRDs of the platform, or add those of providers.", invoke_without_command=True)


@app.callback()
@console.command
def crds(
    context: typer.Context,
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack",
            metavar="STACK",
            help="Add the versions in which this stack claims.",
            autocompletion=completion.stacks,
        ),
    ] = None,
    output: Annotated[TextFormat, typer.Option("--output", help="How to print it.")] = TextFormat.yaml,
) -> None:
    """Print the CRDs of the platform, or add those of providers.

    These are defined kinds, requirements and claims.

    Those of our records (CompositeResource and the like) are among them. Without any of them everything works all the
    same; with them the cluster knows the kinds, and `kubectl explain` describes them.

    Example: claimsmith crds | kubectl apply --server-side -f -
    """
    from claimsmith.render import yaml_text
    from claimsmith.tools.crds import crds as crds_of

    if context.invoked_subcommand:
        return
    found = crds_of(console.find_project(), stack)
    text = "".join(f"---\n{yaml_text(crd)}" for crd in found)
    console.print_result(output, Answer("crds", {"items": found}), text)


@app.command()
@console.command
def add(
    source: Annotated[
        str,
        typer.Argument(metavar="FILE|FOLDER|cluster", help="Where the definitions are: `cluster` asks the cluster."),
    ],
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="A kind, with or without its group; by default those that classes compose."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Take all definitions.")] = False,
    stack: Annotated[
        str | None,
        typer.Option(metavar="STACK", help="The stack whose cluster is asked.", autocompletion=completion.stacks),
    ] = None,
    output: Output = Format.text,
) -> None:
    """Add CustomResourceDefinitions of providers to the platform.

    They are written to components/crds, without descriptions. `validate` then checks classes and results against their
    schemas, reference fields such as vpcIdSelector are known, and `review` reports changes that their rules refuse.

    Example: claimsmith crds add provider-aws-s3/package/crds

    Example: claimsmith crds add cluster --stack dev --kind Bucket
    """
    from claimsmith.base.printable import counted
    from claimsmith.tools import crds as tool

    found = tool.add(console.find_project(), source, kinds=kind or [], everything=everything, stack=stack)
    rows = [(str(c.kind), ", ".join(c.versions), c.change) for c in found.crds]
    console.print_rows(output, Answer("crds-add", found.to_dict()), ("KIND", "VERSIONS", "CHANGE"), rows)
    if found.left:
        console.say(f"{counted(found.left, 'definition')} left out; --all takes all, --kind one by its name")
    if any(c.change != "none" for c in found.crds):
        console.say("next: claimsmith accept")
