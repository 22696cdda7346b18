"""While the engine runs: report a child that does not become ready, with its claim and its controller's conditions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi.runtime import stack

from claimsmith.base.errors import EngineError, Problem
from claimsmith.base.labels import TIMEOUT
from claimsmith.base.names import ChildAddress
from claimsmith.compose.options import DEFAULT_TIMEOUT
from claimsmith.compose.plan import Plan
from claimsmith.deploy import native_failures
from claimsmith.deploy.context import Context
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.kubernetes.client import Cluster, live_object

# Of some SDKs (3.255, not 3.272): raised by the outputs of a resource that failed while the engine goes on with others.
_FAILED: tuple[type[Exception], ...] = tuple(filter(None, [getattr(stack, "ResourceRegistrationFailed", None)]))


def watch(context: Context, plan: Plan) -> None:
    """Report why a child failed while the engine goes on with the others, from the conditions in the cluster."""
    native_failures.watch(context, plan)
    cluster = context.cluster
    if cluster is None or pulumi.runtime.is_dry_run():
        return
    children = [(c.address, r) for p in plan.walk() for c in p.children if (r := context.registered(c.address))]
    watched: pulumi.Input[bool] = _report(children, cluster)
    pulumi.Output.from_input(watched)


async def _report(children: Sequence[tuple[ChildAddress, KubernetesObject]], cluster: Cluster) -> bool:
    for address, resource in children:
        try:
            failed = await _failed(resource)
        except Exception:
            return False  # The engine reports it.
        if failed and (problem := await asyncio.to_thread(_unready, address, resource.document, cluster)):
            pulumi.log.error(str(problem))
    return True


async def _failed(resource: KubernetesObject) -> bool:
    """Whether a child was created and did not become ready; what depends on it was then not created at all."""
    try:
        created = await resource.id.future()
        return bool(created) and not await resource.ready.is_known()
    except _FAILED as error:
        # The resources that depend on it fail too, with the same message.
        return f"resource {resource._name} [" in str(error)


def _unready(address: ChildAddress, document: Mapping[str, Any], cluster: Cluster) -> Problem | None:
    """The problem of a child that exists and is not ready. The engine reports those that it could not create."""
    try:
        live = live_object(cluster, document)
    except EngineError:
        return None
    return unready(address, document, live) if live else None


def unready(address: ChildAddress, document: Mapping[str, Any], live: Mapping[str, Any]) -> Problem | None:
    """The problem of a child that is not ready, with the reason in its conditions; None if it is ready."""
    conditions = (live.get("status") or {}).get("conditions") or []
    ready: Mapping[str, Any] = next((c for c in conditions if c.get("type") == "Ready"), {})
    if ready.get("status") == "True":
        return None
    reasons = [str(c) for c in (ready.get("reason"), ready.get("message")) if c]
    state = f"Ready is {ready.get('status')}" if ready else "it has no Ready condition"
    kind, name = document["kind"], live["metadata"]["name"]
    limit = (document["metadata"].get("annotations") or {}).get(TIMEOUT, DEFAULT_TIMEOUT)
    child = f"its child {address.template!r} ({kind} {name})"
    what = f"{address.claim}: {child} did not become ready within {limit}: {state}"
    look = f"kubectl describe {str(kind).lower()} {name}"
    fix = f"see its conditions ({look}); the next up waits again, as long as {TIMEOUT} on the template says"
    return Problem(f"{what} ({': '.join(reasons)})" if reasons else what, fix=fix)
