"""The command `accept`: one step after a class changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.cli import completion, console
from claimsmith.cli import review as reviewing
from claimsmith.cli.arguments import Output
from claimsmith.cli.console import Format

if TYPE_CHECKING:
    from claimsmith.tools.accept import Acceptance
    from claimsmith.tools.review import Review


@console.command
def accept(
    classes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CLASS", help="Classes that changed; by default all.", autocompletion=completion.class_names
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="REVISION", help="The git revision that the review compares with.", show_default="HEAD"),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Write without asking; required when not interactive.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where something would change.")] = False,
    output: Output = Format.text,
) -> None:
    """Accept changed classes: generate, rebind and record.

    Shows the review and asks. Then it generates the components, binds the claims of the changed classes in all stacks
    to them as they are now, and records the resources of each stack in tests/golden. All files are written, or none.
    Nothing is deployed.

    Claims keep their classes. To choose a class again, use claimsmith bind STACK --rebind CLAIM.

    Example: claimsmith accept

    Example: claimsmith accept private-mysql-server --yes
    """
    from claimsmith.tools import accept as accepting

    if not (yes or check or console.interactive()):
        raise typer.BadParameter("required when not interactive", param_hint="--yes")
    with console.progress("planning", quiet=True):
        found = accepting.accepted(console.find_project(), classes or [])
    review = _review(found, base) if found.files else None
    if output == Format.text:
        _print(found, review)
    for result in found.stacks:
        console.print_problems([*result.warnings, *result.unread], label="warning")
    write = bool(found.files) and not check and (yes or _confirmed(found))
    if write:
        accepting.write(found)
    if output == Format.json:
        console.print_json(_answer(found, review, written=write))
    elif write:
        console.say(f"written: {', '.join(found.names)}")
    raise typer.Exit(1 if found.files and not write else 0)


def _review(found: Acceptance, base: str | None) -> Review | None:
    """The review of the files as they will be; a project without a first commit has none."""
    from claimsmith.base.errors import LoadError
    from claimsmith.tools.review.project import review

    try:
        with console.progress("review", quiet=True) as tick:
            return review(found.project, base or "HEAD", tick=tick)
    except LoadError as error:
        if base:
            raise
        console.print_problems(error.problems, label="warning")
        return None


def _print(found: Acceptance, review: Review | None) -> None:
    from claimsmith.platform.binding import claims_in

    if review:
        reviewing.print_review(review)
        console.print_line("")
    for klass, stacks in found.classes.items():
        console.print_line(f"class changed: {klass.name}: {claims_in(stacks)}")
    for name in found.names:
        console.print_line(f"to write: {name}")
    if not found.files:
        console.print_line("nothing to accept: components, bindings and recorded resources are up to date")


def _confirmed(found: Acceptance) -> bool:
    from claimsmith.base.printable import counted

    if typer.confirm(f"Write {counted(len(found.files), 'file')}?", err=True):
        return True
    console.say("nothing was written")
    return False


def _answer(found: Acceptance, review: Review | None, *, written: bool) -> Answer:
    from claimsmith.tools.review import outputs

    reviewed = outputs.answer(review).to_dict() if review else None
    return Answer("accept", {"written": written, **found.to_dict(), "review": reviewed})
