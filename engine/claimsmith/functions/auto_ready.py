"""function-auto-ready: a resource without a verdict is ready once it is healthy, or its condition Ready is True."""

from __future__ import annotations

from dataclasses import replace

from claimsmith.functions.health import is_healthy
from claimsmith.functions.protocol import Function, Ready, Request, Resource, Response, State
from claimsmith.functions.registry import Place
from claimsmith.patching.readiness import is_ready


def bind(place: Place) -> Function:  # noqa: ARG001 - every built-in function is bound alike
    """The function; it has no input."""
    return run


def run(request: Request) -> Response:
    """The desired state with a verdict on what exists."""
    resources = {name: _judged(name, desired, request) for name, desired in request.desired.resources.items()}
    return replace(Response.to(request), desired=State(request.desired.composite, resources))


def _judged(name: str, desired: Resource, request: Request) -> Resource:
    existing = request.observed.resources.get(name)
    if desired.ready is not Ready.unspecified or existing is None:
        return desired
    ready = is_healthy(existing.document) or is_ready(existing.document, ())
    return replace(desired, ready=Ready.true) if ready else desired
