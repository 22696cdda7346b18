"""Calls of composition functions, for their tests."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import yaml

from claimsmith.base.documents import Document, read_documents
from claimsmith.dialects.crossplane import composition
from claimsmith.functions.protocol import Ready, Request, Resource, Response, State
from claimsmith.functions.registry import Place

XR = {
    "apiVersion": "example.org/v1",
    "kind": "XNetwork",
    "metadata": {"name": "net", "uid": "u-1"},
    "spec": {"region": "eu", "count": 2, "zones": ["a", "b"]},
}


def document(function: str, data: dict[str, Any]) -> Document:
    """A composition whose one step runs a function with an input."""
    step = {"step": "make", "functionRef": {"name": function}, "input": data}
    spec = {
        "compositeTypeRef": {"apiVersion": XR["apiVersion"], "kind": XR["kind"]},
        "mode": "Pipeline",
        "pipeline": [step],
    }
    head = {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition", "metadata": {"name": "c"}}
    [found] = read_documents(yaml.safe_dump({**head, "spec": spec}, sort_keys=False), file="composition.yaml")
    return found


def place(function: str, data: dict[str, Any]) -> Place:
    """The step of such a composition."""
    found = document(function, data)
    klass, _ = composition.read(found)
    return Place(klass.steps[0], found)


def managed(name: str, *, ready: bool | None = None, **more: Any) -> dict[str, Any]:
    """A resource, with its condition Ready if it has one."""
    status = {"conditions": [{"type": "Ready", "status": str(ready)}]} if ready is not None else {}
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": name}, "status": status, **more}


def request(
    data: dict[str, Any] | None = None,
    *,
    composite: dict[str, Any] | None = None,
    observed: dict[str, dict[str, Any]] | None = None,
    desired: dict[str, Ready | dict[str, Any]] | None = None,
    **more: Any,
) -> Request:
    """A request: observed resources by their documents, desired ones by documents or readiness."""
    wanted = {
        name: Resource(managed(name), ready=value) if isinstance(value, Ready) else Resource(value)
        for name, value in (desired or {}).items()
    }
    return Request(
        State(Resource(composite or XR), {name: Resource(d) for name, d in (observed or {}).items()}),
        State(resources=wanted),
        data or {},
        **more,
    )


def call(module: ModuleType, function: str, data: dict[str, Any], **more: Any) -> Response:
    """The response of a built-in function to an input."""
    response: Response = module.bind(place(function, data))(request(data, **more))
    return response
