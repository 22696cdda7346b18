"""Reads instances of defined kinds: applications, infrastructure, and requirements of it.

Read as claims: what a claim has in `classRef` and `classSelector`, an instance has in the object that its
definition injects (`application` or `infrastructure`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.parse import parse
from claimsmith.dialects.common.claim import Claim, ObjectRef
from claimsmith.dialects.common.metadata import Head
from claimsmith.dialects.common.selector import Selector
from claimsmith.dialects.definitions import Definition, check_instance, defaulted


class Instance(Head):
    """Anything of a defined kind: its definition checks its spec."""

    spec: dict[str, Any]
    status: Any = None


def read(document: Document, definition: Definition, *, requirement: bool) -> Claim:
    """The instance as a claim, checked against its definition's schema."""
    data = document.data
    if data.get("spec") is None:
        document = replace(document, data={**data, "spec": {}})
    problems = check_instance(definition, document, requirement=requirement)
    if problems:
        raise ModelError(*problems)
    raw = parse(Instance, document)
    full = defaulted(definition, document.data, requirement=requirement)
    document = replace(document, data=full)
    injected = full["spec"].get(definition.injected) or {}
    namespaced = requirement or definition.namespaced
    namespace = (raw.metadata.namespace or "default") if namespaced else ""
    secret = injected.get("writeConnectionSecretToRef") or {}
    reference = _one(injected.get("compositionRef"), document, f"spec.{definition.injected}.compositionRef")
    static = _one(injected.get("resourceRef"), document, f"spec.{definition.injected}.resourceRef")
    selector = injected.get("compositionSelector")
    own = not requirement
    return Claim(
        api_version=raw.api_version,
        key=ClaimKey(GroupKind.of(data), namespace, raw.metadata.name),
        document=document,
        class_ref=_composition(reference["name"]) if reference and own else None,
        class_selector=Selector.model_validate(selector) if selector is not None and own else None,
        resource_ref=ObjectRef.model_validate(static) if static else None,
        secret_name=secret.get("name"),
        secret_namespace=secret.get("namespace") or namespace,
        word=f"spec.{definition.injected}.composition",
        force=definition.force_composition if own else None,
        default=definition.default_composition if own else None,
        resource_path=f"spec.{definition.injected}.resourceRef",
    )


def _composition(name: str) -> ObjectRef:
    return ObjectRef(api_version="apiextensions.crossplane.io/v1alpha1", kind="Composition", name=name)


def _one(value: Any, document: Document, path: str) -> dict[str, Any] | None:
    """A reference, which the definitions format also writes as a list of one."""
    if not isinstance(value, list):
        return value or None
    if len(value) > 1:
        raise ModelError(document.problem("only one reference can be followed", path, "keep one"))
    return value[0] if value else None
