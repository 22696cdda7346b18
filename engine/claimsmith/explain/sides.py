"""What a child's patches read: the claim with what is known of its status, and the environment as it was by then."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from claimsmith import fieldpath, flow
from claimsmith.absent import ABSENT
from claimsmith.compose import environments, patches
from claimsmith.errors import EngineError
from claimsmith.expand import claim_data, seen
from claimsmith.explain.places import Place, said
from claimsmith.models.klass import Parent, Side, Template
from claimsmith.values import inside

Sides = dict[Side, dict[str, Any]]


def sides_of(here: Place, template: Template) -> Sides:
    """The two sides beside the child itself, at the moment when its template is patched."""
    draft = here.draft
    claim = claim_data(draft.binding)
    sides: Sides = {Side.claim: claim, Side.environment: {}}
    if draft.binding.klass.parent is not Parent.xr:
        return sides
    claim[flow.STATUS] = draft.status
    made = {c.template.name: c for c in draft.children} | {d.template: d for d in draft.nested}
    for operation in flow.operations(draft.binding.klass):
        if operation.name == template.name:
            break
        # What went wrong is told with the claim; here it only leaves the environment as it was.
        with suppress(EngineError):
            if operation.patch:
                patches.apply(operation.patch, sides)
            elif operation.template is None:
                given = [d.data for d in here.facts.catalog.today.environments.values()]
                sides[Side.environment] = environments.started(operation.sources, sides, given)
            elif operation.name in made:
                for patch in operation.outward:
                    if patch.target is Side.environment:
                        resource = seen(made[operation.name], patch.reads)
                        patches.apply(patch, {**sides, Side.resource: resource})
    return sides


def read_from(data: dict[str, Any], path: str) -> Any:
    """What a side says at a path, though something on the way is known only later; ABSENT where it says nothing."""
    value = said(data, path)
    if value is not ABSENT:
        return value
    with suppress(EngineError):
        found = inside(data, fieldpath.parse(path))
        return ABSENT if found is None else found
    return ABSENT
