"""function-conditional-patch-and-transform: patch-and-transform with CEL conditions on the step and its resources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from claimsmith.dialects.common.klass import Template
from claimsmith.functions import cel_view, inputs, patch_and_transform
from claimsmith.functions.protocol import Function, Ready, Request, Response, State
from claimsmith.functions.registry import Place

_REQUIRED = re.compile(
    r"""(?:not adding new|cannot render) composed resource (?P<resource>".*?")(?: to desired state because)? """
    r"""(?P<patch>".*?" patch at index \d+)(?: has|: ignoring) 'policy\.fromFieldPath: Required'"""
    r"""(?: because 'to' resource already exists)?: (?P<why>.*)"""
)


def bind(place: Place) -> Function:
    """The function for one step, whose templates and patches were read with the composition."""

    def run(request: Request) -> Response:
        values = cel_view.values(request)
        whole = place.step.input.get("condition")
        if isinstance(whole, str) and not inputs.is_true(place, whole, values, "condition"):
            return Response.to(request)
        conditions = _conditions(place)
        kept = tuple(t for t in place.step.templates if _holds(place, t, conditions, values))
        response = patch_and_transform.bind(replace(place, step=replace(place.step, templates=kept)))(request)
        # Unlike patch-and-transform, this function gives no verdict on the composite where it holds a resource back.
        composite = replace(response.desired.composite, ready=Ready.unspecified)
        results = tuple(replace(result, message=_own_words(result.message)) for result in response.results)
        return replace(response, desired=State(composite, response.desired.resources), results=results)

    return run


def _own_words(message: str) -> str:
    """A warning of patch-and-transform as this function words it: it goes back to an older one."""
    found = _REQUIRED.match(message)
    if not found:
        return message
    resource, patch, why = found["resource"], found["patch"], found["why"]
    return f"cannot render patches for composed resource {resource}: cannot apply the {patch}: {why}"


def _conditions(place: Place) -> Mapping[str, str]:
    """The condition of each resource that has one, by the resource's place in the composition."""
    listed = place.step.input.get("resources")
    resources = listed if isinstance(listed, list) else []
    return {
        f"{place.step.at}.resources[{index}]": resource["condition"]
        for index, resource in enumerate(resources)
        if isinstance(resource, Mapping) and isinstance(resource.get("condition"), str)
    }


def _holds(place: Place, template: Template, conditions: Mapping[str, str], values: Mapping[str, object]) -> bool:
    text = conditions.get(template.at)
    path = f"{template.at.removeprefix(place.step.at + '.')}.condition"
    return text is None or inputs.is_true(place, text, values, path)
