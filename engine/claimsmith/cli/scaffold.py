"""The commands that begin something: `init`, `new class` and `new claim`. They ask on a terminal, and nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimsmith.base.printable import visible
from claimsmith.cli import completion, console

if TYPE_CHECKING:
    from claimsmith.project.project import Project
    from claimsmith.tools.scaffold.claim_fields import Field

new = typer.Typer(
    help="Write a new class or claim. Never overwrites another file.", no_args_is_help=True, rich_markup_mode=None
)


@console.command
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A folder that is empty or not there yet.", show_default=False)
    ] = Path(),
    name: Annotated[str | None, typer.Option(help="The project's name; by default that of the folder.")] = None,
) -> None:
    """Create a platform project with a class, a claim and their tests.

    It has all that is needed to deploy them.

    Example: claimsmith init my-platform
    """
    from claimsmith.tools.scaffold import skeleton

    for path in skeleton.init(folder, name):
        console.print_line(path)
    console.say("")
    console.say(f"{'Next' if folder == Path() else f'Next, in {folder}'}:")
    console.say("  make check    # everything is valid, and composes what tests/golden has")
    console.say("  make up       # deploy it on this machine, with a simulated cloud")


@new.command("claim")
@console.command
def new_claim(
    claim: Annotated[str | None, typer.Argument(metavar="[KIND/NAMESPACE/NAME]", help="What it is to be.")] = None,
    stack: Annotated[str | None, typer.Option(help="The environment; needless where there is only one.")] = None,
    values: Annotated[list[str] | None, typer.Option("--set", help="A field of its spec, as name=value.")] = None,
    klass: Annotated[str | None, typer.Option("--class", help="The class that is to serve it.")] = None,
) -> None:
    """Write a new claim to stacks/STACK/claims/NAME.yaml.

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
    path = files.write_claim(project, stack, key, claim_file.claim_text(form, key, values=given, klass=klass))
    _written(project, path)
    console.say(f"  claimsmith bind {stack}")
    console.say(f"  claimsmith explain {stack} {key.name}")


@new.command("class")
@console.command
def new_class(
    name: Annotated[str | None, typer.Argument(help="The class's name.")] = None,
    claim: Annotated[str | None, typer.Option(help="The kind of claim it serves, as group/version/Kind.")] = None,
    makes: Annotated[
        list[str] | None,
        typer.Option(
            help="A kind that it makes, as group/version/Kind, or a type of a Pulumi provider, as package:module:Type; "
            "once for each.",
            autocompletion=completion.made_types,
        ),
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help="A label that claims choose it by, as name=value.")] = None,
    description: Annotated[str, typer.Option(help="What it is, for a person to read.")] = "",
    default: Annotated[bool, typer.Option("--default", help="Serve claims that choose nothing.")] = False,
) -> None:
    """Write a new class to components/NAME/class.yaml.

    Its resources are joined by selectors where claimsmith knows the fields.

    What a type of a Pulumi provider requires is patched from the claim. The provider's SDK, which must be installed, is
    added to requirements.txt.

    On a terminal it asks for what is missing.

    Example: claimsmith new class small-cache --claim platform.example.org/v1alpha1/Cache
    --makes cache.azure.crossplane.io/v1beta1/Redis --label size=small

    Example: claimsmith new class bucket --claim platform.example.org/v1alpha1/Bucket --makes aws:s3:Bucket
    """
    from claimsmith.tools.scaffold import files
    from claimsmith.tools.scaffold.class_file import Kind, NewClass
    from claimsmith.tools.scaffold.native_resource import Native

    project = console.find_project()
    name = name or _asked("Name of the class", "NAME")
    claim = claim or _asked("Kind of claim that it serves, as group/version/Kind", "--claim")
    made = (
        makes
        or _asked("What it makes, as group/version/Kind or package:module:Type, with spaces between", "--makes").split()
    )
    labels = dict(_pair(text) for text in label or [])
    resources = [files.made_by(text) for text in made]
    path = files.write_class(project, NewClass(name, Kind.parse(claim), resources, labels, description, default))
    added, missing = files.add_requirements(project, [r for r in resources if isinstance(r, Native)])
    _written(project, path)
    for line in added:
        console.say(f"  pip install -r requirements.txt    # with {line}, which was added")
    for line in missing:
        console.say(f"  add to the project's requirements: {line}")
    console.say("  fill in the provider's fields, and the patches from the claim's fields, then:")
    console.say("  claimsmith generate")
    console.say("  claimsmith validate")
    console.say(f"  claimsmith graph --class {name} -o {name}.html")


def _written(project: Project, path: Path) -> None:
    console.print_line(path.relative_to(project.root).as_posix())
    console.say("")
    console.say("Next:")


def _on_terminal() -> bool:
    return sys.stdin.isatty()


def _asked(question: str, flag: str, *, proposal: str | None = None) -> str:
    """What the user answers; without a terminal, the flag that is missing is named."""
    if not _on_terminal():
        raise typer.BadParameter("it is required without a terminal to ask on", param_hint=flag)
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
