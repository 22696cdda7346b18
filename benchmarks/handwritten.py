"""What a Pulumi engineer would write by hand for the workload's claims: a component, no claimsmith in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from benchmarks.workload import REGIONS, TIERS


class ResourceGroup(pulumi.CustomResource):
    """An Azure resource group."""

    metadata: pulumi.Output[dict[str, Any]]

    def __init__(self, name: str, document: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("kubernetes:azure.crossplane.io/v1alpha3:ResourceGroup", name, dict(document), opts)


class MySQLServer(pulumi.CustomResource):
    """An Azure MySQL server."""

    metadata: pulumi.Output[dict[str, Any]]

    def __init__(self, name: str, document: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("kubernetes:database.azure.crossplane.io/v1beta1:MySQLServer", name, dict(document), opts)


class Databases(pulumi.ComponentResource):
    """A resource group and servers in it."""

    def __init__(self, name: str, args: Mapping[str, Any], children: int) -> None:
        super().__init__("bench:index:Databases", name, {}, None)
        metadata, spec = args["metadata"], args["spec"]
        labels = {
            "owner": spec["owner"],
            "bench.example.org/cost-centre": spec["costCentre"],
            "resourceclaim.crossplane.io/namespace": metadata["namespace"],
            "resourceclaim.crossplane.io/name": metadata["name"],
        }
        tags = {"billing": f"cost-{spec['costCentre']}", "claim": metadata["name"]}
        mail = f"{spec['owner']}@example.org"
        group = ResourceGroup(
            f"{name}/group",
            {
                "apiVersion": "azure.crossplane.io/v1alpha3",
                "kind": "ResourceGroup",
                "metadata": {"name": f"{metadata['name']}-group", "labels": {"part": "group", **labels}},
                "spec": {
                    **_common(mail),
                    "location": "West US",
                    "forProvider": {
                        "location": REGIONS[spec["region"]],
                        "sku": {"tier": TIERS[spec["size"]]},
                        "version": spec["engineVersion"],
                        "storageProfile": {
                            "storageMB": spec["storageGB"] * 1024,
                            "backupRetentionDays": spec["retentionDays"],
                        },
                        "tags": tags,
                    },
                },
            },
            pulumi.ResourceOptions(parent=self),
        )
        for number in range(1, children):
            MySQLServer(
                f"{name}/server-{number}",
                {
                    "apiVersion": "database.azure.crossplane.io/v1beta1",
                    "kind": "MySQLServer",
                    "metadata": {
                        "name": f"{metadata['name']}-server-{number}",
                        "labels": {"part": f"server-{number}", **labels},
                    },
                    "spec": {
                        **_common(mail),
                        "forProvider": {
                            "administratorLogin": f"admin{number}",
                            "resourceGroupNameRef": {"name": group.metadata["name"]},
                            "sslEnforcement": "Enabled",
                            "location": REGIONS[spec["region"]],
                            "version": spec["engineVersion"],
                            "sku": {"tier": TIERS[spec["size"]], "capacity": 1, "family": "Gen5"},
                            "storageProfile": {
                                "backupRetentionDays": spec["retentionDays"],
                                "geoRedundantBackup": "Disabled",
                                "storageAutogrow": "Enabled",
                                "storageMB": spec["storageGB"] * 1024,
                            },
                            "tags": tags,
                        },
                    },
                },
                pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({})


def _common(mail: str) -> dict[str, Any]:
    return {
        "providerRef": {"name": "azure"},
        "reclaimPolicy": "Delete",
        "maintenance": {"window": {"day": "Sunday", "hour": 3, "minutes": 30}, "channels": ["mail", "pager"]},
        "monitoring": {
            "enabled": True,
            "interval": "60s",
            "alerts": {"cpu": 80, "memory": 90, "disk": 85},
            "mail": mail,
        },
    }
