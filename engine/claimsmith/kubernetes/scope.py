"""Whether a kind is namespaced: declared by CRDs, definitions or Kubernetes itself, never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.names import GroupKind

_NAMESPACED = {
    "": ("ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate",
         "ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"),
    "apps": ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "batch": ("CronJob", "Job"),
    "networking.k8s.io": ("Ingress", "NetworkPolicy"),
    "extensions": ("Ingress",),
    "policy": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io": ("Role", "RoleBinding"),
    "workload.crossplane.io": ("KubernetesApplication", "KubernetesApplicationResource", "WorkloadTarget"),
}  # fmt: skip
_CLUSTER = {
    "": ("Namespace", "Node", "PersistentVolume"),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding"),
    "storage.k8s.io": ("StorageClass",),
    "core.crossplane.io": ("CompositeResource",),
    "aggregation.crossplane.io": ("AggregateResource",),
    "kubernetes.crossplane.io": ("Provider",),
}


class Scopes:
    """The scopes of kinds, as they are declared."""

    def __init__(self, declared: Mapping[GroupKind, bool]) -> None:
        self._namespaced = {
            **{GroupKind(g, k): True for g, kinds in _NAMESPACED.items() for k in kinds},
            **{GroupKind(g, k): False for g, kinds in _CLUSTER.items() for k in kinds},
            **declared,
        }

    def namespaced(self, kind: GroupKind) -> bool | None:
        """Whether a kind is namespaced; None where nothing declares it."""
        return self._namespaced.get(kind)

    def check(self, kind: GroupKind, *, namespaced: bool | None) -> None:
        """Refuse a kind that is not where its parent needs it: in an application's namespace, or at cluster scope."""
        if namespaced is None:
            return
        actual = self.namespaced(kind)
        if actual is None:
            fix = "add its CustomResourceDefinition to the platform's files"
            raise ComposeError(Problem(f"it is not known whether {kind} is namespaced", path="kind", fix=fix))
        if actual != namespaced:
            place = "at cluster scope" if namespaced else "in namespaces"
            wanted = (
                "an application composes within its namespace"
                if namespaced
                else "infrastructure composes at cluster scope"
            )
            raise ComposeError(
                Problem(f"{kind} lives {place}, but {wanted} only", path="kind", fix="compose another kind")
            )


BUILT_IN = Scopes({})
"""The scopes of the kinds that Kubernetes itself and our own records have."""


def refuse_elsewhere(document: Mapping[str, Any], namespace: str) -> None:
    """Refuse an application's child whose connection Secret would be in another namespace than the application."""
    spec = document.get("spec")
    secret = spec.get("writeConnectionSecretToRef") if isinstance(spec, dict) else None
    wanted = secret.get("namespace", namespace) if isinstance(secret, dict) else namespace
    if wanted != namespace:
        path = "spec.writeConnectionSecretToRef.namespace"
        what = f"its connection Secret would be in {wanted!r}, but an application keeps to its namespace, {namespace!r}"
        raise ComposeError(Problem(what, path=path, fix="leave out namespace, or write the application's"))


def scopes_of_crds(crds: Iterable[Mapping[str, Any]]) -> dict[GroupKind, bool]:
    """The scopes that CRDs declare."""
    scopes = {}
    for crd in crds:
        spec = crd.get("spec") or {}
        kind = (spec.get("names") or {}).get("kind")
        if kind:
            scopes[GroupKind(str(spec.get("group", "")), str(kind))] = spec.get("scope", "Namespaced") == "Namespaced"
    return scopes
