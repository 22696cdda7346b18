"""Crossplane v1 and v2: composites, and claims, which ask for one. Names and labels are those that Crossplane gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.labels import CLAIM_NAME, CLAIM_NAMESPACE, COMPOSITE_LABEL, RESOURCE_NAME, claim_labels
from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.dialect import (
    SECRET_REF,
    BoundBy,
    Dialect,
    Identity,
    Naming,
    Object,
    Records,
    Reference,
    Secrets,
    composed_name,
    label_value,
    named_secret,
)

UNMANAGED = frozenset(
    (*("ProviderConfig", "ClusterProviderConfig", "StoreConfig"), "ProviderConfigUsage", "ClusterProviderConfigUsage")
)
"""Kinds of providers that stand for nothing outside: they have no Ready condition that could be waited for."""
_RESERVED = ("kubernetes.io", "k8s.io")
"""How the domains end that Crossplane takes for those of Kubernetes: x-k8s.io too, it does not look for a dot."""
_OF_CLAIMS = ("compositeDeletePolicy", SECRET_REF, "publishConnectionDetailsTo")


class _Composites(Dialect):
    def spec_type(self, *, namespaced: bool) -> str:
        return "CrossplaneSpec" if namespaced else "CompositeSpec"

    def is_managed(self, kind: GroupKind, *, managed: Collection[GroupKind], seen: Collection[GroupKind]) -> bool:
        """Crossplane waits for every child by default; here not for kinds of Kubernetes or of another operator."""
        foreign = not kind.built_in and kind.kind not in UNMANAGED
        return kind in managed or (foreign and kind not in seen)

    def child_name(self, identity: Identity, template: str) -> str:
        return composed_name(f"{identity.labels()[COMPOSITE_LABEL]}-", identity.uid, template)

    def labels(self, identity: Identity) -> dict[str, str]:
        # Crossplane's label names the root of a tree of composites, which a nested composite inherits.
        root = identity.given_labels.get(COMPOSITE_LABEL) or identity.name
        return {COMPOSITE_LABEL: root, **claim_labels(identity.given_labels)}

    def metadata(self, document: Object, identity: Identity, naming: Naming) -> dict[str, Any]:
        """The metadata of the document, which stands and is only added to."""
        given = _object(document, "metadata")
        prefix = given.pop("generateName", None)
        generated = (
            composed_name(prefix, identity.uid, naming.named_after)
            if isinstance(prefix, str)
            else identity.name_of(naming.named_after)
        )
        # No selector means a composite, and a patch may copy all its labels: these are as Crossplane's.
        siblings = {} if naming.composite else identity.sibling_labels()
        return {
            **given,
            "name": given.get("name") or generated,
            **({"namespace": identity.namespace} if identity.namespaced else {}),
            "labels": {**_object(given, "labels"), **identity.labels(), **siblings},
            "annotations": {**_object(given, "annotations"), RESOURCE_NAME: naming.template},
        }

    def bound(self, spec: Any, name: str, identity: Identity, class_ref: Reference | None) -> None:
        return None

    def records(self, identity: Identity, claim: Object, children: Sequence[Reference], secrets: Secrets) -> Records:
        references = {
            "compositionRef": {"name": identity.class_ref["name"]},
            "resourceRefs": [dict(r) for r in children],
        }
        spec = dict(claim["spec"])
        # Crossplane v2 keeps its own fields below spec.crossplane.
        modern = isinstance(spec.get("crossplane"), Mapping) or identity.namespaced
        own = {"crossplane": {**(spec.get("crossplane") or {}), **references}} if modern else references
        return [("xr", identity.record(claim, {**spec, **own}))]


class _Claims(Dialect):
    def spec_type(self, *, namespaced: bool) -> str:
        return "CompositeClaimSpec"

    def labels(self, identity: Identity) -> dict[str, str]:
        return {CLAIM_NAMESPACE: identity.namespace, CLAIM_NAME: identity.name}

    def metadata(self, document: Object, identity: Identity, naming: Naming) -> dict[str, Any]:
        """The metadata of the composite, with the labels and annotations of its claim."""
        own = super().metadata(document, identity, naming)
        label = {COMPOSITE_LABEL: label_value(own["name"])}
        labels = {**_passed_on(identity.given_labels), **own["labels"], **label}
        annotations = {**_passed_on(identity.given_annotations), **own.get("annotations", {})}
        return {**own, "labels": labels, **({"annotations": annotations} if annotations else {})}

    def bound(self, spec: Any, name: str, identity: Identity, class_ref: Reference | None) -> dict[str, Any]:
        """The composite's spec: the claim's own, without what only claims have."""
        kept = {k: v for k, v in named_secret(spec or {}, name).items() if k not in _OF_CLAIMS}
        return {**kept, "claimRef": identity.claim_reference()}

    def records(self, identity: Identity, claim: Object, children: Sequence[Reference], secrets: Secrets) -> Records:
        return [("claim", identity.record(claim, {**claim["spec"], "resourceRef": dict(children[0])}))]


def _object(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object under a key; a patch may have written anything there."""
    value = data.get(key) or {}
    if not isinstance(value, Mapping):
        fix = "fix the patch, or the value that it writes"
        raise ComposeError(Problem(f"{key} must be an object, and is {value!r}", path=key, fix=fix))
    return dict(value)


def _passed_on(given: Mapping[str, str]) -> dict[str, str]:
    """The labels or annotations of a claim that its composite gets: none that are reserved for Kubernetes itself."""
    return {k: v for k, v in given.items() if not k.partition("/")[0].endswith(_RESERVED)}


COMPOSITES = _Composites(
    bound_by=BoundBy.XR,
    class_word="composition",
    is_composite=True,
    crossplane=True,
    own_name=True,
    pipelined=True,
    static_siblings=True,
    lenient_details=True,
    default_secret=True,
    own_secret=False,
    any_scope=True,
    # Crossplane keeps a composite's external name for itself: a patch passes it on.
    passes_external_name=False,
)
CLAIMS = _Claims(bound_by=BoundBy.XR_CLAIM, class_word="definition", publishing=True, crossplane=True, own_name=True)
