"""What differs between the dialects once a class is read: names, labels, references to the parent, records.

One `Dialect` object stands for each way in which children are bound; each dialect's folder defines its own, and
`dialects/registry.py` lists them. The rest of the engine asks the object and never which dialect it is.

`Identity` is a bound claim as far as its children carry it. Names and labels follow from it alone: the same input gives
the same bytes on every machine, so that a preview shows names before anything exists.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from claimsmith.base.labels import (
    CLAIM_LABELS,
    DIRECTING,
    EXTERNAL_NAME,
    EXTERNAL_NAME_PREFIX,
    EXTERNAL_NAME_SUFFIX,
    OWNER,
    PARENT_UID,
)
from claimsmith.base.names import ClaimKey, GroupKind, group_of

SECRET_REF = "writeConnectionSecretToRef"
# No vowels and no look-alikes (0/o, 1/l, 3): what Kubernetes uses for generateName, so that no word is spelled.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_MAX_NAME = 63
_MAX_LABEL = 63

Reference = Mapping[str, Any]
"""An object as another one names it: apiVersion, kind, name, and namespace where it has one."""
Object = Mapping[str, Any]
Secrets = Sequence[tuple[str, str]]
"""Namespace and name of each."""
Records = list[tuple[str, dict[str, Any]]]
"""Objects in the cluster, each with its name in the component."""


class BoundBy(StrEnum):
    """The kind of claim that a class is bound by. It decides how the children are named and refer to their parent.

    The values stand in digests of classes and never change: recorded bindings depend on them.
    """

    CLAIM = "claimRef"
    """A claim of a class with one resource, which has a `claimRef`."""
    COMPOSITE = "compositeRef"
    """A claim of a `CompositeResourceClass`, whose resources have a `compositeRef`."""
    AGGREGATE = "aggregateRef"
    """A claim of an `AggregateResourceClass`, whose resources have an `aggregateRef`."""
    INSTANCE = "crossplane.io/composite"
    """An instance of a kind of the definitions format, whose resources have a label."""
    REQUIREMENT = "requirementRef"
    """A requirement of the definitions format: its composite has a `requirementRef`."""
    XR = "xr"
    """A Crossplane composite resource."""
    XR_CLAIM = "claim of an xr"
    """A Crossplane claim, for which a composite resource is composed."""


@dataclass(frozen=True, slots=True)
class Naming:
    """What a child is named by, beside its parent."""

    template: str
    named_after: str
    """The template that its generated name is derived from: a renamed template keeps its resources."""
    composite: bool
    """Whether it is composed in turn."""
    join: Callable[..., Any]
    """Joins the parts of an external name, of which one may be an Output."""


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
    class_ref: Reference
    dialect: Dialect
    namespaced: bool | None = None
    """Whether children are in the claim's namespace (True), at cluster scope (False), or as in their base (None)."""
    secret_namespace: str | None = None
    """Where the composite's own Secret goes, if it has one."""
    reclaim_policy: str | None = None
    """The instance's policy for all that it composes; None where each child has its own."""
    protect: bool = False
    """Whether nothing of it may be deleted."""
    given_labels: Mapping[str, str] = field(default_factory=dict)
    """The labels that the claim itself has."""
    given_annotations: Mapping[str, str] = field(default_factory=dict)

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
        return self.name if self.dialect.is_composite else generated_name(self.stem, self.uid, "")

    @property
    def stem(self) -> str:
        """The beginning of the children's names: an instance's own name, else the claim's namespace and name."""
        return self.name if self.dialect.own_name else f"{self.namespace}-{self.name}"

    def name_of(self, template: str) -> str:
        """The generated name of the child of a template."""
        return self.dialect.child_name(self, template)

    def labels(self) -> dict[str, str]:
        """The labels by which a claim's children are found."""
        return {key: label_value(value) for key, value in self.dialect.labels(self).items()}

    def sibling_labels(self) -> dict[str, str]:
        """The labels that all children of this composite have, and nothing else has."""
        return {PARENT_UID: self.uid}

    def claim_reference(self) -> dict[str, Any]:
        """The claim as a `claimRef` names it."""
        place = {"namespace": self.namespace} if self.namespace else {}
        return {"apiVersion": self.api_version, "kind": self.kind, **place, "name": self.name}

    def record(self, claim: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
        """The claim as an object in the cluster, with this spec."""
        given = claim["metadata"]
        place = {"namespace": self.namespace} if self.namespace else {}
        labels = {"labels": dict(given["labels"])} if given.get("labels") else {}
        annotations = {**recorded_annotations(given.get("annotations") or {}), OWNER: self.owner}
        metadata = {"name": self.name, **place, **labels, "annotations": annotations}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, "spec": dict(spec)}


