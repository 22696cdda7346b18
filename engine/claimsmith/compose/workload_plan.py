"""What a scheduled application becomes in its target cluster: its objects, and the Secrets beside them.

The set of objects is known before the engine runs. They are deployed with the credentials of the target's cluster,
which may not exist yet: these are a `Ref`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import Collector, ComposeError, NotPermitted, Problem
from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.base.values import Ref
from claimsmith.compose.scheduling import Placement, Schedule
from claimsmith.dialects.workloads.reading import API_VERSION, APPLICATION_RESOURCE, Application, ResourceTemplate
from claimsmith.kubernetes.scope import Scopes, scopes_of_crds
from claimsmith.platform.permissions import WORKLOAD_ALLOW, WORKLOAD_NAMESPACES, target_grant

SECRET = GroupKind("", "Secret")
NAMESPACE = GroupKind("", "Namespace")
CRD = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")


@dataclass(frozen=True, slots=True)
class Propagated:
    """A Secret of the application's namespace, as it is copied to a namespace of the target cluster."""

    namespace: str
    source: ObjectKey
    made_by: str = ""
    """What creates it in this plan; empty for one that exists already."""

    @property
    def name(self) -> str:
        """Its name, here and there."""
        return self.source.name


@dataclass(frozen=True, slots=True)
class PlannedResource:
    """One object for the target cluster."""

    name: str
    document: dict[str, Any]
    template: ResourceTemplate
    secrets: tuple[Propagated, ...] = ()
    needs: tuple[str, ...] = ()
    """The siblings that must be there before it: its namespace, its kind."""


@dataclass(frozen=True, slots=True)
class PlannedWorkload:
    """A scheduled application with its resources in the target cluster."""

    placement: Placement
    resources: tuple[PlannedResource, ...]

    @property
    def address(self) -> str:
        """The application's address in the plan."""
        return self.placement.address

    @property
    def secrets(self) -> tuple[Propagated, ...]:
        """The Secrets that go along, each once."""
        return tuple(dict.fromkeys(s for r in self.resources for s in r.secrets))

    @property
    def needs(self) -> tuple[Ref, ...]:
        """What must exist before it: its cluster's credentials, and the Secrets that this plan creates."""
        cluster = self.placement.target.cluster.credentials
        written = [Ref(s.made_by, ("data",)) for s in self.secrets if s.made_by]
        return (*([cluster] if cluster else []), *written)

    def documents(self) -> list[dict[str, Any]]:
        """The application's resources, each as the `KubernetesApplicationResource` that names its target."""
        return [application_resource(self.placement, r) for r in self.resources]


def plan_workloads(
    found: Schedule, *, secret_writers: Mapping[tuple[str, str], str], scopes: Scopes
) -> tuple[PlannedWorkload, ...]:
    """The resources of the target clusters. `made` maps a Secret's namespace and name to its writer in the plan."""
    problems = Collector()
    planned: list[PlannedWorkload] = []
    for placement in found.placements:
        with problems.catch():
            planned.append(_planned(placement, secret_writers, scopes))
    problems.raise_as(ComposeError)
    _refuse_doubles(planned, problems)
    problems.raise_as(ComposeError)
    return tuple(planned)


def application_resource(placement: Placement, resource: PlannedResource) -> dict[str, Any]:
    """The `KubernetesApplicationResource` of one object."""
    key = placement.application.key
    metadata: dict[str, Any] = {"name": resource.name, "namespace": key.namespace}
    template = resource.template
    metadata |= {"labels": dict(template.labels)} if template.labels else {}
    metadata |= {"annotations": dict(template.annotations)} if template.annotations else {}
    spec: dict[str, Any] = {"targetRef": {"name": placement.target.target.key.name}}
    spec |= {"secrets": [{"name": s} for s in template.secrets]} if template.secrets else {}
    return {
        "apiVersion": API_VERSION,
        "kind": APPLICATION_RESOURCE.kind,
        "metadata": metadata,
        "spec": {**spec, "template": shown(resource.document)},
    }


def shown(document: Mapping[str, Any]) -> dict[str, Any]:
    """An object as it may be read by others: of a Secret the names of its keys, never a value."""
    if GroupKind.of(dict(document)) != SECRET:
        return dict(document)
    hidden = {k: dict.fromkeys(document[k] or {}, "<secret>") for k in ("data", "stringData") if k in document}
    return {**document, **hidden}


