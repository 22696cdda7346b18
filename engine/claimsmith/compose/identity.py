"""Who a child is: its name, labels, references to its parent, external name.

Pure functions over a child's document. Both the offline compose and a generated component's
`child()` put a document through `dress`, so there is one meaning of identity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from claimsmith.errors import ComposeError, Problem
from claimsmith.models.klass import Parent
from claimsmith.models.objects import ClaimKey, GroupKind, group_of

EXTERNAL_NAME = "crossplane.io/external-name"
EXTERNAL_NAME_PREFIX = "crossplane.io/external-name-prefix"
EXTERNAL_NAME_SUFFIX = "crossplane.io/external-name-suffix"
OWNER = "claimsmith.io/owner"
DIRECTING = ("claimsmith.io/", "pulumi.com/")
"""Annotations with these prefixes direct claimsmith and the engine."""
PROTECT = "claimsmith.io/protect"
ADOPT = "claimsmith.io/adopt"
GIVEN_BY = "claimsmith.io/given-by"
"""On a given resource: the other stack that gives it; here it is only referred to."""
CONTROLLER_OWNED = "claimsmith.io/controller-owned"
TIMEOUT = "claimsmith.io/timeout"
PREVIOUS_API_VERSION = "claimsmith.io/previous-api-version"
"""The annotation of a template whose apiVersion was changed: what it was when the live objects were made."""
LABEL = "resourceclaim.crossplane.io/"
CLAIM_LABELS = tuple(f"{LABEL}{word}" for word in ("namespace", "name", "uid"))
COMPOSITE = {"apiVersion": "core.crossplane.io/v1alpha1", "kind": "CompositeResource"}
AGGREGATE = {"apiVersion": "aggregation.crossplane.io/v1alpha1", "kind": "AggregateResource"}
SECRET_TYPE = "connection.crossplane.io/v1alpha1"
COMPOSITE_LABEL = Parent.instance.value
CLAIM_NAME = "crossplane.io/claim-name"
CLAIM_NAMESPACE = "crossplane.io/claim-namespace"
RESOURCE_NAME = "crossplane.io/composition-resource-name"
"""The annotation that names a resource's template."""
PARENT_UID = "claimsmith.io/parent-uid"
"""The label of what a Crossplane composite composes: the uid of the direct parent.

Crossplane's own label names the root, so that by it the children of all nested composites look like siblings; what
Crossplane selects by is the owner reference, which is not written here.
"""

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_RESERVED = (".kubernetes.io", ".k8s.io")
_COMPOSITES = (Parent.instance, Parent.xr)
_OWN_NAME = (*_COMPOSITES, Parent.xr_claim)
_OF_CLAIMS = ("compositeDeletePolicy", "writeConnectionSecretToRef", "publishConnectionDetailsTo")
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
    namespaced: bool | None = None
    """Whether children are in the claim's namespace (True), at cluster scope (False), or as their base says (None)."""
    secret_namespace: str | None = None
    """Where the composite's own Secret goes, if it has one."""
    reclaim_policy: str | None = None
    """What an instance's policy says of all that it composes; None where each child says so itself."""
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
        if self.parent in _COMPOSITES:
            return self.name
        return generated_name(self._stem, self.uid, "")

    @property
    def _stem(self) -> str:
        """What the children's names begin with: an instance's own name, else the claim's namespace and name."""
        return self.name if self.parent in _OWN_NAME else f"{self.namespace}-{self.name}"

    def name_of(self, template: str) -> str:
        """The generated name of the child that a template makes."""
        if self.parent is Parent.xr:
            return composed_name(f"{self.labels()[COMPOSITE_LABEL]}-", self.uid, template)
        return generated_name(self._stem, self.uid, template)

    def labels(self) -> dict[str, str]:
        """The labels by which a claim's children are found."""
        match self.parent:
            case Parent.instance:
                values = {Parent.instance.value: self.name}
            case Parent.requirement | Parent.xr_claim:
                values = {CLAIM_NAMESPACE: self.namespace, CLAIM_NAME: self.name}
            case Parent.xr:
                whose = self.given_labels.get(COMPOSITE_LABEL) or self.name
                values = {COMPOSITE_LABEL: whose, **claim_labels(self.given_labels)}
            case _:
                values = dict(zip(CLAIM_LABELS, (self.namespace, self.name, self.uid), strict=True))
        return {key: label_value(value) for key, value in values.items()}

    def sibling_labels(self) -> dict[str, str]:
        """The labels that all children of this composite have, and nothing else has."""
        return {PARENT_UID: self.uid}

    def claim_reference(self) -> dict[str, Any]:
        """The claim as a `claimRef` names it."""
        place = {"namespace": self.namespace} if self.namespace else {}
        return {"apiVersion": self.api_version, "kind": self.kind, **place, "name": self.name}


