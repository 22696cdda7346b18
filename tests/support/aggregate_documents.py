"""An aggregate of a server and two resource groups, and the documents of YAML texts."""

from __future__ import annotations

from typing import Any

import yaml


def parsed(*texts: str) -> list[dict[str, Any]]:
    """The documents of YAML texts."""
    return [document for text in texts for document in yaml.safe_load_all(text)]


def member(kind: str, name: str, version: str, **spec: Any) -> dict[str, Any]:
    labels = {"resourceclass.crossplane.io/aggregate-to": "all"}
    return {
        "apiVersion": version,
        "kind": f"{kind}Class",
        "metadata": {"name": name, "labels": labels},
        "specTemplate": spec,
    }


AGGREGATED = {
    "apiVersion": "aggregation.crossplane.io/v1alpha1",
    "kind": "AggregateResourceClass",
    "metadata": {"name": "all"},
    "aggregationRule": {"classSelector": {"matchLabels": {"resourceclass.crossplane.io/aggregate-to": "all"}}},
}


def aggregate(**selector: Any) -> list[dict[str, Any]]:
    """An aggregate of a server and two groups."""
    return [
        AGGREGATED,
        *(member("ResourceGroup", name, "azure.crossplane.io/v1alpha3", location="x") for name in ("one", "two")),
        member(
            *("MySQLServer", "server", "database.azure.crossplane.io/v1beta1"),
            forProvider={"version": "5.6", "resourceGroupNameSelector": selector},
        ),
    ]
