"""While the engine runs: a child that does not become ready is told of by its claim, with what its controller says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi.runtime import stack

from claimsmith.cluster import Cluster
from claimsmith.compose.identity import TIMEOUT
from claimsmith.compose.options import DEFAULT_TIMEOUT
from claimsmith.edge.deployment import Deployment
from claimsmith.edge.managed import Managed
from claimsmith.errors import EngineError, Problem
from claimsmith.plan import Plan

# Of some SDKs (3.255, not 3.272): raised by the outputs of a resource that failed while the engine goes on with others.
_FAILED: tuple[type[Exception], ...] = tuple(filter(None, [getattr(stack, "ResourceRegistrationFailed", None)]))


def watch(deployment: Deployment, plan: Plan) -> None:
    """Say of each child that fails while the engine goes on with the others why it did, as far as the cluster tells."""
    cluster = deployment.cluster
    if cluster is None or pulumi.runtime.is_dry_run():
        return
    made = [(c.address, r) for p in plan.walk() for c in p.children if (r := deployment.registered(c.address))]
    watched: pulumi.Input[bool] = _told(made, cluster)
    pulumi.Output.from_input(watched)


async def _told(made: Sequence[tuple[str, Managed]], cluster: Cluster) -> bool:
    for address, resource in made:
        try:
            failed = await _failed(resource)
        except Exception:
            return False  # Told by the engine.
        if failed and (problem := await asyncio.to_thread(_unready, address, resource.document, cluster)):
            pulumi.log.error(str(problem))
    return True


async def _failed(resource: Managed) -> bool:
    """Whether a child was created and did not become ready; what depends on it was then not created at all."""
    try:
        created = await resource.id.future()
        return bool(created) and not await resource.ready.is_known()
    except _FAILED as error:
        # What depends on it fails too, with the same words.
        return f"resource {resource._name} [" in str(error)


def _unready(address: str, document: Mapping[str, Any], cluster: Cluster) -> Problem | None:
    """What is known of a child that is there, and is not ready; what was not made at all the engine explains."""
    metadata = document["metadata"]
    try:
        live = cluster.read(
            str(document["apiVersion"]), str(document["kind"]), str(metadata["name"]), metadata.get("namespace")
        )
    except EngineError:
        return None
    return unready(address, document, live) if live else None


def unready(address: str, document: Mapping[str, Any], live: Mapping[str, Any]) -> Problem | None:
    """The problem of a child that is not ready, with the reason that its conditions give; none where it is ready."""
    conditions = (live.get("status") or {}).get("conditions") or []
    ready: Mapping[str, Any] = next((c for c in conditions if c.get("type") == "Ready"), {})
    if ready.get("status") == "True":
        return None
    said = [str(c) for c in (ready.get("reason"), ready.get("message")) if c]
    state = f"Ready is {ready.get('status')}" if ready else "it has no Ready condition"
    claim, _, template = address.rpartition("/")
    kind, name = document["kind"], live["metadata"]["name"]
    limit = (document["metadata"].get("annotations") or {}).get(TIMEOUT, DEFAULT_TIMEOUT)
    what = f"{claim}: its child {template!r} ({kind} {name}) did not become ready within {limit}: {state}"
    look = f"kubectl describe {str(kind).lower()} {name}"
    fix = f"see what its controller says ({look}); the next up waits again, as long as {TIMEOUT} on the template says"
    return Problem(f"{what} ({': '.join(said)})" if said else what, fix=fix)
