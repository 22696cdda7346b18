"""`claimsmith operator`: the stacks of a project as `Stack` objects of the Pulumi Kubernetes Operator."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base.errors import Collector, LoadError, Problem, Source
from claimsmith.base.values import object_at
from claimsmith.project.load import load
from claimsmith.project.project import Project
from claimsmith.tools.fleet.links import Needs

API_VERSION = "pulumi.com/v1"
DIY_ORGANIZATION = "organization"
"""What every backend but a Pulumi service calls the organization."""
# The operator (2.x) creates a Service and a StatefulSet `<name>-workspace`: a Service's name is a label that begins
# with a letter, and a label of the StatefulSet's pods holds its name with a hash of ten characters, 63 in all.
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,40}[a-z0-9])?")
_SERVICE = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class OperatorSource:
    """Where the operator gets the project from, and how it runs it."""

    repository: str
    branch: str
    backend: str | None = None
    """The backend's address; that of Pulumi.yaml where none is named."""
    organization: str | None = None
    namespace: str | None = None
    service_account: str | None = None
    environment: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Variables of the run, each with the name of its Secret and the key in it."""


def stack_objects(project: Project, needs: Needs, source: OperatorSource) -> list[dict[str, Any]]:
    """An object for each stack; one that needs others names them as its prerequisites."""
    backend = _backend(project, source)
    organization = source.organization or _organization(backend)
    names = {stack: re.sub(r"[_.]", "-", f"{project.name}-{stack}".lower()) for stack in needs}
    _check_names(names)
    return [
        _object(project, stack, names, needs[stack], source, f"{organization}/{project.name}/{stack}", backend)
        for stack in needs
    ]


def _object(
    project: Project,
    stack: str,
    names: Mapping[str, str],
    needed: tuple[str, ...],
    source: OperatorSource,
    whole: str,
    backend: str,
) -> dict[str, Any]:
    spec = {
        "stack": whole,
        "backend": backend,
        "projectRepo": source.repository,
        "branch": source.branch,
        "repoDir": project.folder().rstrip("/"),
        "serviceAccountName": source.service_account,
        "envRefs": {
            name: {"type": "Secret", "secret": {"name": secret, "key": key}}
            for name, (secret, key) in source.environment.items()
        },
        # The operator would run its stacks at once otherwise, and in any order.
        "prerequisites": [{"name": names[other]} for other in needed],
    }
    metadata = {"name": names[stack], **({"namespace": source.namespace} if source.namespace else {})}
    kept = {key: value for key, value in spec.items() if value}
    return {"apiVersion": API_VERSION, "kind": "Stack", "metadata": metadata, "spec": kept}


def _backend(project: Project, source: OperatorSource) -> str:
    """The backend; one on this machine is refused, for the operator's pods do not share it."""
    url, where, path = source.backend, None, ""
    if not url:
        documents = load([project.root / "Pulumi.yaml"], root=project.root)
        url = str(object_at(documents[0].data, "backend").get("url") or "") if documents else ""
        where, path = Source("Pulumi.yaml"), "backend.url"
    if not url or url.startswith("file:"):
        what = f"the backend {url!r} is on this machine" if url else "Pulumi.yaml names no backend"
        raise LoadError(Problem(what, where, path, "name one that the operator reaches: --backend s3://BUCKET"))
    return url


def _organization(backend: str) -> str:
    if backend.startswith(_SERVICE):
        what = "a Pulumi service keeps stacks by organization, and none is named"
        raise LoadError(Problem(what, fix="add --organization NAME"))
    return DIY_ORGANIZATION


def _check_names(names: Mapping[str, str]) -> None:
    """Refuse stacks whose objects could not be told apart, or not be named."""
    problems = Collector()
    taken: dict[str, str] = {}
    for stack, name in names.items():
        if not _NAME.fullmatch(name):
            what = f"the stack {stack!r} cannot be the name of an object: {name!r}"
            problems.add(Problem(what, fix="rename it: letters, digits and dashes, 42 of them at most"))
        if name in taken:
            what = f"the stacks {taken[name]!r} and {stack!r} would be one object: {name!r}"
            problems.add(Problem(what, fix="rename one of them"))
        taken[name] = stack
    problems.raise_as(LoadError)
