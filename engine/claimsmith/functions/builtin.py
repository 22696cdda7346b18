"""The built-in functions of a pipeline, recognised by the group of their input or by their name.

Beside patch-and-transform: auto-ready, environment-configs (from files that are given), and go-templating as far as its
template stands in the composition and keeps to the subset that `templating` reads. Others are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from claimsmith import templating
from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError, EngineError, Problem
from claimsmith.base.names import group_of
from claimsmith.base.values import object_at
from claimsmith.dialects.common.klass import Side, Step
from claimsmith.dialects.crossplane.composition import TEMPLATING, function_of, unknown_function
from claimsmith.functions import patch_and_transform
from claimsmith.functions.patch_and_transform import Desired, Observed, State
from claimsmith.patching import environments
from claimsmith.patching.readiness import is_ready

CONTEXT = "apiextensions.crossplane.io/environment"
_META = "meta.gotemplating.fn.crossplane.io"


def run(
    step: Step, observed: Observed, state: State, *, document: Document, extra: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Run one step on the state, in place; a function that is not known is refused."""
    match function_of(step.function, step.input):
        case "function-patch-and-transform":
            patch_and_transform.run_step(step, observed, state, document=document)
        case "function-environment-configs":
            _located(step, document, lambda: _environment_configs(step, observed, state, extra))
        case "function-go-templating":
            _located(step, document, lambda: _go_templating(step, observed, state))
        case "function-auto-ready":
            _auto_ready(observed, state)
        case _:
            raise unknown_function(step, document)


def _auto_ready(observed: Observed, state: State) -> None:
    """Resources without a verdict are ready once their condition Ready is True."""
    for name, desired in state.resources.items():
        existing = observed.resources.get(name)
        if not desired.ready and existing:
            desired.ready = is_ready(existing.document, ())


def _environment_configs(step: Step, observed: Observed, state: State, extra: Sequence[Mapping[str, Any]]) -> None:
    sides = {Side.claim: observed.composite, Side.environment: state.environment}
    state.environment = environments.started(object_at(step.input, "spec"), sides, extra)


def _go_templating(step: Step, observed: Observed, state: State) -> None:
    """Resources that a template makes; one of the composite's own kind gives its status."""
    text = object_at(step.input, "inline").get("template")
    if step.input.get("source") != "Inline" or not isinstance(text, str):
        what = f"the step {step.name!r} reads its template from elsewhere"
        raise ComposeError(Problem(what, path=step.at, fix="write it into the composition: source: Inline"))
    own = (observed.composite.get("apiVersion"), observed.composite.get("kind"))
    for document in templating.render_documents("go-sprig", text, _seen(observed, state), file=step.at):
        if (document["apiVersion"], document["kind"]) == own:
            environments.merge_into(state.composite, {"status": object_at(document, "status")})
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
        state.resources[name] = Desired({**document, "metadata": kept}, ready=ready == "True")


def _seen(observed: Observed, state: State) -> dict[str, Any]:
    """What a template sees of the run so far."""
    return {
        "observed": {
            "composite": {"resource": observed.composite, "connectionDetails": {}},
            "resources": {n: {"resource": e.document} for n, e in observed.resources.items()},
        },
        "desired": {
            "composite": {"resource": state.composite},
            "resources": {n: {"resource": d.document} for n, d in state.resources.items()},
        },
        "context": {CONTEXT: state.environment},
    }


def _located(step: Step, document: Document, work: Callable[[], None]) -> None:
    """Run a step; its problems are reported with the step's name and place."""
    try:
        work()
    except EngineError as error:
        where = document.source_of(step.at)
        raise ComposeError(
            *(Problem(f"step {step.name!r}: {p.what}", where, p.path or step.at, p.fix) for p in error.problems)
        ) from error
