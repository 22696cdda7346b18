"""`claimsmith crds`: the definitions of the kinds of a platform."""

from __future__ import annotations

from typing import Any

from claimsmith.platform import crd_set
from claimsmith.project.project import Project


def crds(project: Project, stack: str | None = None) -> list[dict[str, Any]]:
    """The definitions of the kinds that a platform makes up; with a stack, of those that it claims too."""
    if stack:
        project.check_stack(stack)
    return crd_set.own_crds(project.catalog(stack))
