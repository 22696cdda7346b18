"""Readiness of Kubernetes' own kinds."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.functions.health import is_healthy


def conditions(**status: str) -> list[dict[str, str]]:
    return [{"type": kind, "status": value} for kind, value in status.items()]


DAEMONS = dict.fromkeys(("desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable"), 2)
INGRESS = {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}


@pytest.mark.parametrize(
    ("kind", "spec", "status", "want"),
    [
        pytest.param("v1 Secret", {}, {}, True, id="secret"),
        pytest.param("v1 Service", {}, {}, True, id="service"),
        pytest.param("v1 Service", {"type": "LoadBalancer"}, {}, False, id="balancer-without-address"),
        pytest.param("v1 Service", {"type": "LoadBalancer"}, INGRESS, True, id="balancer"),
        pytest.param("v1 Pod", {}, {"phase": "Succeeded"}, True, id="pod-that-ended"),
        pytest.param(
            "v1 Pod",
            {"restartPolicy": "Always"},
            {"phase": "Running", "conditions": conditions(Ready="True")},
            True,
            id="pod-that-runs",
        ),
        pytest.param("v1 Pod", {"restartPolicy": "Never"}, {"phase": "Running"}, False, id="pod-at-work"),
        pytest.param("v1 PersistentVolumeClaim", {}, {"phase": "Bound"}, True, id="volume"),
        pytest.param("v1 PersistentVolumeClaim", {}, {"phase": "Pending"}, False, id="volume-pending"),
        pytest.param(
            "apps/v1 Deployment",
            {"replicas": 2},
            {"updatedReplicas": 2, "availableReplicas": 2, "conditions": conditions(Available="True")},
            True,
            id="deployment",
        ),
        pytest.param(
            "apps/v1 Deployment", {"replicas": 2}, {"updatedReplicas": 2, "availableReplicas": 1}, False, id="rolling"
        ),
        pytest.param(
            "apps/v1 StatefulSet",
            {},
            {"readyReplicas": 1, "currentReplicas": 1, "currentRevision": "a", "updateRevision": "a"},
            True,
            id="stateful-set",
        ),
        pytest.param("apps/v1 StatefulSet", {}, {"readyReplicas": 1}, False, id="stateful-set-starting"),
        pytest.param("apps/v1 DaemonSet", {}, DAEMONS, True, id="daemons"),
        pytest.param("apps/v1 DaemonSet", {}, {**DAEMONS, "numberReady": 1}, False, id="daemons-starting"),
        pytest.param("apps/v1 ReplicaSet", {}, {"availableReplicas": 1}, True, id="replicas"),
        pytest.param(
            "apps/v1 ReplicaSet",
            {},
            {"availableReplicas": 1, "conditions": conditions(ReplicaFailure="True")},
            False,
            id="replicas-failed",
        ),
        pytest.param("batch/v1 Job", {}, {"conditions": conditions(Complete="True")}, True, id="job"),
        pytest.param("batch/v1 Job", {}, {"conditions": conditions(Failed="True")}, False, id="job-failed"),
        pytest.param("batch/v1 CronJob", {"suspend": True}, {}, True, id="cron-suspended"),
        pytest.param("batch/v1 CronJob", {}, {}, False, id="cron-never-ran"),
        pytest.param(
            "batch/v1 CronJob",
            {},
            {"lastScheduleTime": "2026-01-01T00:00:00Z", "lastSuccessfulTime": "2026-01-01T00:01:00Z"},
            True,
            id="cron",
        ),
        pytest.param("networking.k8s.io/v1 Ingress", {}, INGRESS, True, id="ingress"),
        pytest.param("networking.k8s.io/v1 Ingress", {}, {}, False, id="ingress-without-address"),
        pytest.param(
            "autoscaling/v2 HorizontalPodAutoscaler",
            {},
            {"conditions": conditions(ScalingActive="True")},
            True,
            id="hpa",
        ),
        pytest.param(
            "autoscaling/v2 HorizontalPodAutoscaler",
            {},
            {"conditions": conditions(ScalingActive="True", InvalidSelector="True")},
            True,
            id="hpa-first-counts",
        ),
        pytest.param(
            "autoscaling/v2 HorizontalPodAutoscaler",
            {},
            {"conditions": conditions(InvalidSelector="True", ScalingActive="True")},
            False,
            id="hpa-failed-first",
        ),
        pytest.param(
            "batch/v1 Job",
            {},
            {"conditions": conditions(Complete="True", Suspended="True")},
            True,
            id="job-first-counts",
        ),
        pytest.param(
            "batch/v1 Job", {}, {"conditions": conditions(Suspended="True", Complete="True")}, False, id="job-suspended"
        ),
        pytest.param(
            "apps/v1 Deployment",
            {"replicas": "two"},
            {
                "updatedReplicas": 1,
                "availableReplicas": 1,
                "conditions": [*conditions(Available="False"), *conditions(Available="True")],
            },
            True,
            id="deployment-whose-replicas-are-no-number",
        ),
        pytest.param("apps/v1 ReplicaSet", {"replicas": 2}, {"availableReplicas": "2"}, False, id="replicas-as-text"),
        pytest.param(
            "batch/v1 CronJob",
            {},
            {"lastScheduleTime": "2026-01-01T01:00:00+02:00", "lastSuccessfulTime": "2026-01-01T00:00:00Z"},
            True,
            id="cron-in-another-zone",
        ),
        pytest.param(
            "v1 Service",
            {"type": "LoadBalancer"},
            {"loadBalancer": {"ingress": {"ip": "10.0.0.1"}}},
            False,
            id="balancer-without-a-list",
        ),
        pytest.param("example.org/v1 Bucket", {}, {}, None, id="no-check-of-its-own"),
    ],
)
def test_is_healthy(kind: str, spec: dict[str, Any], status: dict[str, Any], want: bool | None) -> None:
    version, name = kind.split()
    assert is_healthy({"apiVersion": version, "kind": name, "spec": spec, "status": status}) is want
