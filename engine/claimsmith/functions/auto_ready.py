"""function-auto-ready: a resource without a verdict is ready once it is healthy, or its condition Ready is True."""

from __future__ import annotations

from dataclasses import replace

from claimsmith.functions import inputs
from claimsmith.functions.health import is_healthy
from claimsmith.functions.protocol import Function, Ready, Request, Resource, Response, State
from claimsmith.functions.registry import Place
from claimsmith.patching.readiness import is_ready


class _Input(inputs.FunctionInput):
    ttl: str = ""
    # Checks in CEL are an alpha feature, which the function leaves out unless it is started with it.
    cel_health_check_customization: dict[str, str] | None = None
    cel_health_check_customization_from: str | None = None


def bind(place: Place) -> Function:
    """The function; nothing in its input changes what it returns."""
    inputs.check_duration(place, inputs.read(_Input, place).ttl, "ttl")
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
