"""The commands that let other machines deploy many stacks: `ci matrix` and `operator`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from claimsmith.cli import arguments, console, selection
from claimsmith.cli.help import App
from claimsmith.tools.json_answers import foreign_text


class CiFormat(StrEnum):
    """Whose runners a matrix is for."""

    github = "github"
    gitlab = "gitlab"


ci = App(no_args_is_help=True, help="Deploy many stacks with CI runners.")


@ci.callback()
def _ci() -> None:
    """Deploy many stacks with CI runners."""


@ci.command()
@console.command
def matrix(
    base: Annotated[
        str, typer.Option(metavar="REVISION", help="The git revision to compare the working tree with.")
    ] = "HEAD",
    all_: Annotated[
        bool, typer.Option("--all", help="Every stack, and not only those that the change affects.")
    ] = False,
    label: selection.Label = None,
    form: Annotated[CiFormat, typer.Option("--output", "--format", help="Whose runners it is for.")] = CiFormat.github,
    runners: Annotated[int, typer.Option(min=1, max=256, metavar="N", help="So many jobs in a wave at most.")] = 256,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="With gitlab: a file of the repository that the child pipeline includes."),
    ] = None,
) -> None:
    """Print the affected stacks in waves, for a pipeline.

    Each stack needs only stacks of earlier waves. github is one line of JSON, each wave of which is a matrix; gitlab is
    a child pipeline. Needs no engine and no credentials.

    Example: echo "plan=$(claimsmith ci matrix --base origin/main)" >> "$GITHUB_OUTPUT"

    Example: claimsmith ci matrix --base "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --output gitlab > stacks.yml
    """
    from claimsmith.tools.fleet.matrix import matrix as matrix_of
    from claimsmith.tools.fleet.selection import select

    wanted = selection.wanted(None, all_, label, affected=not all_, base=base)
    found = matrix_of(select(console.find_project(), wanted), runners=runners)
    for stack in found.removed:
        console.say(f"{stack} is gone from the files: destroy it from the base, or its resources stay")
    text = foreign_text(found.github(), one_line=True) if form == CiFormat.github else found.gitlab(include or ())
    console.print_document(text)


@console.command
def operator(
    repository: Annotated[
        str, typer.Option(metavar="URL", help="The address of the git repository that the operator reads.")
    ],
    stacks: selection.Stacks = None,
    all_: selection.All = False,
    label: selection.Label = None,
    branch: Annotated[str, typer.Option(metavar="BRANCH", help="The branch that it deploys.")] = "main",
    backend: Annotated[
        str | None, typer.Option(metavar="URL", help="The state backend; by default that of Pulumi.yaml.")
    ] = None,
    organization: Annotated[
        str | None, typer.Option(metavar="NAME", help="With a Pulumi service: the organization.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(metavar="NAMESPACE", help="The namespace of the objects.")] = None,
    service_account: Annotated[
        str | None, typer.Option(metavar="NAME", help="The service account of the stacks' workspaces.")
    ] = None,
    env_secret: Annotated[
        list[str] | None,
        typer.Option(metavar="VARIABLE=SECRET/KEY", help="A variable of the runs, from a Secret."),
    ] = None,
) -> None:
    """Print stacks as objects of the Pulumi Kubernetes Operator.

    Each names the stacks that it needs as its prerequisites. The operator deploys whatever is on the branch: review
    a change before you merge it.

    Example: claimsmith operator --all --repository https://git.example.org/platform.git --backend s3://state
    """
    from claimsmith.base.yaml_text import text_of
    from claimsmith.tools.fleet.operator import OperatorSource, stack_objects
    from claimsmith.tools.fleet.selection import select

    variables: dict[str, tuple[str, str]] = {}
    for name, place in arguments.pairs(env_secret, "--env-secret").items():
        secret, _, key = place.partition("/")
        if not secret or not key:
            raise typer.BadParameter(f"write VARIABLE=SECRET/KEY, not {name}={place}", param_hint="--env-secret")
        variables[name] = (secret, key)
    project = console.find_project()
    selected = select(project, selection.wanted(stacks, all_, label))
    source = OperatorSource(repository, branch, backend, organization, namespace, service_account, variables)
    objects = stack_objects(project, selected.needs, source)
    console.print_document("".join(f"---\n{text_of(item)}" for item in objects))
