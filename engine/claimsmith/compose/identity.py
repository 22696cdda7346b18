"""Who a child is: its name, labels, references to its parent, external name.

Pure functions over a child's document. Both the offline compose and a generated component's
`child()` put a document through `dress`, so there is one meaning of identity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith.models.klass import Parent
from claimsmith.models.objects import ClaimKey, GroupKind, group_of

EXTERNAL_NAME = "crossplane.io/external-name"
EXTERNAL_NAME_PREFIX = "crossplane.io/external-name-prefix"
EXTERNAL_NAME_SUFFIX = "crossplane.io/external-name-suffix"
OWNER = "claimsmith.io/owner"
CONTROLLER_OWNED = "claimsmith.io/controller-owned"
TIMEOUT = "claimsmith.io/timeout"
LABEL = "resourceclaim.crossplane.io/"
COMPOSITE = {"apiVersion": "core.crossplane.io/v1alpha1", "kind": "CompositeResource"}
SECRET_TYPE = "connection.crossplane.io/v1alpha1"

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_MAX_NAME = 63
_MAX_LABEL = 63


@dataclass(frozen=True, slots=True)
class Identity:
    """A bound claim, as far as its children carry it."""

    project: str
    stack: str
    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    external_name: str | None
    class_ref: Mapping[str, Any]
    parent: Parent

    @property
    def key(self) -> ClaimKey:
        """The claim's address in its stack."""
        return ClaimKey(GroupKind(group_of(self.api_version), self.kind), self.namespace, self.name)

    @property
    def owner(self) -> str:
        """The value of the owner annotation: nobody else writes what carries it."""
        return f"{self.project}/{self.stack}/{self.uid}"

    @property
    def composite_name(self) -> str:
        """The name of the composite that stands between the claim and its children."""
        return generated_name(self.namespace, self.name, self.uid, "")

    def name_of(self, template: str) -> str:
        """The generated name of the child that a template makes."""
        return generated_name(self.namespace, self.name, self.uid, template)

    def labels(self) -> dict[str, str]:
        """The labels by which a claim's children are found."""
        values = {"namespace": self.namespace, "name": self.name, "uid": self.uid}
        return {f"{LABEL}{key}": label_value(value) for key, value in values.items()}

    def claim_reference(self) -> dict[str, Any]:
        """The claim as a `claimRef` names it."""
        return {"apiVersion": self.api_version, "kind": self.kind, "namespace": self.namespace, "name": self.name}


def generated_name(namespace: str, name: str, uid: str, template: str) -> str:
    """`<namespace>-<claim>-<5>`: the same for the same claim and template, cut to Kubernetes' limit."""
    number = int.from_bytes(hashlib.sha256(f"{uid}/{template}".encode()).digest()[:8], "big")
    tail = ""
    for _ in range(5):
        number, rest = divmod(number, len(_ALPHABET))
        tail += _ALPHABET[rest]
    stem = f"{namespace}-{name}"[: _MAX_NAME - 6].rstrip("-.")
    return f"{stem}-{tail}"


def label_value(text: str) -> str:
    """The text as a label's value: one that is too long is cut, with a hash that tells it from its like."""
    if len(text) <= _MAX_LABEL:
        return text
    return f"{text[: _MAX_LABEL - 9].rstrip('-._')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def dress(document: Mapping[str, Any], template: str, identity: Identity) -> dict[str, Any]:
    """The document with its generated name, labels, external name and the reference to its parent."""
    name = identity.name_of(template)
    given = document.get("metadata") or {}
    metadata: dict[str, Any] = {"name": name, "labels": {**(given.get("labels") or {}), **identity.labels()}}
    annotations = _external(given.get("annotations") or {}, identity.external_name)
    if annotations:
        metadata["annotations"] = annotations
    spec = dict(document.get("spec") or {})
    secret = spec.get("writeConnectionSecretToRef")
    if isinstance(secret, dict) and secret.get("namespace") and not secret.get("name"):
        spec["writeConnectionSecretToRef"] = {**secret, "name": name}
    match identity.parent:
        case Parent.composite:
            spec["compositeRef"] = {**COMPOSITE, "name": identity.composite_name}
        case Parent.claim:
            spec["claimRef"] = identity.claim_reference()
            spec["classRef"] = dict(identity.class_ref)
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "metadata": metadata,
        "spec": spec,
        **{k: v for k, v in document.items() if k not in ("apiVersion", "kind", "metadata", "spec")},
    }


def _external(annotations: Mapping[str, Any], claimed: str | None) -> dict[str, Any]:
    """The annotations with one external name: the claim's over the base's, prefix and suffix joined in."""
    kept = {k: v for k, v in annotations.items() if k not in (EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX)}
    external = claimed or annotations.get(EXTERNAL_NAME)
    if external is None:
        return kept
    prefix, suffix = annotations.get(EXTERNAL_NAME_PREFIX, ""), annotations.get(EXTERNAL_NAME_SUFFIX, "")
    # Joined only where there is something to join: the name itself may be a value that is not known yet.
    return {**kept, EXTERNAL_NAME: f"{prefix}{external}{suffix}" if prefix or suffix else external}
