"""While the engine runs: report a native child that its provider refused, with its claim.

The provider's own message names the resource only, and stands somewhere above.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi.runtime import stack

from claimsmith.base.errors import Problem
from claimsmith.base.names import ChildAddress
from claimsmith.compose.plan import Plan
from claimsmith.deploy.context import Context
from claimsmith.deploy.native import NativeChild

# Of some SDKs (3.255, not 3.272): raised by the outputs of a resource that failed while the engine goes on with others.
_FAILED: tuple[type[Exception], ...] = tuple(filter(None, [getattr(stack, "ResourceRegistrationFailed", None)]))


def watch(context: Context, plan: Plan) -> None:
    """Report the native children that failed while the engine goes on with the others."""
    if pulumi.runtime.is_dry_run():
        return
    natives = [(c.address, n) for p in plan.walk() for c in p.children if (n := context.native(c.address))]
    if natives:
        watched: pulumi.Input[Any] = _all_reported(natives)
        pulumi.Output.from_input(watched)


async def _all_reported(children: Sequence[tuple[ChildAddress, NativeChild]]) -> None:
    await asyncio.gather(*(_report(address, child) for address, child in children))


async def _report(address: ChildAddress, child: NativeChild) -> None:
    try:
        failed = await _failed(child)
    except Exception:
        return  # The engine reports it.
    if failed:
        problem = failure(address, child.token, child.name, existing=child.existing)
        pulumi.log.error(str(problem), child.resource)


async def _failed(child: NativeChild) -> bool:
    """Whether the engine could not create or update a child; what depends on it was then not created at all."""
    try:
        return not await child.is_ready()
    except _FAILED as error:
        # The resources that depend on it fail too, with the same message.
        return f"resource {child.name} [" in str(error)


def failure(address: ChildAddress, token: str, name: str, *, existing: bool = False) -> Problem:
    """The problem of a native child that was not created or updated; or not read, if it exists already."""
    child = f"its child {address.template!r} ({token} {name})"
    if existing:
        fix = "see the message of its provider; resourceRef.id of the claim is the id that the provider knows it by"
        return Problem(f"{address.claim}: {child} could not be read", fix=fix)
    what = f"{address.claim}: {child} was not deployed"
    fix = "see the message of its provider, or that of the child that it depends on; the next up tries again"
    return Problem(what, fix=fix)
