"""The commands that begin something: `init` and `new …`. They ask on a terminal, and nowhere else."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimsmith.base.printable import visible
from claimsmith.cli import completion, console
from claimsmith.cli.help import App

if TYPE_CHECKING:
    from claimsmith.base.errors import Problem
    from claimsmith.project.project import Project
    from claimsmith.tools.scaffold.claim_fields import Field

Stack = Annotated[
    str | None,
    typer.Option(
        metavar="STACK", help="The environment; needless where there is only one.", autocompletion=completion.stacks
    ),
]
new = App(
    help="Write a new definition, class, claim, environment or namespace. Never overwrites a file.",
    no_args_is_help=True,
)


class Provider(StrEnum):
    """The Pulumi provider that a new project begins with."""

    postgresql = "postgresql"
    aws = "aws"
    azure = "azure"
    gcp = "gcp"


class ClassFormat(StrEnum):
    """The format of a new class."""

    composite = "composite"
    crossplane = "crossplane"
    definitions = "definitions"
    aggregate = "aggregate"
    single = "single"


class DefinedAs(StrEnum):
    """The format of a new definition."""

    crossplane = "crossplane"
    crossplane_v1 = "crossplane-v1"
    definitions = "definitions"


@console.command
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder that is empty or not there yet.", show_default=False)
    ] = Path(),
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The project's name; by default that of the folder.")
    ] = None,
    provider: Annotated[
        Provider | None, typer.Option(help="The Pulumi provider to begin with; by default postgresql.")
    ] = None,
    crossplane: Annotated[
        bool, typer.Option("--crossplane", help="Begin with a Crossplane definition and its composition.")
    ] = False,
    git: Annotated[bool, typer.Option("--git/--no-git", help="Create a git repository with a first commit.")] = True,
) -> None:
    """Create a platform project with a class, a claim and their tests.

    It has all that is needed to deploy them and to review changes: a Makefile, a workflow, a git repository.

    On a terminal it asks what to begin with, unless a flag says so. postgresql deploys on this machine, without a cloud
    account.

    Example: claimsmith init my-platform

    Example: claimsmith init my-platform --provider aws
    """
    from claimsmith.tools.scaffold import skeleton, starts

    if provider and crossplane:
        raise typer.BadParameter("use one of --provider and --crossplane", param_hint="--provider")
    begin = "crossplane" if crossplane else provider.value if provider else _asked_start()
    start = starts.find(begin)
    created = skeleton.init(folder, name, start, git=git)
    for path in created.files:
        console.print_line(path)
    console.say("")
    if created.repository:
        console.say(created.repository)
    console.say(f"{'Next' if folder == Path() else f'Next, in {folder}'}:")
    console.say("  claimsmith new class, claimsmith new claim    # your own, beside the example")
    console.say("  make check    # everything is valid, and composes what tests/golden has")
    console.say(f"  make up       # deploy {start.deploys_to}")


def _asked_start() -> str:
    """What to begin with: asked on a terminal, else the default."""
    from claimsmith.tools.scaffold import starts

    if not _on_terminal():
        return starts.DEFAULT
    console.say("What to begin with:")
    for start in starts.STARTS.values():
        console.say(f"  {start.name:<11} {start.title}")
    return _asked("Begin with", "--provider", proposal=starts.DEFAULT)


@new.command("claim")
@console.command
def new_claim(
    claim: Annotated[str | None, typer.Argument(metavar="KIND/NAMESPACE/NAME", help="What it is to be.")] = None,
    stack: Stack = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A field of its spec.")
    ] = None,
    klass: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="CLASS",
            help="The class that is to serve it.",
            autocompletion=completion.class_names,
        ),
    ] = None,
    create_namespace: Annotated[
        bool, typer.Option("--create-namespace", help="Let the stack create the claim's namespace.")
    ] = False,
) -> None:
    """Write a new claim for a stack, and bind it.

    Required fields are filled, optional fields are written as comments.

    On a terminal it asks for what is missing.

    Example: claimsmith new claim Database/default/orders --stack dev --set storageGB=20
    """
    from claimsmith.tools.scaffold import claim_fields, claim_file, files

    project = console.find_project()
    stack = stack or _asked_stack(project)
    project.check_stack(stack)
    catalog = project.catalog(stack)
    key = files.claim_key(catalog, claim or _asked_claim(project, stack))
    form = claim_fields.form_of(catalog, key.group_kind)
    given = dict(claim_file.read_value(form, text) for text in values or [])
    if _on_terminal():
        given |= {f.name: _asked_value(f) for f in claim_file.questions(form, given)}
    text = claim_file.claim_text(form, key, values=given, klass=klass)
    written = [files.write_claim(project, stack, key, text)]
    if create_namespace and key.namespace and not files.provides_namespace(project, stack, key.namespace):
        written.append(files.write_namespace(project, stack, key.namespace))
    bound, problems = _bound(project, stack)
    _written(project, *written, *bound)
    console.print_problems(problems, label="warning")
    if not bound:
        console.say(f"  claimsmith bind {stack}")
    console.say(f"  claimsmith explain {stack} {key.name}")
    _say_record(project, stack)


def _bound(project: Project, stack: str) -> tuple[list[Path], list[Problem]]:
    """Bind the claims of a stack: the record, if that worked, and what prevents it."""
    from claimsmith.base.errors import EngineError
    from claimsmith.tools.bind import bind

    try:
        result = bind(project, stack)
    except EngineError as error:
        return [], list(error.problems)
    return [project.bindings_path(stack)], [*result.errors, *result.warnings]


def _say_record(project: Project, stack: str) -> None:
    if (project.root / "tests" / "golden").is_dir():
        console.say(f"  make record    # update tests/golden/{stack}.yaml, which reviewers read")


@new.command("class")
@console.command
def new_class(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The class's name.")] = None,
    claim: Annotated[
        str | None, typer.Option(metavar="GROUP/VERSION/KIND", help="The kind of claim that it serves.")
    ] = None,
    makes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND|TYPE",
            help="A kind that it composes, group/version/Kind, or a type of a Pulumi provider, package:module:Type; "
            "once for each.",
            autocompletion=completion.made_types,
        ),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A label that claims choose it by.")
    ] = None,
    description: Annotated[str, typer.Option(metavar="SENTENCE", help="What it is, for a person to read.")] = "",
    default: Annotated[bool, typer.Option("--default", help="Serve claims that choose nothing.")] = False,
    written_as: Annotated[
        ClassFormat | None,
        typer.Option("--format", help="The format; by default that of the kind's definition, else a composite class."),
    ] = None,
) -> None:
    """Write a new class, and generate its component.

    A composition, if the kind of claim is defined by a Crossplane definition or in the definitions format.

    Its resources are joined by selectors where claimsmith knows the fields.

    What a type of a Pulumi provider requires is patched from the claim. The provider's SDK, which must be installed, is
    added to requirements.txt.

    On a terminal it asks for what is missing.

    Example: claimsmith new class small-cache --claim platform.example.org/v1alpha1/Cache
    --makes cache.azure.crossplane.io/v1beta1/Redis --label size=small

    Example: claimsmith new class bucket --claim platform.example.org/v1alpha1/Bucket --makes aws:s3:Bucket
    """
    from claimsmith.tools.scaffold import files
    from claimsmith.tools.scaffold.class_file import Format, Kind, NewClass
    from claimsmith.tools.scaffold.native_resource import Native

    project = console.find_project()
    name = name or _asked("Name of the class", "NAME")
    claim = claim or _asked("Kind of claim that it serves, as group/version/Kind", "--claim")
    children = (
        makes
        or _asked(
            "What it composes, as group/version/Kind or package:module:Type, with spaces between", "--makes"
        ).split()
    )
    labels = dict(_pair(text) for text in label or [])
    resources = [files.made_by(text) for text in children]
    claimed = Kind.parse(claim)
    found, kind = files.format_of(project.catalog(), claimed)
    form = Format(written_as.value) if written_as else found
    written = files.write_class(project, NewClass(name, kind, resources, labels, description, default, form))
    added, missing = files.add_requirements(project, [r for r in resources if isinstance(r, Native)])
    _written(project, *written)
    for line in added:
        console.say(f"  pip install -r requirements.txt    # with {line}, which was added")
    for line in missing:
        console.say(f"  add to the project's requirements: {line}")
    if not all(isinstance(r, Native) for r in resources):
        console.say(
            "  fill in the provider's fields, and the patches from the claim's fields, then: claimsmith generate"
        )
    elif len(written) == 1:
        console.say("  claimsmith generate")
    console.say(f"  claimsmith new claim {claimed.kind}/NAMESPACE/NAME")
    console.say(f"  claimsmith graph --class {name} -o {name}.html")


@new.command("definition")
@console.command
def new_definition(
    kind: Annotated[str | None, typer.Argument(metavar="GROUP/VERSION/KIND", help="The kind to define.")] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:TYPE",
            help="A field of its spec: NAME:TYPE, NAME?:TYPE if optional, NAME:TYPE=DEFAULT. The type may be a list of "
            "values: small|large.",
        ),
    ] = None,
    written_as: Annotated[
        DefinedAs, typer.Option("--format", help="Crossplane v2 or v1, or the definitions format.")
    ] = DefinedAs.crossplane,
) -> None:
    """Write the definition of a new kind.

    Claims are checked against its fields and get their defaults. A class serves it: claimsmith new class.

    Example: claimsmith new definition platform.example.org/v1alpha1/Cache --field 'size:small|large'
    """
    from claimsmith.tools.scaffold import files
    from claimsmith.tools.scaffold.class_file import Kind
    from claimsmith.tools.scaffold.definition_file import DefinitionFormat, NewField

    project = console.find_project()
    defined = Kind.parse(kind or _asked("Kind to define, as group/version/Kind", "GROUP/VERSION/KIND"))
    fields = [NewField.parse(text) for text in field or []]
    _written(project, files.write_definition(project, defined, fields, DefinitionFormat(written_as.value)))
    console.say(f"  claimsmith new class NAME --claim {defined.api_version}/{defined.kind} --makes group/version/Kind")


@new.command("stack")
@console.command
def new_stack(
    stack: Annotated[str | None, typer.Argument(metavar="STACK", help="The environment's name.")] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="STACK",
            help="An environment to copy claims and resources from.",
            autocompletion=completion.stacks,
        ),
    ] = None,
) -> None:
    """Create an environment, empty or like another one.

    Example: claimsmith new stack prod --like dev
    """
    from claimsmith.tools.scaffold import files

    project = console.find_project()
    name = stack or _asked("Name of the environment", "STACK")
    written = files.write_stack(project, name, like)
    bound, problems = _bound(project, name)
    _written(project, *written, *bound)
    console.print_problems(problems, label="warning")
    if not like:
        console.say(f"  claimsmith new claim KIND/NAMESPACE/NAME --stack {name}")
    _say_record(project, name)
    console.say(f'  eval "$(claimsmith env)" && pulumi stack select {name} --create')


@new.command("namespace")
@console.command
def new_namespace(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The namespace.")] = None,
    stack: Stack = None,
) -> None:
    """Let a stack create a namespace.

    The stack owns it: if the file goes, the namespace is deleted with all that is in it.

    Example: claimsmith new namespace shop --stack dev
    """
    from claimsmith.tools.scaffold import files

    project = console.find_project()
    name = name or _asked("Name of the namespace", "NAME")
    stack = stack or _asked_stack(project)
    _written(project, files.write_namespace(project, stack, name))
    console.say(f"  claimsmith render {stack}")
    _say_record(project, stack)


def _written(project: Project, *paths: Path) -> None:
    for path in paths:
        console.print_line(path.relative_to(project.root).as_posix())
    console.say("")
    console.say("Next:")


def _on_terminal() -> bool:
    return sys.stdin.isatty()


def _asked(question: str, flag: str, *, proposal: str | None = None) -> str:
    """What the user answers; without a terminal, the flag that is missing is named."""
    if not _on_terminal():
        raise typer.BadParameter("required when not interactive", param_hint=flag)
    answer: str = typer.prompt(visible(question), default=proposal, err=True)
    return answer


def _asked_stack(project: Project) -> str:
    stacks = project.stacks()
    if len(stacks) == 1:
        return stacks[0]
    return _asked(f"Stack ({', '.join(stacks)})", "--stack", proposal=stacks[0] if stacks else None)


def _asked_claim(project: Project, stack: str) -> str:
    from claimsmith.platform import offers

    kinds = [str(k) for k in offers.kinds(project.catalog(stack))]
    kind = _asked(f"Kind ({', '.join(kinds)})", "KIND/NAMESPACE/NAME", proposal=kinds[0] if kinds else None)
    namespace = _asked("Namespace", "KIND/NAMESPACE/NAME", proposal="default")
    return f"{kind}/{namespace}/{_asked('Name', 'KIND/NAMESPACE/NAME')}"


def _asked_value(field: Field) -> Any:
    from claimsmith.base.errors import EngineError
    from claimsmith.tools.scaffold import claim_file

    words = claim_file.note(field)
    while True:
        proposal = claim_file.flow(field.proposal) if field.proposal is not None else None
        answer = _asked(f"{field.name} ({words})" if words else field.name, "--set", proposal=proposal)
        try:
            return claim_file.read_as(field, answer)
        except EngineError as error:
            console.print_problems(error.problems)


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found:
        raise typer.BadParameter(f"{text!r} is not name=value", param_hint="--label")
    return name, value
