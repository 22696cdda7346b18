"""Targets, and the clusters behind them: which cluster a target means, who may publish it, where its credentials are.

Takes the targets of a stack and its drafted claims; gives each target with its cluster. Claims that ask for it get a
target of their own. A target among the claims leads to a cluster of a claim of its own namespace, or nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base.errors import BindingError, Collector, Problem, suggest
from claimsmith.base.names import ClaimKey, GroupKind, ObjectKey
from claimsmith.base.values import Ref
from claimsmith.compose import connections
from claimsmith.compose.drafts import Draft, Expansion
from claimsmith.dialects.common.claim import ObjectRef
from claimsmith.dialects.workloads.reading import AUTOMATIC, PROVIDER, TARGET, WorkloadTarget
from claimsmith.platform.catalog import AGGREGATE_RESOURCE, COMPOSITE_RESOURCE, Catalog

_COMPOSITES = (COMPOSITE_RESOURCE, AGGREGATE_RESOURCE)


@dataclass(frozen=True, slots=True)
class TargetCluster:
    """A cluster that workloads are deployed to, and where its credentials will be."""

    api_version: str
    key: ObjectKey
    address: str = ""
    """What creates it, or its Secret, in this plan; empty for one that exists already."""
    secret: tuple[str, str] | None = None
    """Namespace and name of its connection Secret; None where only the live object has it."""
    secret_key: str = ""
    claim: ClaimKey | None = None
    """The claim that it was composed for, or that holds it."""

    @property
    def identity(self) -> str:
        """What the cluster is known by, whatever its address: its kind and name."""
        return str(self.key)

    @property
    def credentials(self) -> Ref | None:
        """The value that its users wait for; None for a cluster that is there already."""
        path = ("spec", "writeConnectionSecretToRef")
        return Ref(self.address, path, known=self.secret) if self.address else None


@dataclass(frozen=True, slots=True)
class Published:
    """A target with the cluster that it leads to."""

    target: WorkloadTarget
    cluster: TargetCluster


def published(catalog: Catalog, expansion: Expansion) -> dict[ClaimKey, Published]:
    """Every target of a stack with its cluster, those of claims included; problems are reported together."""
    clusters = _Clusters(catalog, expansion)
    found: dict[ClaimKey, Published] = {}
    problems = Collector()
    for target in catalog.workloads.targets.values():
        with problems.catch():
            cluster = clusters.of(target)
            _refuse_strange(target, cluster)
            found[target.key] = Published(target, cluster)
    for root in expansion.drafts:
        for draft in root.walk():
            with problems.catch():
                own = _automatic(draft, clusters)
                if own:
                    _refuse_twice(own.target, draft, catalog.workloads.targets)
                    found[own.target.key] = own
    problems.raise_as(BindingError)
    return found


class _Clusters:
    """The clusters of a stack: composed for claims, provided by files, or pre-existing."""

    def __init__(self, catalog: Catalog, expansion: Expansion) -> None:
        self._catalog = catalog
        self._drafts = [(root, draft) for root in expansion.drafts for draft in root.walk()]
        self._claimed = {c.key: c for root in expansion.drafts for c in self.members(root, root)}

    def of(self, target: WorkloadTarget) -> TargetCluster:
        """The cluster that a target means."""
        wanted = target.cluster
        kind = wanted.key.group_kind
        if kind == PROVIDER:
            return self._provider(wanted)
        if self._catalog.bindable.is_cluster(kind):
            found = self._claimed.get(ObjectKey(kind, "", wanted.name)) or self._unclaimed(wanted)
            return self.connectable(found, target)
        if kind in _COMPOSITES or self._catalog.defined(kind):
            return self.connectable(self._member(target), target)
        raise BindingError(self._unfit(target))

    def members(self, draft: Draft, root: Draft) -> list[TargetCluster]:
        """The clusters that a claim composes, or holds."""
        found = []
        for inner in draft.walk():
            for child in inner.children:
                if self._catalog.bindable.is_cluster(child.template.group_kind):
                    place = connections.secret_source(child.template.name, child.document)
                    key = ObjectKey(child.template.group_kind, "", child.name)
                    secret = (place.namespace, place.name) if place else None
                    found.append(
                        TargetCluster(
                            child.template.api_version, key, child.address, secret, claim=root.binding.claim.key
                        )
                    )
            static = inner.binding.klass.static
            if static and self._catalog.bindable.is_cluster(GroupKind.of(dict(static))):
                held = self._unclaimed(ObjectRef.model_validate(dict(static)))
                found.append(replace(held, claim=root.binding.claim.key))
        return found

    def _provider(self, wanted: ObjectRef) -> TargetCluster:
        """A pre-existing cluster; one that no file provides is looked up where the stack is deployed."""
        key = ObjectKey(PROVIDER, "", wanted.name)
        known = self._catalog.workloads.providers.get(key)
        if known is None:
            return TargetCluster(wanted.api_version, key)
        secret = ObjectKey(GroupKind("", "Secret"), *known.secret)
        address = str(secret) if secret in self._catalog.resources else ""
        return TargetCluster(known.api_version, key, address, known.secret, known.secret_key)

    def _unclaimed(self, wanted: ObjectRef) -> TargetCluster:
        key = ObjectKey(wanted.key.group_kind, "", wanted.name)
        given = self._catalog.resources.get(key)
        if given is None:
            return TargetCluster(wanted.api_version, key)
        place = connections.secret_source(wanted.name, given.data)
        secret = (place.namespace, place.name) if place else None
        return TargetCluster(str(given.data["apiVersion"]), key, str(key), secret)

    def _member(self, target: WorkloadTarget) -> TargetCluster:
        """The one cluster of a composite, an aggregate or an instance of a defined kind."""
        wanted, kind = target.cluster, target.cluster.key.group_kind
        known = [(root, d) for root, d in self._drafts if self._is_of(d, kind, target.key.namespace)]
        for root, draft in known:
            if self._name(draft, kind) != wanted.name:
                continue
            members = self.members(draft, root)
            if len(members) == 1:
                return members[0]
            listed = ", ".join(c.identity for c in members) or "none"
            what = f"{target.key}: {wanted.key} does not stand for one cluster; its clusters: {listed}"
            raise BindingError(_problem(target, what, "name the cluster itself"))
        names = [self._name(d, kind) for _, d in known]
        fix = suggest(wanted.name, names, none="none in this stack")
        raise BindingError(_problem(target, f"{target.key}: there is no {wanted.key} in this stack", fix))

    def _is_of(self, draft: Draft, kind: GroupKind, namespace: str) -> bool:
        if kind in _COMPOSITES:
            return GroupKind.of(draft.identity.dialect.composite) == kind
        key = draft.binding.claim.key
        return key.group_kind == kind and key.namespace in ("", namespace)

    def _name(self, draft: Draft, kind: GroupKind) -> str:
        return draft.identity.composite_name if kind in _COMPOSITES else draft.binding.claim.key.name

    def connectable(self, cluster: TargetCluster, target: WorkloadTarget) -> TargetCluster:
        """The cluster, if it publishes how to connect to it."""
        if cluster.address and cluster.secret is None:
            what = f"{target.key}: {cluster.identity} writes no connection Secret, so nothing can be deployed to it"
            fix = "give it spec.writeConnectionSecretToRef, or its class writeConnectionSecretsToNamespace"
            raise BindingError(_problem(target, what, fix))
        return cluster

    def _unfit(self, target: WorkloadTarget) -> Problem:
        """Why a target cannot point where it does, and where it could."""
        kind, name = target.cluster.key.group_kind, target.cluster.name
        what = f"{target.key} points to {target.cluster.key}, which is no cluster"
        for root, draft in self._drafts:
            if draft.binding.claim.key == ClaimKey(kind, target.key.namespace, name):
                members = self.members(draft, root)
                bound = f"; name what it is bound to: {_reference(members[0])}" if members else ""
                return _problem(target, f"{what} but a claim", f"a target names the cluster itself{bound}")
        kinds = sorted(self._catalog.bindable.clusters)
        same = [k for k in kinds if k.kind == kind.kind]
        listed = ", ".join(map(str, same or kinds))
        words = f"did you mean {listed}?" if same else f"name one of: {listed}, {PROVIDER}"
        return _problem(target, what, f"{words}; or a composite of one, or add the kind to components/bindable.yaml")


def _refuse_strange(target: WorkloadTarget, cluster: TargetCluster) -> None:
    """Refuse a target among the claims that would publish what its namespace has not claimed."""
    namespace = target.key.namespace
    if target.published or (cluster.claim and cluster.claim.namespace == namespace):
        return
    whose = f"was created for {cluster.claim}" if cluster.claim else f"was created for no claim of {namespace}"
    what = f"{target.key} would publish {cluster.identity}, which {whose}"
    fix = f"let the platform publish it, in stacks/<stack>/resources/; or claim a cluster in {namespace}"
    raise BindingError(_problem(target, what, fix))


def _refuse_twice(target: WorkloadTarget, draft: Draft, written: Mapping[ClaimKey, WorkloadTarget]) -> None:
    """Refuse a target that a claim asks for where one of that name is written already."""
    if target.key in written:
        other = written[target.key].document.source_of("metadata.name")
        what = f"{target.key} occurs twice: it is written at {other}, and {draft.binding.claim.key} asks for it"
        fix = f"remove the one that is written, or the claim's annotation {AUTOMATIC}"
        raise BindingError(_problem(target, what, fix))


def _automatic(draft: Draft, clusters: _Clusters) -> Published | None:
    """The target that a claim asks for: of its namespace, name and labels."""
    claim = draft.binding.claim
    metadata: Mapping[str, Any] = claim.data.get("metadata") or {}
    if (metadata.get("annotations") or {}).get(AUTOMATIC) != "true":
        return None
    path = f"metadata.annotations[{AUTOMATIC}]"
    members = clusters.members(draft, draft)
    if not claim.key.namespace or len(members) != 1:
        why = f"{len(members)} clusters" if claim.key.namespace else "no namespace"
        what = f"{claim.key} asks for a target, but has {why}"
        fix = "only a claim for one cluster, in a namespace, has a target of its own: remove the annotation"
        raise BindingError(claim.document.problem(what, path, fix))
    cluster = members[0]
    target = WorkloadTarget(
        key=ClaimKey(TARGET, claim.key.namespace, claim.key.name),
        cluster=ObjectRef.model_validate(_reference(cluster)),
        document=claim.document,
        labels=dict(metadata.get("labels") or {}),
        path=path,
    )
    return Published(target, clusters.connectable(cluster, target))


def _reference(cluster: TargetCluster) -> dict[str, str]:
    return {"apiVersion": cluster.api_version, "kind": cluster.key.group_kind.kind, "name": cluster.key.name}


def _problem(target: WorkloadTarget, what: str, fix: str) -> Problem:
    return target.document.problem(what, target.path, fix)
