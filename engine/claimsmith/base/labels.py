"""Labels and annotations that claimsmith, Crossplane and the engine's Kubernetes provider know by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXTERNAL_NAME = "crossplane.io/external-name"
EXTERNAL_NAME_PREFIX = "crossplane.io/external-name-prefix"
EXTERNAL_NAME_SUFFIX = "crossplane.io/external-name-suffix"
OWNER = "claimsmith.io/owner"
DIRECTING = ("claimsmith.io/", "pulumi.com/")
"""Annotations with these prefixes direct claimsmith and the engine."""
PROTECT = "claimsmith.io/protect"
ADOPT = "claimsmith.io/adopt"
GIVEN_BY = "claimsmith.io/given-by"
"""On a pre-existing resource: the other stack that has it; here it is only referenced."""
CONTROLLER_OWNED = "claimsmith.io/controller-owned"
TIMEOUT = "claimsmith.io/timeout"
IMPORT = "claimsmith.io/import"
"""On a claim: the existing resources that its native children take over, `<template>=<id>` separated by commas."""
TAGS = "claimsmith.io/tags"
"""On a class or a native template: "false" leaves out the tags that name the claim."""
PREVIOUS_API_VERSION = "claimsmith.io/previous-api-version"
"""The annotation of a template whose apiVersion was changed: what it was when the live objects were created."""
LABEL = "resourceclaim.crossplane.io/"
CLAIM_LABELS = tuple(f"{LABEL}{word}" for word in ("namespace", "name", "uid"))
COMPOSITE = {"apiVersion": "core.crossplane.io/v1alpha1", "kind": "CompositeResource"}
AGGREGATE = {"apiVersion": "aggregation.crossplane.io/v1alpha1", "kind": "AggregateResource"}
SECRET_TYPE = "connection.crossplane.io/v1alpha1"
COMPOSITE_LABEL = "crossplane.io/composite"
CLAIM_NAME = "crossplane.io/claim-name"
CLAIM_NAMESPACE = "crossplane.io/claim-namespace"
RESOURCE_NAME = "crossplane.io/composition-resource-name"
"""The annotation that names a resource's template."""
PARENT_UID = "claimsmith.io/parent-uid"
"""The label of what a Crossplane composite composes: the uid of the direct parent.

Crossplane's own label names the root, so that by it the children of all nested composites look like siblings; what
Crossplane selects by is the owner reference, which is not written here.
"""


def claim_labels(given: Mapping[str, Any]) -> dict[str, str]:
    """The labels of a composite that name its claim: what it is composed of gets them too, both or neither.

    So Crossplane does since v2.2, whose render command reads the labels and not the composite's claimRef.
    """
    found = {key: str(given[key]) for key in (CLAIM_NAMESPACE, CLAIM_NAME) if given.get(key)}
    return found if len(found) > 1 else {}