# Compared by identity: there is one object for each dialect, and some of their fields cannot be hashed.
@dataclass(frozen=True, eq=False)
class Dialect:
    """How the claims of one dialect name, label and bind their children, and how they are recorded.

    The methods here are those of classes for claims; the other dialects override what differs.
    """

    bound_by: BoundBy
    class_word: str
    """What its documents call a class."""
    composite: Mapping[str, str] = field(default_factory=dict)
    """apiVersion and kind of the object that stands between a claim and its children, where there is one."""
    is_composite: bool = False
    """Whether what users write is the composite itself; it is at cluster scope unless its class is namespaced."""
    publishing: bool = False
    """Whether a claim only asks for a composite of the same spec, so that there is no class to select."""
    crossplane: bool = False
    """Whether it is Crossplane's (v1 or v2): composites are pruned and completed by their definition's schema."""
    own_name: bool = False
    """Whether the names of children begin with the claim's name alone, without its namespace."""
    pipelined: bool = False
    """Whether patches also write from children to the composite and the environment, which orders the children."""
    static_siblings: bool = False
    """Whether a sibling is selected by the labels of its template, which are the same for every composite."""
    lenient_details: bool = False
    """Whether connection details may be missing or delivered twice: then they are left out, or the later one wins."""
    default_secret: bool = False
    """Whether a composite gets a connection Secret, named after it, where it asks for none."""
    own_secret: bool = True
    """Whether a composite has a Secret of its own beside the one that the claim asks for."""
    any_scope: bool = False
    """Whether a kind of unknown scope may be composed."""
    passes_external_name: bool = True
    """Whether the claim's external name reaches its children."""
    one_reclaim_policy: bool = False
    """Whether an instance at cluster scope has one reclaim policy for all that it composes."""

    @property
    def defined(self) -> bool:
        """Whether its kinds are defined by the platform's own documents."""
        return self.is_composite or self.publishing

    @property
    def composite_status(self) -> bool:
        """Whether a claim has the status of the composite that it asks for."""
        return self.crossplane and self.publishing

    @property
    def direct(self) -> bool:
        """Whether a claim is bound to its one child, without a composite between them."""
        return not self.composite and not self.defined

    def spec_type(self, *, namespaced: bool) -> str:
        """The type of a claim's spec in generated code."""
        return "ClaimSpec"

    def is_managed(self, kind: GroupKind, *, managed: Collection[GroupKind], seen: Collection[GroupKind]) -> bool:
        """Whether a provider's controller makes a child of this kind Ready.

        `managed` are the kinds that are managed by their definition or table, `seen` those with any definition.
        """
        return kind in managed or not kind.built_in

    def child_name(self, identity: Identity, template: str) -> str:
        """The generated name of the child of a template."""
        return generated_name(identity.stem, identity.uid, template)

    def labels(self, identity: Identity) -> dict[str, str]:
        """The labels by which a claim's children are found; their values may be too long."""
        return dict(zip(CLAIM_LABELS, (identity.namespace, identity.name, identity.uid), strict=True))

    def metadata(self, document: Object, identity: Identity, naming: Naming) -> dict[str, Any]:
        """A child's metadata: generated name, labels, external name."""
        given = document.get("metadata") or {}
        metadata: dict[str, Any] = {"name": identity.name_of(naming.named_after)}
        if identity.namespaced:
            metadata["namespace"] = identity.namespace
        elif identity.namespaced is None and given.get("namespace") and is_placed(GroupKind.of(document)):
            metadata["namespace"] = given["namespace"]
        metadata["labels"] = {**(given.get("labels") or {}), **identity.labels()}
        inherited = identity.external_name if self.passes_external_name else None
        annotations = _external(given.get("annotations") or {}, inherited, naming.join)
        return {**metadata, "annotations": annotations} if annotations else metadata

    def bound(self, spec: Any, name: str, identity: Identity, class_ref: Reference | None) -> Any:
        """A child's spec with the place of its connection Secret and the reference to its parent.

        None leaves the child's document as it is.
        """
        return {**named_secret(spec or {}, name), **self.parent_reference(identity, class_ref)}

    def parent_reference(self, identity: Identity, class_ref: Reference | None) -> dict[str, Any]:
        """The fields of a child's spec that name its parent and its class."""
        return {"claimRef": identity.claim_reference(), "classRef": dict(identity.class_ref)}

    def records(self, identity: Identity, claim: Object, children: Sequence[Reference], secrets: Secrets) -> Records:
        """The objects that record a claim and its composite in the cluster, each with its name in the component."""
        if not self.composite:
            return [("claim", _bound_claim(identity, claim, children[0] if children else {}))]
        composite = self.composite_record(identity, children, secrets)
        reference = {**self.composite, "name": identity.composite_name}
        return [("composite", composite), ("claim", _bound_claim(identity, claim, reference))]

    def composite_record(
        self,
        identity: Identity,
        children: Sequence[Reference],
        secrets: Secrets = (),
        *,
        released: bool = False,
    ) -> dict[str, Any]:
        """The object between a claim and its children; a released one outlived its claim, and nobody holds it."""
        selector, listed = self.composite_fields(identity)
        version = identity.api_version.rpartition("/")[2]
        bindable = f"{identity.kind.lower()}.{identity.key.group_kind.group}/{version}"
        own = [{"namespace": namespace, "name": name} for namespace, name in secrets if name == identity.composite_name]
        spec = {
            **selector,
            **({} if released else {"claimRef": identity.claim_reference()}),
            "classRef": dict(identity.class_ref),
            **({"writeConnectionSecretsToRef": own[0]} if own else {}),
        }
        status = {
            listed: [{**reference, "bindingPhase": "Bound"} for reference in children],
            "bindingPhase": "Released" if released else "Bound",
        }
        annotations = {OWNER: identity.owner, bindable: "bindable"}
        metadata = {"name": identity.composite_name, "labels": identity.labels(), "annotations": annotations}
        return {**self.composite, "metadata": metadata, "spec": spec, "status": status}

    def composite_fields(self, identity: Identity) -> tuple[dict[str, Any], str]:
        """The selector of a composite for its children, and the field of its status that lists them."""
        return {"resourceSelector": {"matchLabels": identity.labels()}}, "resources"


