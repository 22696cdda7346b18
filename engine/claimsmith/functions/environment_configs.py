"""function-environment-configs: the environment of a composite, merged from `EnvironmentConfig`s that it requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from claimsmith.base.values import object_at
from claimsmith.dialects.common.klass import Side
from claimsmith.functions.patch_and_transform import INTERNAL_ENVIRONMENT
from claimsmith.functions.protocol import ENVIRONMENT, Function, Request, Requirements, Response, Selector
from claimsmith.functions.registry import Place
from claimsmith.functions.requirements import distinct
from claimsmith.patching import environments


def bind(place: Place) -> Function:  # noqa: ARG001 - every built-in function is bound alike
    """The function; its input was checked when the composition was read."""
    return run


def run(request: Request) -> Response:
    """The context with the environment, once the configs that it consists of are there."""
    sources = object_at(request.input, "spec")
    if not sources.get("environmentConfigs"):
        return Response.to(request)
    response = replace(Response.to(request), requirements=_requirements(sources, request.observed.composite.document))
    if request.required_resources is None:
        return response
    # One config may fulfil several requirements, and counts once.
    configs = distinct(r for found in request.required_resources.values() for r in found)
    sides = {Side.claim: request.observed.composite.document, Side.environment: request.environment()}
    environment = environments.started(sources, sides, configs)
    if not environment.get("apiVersion") and not environment.get("kind"):
        environment |= INTERNAL_ENVIRONMENT
    return replace(response, context={**request.context, ENVIRONMENT: environment})


def _requirements(sources: Mapping[str, Any], composite: Mapping[str, Any]) -> Requirements:
    found: dict[str, Selector] = {}
    for index, source in enumerate(sources["environmentConfigs"]):
        wanted = environments.wanted(source, composite)
        if wanted is not None:
            name, labels = wanted
            found[f"environment-config-{index}"] = Selector(
                environments.API_VERSION, environments.KIND, name=name, labels=None if name else labels
            )
    return Requirements(resources=found)
