"""function-extra-resources: puts resources that it requires into the context, under the names that its input gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, NotFound, Problem
from claimsmith.base.values import object_at
from claimsmith.functions.protocol import EXTRA_RESOURCES, Function, Request, Requirements, Resource, Response, Selector
from claimsmith.functions.registry import Place
from claimsmith.patching import environments

_AT = "spec.extraResources"


def bind(place: Place) -> Function:  # noqa: ARG001 - every built-in function is bound alike
    """The function."""
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
        listed = _checked(source, name, request.required_resources[name], optional=optional)
        if listed is not None:
            found[name] = [dict(r.document) for r in listed]
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
    source: Mapping[str, Any], name: str, found: Sequence[Resource], *, optional: bool
) -> Sequence[Resource] | None:
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
    listed = _sorted(found, str(selector.get("sortByFieldPath") or "metadata.name"))
    return listed[:most] if isinstance(most, int) else listed


def _sorted(found: Sequence[Resource], path: str) -> list[Resource]:
    """By a field; a missing one counts as the zero of its type."""
    values = [_value(r, path) for r in found]
    kinds = {str if isinstance(v, str) else float for v in values if v is not None}
    if any(isinstance(v, bool | list | dict) for v in values) or len(kinds) > 1:
        raise _refused(f"cannot sort by {path}: its values are not all numbers or all text")
    zero: Any = "" if str in kinds else 0
    order = sorted(range(len(found)), key=lambda i: zero if values[i] is None else values[i])
    return [found[i] for i in order]


def _value(resource: Resource, path: str) -> Any:
    try:
        return fieldpath.get(resource.document, path)
    except NotFound:
        return None


def _refused(what: str) -> ComposeError:
    return ComposeError(Problem(what, path=_AT, fix="provide the resources, or fix the selector in the step's input"))
