"""Document 004 in pieces that a test may change: clusters, targets that publish them, applications that use them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import yaml

from claimsmith.platform.permissions import WORKLOAD_ALLOW, WORKLOAD_NAMESPACES

WORKLOAD = "workload.crossplane.io/v1alpha1"
GKE = "compute.gcp.crossplane.io/v1alpha3"
NO_SECRET = "simulated-cloud.claimsmith.io/no-secret"

_CLASS = Path(__file__).resolve().parents[2] / "components" / "clusters" / "class.yaml"


def development_class() -> dict[str, Any]:
    """The class for development clusters of the example platform."""
    klass: dict[str, Any] = yaml.safe_load(_CLASS.read_text(encoding="utf-8"))
    return klass


def gke_cluster(name: str, **annotations: str) -> dict[str, Any]:
    """A cluster that the infrastructure owner provisions; its Secret has its name."""
    return {
        "apiVersion": GKE,
        "kind": "GKECluster",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {
            "forProvider": {"location": "europe-west1-b", "numNodes": 3},
            "reclaimPolicy": "Delete",
            "writeConnectionSecretToRef": {"namespace": "crossplane-system", "name": name},
        },
    }


def cluster_claim(namespace: str, name: str = "dev", **metadata: Any) -> dict[str, Any]:
    """A claim for a development cluster."""
    return {
        "apiVersion": "compute.crossplane.io/v1alpha1",
        "kind": "KubernetesCluster",
        "metadata": {"namespace": namespace, "name": name, **metadata},
        "spec": {"classRef": {"apiVersion": GKE, "kind": "GKEClusterClass", "name": "development"}},
    }


def own_target(namespace: str, name: str, cluster: str, *, kind: str = "GKECluster", api: str = GKE) -> dict[str, Any]:
    """A target as a team writes it: whose label `env` is its name."""
    return {
        "apiVersion": WORKLOAD,
        "kind": "WorkloadTarget",
        "metadata": {"namespace": namespace, "name": name, "labels": {"env": name}},
        "clusterRef": {"kind": kind, "apiVersion": api, "name": cluster},
    }


def target(namespace: str, name: str, cluster: str, **kind: str) -> dict[str, Any]:
    """A target as the platform writes it, which permits everything."""
    own = own_target(namespace, name, cluster, **kind)
    annotations = {WORKLOAD_NAMESPACES: "*", WORKLOAD_ALLOW: "cluster-scope, engine-annotations"}
    return {**own, "metadata": {**own["metadata"], "annotations": annotations}}


def provider(name: str, namespace: str, secret: str, **key: str) -> dict[str, Any]:
    """An existing cluster, known by a Secret."""
    return {
        "apiVersion": "kubernetes.crossplane.io/v1alpha1",
        "kind": "Provider",
        "metadata": {"name": name},
        "spec": {"credentialsSecretRef": {"namespace": namespace, "name": secret, **key}},
    }


def application(
    namespace: str, name: str, env: str, *templates: dict[str, Any], secrets: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An application for the target of that label; its last template goes with the Secrets."""
    return {
        "apiVersion": WORKLOAD,
        "kind": "KubernetesApplication",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": name}},
        "spec": {
            "targetSelector": {"matchLabels": {"env": env}},
            "resourceSelector": {"matchLabels": {"app": name}},
            "resourceTemplates": [
                {
                    "metadata": {"name": f"{name}-{t['kind'].lower()}", "labels": {"app": name}},
                    "spec": {"secrets": [{"name": s} for s in secrets if t is templates[-1]], "template": t},
                }
                for t in templates
            ],
        },
    }


def namespace_object(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def config_map(name: str, namespace: str | None = None, **data: str) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **place}, "data": data}


def deployment(name: str, namespace: str | None = None) -> dict[str, Any]:
    """A Deployment that is not waited for: nobody runs pods in these clusters."""
    place = {"namespace": namespace} if namespace else {}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, **place, "annotations": {"pulumi.com/skipAwait": "true"}},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "wordpress:4.6.1-apache"}]},
            },
        },
    }


def secret(namespace: str, name: str, **values: str) -> dict[str, Any]:
    data = {k: base64.b64encode(v.encode()).decode() for k, v in values.items()}
    metadata = {"namespace": namespace, "name": name}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": data}
