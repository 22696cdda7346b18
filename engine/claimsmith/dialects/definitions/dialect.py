"""The definitions format: instances of kinds that a platform defines, and requirements, which ask for one.

An instance may compose any kind, so its children carry a label instead of a reference in a spec of unknown shape.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from claimsmith.base.labels import CLAIM_NAME, CLAIM_NAMESPACE, COMPOSITE_LABEL
from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.dialect import (
    SECRET_REF,
    BoundBy,
    Dialect,
    Identity,
    Object,
    Records,
    Reference,
    Secrets,
    named_secret,
)


class _Instances(Dialect):
    def spec_type(self, *, namespaced: bool) -> str:
        return "ApplicationSpec" if namespaced else "InfrastructureSpec"

    def is_managed(self, kind: GroupKind, *, managed: Collection[GroupKind], seen: Collection[GroupKind]) -> bool:
        return kind in managed

    def labels(self, identity: Identity) -> dict[str, str]:
        return {COMPOSITE_LABEL: identity.name}

    def bound(self, spec: Any, name: str, identity: Identity, class_ref: Reference | None) -> Any:
        return named_secret(spec, name) if isinstance(spec, dict) else spec

    def records(self, identity: Identity, claim: Object, children: Sequence[Reference], secrets: Secrets) -> Records:
        word = "application" if identity.namespaced else "infrastructure"
        injected = {
            **(claim["spec"].get(word) or {}),
            "compositionRef": {"name": identity.class_ref["name"]},
            "composedRefs": [dict(r) for r in children],
        }
        return [("instance", identity.record(claim, {**claim["spec"], word: injected}))]


class _Requirements(Dialect):
    def spec_type(self, *, namespaced: bool) -> str:
        return "RequirementSpec"

    def labels(self, identity: Identity) -> dict[str, str]:
        return {CLAIM_NAMESPACE: identity.namespace, CLAIM_NAME: identity.name}

    def bound(self, spec: Any, name: str, identity: Identity, class_ref: Reference | None) -> dict[str, Any]:
        """The composite's spec: the requirement's own, which names the requirement and where both find the Secret."""
        spec = named_secret(spec or {}, name)
        own = (SECRET_REF, "resourceRef", "composedRefs")
        infrastructure = {k: v for k, v in (spec.get("infrastructure") or {}).items() if k not in own}
        infrastructure["requirementRef"] = identity.claim_reference()
        if identity.secret_namespace:
            infrastructure[SECRET_REF] = {"namespace": identity.secret_namespace, "name": name}
        return {**spec, "infrastructure": infrastructure}

    def records(self, identity: Identity, claim: Object, children: Sequence[Reference], secrets: Secrets) -> Records:
        bound = {"resourceRef": dict(children[0])} if children else {}
        injected = {**(claim["spec"].get("infrastructure") or {}), **bound}
        return [("requirement", identity.record(claim, {**claim["spec"], "infrastructure": injected}))]


INSTANCES = _Instances(
    bound_by=BoundBy.INSTANCE,
    class_word="composition",
    is_composite=True,
    own_name=True,
    passes_external_name=False,
    one_reclaim_policy=True,
)
REQUIREMENTS = _Requirements(bound_by=BoundBy.REQUIREMENT, class_word="publication", publishing=True, own_secret=False)
