"""Small documents, classes, claims and plans that several test modules begin with."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.names import ClaimKey
from claimsmith.compose.drafts import Expansion
from claimsmith.compose.expand import expand
from claimsmith.compose.native_types import native_types
from claimsmith.compose.plan import Plan
from claimsmith.compose.planning import build_plan
from claimsmith.compose.reference_table import read_table
from claimsmith.compose.references import Table
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.klass import Class
from claimsmith.kubernetes.scope import Scopes
from claimsmith.platform import binding, selection
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.project import sdks

INFRASTRUCTURE = "infrastructure.crossplane.io/v1alpha1"
CLAIM_API = "database.example.org/v1alpha1"
BUCKET = {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "spec": {"forProvider": {"region": "eu"}}}
GROUP = {"apiVersion": "azure.crossplane.io/v1alpha3", "kind": "ResourceGroup", "spec": {"location": "West US"}}
SERVER = {
    "apiVersion": "database.azure.crossplane.io/v1beta1",
    "kind": "MySQLServer",
    "spec": {
        "resourceGroupNameSelector": {"matchComposite": True},
        "writeConnectionSecretToRef": {"namespace": "crossplane-system"},
    },
}


def class_data(
    name: str = "plain", *resources_: dict[str, Any], kind: str = "Database", **metadata: Any
) -> dict[str, Any]:
    """A CompositeResourceClass; its resources are `{"base": …, "patches": …}`, one plain bucket where none is given."""
    return {
        "apiVersion": INFRASTRUCTURE,
        "kind": "CompositeResourceClass",
        "metadata": {"name": name, **metadata},
        "spec": {
            "claim": {"apiVersion": CLAIM_API, "kind": kind},
            "resources": list(resources_) or [{"base": BUCKET}],
        },
    }


DEFAULT_CLASS = {selection.IS_DEFAULT: "true"}
"""The annotations of a default class."""


def weighted_class(name: str, weight: str, **labels: str) -> dict[str, Any]:
    """A default class with a weight."""
    return class_data(name, annotations={selection.WEIGHT: weight, **DEFAULT_CLASS}, labels=labels)


def claim_data(name: str = "sql", *, namespace: str = "default", kind: str = "Database", **spec: Any) -> dict[str, Any]:
    """A claim of the kind that `class_data` serves."""
    return {
        "apiVersion": CLAIM_API,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def class_ref(name: str) -> dict[str, str]:
    return {"apiVersion": INFRASTRUCTURE, "kind": "CompositeResourceClass", "name": name}


def patch(origin: str, to: str, *transforms: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "fromClaimFieldPath": origin,
        "toResourceFieldPath": to,
        **({"transforms": list(transforms)} if transforms else {}),
        **more,
    }


def documents_of(*data: dict[str, Any], file: str = "platform.yaml") -> list[Document]:
    """The data as documents that were read from a file, with their lines."""
    return read_documents(yaml.safe_dump_all(data, sort_keys=False), file=file)


def catalog_of(classes: list[dict[str, Any]], claims: list[dict[str, Any]] | None = None) -> Catalog:
    return read_catalog(documents_of(*classes), documents_of(*(claims or []), file="claims.yaml"))


COMPUTE = "compute.gcp.crossplane.io/v1beta1"
NETWORK = {"apiVersion": COMPUTE, "kind": "Network", "metadata": {"labels": {"shared": "yes"}}}
SUBNETWORK = {
    "apiVersion": COMPUTE,
    "kind": "Subnetwork",
    "spec": {"forProvider": {"networkSelector": {"matchLabels": {"shared": "yes"}}}},
}
SHARED = [class_data("net", {"base": NETWORK}), class_data("sub", {"base": SUBNETWORK})]
"""Classes of which one selects what the other makes, for whatever claim."""


def sharing(*networks: str) -> list[dict[str, Any]]:
    """A claim `sub`, whose subnetwork is to be in one of these networks, and a claim for each network."""
    return [
        claim_data("sub", classRef=class_ref("sub")),
        *(claim_data(name, classRef=class_ref("net")) for name in networks),
    ]


def one_class(data: dict[str, Any]) -> Class:
    [found] = catalog_of([data]).classes.values()
    return found


def one_claim(data: dict[str, Any]) -> Claim:
    [found] = catalog_of([], [data]).claims.values()
    return found


def table(*more: Document) -> Table:
    """The built-in reference table, with more documents of its form."""
    text = resources.files("claimsmith").joinpath("data/references.yaml").read_text(encoding="utf-8")
    return read_table([*read_documents(text, file="references.yaml"), *more])


def planned(
    classes: list[dict[str, Any]],
    claims: list[dict[str, Any]],
    records: Sequence[binding.Record] = (),
    **options: Any,
) -> Plan:
    """The plan of classes and claims, which were never bound before where no records are given."""
    found = expanded(catalog_of(classes, claims), records)
    return build_plan(found, **{"project": "shop", "stack": "dev", "table": table(), **options})


def expanded(
    catalog: Catalog,
    records: Sequence[binding.Record] = (),
    *,
    project: str = "shop",
    stack: str = "dev",
    rebind: Iterable[ClaimKey] = (),
) -> Expansion:
    """The catalog's claims, bound and composed; of scopes, only what Kubernetes itself says is known."""
    return expand(
        catalog,
        records,
        project=project,
        stack=stack,
        scopes=Scopes({}),
        rebind=frozenset(rebind),
        types=native_types(sdks.index_of),
    )


PERMISSIVE = """\
apiVersion: claimsmith.io/v1alpha1
kind: Settings
claims:
- folder: .
  namespaces: ["*", crossplane-system]
  allow: [adopt, composites, existing-resources, external-names, import]
"""
"""Settings under which a test's claims may say everything: permissions have tests of their own."""


def write_files(root: Path, files: dict[str, str | bytes]) -> Path:
    """A project on disk: Pulumi.yaml, settings that permit everything, and the files given."""
    given = {"Pulumi.yaml": "name: shop\nruntime: python\n", "claimsmith.yaml": PERMISSIVE, **files}
    for name, content in given.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def copied_project(to: Path) -> Path:
    """This repository's own platform and stacks in a folder of their own."""
    root = Path(__file__).resolve().parents[2]
    for name in ("components", "stacks"):
        shutil.copytree(root / name, to / name, ignore=shutil.ignore_patterns("__pycache__", "Pulumi.*.yaml"))
    for name in ("Pulumi.yaml", "claimsmith.yaml"):
        shutil.copy2(root / name, to)
    return to


def cloned(to: Path) -> Path:
    """This repository's files as a clone has them: those that are tracked or would be, and nothing of this machine."""
    root = Path(__file__).resolve().parents[2]
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in (n for n in listed if (root / n).is_file()):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, to / name)
    return to


def contents(root: Path) -> dict[str, bytes]:
    """Every file below a folder, to tell whether anything changed."""
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
