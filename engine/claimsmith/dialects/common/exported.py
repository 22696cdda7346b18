"""Objects as a cluster gives them: what an API server and controllers added is taken off before anything is read.

So what `kubectl get -o yaml` prints can be put among the files as it is. A uid stays: the names of what a composite is
composed of are derived from it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from claimsmith.base.documents import Document

ADDED: Final = frozenset(
    (
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
    )
)
"""The fields of metadata that nobody writes into a file of classes or claims."""
APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which kubectl keeps the object that was last applied."""


def bare(document: Document) -> Document:
    """The document without what was added to it, and without its status."""
    metadata = document.data.get("metadata")
    if not isinstance(metadata, dict):
        return document
    kept = _metadata(metadata)
    if kept is metadata and "status" not in document.data:
        return document
    data = {key: kept if key == "metadata" else value for key, value in document.data.items() if key != "status"}
    return replace(document, data=data)


def _metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    # A name that the API server generated comes with its generateName.
    named = {"generateName"} if metadata.get("name") else set()
    annotations = metadata.get("annotations")
    given: dict[str, Any] = annotations if isinstance(annotations, dict) else {}
    if APPLIED not in given and not metadata.keys() & (ADDED | named):
        return metadata
    kept = {key: value for key, value in metadata.items() if key not in ADDED | named}
    if APPLIED in given:
        others = {key: value for key, value in given.items() if key != APPLIED}
        kept = {k: others if k == "annotations" else v for k, v in kept.items() if k != "annotations" or others}
    return kept
