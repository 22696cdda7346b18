"""`claimsmith render`: the resources of a stack, or those composed for one composite from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimsmith.base.json_answers import Answer
from claimsmith.cli import arguments, completion, console
from claimsmith.cli.console import TextFormat

StackOrFile = Annotated[
    str,
    typer.Argument(
        metavar="STACK|FILE",
        help="The environment; or the file of a composite.",
        autocompletion=completion.stacks,
    ),
]
ClaimOrFile = Annotated[
    str | None,
    typer.Argument(
        metavar="CLAIM|FILE",
        help="One claim: its name, or Kind.group/namespace/name. Or the composition's file.",
        autocompletion=completion.claims,
    ),
]
Functions = Annotated[
    Path | None, typer.Argument(metavar="FUNCTIONS", help="With files: the functions of the pipeline.")
]
Observed = Annotated[
    Path | None,
    typer.Option(
        "--observed-resources",
        "--observed",
        # As in `crossplane render`, whose flags this command takes for files.
        "-o",
        metavar="PATH",
        help="With files: what exists already, a file or folder.",
    ),
]
Environment = Annotated[list[Path] | None, typer.Option(metavar="FILE", help="With files: data of the environment.")]
Required = Annotated[
    list[Path] | None,
    typer.Option(
        "--required-resources",
        "--extra-resources",
        "--extra",
        "-e",
        metavar="PATH",
        help="With files: what functions may require, a file or folder.",
    ),
]
RequiredSchemas = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="With files: OpenAPI documents that functions may require."),
]
ContextFiles = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=FILE", help="With files: a part of the context, JSON or YAML."),
]
ContextValues = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="With files: a part of the context, JSON or YAML."),
]
Credentials = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="With files: Secrets that steps pass to their functions."),
]
Definition = Annotated[Path | None, typer.Option(metavar="FILE", help="With files: the definition, for its defaults.")]
FullComposite = Annotated[bool, typer.Option("--include-full-xr", "-x", help="With files: all of it.")]
Results = Annotated[bool, typer.Option("--include-function-results", "-r", help="With files: results as documents.")]
IncludeContext = Annotated[bool, typer.Option("--include-context", "-c", help="With files: the context as a document.")]
Timeout = Annotated[
    str | None,
    typer.Option(metavar="DURATION", help="With files: how long an external function may take, such as 1m30s."),
]
RenderFormat = Annotated[TextFormat, typer.Option("--output", help="How to print it.")]


@console.command
def render(
    stack: StackOrFile,
    claim: ClaimOrFile = None,
    functions: Functions = None,
    observed: Observed = None,
    environment: Environment = None,
    extra: Required = None,
    required_schemas: RequiredSchemas = None,
    context_files: ContextFiles = None,
    context_values: ContextValues = None,
    function_credentials: Credentials = None,
    xrd: Definition = None,
    include_full_xr: FullComposite = False,
    include_function_results: Results = False,
    include_context: IncludeContext = False,
    timeout: Timeout = None,
    output: RenderFormat = TextFormat.yaml,
) -> None:
    """Print the resources of a stack as YAML, in the order of creation.

    Needs no engine and no cluster, and contains no secret. Given the files of a composite and its composition, it
    prints the resources composed for the composite, as Crossplane's render command does.

    Example: claimsmith render dev > before.yaml

    Example: claimsmith render xr.yaml composition.yaml functions.yaml --observed-resources observed/
    """
    if Path(stack).is_file():
        if claim is None:
            raise typer.BadParameter("the composition's file is missing", param_hint="CLAIM")
        from claimsmith.cli import composite
        from claimsmith.tools.render.composite import Files, Parts

        files = Files(
            Path(stack),
            Path(claim),
            functions,
            observed,
            tuple(environment or ()),
            tuple(extra or ()),
            xrd,
            required_schemas,
            function_credentials,
            {key: Path(value) for key, value in arguments.pairs(context_files, "--context-files").items()},
            arguments.pairs(context_values, "--context-values"),
        )
        parts = Parts(include_full_xr, include_function_results, include_context)
        composite.print_composite(files, parts, arguments.seconds(timeout, "--timeout"), output)
        return
    if observed and str(observed) in list(TextFormat):
        raise typer.BadParameter(f"it names observed resources; use --output {observed}", param_hint="-o")
    of_files = (functions, observed, environment, extra, required_schemas, context_files, context_values)
    if any((*of_files, function_credentials, xrd, include_full_xr, include_function_results, include_context, timeout)):
        raise typer.BadParameter(f"there is no file {stack!r}, and a stack takes a claim at most", param_hint="STACK")
    _print_stack(stack, claim, output)


def _print_stack(stack: str, claim: str | None, output: TextFormat) -> None:
    """Print the resources of a stack, or of one of its claims."""
    from claimsmith.tools.render import stack as whole

    project = console.find_project()
    if output == TextFormat.json:
        items = whole.rendered_documents(project, stack, claim)
        console.print_json(Answer("render", {"items": items}))
    else:
        for part in whole.rendered(project, stack, claim):
            console.print_document(part)
