"""Document 001's private MySQL server, in pieces that a test may change."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

_CLASS = Path(__file__).resolve().parents[2] / "components" / "private-mysql-server" / "class.yaml"


def private_mysql(name: str = "private-mysql-server") -> dict[str, Any]:
    """The class of the example platform, under any name."""
    klass: dict[str, Any] = yaml.safe_load(_CLASS.read_text(encoding="utf-8"))
    klass["metadata"] = {"name": name}
    return klass


def claim(namespace: str, *, name: str = "sql", klass: str = "private-mysql-server", **spec: Any) -> dict[str, Any]:
    """A claim for it."""
    return {
        "apiVersion": "database.example.org/v1alpha1",
        "kind": "MySQLInstance",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {
            "engineVersion": "5.7",
            "storageGB": 10,
            "region": "us-west",
            "writeConnectionSecretToRef": {"name": name},
            "classRef": {
                "apiVersion": "infrastructure.crossplane.io/v1alpha1",
                "kind": "CompositeResourceClass",
                "name": klass,
            },
            **spec,
        },
    }


def with_reclaim_policy(klass: dict[str, Any], policy: str) -> dict[str, Any]:
    """The class with one reclaim policy for all its resources."""
    changed = copy.deepcopy(klass)
    for resource in changed["spec"]["resources"]:
        resource["base"]["spec"]["reclaimPolicy"] = policy
    return changed
