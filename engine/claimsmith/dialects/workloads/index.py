"""All targets, applications and existing clusters in a stack's files, each name once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, Collector, ModelError, Problem
from claimsmith.base.names import ClaimKey, GroupKind, ObjectKey
from claimsmith.dialects.common.selector import Selector
from claimsmith.dialects.workloads import reading

K = TypeVar("K")
V = TypeVar("V", reading.WorkloadTarget, reading.Application, reading.Provider)


@dataclass(frozen=True, slots=True)
class Workloads:
    """All of these in a stack's files."""

    targets: Mapping[ClaimKey, reading.WorkloadTarget] = field(default_factory=dict)
    applications: Mapping[ClaimKey, reading.Application] = field(default_factory=dict)
    providers: Mapping[ObjectKey, reading.Provider] = field(default_factory=dict)


def take(
    claims: Iterable[Document], resources: Iterable[Document], problems: Collector, warnings: list[Problem]
) -> tuple[list[Document], list[Document], Workloads]:
    """The claims and the given resources without workload documents, and the workload documents, each name once."""
    targets: dict[ClaimKey, reading.WorkloadTarget] = {}
    applications: dict[ClaimKey, reading.Application] = {}
    providers: dict[ObjectKey, reading.Provider] = {}
    rest: tuple[list[Document], list[Document]] = ([], [])
    for published, documents in enumerate((claims, resources)):
        for document in documents:
            kind = GroupKind.of(document.data)
            if kind not in reading.KINDS:
                rest[published].append(document)
                continue
            with problems.catch():
                if kind == reading.TARGET:
                    target = reading.read_target(document, published=bool(published))
                    _add(targets, target.key, target)
                elif kind == reading.PROVIDER:
                    _refuse_claimed(document, published=bool(published))
                    provider = reading.read_provider(document)
                    _add(providers, provider.key, provider)
                else:
                    application = reading.read_application(document)
                    _add(applications, application.key, application)
                    warnings += unselected(application)
    return *rest, Workloads(targets, applications, providers)


def unselected(application: reading.Application) -> list[Problem]:
    """Templates whose labels the application's own `resourceSelector` misses: its resources are not found by it."""
    given = (application.data.get("spec") or {}).get("resourceSelector")
    if given is None:
        return []
    selector = Selector.model_validate(given)
    return [
        application.document.problem(
            f"{application.key}: resourceSelector {selector} does not match the labels of {r.name!r}",
            "spec.resourceSelector",
            "give the template these labels, or change the selector",
        )
        for r in application.resources
        if not selector.matches(r.labels)
    ]


def _refuse_claimed(document: Document, *, published: bool) -> None:
    if not published:
        what = f"{reading.PROVIDER} is not for application teams to write: its Secret may be in any namespace"
        fix = "move it to the platform's files: stacks/<stack>/resources/"
        raise ModelError(document.problem(what, "kind", fix))


def _add(index: dict[K, V], key: K, value: V) -> None:
    first = index.setdefault(key, value)
    if first is not value:
        what = f"{key} occurs twice; the first is at {first.document.source_of('metadata.name')}"
        raise CatalogError(value.document.problem(what, "metadata.name", "rename or remove one of the two"))