def is_placed(kind: GroupKind) -> bool:
    """Whether children of a kind may be in any namespace, as Secrets are; managed resources are at cluster scope."""
    from claimsmith.kubernetes.scope import BUILT_IN

    return kind.built_in and BUILT_IN.namespaced(kind) is True


def _bound_claim(identity: Identity, claim: Mapping[str, Any], resource: Reference) -> dict[str, Any]:
    spec = {**claim["spec"], "classRef": dict(identity.class_ref), "resourceRef": dict(resource)}
    return identity.record(claim, spec) | {"status": {"bindingPhase": "Bound"}}


@lru_cache(maxsize=256)
def generated_name(stem: str, uid: str, template: str) -> str:
    """`<stem>-<5>`: the same for the same claim and template, cut to Kubernetes' limit.

    A random suffix would give every preview other names, and would need a state to remember it.
    """
    number = int.from_bytes(hashlib.sha256(f"{uid}/{template}".encode()).digest()[:8], "big")
    tail = ""
    for _ in range(5):
        number, rest = divmod(number, len(_ALPHABET))
        tail += _ALPHABET[rest]
    return f"{stem[: _MAX_NAME - 6].rstrip('-.')}-{tail}"


def composed_name(prefix: str, uid: str, template: str) -> str:
    """The name of a child of a Crossplane composite, as Crossplane's function-patch-and-transform generates it."""
    tail = hashlib.sha256(f"{uid}{template}".encode()).hexdigest()[:12]
    return f"{prefix[: _MAX_NAME - len(tail)]}{tail}"


def label_value(text: str) -> str:
    """The text as a label's value: one that is too long is cut, with a hash that keeps it unique."""
    if len(text) <= _MAX_LABEL:
        return text
    return f"{text[: _MAX_LABEL - 9].rstrip('-._')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def named_secret(spec: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The spec whose connection Secret is named after the child, where only its namespace is written."""
    secret = spec.get(SECRET_REF)
    if isinstance(secret, dict) and secret.get("namespace") and not secret.get("name"):
        return {**spec, SECRET_REF: {**secret, "name": name}}
    return dict(spec)


def recorded_annotations(annotations: Mapping[str, Any]) -> dict[str, Any]:
    """A claim's annotations without those that direct claimsmith and the engine: a record is nobody's instruction."""
    return {k: v for k, v in annotations.items() if not str(k).startswith(DIRECTING)}


def _external(annotations: Mapping[str, Any], claimed: str | None, join: Callable[..., Any]) -> dict[str, Any]:
    """The annotations with one external name: the claim's over the base's, prefix and suffix joined in."""
    kept = {k: v for k, v in annotations.items() if k not in (EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX)}
    external = claimed or annotations.get(EXTERNAL_NAME)
    if external is None:
        return kept
    prefix, suffix = annotations.get(EXTERNAL_NAME_PREFIX, ""), annotations.get(EXTERNAL_NAME_SUFFIX, "")
    parts = [part for part in (prefix, external, suffix) if not (isinstance(part, str) and part == "")]
    return {**kept, EXTERNAL_NAME: parts[0] if len(parts) == 1 else join(*parts)}
