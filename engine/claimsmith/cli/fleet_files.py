"""The commands for many stacks that need no engine: `ci matrix`, `operator`, `rollout` and `classes --usage`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from claimsmith.base.errors import Problem
from claimsmith.base.json_answers import Answer, foreign_text
from claimsmith.cli import arguments, completion, console, fleet
from claimsmith.cli.arguments import Output
from claimsmith.cli.console import Format
from claimsmith.cli.help import App


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
    label: arguments.Label = None,
    form: Annotated[CiFormat, typer.Option("--output", "--format", help="Whose runners it is for.")] = CiFormat.github,
    runners: Annotated[int, typer.Option(min=1, max=256, metavar="N", help="So many jobs in a wave at most.")] = 256,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="With gitlab: a file of the repository that the child pipeline includes."),
    ] = None,
    no_cache: arguments.NoCache = False,
) -> None:
    """Print the affected stacks in waves, for a pipeline.

    Each stack needs only stacks of earlier waves. github is one line of JSON, each wave of which is a matrix; gitlab is
    a child pipeline. Needs no engine and no credentials.

    Example: echo "plan=$(claimsmith ci matrix --base origin/main)" >> "$GITHUB_OUTPUT"

    Example: claimsmith ci matrix --base "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --output gitlab > stacks.yml
    """
    from claimsmith.tools.fleet.matrix import matrix as matrix_of
    from claimsmith.tools.fleet.selection import select
    from claimsmith.tools.many import cores

    wanted = arguments.wanted(None, all_, label, affected=not all_, base=base)
    selected = select(console.find_project(), wanted, cache=not no_cache, processes=cores())
    found = matrix_of(selected, runners=runners)
    for stack in found.removed:
        console.say(f"{stack} is gone from the files: destroy it from the base, or its resources stay")
    text = foreign_text(found.github(), one_line=True) if form == CiFormat.github else found.gitlab(include or ())
    console.print_document(text)


@console.command
def operator(
    repository: Annotated[
        str, typer.Option(metavar="URL", help="The address of the git repository that the operator reads.")
    ],
    stacks: arguments.Stacks = None,
    all_: arguments.All = False,
    label: arguments.Label = None,
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
    selected = select(project, arguments.wanted(stacks, all_, label))
    source = OperatorSource(repository, branch, backend, organization, namespace, service_account, variables)
    objects = stack_objects(project, selected.needs, source)
    console.print_document("".join(f"---\n{text_of(item)}" for item in objects))


_MOST_STACKS = 5


def print_usage(kind: str | None, output: Format) -> None:
    """Print which claims of which stacks each class serves."""
    from claimsmith.tools.fleet.usage import usage

    found = usage(console.find_project(), kind)
    rows = []
    for u in found:
        stacks = [f"{stack} ({number})" for stack, number in u.stacks.items()]
        more = [f"and {len(stacks) - _MOST_STACKS} more"] if len(stacks) > _MOST_STACKS else []
        notes = [f"{number} from {name}" for name, number in (u.moved_from or {}).items()]
        notes += [f"{u.changed} bound to an older text"] if u.changed else []
        notes += [] if u.exists else ["the class is gone"]
        listed = ", ".join([*stacks[:_MOST_STACKS], *more])
        rows.append((str(u.kind), u.klass.name, str(u.claims), listed or "-", ", ".join(notes) or "-"))
    answer = Answer("classes-usage", {"classes": [u.to_dict() for u in found]})
    console.print_rows(output, answer, ("CLAIM", "CLASS", "CLAIMS", "STACKS", "NOTES"), rows)


@console.command
def rollout(
    klass: Annotated[
        str,
        typer.Argument(
            metavar="CLASS",
            help="The class that claims move from, by its name.",
            autocompletion=completion.class_names,
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="CLASS", help="The class that they move to.", autocompletion=completion.class_names
        ),
    ],
    wave: Annotated[
        str,
        typer.Option(
            metavar="N%|N|KEY=VALUE",
            help="Which move now: 5% of them, 12 of them, or those with a label of the claim or its stack.",
        ),
    ] = "100%",
    back: Annotated[bool, typer.Option("--back", help="Return the claims that a rollout moved.")] = False,
    edit_claims: Annotated[
        bool, typer.Option("--edit-claims", help="Move claims too that name the class: their files are changed.")
    ] = False,
    allow_destructive: arguments.AllowDestructive = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; only show what moves.")] = False,
    output: Output = Format.text,
) -> None:
    """Move the claims of a class to another class, in waves.

    Writes the bindings of one wave; `claimsmith review` shows what they do, and `claimsmith up --affected` deploys
    them. A wave that would delete or replace something is refused without --allow-destructive, with exit code 11.

    Example: claimsmith rollout postgresql-v1 --to postgresql-v2 --wave 5%

    Example: claimsmith rollout postgresql-v1 --to postgresql-v2 --back
    """
    from claimsmith.tools.fleet.rollout import Wave
    from claimsmith.tools.fleet.rollout import rollout as roll

    found = roll(
        console.find_project(),
        klass,
        to,
        Wave.parse(wave),
        back=back,
        edit_claims=edit_claims,
        allow_destructive=allow_destructive,
        check=check,
    )
    rows = [(c.stack, str(c.record.claim), "moves", "") for c in found.moved]
    rows += [(item.stack, str(item.claim), "stays", item.reason) for item in found.left]
    console.print_rows(output, Answer("rollout", found.to_dict()), ("STACK", "CLAIM", "CHANGE", "NOTE"), rows)
    console.say(found.summary)
    if found.written:
        console.say("written; now run: claimsmith review, then claimsmith up --affected")
    elif found.destructive and not allow_destructive:
        stacks = ", ".join(sorted(stack for stack, review in found.reviews.items() if review.destructive))
        problem = Problem(
            f"the wave would delete or replace something in {stacks}; nothing was written",
            fix="change the class so that its resources stay, or add --allow-destructive",
        )
        console.print_problems([problem])
        raise typer.Exit(fleet.DESTRUCTIVE)
    else:
        console.say("nothing was written")
