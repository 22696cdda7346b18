"""Definitions of managed resources as providers have them: reference fields, descriptions, rules."""

from __future__ import annotations

from typing import Any

SELECTOR = {
    "type": "object",
    "properties": {
        "matchControllerRef": {"type": "boolean"},
        "matchLabels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
REF = {"type": "object", "properties": {"name": {"type": "string", "description": "Name of the object."}}}


def reference(name: str, described: str = "") -> dict[str, Any]:
    """A field for an id with its reference and selector; `described` is its target, as `VPC in ec2`."""
    words = f" to a {described} to populate {name}." if described else "."
    return {
        name: {"type": "string", "description": "An id."},
        f"{name}Ref": {**REF, "description": f"Reference{words}"},
        f"{name}Selector": {**SELECTOR, "description": f"Selector{words.replace(' to a', ' for a', 1)}"},
    }


def references(name: str) -> dict[str, Any]:
    """A field for a list of ids."""
    return {
        f"{name}s": {"type": "array", "items": {"type": "string"}},
        f"{name}Refs": {"type": "array", "items": REF},
        f"{name}Selector": SELECTOR,
    }


def provider_crd(kind: str, group: str, *, managed: bool = True, **fields: Any) -> dict[str, Any]:
    """The definition of a managed resource with these fields below spec.forProvider."""
    plural = f"{kind.lower()}s"
    provider = {"type": "object", "properties": {"region": {"type": "string", "description": "A region."}, **fields}}
    schema = {
        "type": "object",
        "description": "What it is.",
        "properties": {"spec": {"type": "object", "properties": {"forProvider": provider}}},
    }
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    old = {"name": "v1alpha1", "served": False, "storage": False, "schema": {"openAPIV3Schema": {"type": "object"}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": {"a": "b"}, "creationTimestamp": None},
        "spec": {
            "group": group,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                **({"categories": ["crossplane", "managed", "aws"]} if managed else {}),
            },
            "scope": "Cluster",
            "versions": [old, version],
            "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}},
        },
        "status": {"conditions": []},
    }
