"""function-go-templating: resources that a Go template renders."""

from __future__ import annotations

from typing import Any

from claimsmith import templating
from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.names import group_of
from claimsmith.base.values import copied, object_at
from claimsmith.dialects.crossplane.composition import TEMPLATING
from claimsmith.functions.protocol import Function, Ready, Request, Resource, Response, State
from claimsmith.functions.registry import Place
from claimsmith.patching import environments

_META = "meta.gotemplating.fn.crossplane.io"


def bind(place: Place) -> Function:
    """The function for one step."""
    return lambda request: _run(place, request)


def _run(place: Place, request: Request) -> Response:
    """Resources that a template makes; one of the composite's own kind gives its status."""
    step = place.step
    text = object_at(step.input, "inline").get("template")
    if step.input.get("source") != "Inline" or not isinstance(text, str):
        what = f"the step {step.name!r} reads its template from elsewhere"
        raise ComposeError(Problem(what, path=step.at, fix="write it into the composition: source: Inline"))
    observed = request.observed.composite.document
    own = (observed.get("apiVersion"), observed.get("kind"))
    composite: dict[str, Any] = copied(dict(request.desired.composite.document))
    resources = dict(request.desired.resources)
    for document in templating.render_documents("go-sprig", text, _seen(request), file=step.at):
        if (document["apiVersion"], document["kind"]) == own:
            environments.merge_into(composite, {"status": object_at(document, "status")})
            continue
        metadata = object_at(document, "metadata")
        annotations = dict(object_at(metadata, "annotations"))
        name = annotations.pop(f"{TEMPLATING}/composition-resource-name", None)
        ready = annotations.pop(f"{TEMPLATING}/ready", None)
        if group_of(document["apiVersion"]) == _META or not isinstance(name, str):
            what = f"the template makes a {document['kind']} without {TEMPLATING}/composition-resource-name"
            raise ComposeError(Problem(what, path=step.at, fix="annotate it with a name of its own"))
        kept = {k: v for k, v in metadata.items() if k != "annotations"} | (
            {"annotations": annotations} if annotations else {}
        )
        verdict = Ready.true if ready == "True" else Ready.unspecified
        resources[name] = Resource({**document, "metadata": kept}, ready=verdict)
    desired = request.desired.composite
    return Response(State(Resource(composite, desired.details, desired.ready), resources), request.context)


def _seen(request: Request) -> dict[str, Any]:
    """What a template sees of the run so far."""
    return {
        "observed": {
            "composite": {"resource": request.observed.composite.document, "connectionDetails": {}},
            "resources": {n: {"resource": r.document} for n, r in request.observed.resources.items()},
        },
        "desired": {
            "composite": {"resource": request.desired.composite.document},
            "resources": {n: {"resource": r.document} for n, r in request.desired.resources.items()},
        },
        "context": dict(request.context),
    }
