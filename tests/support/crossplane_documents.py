"""Crossplane definitions, compositions of both modes, and a composite, as documents."""

from __future__ import annotations

from typing import Any

import yaml

from claimsmith.base.documents import Document, read_documents

BUCKET = {"apiVersion": "s3.example.org/v1", "kind": "Bucket", "spec": {"region": "eu"}}
XR = {
    "apiVersion": "example.org/v1",
    "kind": "XBucket",
    "metadata": {"name": "my", "uid": "u-1"},
    "spec": {"region": "us", "stage": "prod"},
}
PATCH = {"fromFieldPath": "spec.region", "toFieldPath": "spec.region"}


def document(data: dict[str, Any]) -> Document:
    return read_documents(yaml.safe_dump(data, sort_keys=False), file="platform.yaml")[0]


def composition(version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "Composition",
        "metadata": {"name": "buckets", "labels": {"tier": "a"}},
        "spec": {"compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XBucket"}, **spec},
    }


def step(function: str = "function-patch-and-transform", name: str = "pt", **data: Any) -> dict[str, Any]:
    return {"step": name, "functionRef": {"name": function}, **({"input": data} if data else {})}


def resources(*listed: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": list(listed)}


def piped(*steps: dict[str, Any]) -> dict[str, Any]:
    return composition(mode="Pipeline", pipeline=list(steps))


def definition(version: str = "v1", **spec: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 5}}}},
    }
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xbuckets.example.org"},
        "spec": {
            "group": "example.org",
            "names": {"kind": "XBucket", "plural": "xbuckets"},
            "versions": [{"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}],
            **spec,
        },
    }
