"""All targets, applications and existing clusters in a stack's files, each name once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from claimsmith.documents import Document
from claimsmith.errors import CatalogError, Collector, ModelError, Problem
from claimsmith.models.objects import ClaimKey, GroupKind, ObjectKey
from claimsmith.models.selector import Selector
from claimsmith.models.workload import (
    KINDS,
    PROVIDER,
    TARGET,
    Application,
    Provider,
    WorkloadTarget,
    read_application,
    read_provider,
    read_target,
)

K = TypeVar("K")
V = TypeVar("V", WorkloadTarget, Application, Provider)


@dataclass(frozen=True, slots=True)
class Workloads:
    """All of these in a stack's files."""

    targets: Mapping[ClaimKey, WorkloadTarget] = field(default_factory=dict)
    applications: Mapping[ClaimKey, Application] = field(default_factory=dict)
    providers: Mapping[ObjectKey, Provider] = field(default_factory=dict)


def take(
    claims: Iterable[Document], resources: Iterable[Document], problems: Collector, warnings: list[Problem]
) -> tuple[list[Document], list[Document], Workloads]:
    """The claims and the given resources without those of this document, and these, each name once."""
    targets: dict[ClaimKey, WorkloadTarget] = {}
    applications: dict[ClaimKey, Application] = {}
    providers: dict[ObjectKey, Provider] = {}
    rest: tuple[list[Document], list[Document]] = ([], [])
    for published, documents in enumerate((claims, resources)):
        for document in documents:
            kind = GroupKind.of(document.data)
            if kind not in KINDS:
                rest[published].append(document)
                continue
            with problems.catch():
                if kind == TARGET:
                    target = read_target(document, published=bool(published))
                    _add(targets, target.key, target)
                elif kind == PROVIDER:
                    _refuse_claimed(document, published=bool(published))
                    provider = read_provider(document)
                    _add(providers, provider.key, provider)
                else:
                    application = read_application(document)
                    _add(applications, application.key, application)
                    warnings += unselected(application)
    return *rest, Workloads(targets, applications, providers)


def unselected(application: Application) -> list[Problem]:
    """Templates whose labels the application's own `resourceSelector` misses: its resources are not found by it."""
    given = (application.data.get("spec") or {}).get("resourceSelector")
    if given is None:
        return []
    selector = Selector.model_validate(given)
    path = "spec.resourceSelector"
    return [
        Problem(
            f"{application.key}: resourceSelector {selector} does not match the labels of {r.name!r}",
            application.document.source_of(path),
            path,
            "give the template these labels, or change the selector",
        )
        for r in application.resources
        if not selector.matches(r.labels)
    ]


def _refuse_claimed(document: Document, *, published: bool) -> None:
    if not published:
        what = f"{PROVIDER} is not for application teams to write: its Secret may be in any namespace"
        fix = "move it to the platform's files: stacks/<stack>/resources/"
        raise ModelError(Problem(what, document.source_of("kind"), "kind", fix))


def _add(index: dict[K, V], key: K, value: V) -> None:
    first = index.setdefault(key, value)
    if first is not value:
        what = f"{key} stands twice; the first is at {first.document.source_of('metadata.name')}"
        path = "metadata.name"
        raise CatalogError(Problem(what, value.document.source_of(path), path, "rename or remove one of the two"))
