"""The commands that only read: `explain`, `connection`, `drift`, `classes`, `schema` and `graph`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimsmith.base.json_answers import Answer, foreign_text
from claimsmith.cli import arguments, completion, console
from claimsmith.cli.arguments import Output
from claimsmith.cli.console import Format

if TYPE_CHECKING:
    from claimsmith.tools.classes import Offers
    from claimsmith.tools.drift.changes import Drift

DRIFTED = 10
_SHOWN = 5
"""How many of the overwritten fields are named."""

Stack = Annotated[
    str,
    typer.Argument(metavar="STACK", help="The environment: a folder below stacks/.", autocompletion=completion.stacks),
]


@console.command
def explain(
    stack: Stack,
    claim: Annotated[
        str | None,
        typer.Argument(
            metavar="CLAIM",
            help="One claim: its name, or Kind.group/namespace/name.",
            autocompletion=completion.claims,
        ),
    ] = None,
    more: Annotated[str | None, typer.Argument(hidden=True)] = None,
    child: Annotated[
        str | None,
        typer.Option(
            metavar="TEMPLATE",
            help="One child, by its template; within a composite as COMPOSITE/TEMPLATE; `connection` for the Secret.",
        ),
    ] = None,
    field: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="One field: where its value comes from, in each child that has it.",
            autocompletion=completion.fields,
        ),
    ] = None,
    output: Output = Format.text,
) -> None:
    """Explain how a claim was resolved.

    Shows the candidate classes, the selected class and the reason, the resources composed for the claim, and the
    origin of their fields.

    Example: claimsmith explain dev sql

    Example: claimsmith explain stack dev MySQLInstance/default/sql --field spec.forProvider.location
    """
    from claimsmith.tools import explain as explaining
    from claimsmith.tools.explain import project as answers

    project = console.find_project()
    if stack == "stack" and claim and "stack" not in project.stacks():
        stack, claim = claim, more
    elif more:
        raise typer.BadParameter(f"one claim at a time, not {more!r} too", param_hint="CLAIM")
    if field:
        traces = answers.traces(project, stack, claim, child=child, field=field)
        text = "\n".join(map(explaining.trace_text, traces))
        answer = Answer("explain-field", {"stack": stack, "fields": [t.to_dict() for t in traces]})
        console.print_result(output, answer, text)
        return
    if child:
        part = answers.part(project, stack, claim, child)
        answer = Answer("explain-child", {"stack": stack, "child": explaining.plain(part)})
        console.print_result(output, answer, explaining.part_text(part))
        return
    explanations = answers.explanations(project, stack, claim)
    if output == Format.json:
        console.print_json(Answer("explain", {"stack": stack, "claims": [s.to_dict() for s in explanations]}))
    else:
        console.print_document("\n".join(explaining.explanation_text(s) for s in explanations))
    raise typer.Exit(1 if any(s.failed for s in explanations) else 0)


class Connection(StrEnum):
    """How connection details are written."""

    env = "env"
    json = "json"
    yaml = "yaml"
    uri = "uri"


@console.command
def connection(
    stack: Stack,
    claim: Annotated[
        str,
        typer.Argument(
            metavar="CLAIM",
            help="The claim: its name, or Kind.group/namespace/name.",
            autocompletion=completion.claims,
        ),
    ],
    form: Annotated[
        Connection | None,
        typer.Option(
            "--output",
            "--format",
            help="Variables for a shell, JSON, YAML, or one URI; by default the file's ending, else env.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--file",
            metavar="FILE",
            help="Write it to this file, by its ending; only you can read it.",
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Print the connection details of a deployed claim.

    They are secrets: host, username, password and whatever else its class offers, decrypted by the engine.

    Example: eval "$(claimsmith connection dev orders)"

    Example: psql "$(claimsmith connection dev orders --output uri)"
    """
    from claimsmith.project.writing import output_path, write_atomically
    from claimsmith.tools.connection import connection as connection_of

    project = console.find_project()
    path = output_path(file, root=project.root) if file else None
    text = connection_of(project, stack, claim, form=(form or _form_of(file)).value)
    if path is None:
        # For a program to read back: exactly as it is.
        console.print_document(text)
    else:
        write_atomically(path, text, mode=0o600)
        console.say(f"written: {path}")


def _form_of(file: Path | None) -> Connection:
    """How a file of this name is written."""
    forms = {".json": Connection.json, ".yaml": Connection.yaml, ".yml": Connection.yaml}
    return forms.get(file.suffix, Connection.env) if file else Connection.env


@console.command
def drift(stack: Stack, output: Output = Format.text) -> None:
    """Show what was changed or deleted outside of Pulumi.

    Reports, claim by claim, what a refresh would find. Changes nothing.

    Exit codes: 0 without drift, 10 with drift, 1 if that cannot be determined, 2 for wrong usage.

    Example: claimsmith drift dev --output json
    """
    from claimsmith.tools.drift.project import drift as drift_of

    with console.progress(f"reading what {stack} has deployed", quiet=True):
        found = drift_of(console.find_project(), stack)
    console.print_result(output, Answer("drift", found.to_dict()), _drift_text(found))
    raise typer.Exit(DRIFTED if found.claims else 0)


@console.command
def classes(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help="A kind of claim, with or without its group; all where none is named.",
            autocompletion=completion.kinds,
        ),
    ] = None,
    usage: Annotated[
        bool, typer.Option("--usage", help="Show how many claims of which stacks each class serves.")
    ] = False,
    output: Output = Format.text,
) -> None:
    """List the kinds that can be claimed, and their classes.

    Each class with its labels, weight, whether it is the default, and the kinds that it creates.

    Example: claimsmith classes MySQLInstance

    Example: claimsmith classes --usage
    """
    if usage:
        from claimsmith.cli import fleet_files

        fleet_files.print_usage(kind, output)
        return
    from claimsmith.tools.classes import classes as classes_of

    found = classes_of(console.find_project(), kind)
    columns = ("CLAIM", "CLASS", "IS A", "LABELS", "DEFAULT", "WEIGHT", "MAKES")
    answer = Answer("classes", {"kinds": [o.to_dict() for o in found]})
    console.print_rows(output, answer, columns, [row for o in found for row in _rows(o)])


