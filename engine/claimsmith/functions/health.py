"""When an object of Kubernetes' own kinds is ready, as function-auto-ready judges it; others have a condition Ready."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
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


def _count(fields: Document, key: str) -> int | None:
    """A number of the document, without what stands after its point; None where there is no number."""
    value = fields.get(key)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _counts(document: Document, *keys: str) -> set[int | None]:
    return {_count(_status(document), key) for key in keys}


def _replicas(document: Document) -> int:
    wanted = _count(object_at(document, "spec"), "replicas")
    return 1 if wanted is None else wanted


def _conditions(document: Document) -> list[Document]:
    listed = _status(document).get("conditions")
    return [c for c in listed if isinstance(c, Mapping)] if isinstance(listed, list) else []


def _always(_: Document) -> bool:
    return True


def _deployment(document: Document) -> bool:
    available = {"type": "Available", "status": "True"}
    counts = _counts(document, "updatedReplicas", "availableReplicas")
    return counts == {_replicas(document)} and any(available.items() <= c.items() for c in _conditions(document))


def _stateful_set(document: Document) -> bool:
    status = _status(document)
    counts, revision = _counts(document, "readyReplicas", "currentReplicas"), status.get("currentRevision")
    return counts == {_replicas(document)} and revision is not None and revision == status.get("updateRevision")


def _daemon_set(document: Document) -> bool:
    counts = _counts(document, "desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable")
    return len(counts) == 1 and None not in counts


def _replica_set(document: Document) -> bool:
    status = _status(document)
    generation = _count(object_at(document, "metadata"), "generation") or 0
    seen = (_count(status, "observedGeneration") or 0) >= generation
    failed = status_of(document, "ReplicaFailure") == "True"
    return seen and not failed and (_count(status, "availableReplicas") or 0) >= _replicas(document)


def _cron_job(document: Document) -> bool:
    status = _status(document)
    scheduled, succeeded = _time(status, "lastScheduleTime"), _time(status, "lastSuccessfulTime")
    if object_at(document, "spec").get("suspend") is True:
        return True
    if not scheduled:
        return False
    return bool(status.get("active")) or bool(succeeded and succeeded >= scheduled)


def _time(fields: Document, key: str) -> datetime.datetime | None:
    try:
        found = datetime.datetime.fromisoformat(str(fields.get(key)))
    except ValueError:
        return None
    return found if found.tzinfo else None


def _job(document: Document) -> bool:
    return _first(document, ready=("Complete",), failed=("Failed", "Suspended"))


def _first(document: Document, ready: Sequence[str], failed: Sequence[str]) -> bool:
    """The verdict of the first condition that is true, in the order of the document: as the function reads them."""
    for condition in _conditions(document):
        if condition.get("status") == "True":
            kind = condition.get("type")
            if kind in (*ready, *failed):
                return kind in ready
    return False


def _pod(document: Document) -> bool:
    phase = _status(document).get("phase")
    restarts = object_at(document, "spec").get("restartPolicy") == "Always"
    running = phase == "Running" and restarts and status_of(document, "Ready") == "True"
    return phase == "Succeeded" or running


def _bound(document: Document) -> bool:
    return _status(document).get("phase") == "Bound"


def _has_ingress(document: Document) -> bool:
    listed = object_at(_status(document), "loadBalancer").get("ingress")
    return isinstance(listed, list) and bool(listed)


def _service(document: Document) -> bool:
    return object_at(document, "spec").get("type") != "LoadBalancer" or _has_ingress(document)


def _autoscaler(document: Document) -> bool:
    failed = ("FailedGetScale", "FailedUpdateScale", "FailedGetResourceMetric", "InvalidSelector")
    return _first(document, ready=("ScalingActive", "ScalingLimited"), failed=failed)


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
