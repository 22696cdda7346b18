"""When an object of Kubernetes' own kinds is ready, as function-auto-ready judges it; others have a condition Ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from claimsmith.base.values import object_at
from claimsmith.patching.readiness import status_of

Document = Mapping[str, Any]


def is_healthy(document: Document) -> bool | None:
    """Whether the object is ready; None where its kind has no check of its own."""
    check = _CHECKS.get((str(document.get("apiVersion", "")), str(document.get("kind", ""))))
    return check(document) if check else None


def _status(document: Document) -> Document:
    return object_at(document, "status")


def _replicas(document: Document) -> Any:
    wanted = object_at(document, "spec").get("replicas")
    return 1 if wanted is None else wanted


def _always(_: Document) -> bool:
    return True


def _deployment(document: Document) -> bool:
    status, wanted = _status(document), _replicas(document)
    counts = {status.get("updatedReplicas"), status.get("availableReplicas")}
    return counts == {wanted} and status_of(document, "Available") == "True"


def _stateful_set(document: Document) -> bool:
    status, wanted = _status(document), _replicas(document)
    counts = {status.get("readyReplicas"), status.get("currentReplicas")}
    revision = status.get("currentRevision")
    return counts == {wanted} and revision is not None and revision == status.get("updateRevision")


def _daemon_set(document: Document) -> bool:
    keys = ("desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable")
    counts = {_status(document).get(key) for key in keys}
    return len(counts) == 1 and None not in counts


def _replica_set(document: Document) -> bool:
    status = _status(document)
    seen = (status.get("observedGeneration") or 0) >= (object_at(document, "metadata").get("generation") or 0)
    failed = status_of(document, "ReplicaFailure") == "True"
    return seen and not failed and bool((status.get("availableReplicas") or 0) >= _replicas(document))


def _cron_job(document: Document) -> bool:
    status = _status(document)
    scheduled, succeeded = status.get("lastScheduleTime"), status.get("lastSuccessfulTime")
    if object_at(document, "spec").get("suspend") is True:
        return True
    if not scheduled:
        return False
    # Times of Kubernetes are in one form, which sorts like the time itself.
    return bool(status.get("active")) or bool(succeeded and str(succeeded) >= str(scheduled))


def _job(document: Document) -> bool:
    ended = [kind for kind in ("Failed", "Suspended", "Complete") if status_of(document, kind) == "True"]
    return ended == ["Complete"]


def _pod(document: Document) -> bool:
    phase = _status(document).get("phase")
    restarts = object_at(document, "spec").get("restartPolicy") == "Always"
    running = phase == "Running" and restarts and status_of(document, "Ready") == "True"
    return phase == "Succeeded" or running


def _bound(document: Document) -> bool:
    return _status(document).get("phase") == "Bound"


def _has_ingress(document: Document) -> bool:
    return bool(object_at(_status(document), "loadBalancer").get("ingress"))


def _service(document: Document) -> bool:
    return object_at(document, "spec").get("type") != "LoadBalancer" or _has_ingress(document)


def _autoscaler(document: Document) -> bool:
    failed = ("FailedGetScale", "FailedUpdateScale", "FailedGetResourceMetric", "InvalidSelector")
    if any(status_of(document, kind) == "True" for kind in failed):
        return False
    return any(status_of(document, kind) == "True" for kind in ("ScalingActive", "ScalingLimited"))


_CHECKS: Final[Mapping[tuple[str, str], Callable[[Document], bool]]] = {
    ("v1", "ConfigMap"): _always,
    ("v1", "Namespace"): _always,
    ("v1", "Secret"): _always,
    ("v1", "ServiceAccount"): _always,
    ("v1", "Service"): _service,
    ("v1", "Pod"): _pod,
    ("v1", "PersistentVolumeClaim"): _bound,
    ("apps/v1", "DaemonSet"): _daemon_set,
    ("apps/v1", "Deployment"): _deployment,
    ("apps/v1", "ReplicaSet"): _replica_set,
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("batch/v1", "CronJob"): _cron_job,
    ("batch/v1", "Job"): _job,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): _autoscaler,
    ("networking.k8s.io/v1", "Ingress"): _has_ingress,
}