def claim_labels(given: Mapping[str, Any]) -> dict[str, str]:
    """The labels of a composite that name its claim: what it is composed of gets them too, both or neither.

    So Crossplane does since v2.2, whose render command reads the labels and not the composite's claimRef.
    """
    found = {key: str(given[key]) for key in (CLAIM_NAMESPACE, CLAIM_NAME) if given.get(key)}
    return found if len(found) > 1 else {}


@lru_cache(maxsize=256)
def generated_name(stem: str, uid: str, template: str) -> str:
    """`<stem>-<5>`: the same for the same claim and template, cut to Kubernetes' limit."""
    number = int.from_bytes(hashlib.sha256(f"{uid}/{template}".encode()).digest()[:8], "big")
    tail = ""
    for _ in range(5):
        number, rest = divmod(number, len(_ALPHABET))
        tail += _ALPHABET[rest]
    return f"{stem[: _MAX_NAME - 6].rstrip('-.')}-{tail}"


def composed_name(prefix: str, uid: str, template: str) -> str:
    """The name of what a composite of today's dialect is composed of: as its control plane would give it."""
    tail = hashlib.sha256(f"{uid}{template}".encode()).hexdigest()[:12]
    return f"{prefix[: _MAX_NAME - len(tail)]}{tail}"


def label_value(text: str) -> str:
    """The text as a label's value: one that is too long is cut, with a hash that tells it from its like."""
    if len(text) <= _MAX_LABEL:
        return text
    return f"{text[: _MAX_LABEL - 9].rstrip('-._')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def is_adopting(document: Mapping[str, Any]) -> bool:
    """Whether a document says that an object of its name is to be taken over, whoever made it."""
    annotations = (document.get("metadata") or {}).get("annotations") or {}
    return bool(annotations.get(ADOPT) == "true")


def joined(*parts: str) -> str:
    """The parts of an external name as one."""
    return "".join(map(str, parts))


def dress(
    document: Mapping[str, Any],
    template: str,
    identity: Identity,
    *,
    class_ref: Mapping[str, Any] | None = None,
    named_after: str | None = None,
    composite: bool = False,
    join: Callable[..., Any] = joined,
) -> dict[str, Any]:
    """The document with its generated name, labels, external name and the reference to its parent.

    `class_ref` is the child's own class, where that is not the claim's. `named_after` is the template that its name is
    derived from, where that is not the one that makes it. A `composite` is composed in turn. `join` joins the parts of
    an external name, of which one may be a value that is not known yet.
    """
    if identity.parent is Parent.xr:
        # No selector means a composite, and a patch may copy all its labels: these are as Crossplane's.
        siblings = {} if composite else identity.sibling_labels()
        return _composed(document, template, identity, named_after or template, siblings)
    name = identity.name_of(named_after or template)
    given = document.get("metadata") or {}
    metadata: dict[str, Any] = {"name": name}
    if identity.namespaced:
        metadata["namespace"] = identity.namespace
    metadata["labels"] = {**(given.get("labels") or {}), **identity.labels()}
    inherited = None if identity.parent is Parent.instance else identity.external_name
    annotations = _external(given.get("annotations") or {}, inherited, join)
    if identity.parent is Parent.xr_claim:
        given_labels = passed_on(identity.given_labels)
        metadata["labels"] = {**given_labels, **metadata["labels"], COMPOSITE_LABEL: label_value(name)}
        annotations = {**passed_on(identity.given_annotations), **annotations}
    if annotations:
        metadata["annotations"] = annotations
    rest = {k: v for k, v in document.items() if k not in ("apiVersion", "kind", "metadata")}
    bound = _bound(rest.get("spec"), name, identity, class_ref)
    if bound is not None:
        rest = {"spec": bound, **{k: v for k, v in rest.items() if k != "spec"}}
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "metadata": metadata, **rest}


