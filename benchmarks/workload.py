"""Projects of any size to measure with: one class of databases, and as many claims as wanted.

Each claim makes a resource group and servers in it, each child with ten patches: plain copies, a map, arithmetic,
formats and labels. The servers name their group by a selector, as real compositions do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

GROUP = "bench.example.org"
REGIONS = {"us-west": "West US", "us-east": "East US", "eu-north": "North Europe", "eu-west": "West Europe"}
TIERS = {"small": "Basic", "large": "GeneralPurpose"}


def class_document(children: int, patches: int = 10) -> dict[str, Any]:
    """A class that makes a resource group and `children - 1` servers in it."""
    resources = [{"base": _group_base(), "patches": _patches()[:patches]}]
    resources += [{"base": _server_base(i), "patches": _patches()[:patches]} for i in range(1, children)]
    return {
        "apiVersion": "infrastructure.crossplane.io/v1alpha1",
        "kind": "CompositeResourceClass",
        "metadata": {"name": "databases", "annotations": {"resourceclass.crossplane.io/is-default-class": "true"}},
        "spec": {"claim": {"apiVersion": f"{GROUP}/v1alpha1", "kind": "Database"}, "resources": resources},
    }


def claim_document(number: int) -> dict[str, Any]:
    """The claim of a number: all differ, in name and in values."""
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "Database",
        "metadata": {"namespace": f"team-{number % 20}", "name": f"db-{number}"},
        "spec": {
            "region": list(REGIONS)[number % len(REGIONS)],
            "size": list(TIERS)[number % len(TIERS)],
            "engineVersion": f"5.{number % 9}",
            "storageGB": 10 + number % 500,
            "owner": f"owner-{number % 97}",
            "costCentre": f"cc{number % 31}",
            "retentionDays": number % 30,
        },
    }


def composition_document(children: int) -> dict[str, Any]:
    """The same class as a Crossplane composition, in one step of patch-and-transform."""
    fields = {"fromClaimFieldPath": "fromFieldPath", "toResourceFieldPath": "toFieldPath"}
    resources = [
        {
            "name": f"resource-{index}",
            "base": resource["base"],
            "patches": [{fields.get(key, key): value for key, value in patch.items()} for patch in resource["patches"]],
        }
        for index, resource in enumerate(class_document(children)["spec"]["resources"])
    ]
    step = {
        "step": "compose",
        "functionRef": {"name": "function-patch-and-transform"},
        "input": {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": resources},
    }
    serves = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "Database"}
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "databases"},
        "spec": {"compositeTypeRef": serves, "mode": "Pipeline", "pipeline": [step]},
    }


def write_composite(root: Path, children: int = 5) -> tuple[Path, Path]:
    """The files of a composite and of its composition."""
    composite, composition = root / "xr.yaml", root / "composition.yaml"
    write(composite, claim_document(1))
    write(composition, composition_document(children))
    return composite, composition


def write_project(root: Path, *, claims: int, children: int, patches: int = 10) -> Path:
    """A project with that many claims in its stack `dev`, a file for each hundred."""
    write(root / "Pulumi.yaml", {"name": "bench", "runtime": "python", "main": "stacks", "stackConfigDir": "stacks"})
    write(root / "components" / "databases" / "class.yaml", class_document(children, patches))
    folder = root / "stacks" / "dev" / "claims"
    for first in range(0, claims, 100):
        numbers = range(first, min(first + 100, claims))
        write(folder / f"claims-{first:06}.yaml", *(claim_document(n) for n in numbers))
    return root


def write_buckets(root: Path, *, claims: int) -> Path:
    """A project of the example platform's buckets: each claim composes four resources of the AWS provider."""
    write(root / "Pulumi.yaml", {"name": "bench", "runtime": "python", "main": "stacks", "stackConfigDir": "stacks"})
    own = Path(__file__).parents[1] / "examples" / "clouds" / "components" / "bucket" / "class.yaml"
    copy = root / "components" / "bucket" / "class.yaml"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(own.read_bytes())
    kind = {"apiVersion": "infrastructure.crossplane.io/v1alpha1", "kind": "CompositeResourceClass", "name": "bucket"}
    documents = [
        {
            "apiVersion": "platform.example.org/v1alpha1",
            "kind": "Bucket",
            "metadata": {"namespace": f"team-{number % 20}", "name": f"bucket-{number}"},
            "spec": {"classRef": kind, "forceDestroy": number % 2 == 0},
        }
        for number in range(claims)
    ]
    write(root / "stacks" / "dev" / "claims" / "buckets.yaml", *documents)
    return root


def write(path: Path, *documents: dict[str, Any]) -> None:
    """Write documents as a YAML stream."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump_all(documents, sort_keys=False), encoding="utf-8")


def _group_base() -> dict[str, Any]:
    return {
        "apiVersion": "azure.crossplane.io/v1alpha3",
        "kind": "ResourceGroup",
        "metadata": {"labels": {"part": "group"}},
        "spec": {**_common(), "location": "West US"},
    }


def _server_base(number: int) -> dict[str, Any]:
    for_provider = {
        "administratorLogin": f"admin{number}",
        "resourceGroupNameSelector": {"matchControllerRef": True},
        "sslEnforcement": "Enabled",
        "sku": {"tier": "Basic", "capacity": 1, "family": "Gen5"},
        "storageProfile": {"backupRetentionDays": 7, "geoRedundantBackup": "Disabled", "storageAutogrow": "Enabled"},
    }
    return {
        "apiVersion": "database.azure.crossplane.io/v1beta1",
        "kind": "MySQLServer",
        "metadata": {"labels": {"part": f"server-{number}"}},
        "spec": {**_common(), "forProvider": for_provider},
    }


def _common() -> dict[str, Any]:
    return {
        "providerRef": {"name": "azure"},
        "reclaimPolicy": "Delete",
        "maintenance": {"window": {"day": "Sunday", "hour": 3, "minutes": 30}, "channels": ["mail", "pager"]},
        "monitoring": {"enabled": True, "interval": "60s", "alerts": {"cpu": 80, "memory": 90, "disk": 85}},
    }


def _patches() -> list[dict[str, Any]]:
    return [
        _patch("spec.region", "spec.forProvider.location", {"type": "map", "map": REGIONS}),
        _patch("spec.size", "spec.forProvider.sku.tier", {"type": "map", "map": TIERS}),
        _patch("spec.engineVersion", "spec.forProvider.version"),
        _patch(
            "spec.storageGB", "spec.forProvider.storageProfile.storageMB", {"type": "math", "math": {"multiply": 1024}}
        ),
        _patch("spec.owner", "metadata.labels.owner"),
        _patch("spec.costCentre", "metadata.labels['bench.example.org/cost-centre']"),
        _patch("spec.costCentre", "spec.forProvider.tags.billing", {"type": "string", "string": {"fmt": "cost-%s"}}),
        _patch("spec.retentionDays", "spec.forProvider.storageProfile.backupRetentionDays"),
        _patch("metadata.name", "spec.forProvider.tags.claim"),
        _patch("spec.owner", "spec.monitoring.mail", {"type": "string", "string": {"fmt": "%s@example.org"}}),
    ]


def _patch(origin: str, to: str, *transforms: dict[str, Any]) -> dict[str, Any]:
    patch = {"fromClaimFieldPath": origin, "toResourceFieldPath": to}
    return patch | ({"transforms": json.loads(json.dumps(transforms))} if transforms else {})
