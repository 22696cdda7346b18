"""While the engine runs: report a child that does not become ready, with its claim and its controller's conditions."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
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
    watched: pulumi.Input[Any] = _all_reported(children, cluster)
    pulumi.Output.from_input(watched)


async def _all_reported(children: Sequence[tuple[ChildAddress, KubernetesObject]], cluster: Cluster) -> None:
    await asyncio.gather(*(_report(address, resource, cluster) for address, resource in children))


async def _report(address: ChildAddress, resource: KubernetesObject, cluster: Cluster) -> None:
    try:
        failed = await _failed(resource)
    except Exception:
        return  # The engine reports it.
    if failed:
        await _certainly(contextvars.copy_context().run, _log_unready, address, resource.document, cluster)


async def _certainly(call: Callable[..., object], *args: Any) -> None:
    """Call a function that returns even if the program ends meanwhile: a thread runs it, not this task.

    The SDK ends the program, and all tasks with it, at the first registration that fails (`wait_for_rpcs`). The
    official host then awaits the threads, and ours cancels the tasks.
    """
    thread = threading.Thread(target=call, args=args)
    thread.start()
    try:
        await asyncio.to_thread(thread.join)
    except asyncio.CancelledError:
        thread.join()
        raise


async def _failed(resource: KubernetesObject) -> bool:
    """Whether a child was created and did not become ready; what depends on it was then not created at all.

    It awaits outputs of the resource itself, none derived from them: dependents that fail must not be quicker.
    """
    if resource.existing:
        return False
    try:
        return not await resource.metadata.is_known() and bool(await resource.id.future())
    except _FAILED as error:
        # The resources that depend on it fail too, with the same message.
        return f"resource {resource._name} [" in str(error)


def _log_unready(address: ChildAddress, document: Mapping[str, Any], cluster: Cluster) -> None:
    if problem := _unready(address, document, cluster):
        pulumi.log.error(str(problem))


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
