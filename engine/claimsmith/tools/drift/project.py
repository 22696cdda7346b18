"""The drift of a stack of a project, with the place of each field in its files."""

from __future__ import annotations

from contextlib import suppress

from claimsmith.base.errors import EngineError, Source
from claimsmith.project.project import Project
from claimsmith.tools import explain
from claimsmith.tools.drift import changes as drifting
from claimsmith.tools.drift.changes import Drift
from claimsmith.tools.explain.project import facts


def drift(project: Project, stack: str) -> Drift:
    """What a refresh of a stack would find, claim by claim, with the place of each desired value."""
    from claimsmith.project import workspace

    project.check_stack(stack)
    found = drifting.drift_of(stack, workspace.refresh_preview(project, stack))
    if not found.claims:
        return found
    try:
        known = facts(project, stack)
    except EngineError:
        # What is deployed does not depend on files that cannot be read.
        return found

    def place_of(claim: str, child: str, path: str) -> Source | None:
        with suppress(EngineError):
            trace = explain.trace(known, known.find(claim)[0], child=child, path=path)
            return next((s.where for s in reversed(trace.steps) if s.where), None)
        return None

    return drifting.with_places(found, place_of)