class Drawing(StrEnum):
    """How a picture is written."""

    svg = "svg"
    html = "html"


_BY_ENDING = {".svg": Drawing.svg, ".html": Drawing.html, ".htm": Drawing.html}


@console.command
def graph(
    stack: Annotated[
        str | None,
        typer.Argument(
            metavar="STACK",
            help="The environment; needless where there is only one.",
            autocompletion=completion.stacks,
        ),
    ] = None,
    klass: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="CLASS",
            help="A class by itself; with a stack, the claims that it serves there.",
            autocompletion=completion.class_names,
        ),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            metavar="CLAIM",
            help="One claim: its name, or Kind.group/namespace/name.",
            autocompletion=completion.claims,
        ),
    ] = None,
    format_: Annotated[
        Drawing | None,
        typer.Option("--output", "--format", help="How to draw it; by default the file's ending, else svg."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "-o", "--file", metavar="FILE", help="Write it to this file, by its ending: .svg or .html.", dir_okay=False
        ),
    ] = None,
) -> None:
    """Draw the resources of a stack, a class or a claim.

    As SVG, or as a self-contained HTML page.

    Large stacks are folded: claims that differ in nothing but their names become one. Secrets are shown by name only.

    Example: claimsmith graph dev -o dev.html
    """
    from claimsmith.project.writing import output_path, write_atomically
    from claimsmith.tools.graph.project import picture as picture_of

    if klass and claim:
        raise typer.BadParameter("a class or a claim, not both", param_hint="--class")
    format_ = format_ or (arguments.by_ending(file, _BY_ENDING) if file else Drawing.svg)
    project = console.find_project()
    picture = picture_of(project, stack, klass=klass, claim=claim)
    text = picture.text(html=format_ is Drawing.html)
    if file is None:
        console.print_document(text)
    else:
        write_atomically(output_path(file, root=project.root), text)
        console.say(f"{file}: {picture.summary}")


@console.command
def schema() -> None:
    """Print the JSON Schema of claimsmith.yaml.

    Editors check the settings file with it as it is written.

    Example: claimsmith schema > claimsmith.schema.json
    """
    from claimsmith.platform import settings

    console.print_document(foreign_text(settings.json_schema()))


def _drift_text(drift: Drift) -> str:
    from claimsmith.base.printable import counted
    from claimsmith.base.printable import lines as text_of
    from claimsmith.kubernetes.ownership import FORCE_ONCE
    from claimsmith.tools.drift.changes import is_native
    from claimsmith.tools.explain.formatting import shown

    looked = counted(drift.looked_at, "resource")
    if not drift.claims:
        return text_of([f"no drift: {looked} of {drift.stack} checked"])
    lines = []
    for claim in drift.claims:
        lines.append(claim.claim)
        for resource in claim.resources:
            lines.append(f"  {resource.child}: {resource.kind} {resource.name} is {resource.change}")
            for field in resource.fields:
                place = f"  [{field.where.file}:{field.where.line}]" if field.where else ""
                by = f"  (now written by {field.managers})" if field.managers else ""
                lines.append(f"    {field.path}: {shown(field.old)} → {shown(field.new)}{by}{place}")
    number = sum(len(c.resources) for c in drift.claims)
    lines.append(f"drifted: {number} of {looked}")
    # The API server refuses to change a field that another manager owns by now, unless it is forced.
    resources = [r for c in drift.claims for r in c.resources]
    restored = [r for r in resources if r.change != "changed" or not all(f.unseen for f in r.fields) or not r.fields]
    objects = [r for r in restored if not is_native(r.urn) and r.change == "changed"]
    force = f"{FORCE_ONCE} " if objects else ""
    if restored:
        lines.append(f"to restore them: {force}pulumi up --stack {drift.stack} --refresh")
    if overwritten := [f"{f.path} of {r.kind} {r.name}" for r in objects for f in r.fields]:
        lines.append(f"  this overwrites {_some(overwritten)}, whoever wrote it")
    # A change of an object sends the whole of it. Without one there is none to send: the engine sees no difference.
    kept = [r for r in resources if r not in restored]
    if unseen := [f"{f.path} of {r.kind} {r.name}" for r in kept for f in r.fields]:
        lines.append(f"no refresh restores {_some(unseen)}: the engine does not see what is added inside a list")
        lines.append(f"  the next change of the resource takes it back: {FORCE_ONCE} pulumi up --stack {drift.stack}")
    if any(f.managers for c in drift.claims for r in c.resources for f in r.fields):
        lines.append("  to leave a field to its writer: claimsmith.io/controller-owned: FIELD on the template")
    return text_of(lines)


def _some(fields: Sequence[str]) -> str:
    more = f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else ""
    return f"{', '.join(fields[:_SHOWN])}{more}"


def _rows(offers: Offers) -> list[tuple[str, ...]]:
    from claimsmith.platform.offers import dialect_of

    rows: list[tuple[str, ...]] = [
        (
            str(offers.kind),
            o.klass.name,
            dialect_of(o.klass),
            ", ".join(f"{k}={v}" for k, v in o.klass.labels.items()) or "-",
            o.default or "-",
            str(o.weight),
            ", ".join(o.makes),
        )
        for o in offers.offers
    ]
    return rows or [(str(offers.kind), "none yet", "-", "-", "-", "-", "-")]
