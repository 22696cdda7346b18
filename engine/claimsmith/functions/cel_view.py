"""What CEL expressions see of a request: `observed`, `desired` and `context`, with the protocol's names of fields.

In the protocol every number is a double, so an expression that calculates needs doubles here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from claimsmith.functions import cel
from claimsmith.functions.cel import Expression
from claimsmith.functions.protocol import Ready, Request, Resource, State

_READY: Final = {Ready.unspecified: 0, Ready.true: 1, Ready.false: 2}


def condition(text: str, seconds: float | None = None) -> Expression:
    """An expression over a request."""
    return cel.expression(text, ("observed", "desired", "context"), seconds=seconds)


def values(request: Request) -> dict[str, Any]:
    """The variables of such an expression."""
    return {
        "observed": _state(request.observed),
        "desired": _state(request.desired),
        "context": _doubles(dict(request.context)),
    }


def _state(state: State) -> dict[str, Any]:
    resources = {name: _resource(resource) for name, resource in state.resources.items()}
    return {"composite": _resource(state.composite), "resources": resources}


def _resource(resource: Resource) -> dict[str, Any]:
    return {
        "resource": _doubles(resource.document),
        "connection_details": {name: value.decode("utf-8", "replace") for name, value in resource.details.items()},
        "ready": _READY[resource.ready],
    }


def _doubles(value: Any) -> Any:
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case Mapping():
            return {key: _doubles(item) for key, item in value.items()}
        case list() | tuple():
            return [_doubles(item) for item in value]
        case _:
            return value
