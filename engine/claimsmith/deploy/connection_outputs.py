"""Connection details of claims with native resources: a secret output of the stack, and files if it asks for them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pulumi

from claimsmith.base.errors import EngineError
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.compose.sinks import has_natives
from claimsmith.deploy.component import Composite
from claimsmith.deploy.context import Context
from claimsmith.project import connection_files
from claimsmith.project.connection_settings import FileSink
from claimsmith.project.layout import Layout

OUTPUT = "connections"
BINARY = "base64:"
"""The beginning of a detail that is no text."""

Details = pulumi.Output[dict[str, str]]


def details_by_claim(claims: Sequence[PlannedClaim], components: Mapping[str, Composite]) -> dict[str, Details]:
    """The details of each claim that has native resources, in plain text and secret, by the claim's address.

    Those of other claims are in their Secrets alone.
    """
    return {
        claim.address: plain(details)
        for claim in claims
        if has_natives(claim) and (details := components[claim.address].details) is not None
    }


def plain(details: Details) -> Details:
    """Details in plain text, from the data of a Secret; secret still."""
    return pulumi.Output.secret(details.apply(lambda data: {key: _text(value) for key, value in data.items()}))


def _text(value: str) -> str:
    try:
        return base64.b64decode(value).decode()
    except UnicodeDecodeError:
        return f"{BINARY}{value}"


def export(details: Mapping[str, Details]) -> None:
    """Export the details; a stack without any has no such output."""
    if details:
        pulumi.export(OUTPUT, dict(details))


def write_files(
    context: Context, layout: Layout, plan: Plan, sink: FileSink | None, details: Mapping[str, Details]
) -> list[pulumi.Output[Any]]:
    """Write the file of each claim once its details are known, and remove those of claims that are gone.

    Nothing happens in a preview. A file that cannot be written is a problem of the run, and the others are written.
    """
    if pulumi.runtime.is_dry_run():
        return []
    for path in connection_files.remove_gone(layout, plan.stack, sink, details):
        pulumi.log.info(f"removed the connection details in {path.name}: their claim is gone")
    if sink is None:
        return []

    def write(claim: str, known: dict[str, str]) -> bool:
        try:
            connection_files.write(layout, plan.stack, sink, claim, known)
        except EngineError as error:
            context.problems.extend(error.problems)
        return True

    return [known.apply(partial(write, claim)) for claim, known in details.items()]