def _planned(placement: Placement, secret_writers: Mapping[tuple[str, str], str], scopes: Scopes) -> PlannedWorkload:
    application = placement.application
    documents = {r.name: r.document for r in application.resources}
    own = scopes_of_crds(d for d in documents.values() if GroupKind.of(dict(d)) == CRD)
    resources: list[PlannedResource] = []
    problems = Collector()
    for template in application.resources:
        with problems.catch():
            document = _permitted(_placed(template, application, own, scopes), template, placement, own, scopes)
            namespace = str(document["metadata"].get("namespace", "") or application.key.namespace)
            sources = [ObjectKey(SECRET, application.key.namespace, name) for name in template.secrets]
            secrets = tuple(Propagated(namespace, s, secret_writers.get((s.namespace, s.name), "")) for s in sources)
            needs = tuple(n for n, other in documents.items() if n != template.name and _comes_first(other, document))
            resources.append(PlannedResource(template.name, document, template, secrets, needs))
    problems.raise_as(ComposeError)
    return PlannedWorkload(placement, tuple(resources))


def _placed(
    template: ResourceTemplate, application: Application, own: Mapping[GroupKind, bool], scopes: Scopes
) -> dict[str, Any]:
    """The object as written, in the application's namespace where it names none and its kind has one."""
    document = dict(template.document)
    metadata = dict(document["metadata"])
    kind = GroupKind.of(document)
    namespaced = _namespaced(kind, own, scopes)
    path = f"{template.at}.metadata"
    where = application.document.source_of(path)
    if metadata.get("namespace"):
        if namespaced is False:
            what = f"{application.key}, {template.name!r}: {kind} is at cluster scope and has no namespace"
            raise ComposeError(Problem(what, where, f"{path}.namespace", "remove it"))
        return {**document, "metadata": metadata}
    if namespaced is None:
        what = f"{application.key}, {template.name!r}: it is not known whether {kind} is namespaced"
        fix = "write metadata.namespace, or give its CustomResourceDefinition in the platform's files"
        raise ComposeError(Problem(what, where, path, fix))
    place = {"namespace": application.key.namespace} if namespaced else {}
    return {**document, "metadata": {**metadata, **place}}


def _namespaced(kind: GroupKind, own: Mapping[GroupKind, bool], scopes: Scopes) -> bool | None:
    """Whether a kind is namespaced. An application's own definitions count for unknown kinds only."""
    known = scopes.namespaced(kind)
    return own.get(kind) if known is None else known


def _permitted(
    document: dict[str, Any],
    template: ResourceTemplate,
    placement: Placement,
    own: Mapping[GroupKind, bool],
    scopes: Scopes,
) -> dict[str, Any]:
    """The object as its target lets an application team deploy it. What the platform composes is the platform's."""
    if placement.composed:
        return document
    application, target = placement.application, placement.target.target
    grant = target_grant(target, application.key.namespace)
    kind = GroupKind.of(document)
    namespaced = _namespaced(kind, own, scopes)
    why = grant.refusal(kind, str(document["metadata"].get("namespace", "")), namespaced=namespaced)
    if why:
        path = f"{template.at}.metadata.{'namespace' if namespaced else 'name'}"
        fix = f"have the platform team annotate {target.key} with {WORKLOAD_NAMESPACES} or {WORKLOAD_ALLOW}"
        what = f"{application.key}, {template.name!r}: {why}"
        raise NotPermitted(Problem(what, application.document.source_of(path), path, fix, rule="not-permitted"))
    return grant.cleaned(document)


def _comes_first(other: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether one object must be there before another: its namespace, or the definition of its kind."""
    kind = GroupKind.of(dict(other))
    if kind == NAMESPACE:
        return bool(other["metadata"]["name"] == document["metadata"].get("namespace"))
    return kind == CRD and GroupKind.of(dict(document)) in scopes_of_crds([other])


def _refuse_doubles(planned: Sequence[PlannedWorkload], problems: Collector) -> None:
    """Nothing may stand twice: one resource's name in a namespace, one object in a cluster."""
    named: dict[tuple[str, str], str] = {}
    written: dict[tuple[str, ObjectKey], str] = {}
    for workload in planned:
        application, cluster = workload.placement.application, workload.placement.target.cluster.identity

        def refuse(what: str, resource: PlannedResource, application: Application = application) -> None:
            path = f"{resource.template.at}.metadata.name"
            problems.add(application.document.problem(what, path, "rename one of them, or remove it"))

        for r in workload.resources:
            metadata = r.document["metadata"]
            who = f"{application.key}/{r.name}"
            other = named.setdefault((application.key.namespace, r.name), who)
            if other != who:
                refuse(f"{who} and {other} would be one KubernetesApplicationResource", r)
            key = ObjectKey(GroupKind.of(r.document), str(metadata.get("namespace", "")), metadata["name"])
            other = written.setdefault((cluster, key), who)
            if other != who:
                refuse(f"{who} and {other} would both write {key} in {cluster}", r)
            for secret in r.secrets:
                # One copy serves all applications of a namespace that ask for it.
                key, writer = ObjectKey(SECRET, secret.namespace, secret.name), f"the copy of {secret.source}"
                other = written.setdefault((cluster, key), writer)
                if other != writer:
                    refuse(f"{writer} (for {who}) and {other} would both write {key} in {cluster}", r)
