"""function-extra-resources: puts resources that it requires into the context, under the names that its input gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.values import object_at
from claimsmith.dialects.crossplane.environment_input import Source
from claimsmith.dialects.crossplane.patch_input import Lenient
from claimsmith.functions import inputs
from claimsmith.functions.protocol import EXTRA_RESOURCES, Function, Request, Requirements, Response, Selector
from claimsmith.functions.registry import Place
from claimsmith.patching import environments

_AT = "spec.extraResources"


class _Source(Source):
    api_version: str = ""
    kind: str = ""
    namespace: str | None = None
    into: str = ""


class _Context(Lenient):
    key: str | None = None


class _Policy(Lenient):
    resolution: str | None = None


class _Spec(Lenient):
    extra_resources: tuple[_Source, ...] = Field((), strict=False)
    context: _Context | None = None
    policy: _Policy | None = None


class _Input(inputs.FunctionInput):
    spec: _Spec | None = None


def bind(place: Place) -> Function:
    """The function, once its input is checked."""
    inputs.read(_Input, place)
    return run


def run(request: Request) -> Response:
    """The context with the resources, once they are there."""
    spec = object_at(request.input, "spec")
    sources = [s for s in spec.get("extraResources") or () if isinstance(s, Mapping)]
    requirements = Requirements(resources=dict(_selectors(sources, request.observed.composite.document)))
    response = replace(Response.to(request), requirements=requirements)
    if request.required_resources is None:
        return response
    optional = object_at(spec, "policy").get("resolution") == "Optional"
    found: dict[str, Any] = {}
    for source in sources:
        name = str(source.get("into", ""))
        if name not in request.required_resources:
            raise _refused(f"no resources were found for {name!r}, since its selector is empty")
        documents = [r.document for r in request.required_resources[name]]
        listed = _checked(source, name, documents, optional=optional)
        if listed is not None:
            found[name] = [dict(d) for d in listed]
    key = str(object_at(spec, "context").get("key") or EXTRA_RESOURCES)
    return replace(response, context={**request.context, key: found})


def _selectors(sources: Sequence[Mapping[str, Any]], composite: Mapping[str, Any]) -> Iterator[tuple[str, Selector]]:
    for source in sources:
        head = str(source.get("apiVersion", "")), str(source.get("kind", ""))
        namespace = str(source.get("namespace") or "")
        wanted = environments.wanted(source, composite)
        if wanted is not None:
            name, labels = wanted
            yield (
                str(source.get("into", "")),
                Selector(*head, name=name, labels=None if name else labels, namespace=namespace),
            )


def _checked(
    source: Mapping[str, Any], name: str, found: Sequence[Mapping[str, Any]], *, optional: bool
) -> Sequence[Mapping[str, Any]] | None:
    """The resources of one source, sorted and counted; None where an optional one is missing."""
    if source.get("type") != "Selector":
        if not found and optional:
            return None
        if len(found) != 1:
            raise _refused(f"{len(found)} resources were found for {name!r}, where one is required")
        return found
    selector = object_at(source, "selector")
    least, most = selector.get("minMatch"), selector.get("maxMatch")
    if isinstance(least, int) and len(found) < least:
        raise _refused(f"{len(found)} resources were found for {name!r}, where at least {least} are required")
    listed = environments.sorted_by(found, str(selector.get("sortByFieldPath") or "metadata.name"))
    return listed[:most] if isinstance(most, int) else listed


def _refused(what: str) -> ComposeError:
    return ComposeError(Problem(what, path=_AT, fix="provide the resources, or fix the selector in the step's input"))
