"""Crossplane's `CompositeResourceDefinition`: a kind of composite, the kind of its claims, and its schema.

Read as v1, v1beta1 and v2, and as v1alpha1 with its `crdSpecTemplate`. The schema's defaults are filled into a
composite before it is composed, as an API server would.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.base.parse import parse

GROUP = "apiextensions.crossplane.io"
KIND = GroupKind(GROUP, "CompositeResourceDefinition")
COMPOSITION = GroupKind(GROUP, "Composition")
SECRET_NAMESPACE = "crossplane-system"
"""Where the Secrets of composites go that nobody gave a place."""


@dataclass(frozen=True, slots=True)
class Xrd:
    """A kind of composite, and the kind of claim for it where there is one."""

    kind: GroupKind
    plural: str
    claim: GroupKind | None
    namespaced: bool
    modern: bool
    """Whether what the core keeps in a composite's spec is below `spec.crossplane`."""
    versions: Mapping[str, Mapping[str, Any]]
    """The schema of each version that is served."""
    connection_keys: tuple[str, ...] = ()
    """The connection details that reach the composite's Secret; empty means all."""
    default_composition: str | None = None
    enforced_composition: str | None = None
    update_policy: str | None = None
    document: Document = field(default=Document({}, ""), repr=False, compare=False)
    version: str = ""
    """The version that compositions are for."""
    names: Mapping[str, Any] = field(default_factory=dict)
    """Plural, singular, short names and categories, as they are written."""
    claim_names: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The definition's name, `<plural>.<group>`."""
        return f"{self.plural}.{self.kind.group}"

    @property
    def api_version(self) -> str:
        """Group and version of what compositions are for."""
        return f"{self.kind.group}/{self.version}"

    def composition(self, *, enforced: bool) -> ClassKey | None:
        """The composition that composites of the kind always have, or have where they ask for none."""
        name = self.enforced_composition if enforced else self.default_composition
        return ClassKey(COMPOSITION, name) if name else None

    def defaulted(self, composite: Document) -> dict[str, Any]:
        """The composite with its schema's defaults filled in."""
        from claimsmith.kubernetes import schema

        version = str(composite.data.get("apiVersion", "")).rpartition("/")[2]
        if GroupKind.of(composite.data) != self.kind or version not in self.versions:
            known = ", ".join(f"{self.kind.group}/{v}" for v in self.versions)
            what = f"{self.document.data['metadata']['name']} defines {self.kind.kind} of {known}"
            given = f"{composite.data.get('kind')} of {composite.data.get('apiVersion')}"
            raise ModelError(composite.problem(f"{what}, not {given}", "kind", "give the definition of that kind"))
        full: dict[str, Any] = schema.defaulted(composite.data, self.schema_of(version))
        return full

    def schema_of(self, version: str) -> dict[str, Any]:
        """The version's schema, with the one default that the definition adds to it."""
        given = self.versions[version]
        if self.update_policy is None:
            return dict(given)
        properties = dict(given.get("properties") or {})
        spec = dict(properties.get("spec") or {})
        policy = {"compositionUpdatePolicy": {"type": "string", "default": self.update_policy}}
        own = {"crossplane": {"type": "object", "properties": policy}} if self.modern else policy
        properties["spec"] = {**spec, "properties": {**(spec.get("properties") or {}), **own}}
        return {**given, "properties": properties}


def is_definition(document: Document) -> bool:
    """Whether the document defines a kind of composite."""
    return GroupKind.of(document.data) == KIND


def read(document: Document) -> Xrd:
    """The definition that a document gives."""
    from claimsmith.dialects.crossplane.xrd_input import DefinitionInput
    from claimsmith.kubernetes import schema

    raw = parse(DefinitionInput, document)
    spec, old = raw.spec, raw.spec.crd_spec_template
    group = old.group if old else spec.group
    names = old.names if old else spec.names
    assert names is not None, "needs() asks for names where there is no template"
    version = old.version if old else ""
    versions: dict[str, Mapping[str, Any]] = {v.name: v.schema_.open_api_v3_schema for v in spec.versions if v.served}
    places = {f"spec.versions[{i}].schema": v.schema_ for i, v in enumerate(spec.versions)}
    if old:
        versions = {version: old.validation.open_api_v3_schema}
        places = {"spec.crdSpecTemplate.validation": old.validation}
    for place, written in places.items():
        at = fieldpath.parse(f"{place}.openAPIV3Schema")
        schema.refuse_unreadable(written.open_api_v3_schema, document=document, at=at)
    expected = f"{names.plural}.{group}"
    if raw.metadata.name != expected:
        what = f"the definition is named {raw.metadata.name!r}, not plural and group, {expected!r}"
        raise ModelError(document.problem(what, "metadata.name", f"name it {expected}"))
    modern = raw.api_version == f"{GROUP}/v2" and spec.scope != "LegacyCluster"
    return Xrd(
        kind=GroupKind(group, names.kind),
        plural=names.plural,
        claim=GroupKind(group, spec.claim_names.kind) if spec.claim_names else None,
        namespaced=modern and spec.scope in (None, "Namespaced"),
        modern=modern,
        versions=versions,
        connection_keys=spec.connection_secret_keys,
        default_composition=spec.default_composition_ref.name if spec.default_composition_ref else None,
        enforced_composition=spec.enforced_composition_ref.name if spec.enforced_composition_ref else None,
        update_policy=spec.default_composition_update_policy,
        document=document,
        version=version or next((v.name for v in spec.versions if v.referenceable), ""),
        names=names.model_dump(by_alias=True),
        claim_names=spec.claim_names.model_dump(by_alias=True) if spec.claim_names else {},
    )
