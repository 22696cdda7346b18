"""Generated components: there, and made from their classes as these are now."""

from __future__ import annotations

from claimsmith.errors import Problem
from claimsmith.models.klass import Class
from claimsmith.project import Project


def component_problems(project: Project, klass: Class) -> list[Problem]:
    """A component that is missing, or was generated from another state of its class."""
    path = project.component_path(klass)
    shown = path.relative_to(project.root).as_posix()
    where = klass.document.source_of("metadata.name")
    if not path.is_file():
        what = f"{klass.key} has no component: {shown} is missing"
        return [Problem(what, where, fix="run: claimsmith generate", rule="missing-component")]
    if klass.digest().encode() not in path.read_bytes():
        what = f"{shown} is stale: {klass.key} has changed since"
        return [Problem(what, where, fix="run: claimsmith generate", rule="stale-component")]
    return []