def _composed(
    document: Mapping[str, Any], template: str, identity: Identity, named_after: str, more_labels: Mapping[str, str]
) -> dict[str, Any]:
    """A child of a composite of today's dialect: what its document says stands, and is only added to."""
    given = _object(document, "metadata")
    prefix = given.pop("generateName", None)
    name = given.get("name") or (
        composed_name(prefix, identity.uid, named_after) if isinstance(prefix, str) else identity.name_of(named_after)
    )
    place = {"namespace": identity.namespace} if identity.namespaced else {}
    metadata = {
        **given,
        "name": name,
        **place,
        "labels": {**_object(given, "labels"), **identity.labels(), **more_labels},
        "annotations": {**_object(given, "annotations"), RESOURCE_NAME: template},
    }
    rest = {k: v for k, v in document.items() if k not in ("apiVersion", "kind", "metadata")}
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "metadata": metadata, **rest}


def _object(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object under a key; what patches made of it may be anything."""
    found = data.get(key) or {}
    if not isinstance(found, Mapping):
        fix = "mend the patch, or the value that it writes"
        raise ComposeError(Problem(f"{key} must be an object, and is {found!r}", path=key, fix=fix))
    return dict(found)


def passed_on(given: Mapping[str, str]) -> dict[str, str]:
    """The labels or annotations of a claim that its composite gets: none that are reserved for Kubernetes itself."""
    return {k: v for k, v in given.items() if not f".{k.partition('/')[0]}".endswith(_RESERVED)}


def _claimed(spec: Mapping[str, Any], identity: Identity) -> dict[str, Any]:
    """The spec of a composite that is made for a claim: the claim's own, without what is the claim's business only."""
    kept = {k: v for k, v in spec.items() if k not in _OF_CLAIMS}
    return {**kept, "claimRef": identity.claim_reference()}


def _bound(given: Any, name: str, identity: Identity, class_ref: Mapping[str, Any] | None) -> Any:
    """A child's spec with the place of its connection Secret, and the reference to its parent."""
    if identity.parent is Parent.instance and not isinstance(given, dict):
        return given
    spec = dict(given or {})
    secret = spec.get("writeConnectionSecretToRef")
    if isinstance(secret, dict) and secret.get("namespace") and not secret.get("name"):
        spec["writeConnectionSecretToRef"] = {**secret, "name": name}
    match identity.parent:
        case Parent.claim:
            spec["claimRef"] = identity.claim_reference()
            spec["classRef"] = dict(identity.class_ref)
        case Parent.composite:
            spec["compositeRef"] = {**COMPOSITE, "name": identity.composite_name}
        case Parent.aggregate:
            spec["aggregateRef"] = {**AGGREGATE, "name": identity.composite_name}
            spec["classRef"] = dict(class_ref or identity.class_ref)
        case Parent.xr_claim:
            spec = _claimed(spec, identity)
        case Parent.requirement:
            spec["infrastructure"] = _required(spec.get("infrastructure") or {}, name, identity)
        case Parent.instance | Parent.xr:
            pass
    return spec


def _required(wishes: Mapping[str, Any], name: str, identity: Identity) -> dict[str, Any]:
    """What a composite's spec says of the requirement that it was made for: its wishes, and where they meet."""
    copied = {k: v for k, v in wishes.items() if k not in ("writeConnectionSecretToRef", "resourceRef", "composedRefs")}
    place = {"namespace": identity.secret_namespace, "name": name}
    return {
        **copied,
        "requirementRef": identity.claim_reference(),
        **({"writeConnectionSecretToRef": place} if identity.secret_namespace else {}),
    }


def _external(annotations: Mapping[str, Any], claimed: str | None, join: Callable[..., Any]) -> dict[str, Any]:
    """The annotations with one external name: the claim's over the base's, prefix and suffix joined in."""
    kept = {k: v for k, v in annotations.items() if k not in (EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX)}
    external = claimed or annotations.get(EXTERNAL_NAME)
    if external is None:
        return kept
    prefix, suffix = annotations.get(EXTERNAL_NAME_PREFIX, ""), annotations.get(EXTERNAL_NAME_SUFFIX, "")
    parts = [part for part in (prefix, external, suffix) if not (isinstance(part, str) and part == "")]
    return {**kept, EXTERNAL_NAME: parts[0] if len(parts) == 1 else join(*parts)}
