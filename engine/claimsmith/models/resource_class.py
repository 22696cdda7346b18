"""Document 001's classes: `ResourceClass` (one resource) and `CompositeResourceClass` (several)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field, model_validator

from claimsmith.documents import Document
from claimsmith.errors import ModelError, Problem
from claimsmith.merge import MergePolicy
from claimsmith.models.base import Model
from claimsmith.models.klass import Class, Parent, Patch, Template
from claimsmith.models.metadata import Metadata
from claimsmith.models.objects import ClassKey, GroupKind, kebab
from claimsmith.models.parse import parse
from claimsmith.models.transform import Transform

API_VERSION = "infrastructure.crossplane.io/v1alpha1"
KINDS = frozenset({GroupKind("infrastructure.crossplane.io", k) for k in ("ResourceClass", "CompositeResourceClass")})


class _Kind(Model):
    api_version: str
    kind: str


class _Policy(Model):
    from_field_path: str = Field("Optional", pattern="^(Optional|Required)$")
    to_field_path: str = "Replace"


class _Patch(Model):
    from_claim_field_path: str
    to_resource_field_path: str
    transforms: tuple[Transform, ...] = Field((), strict=False)
    policy: _Policy = _Policy(from_field_path="Optional")


class _Resource(Model):
    name: str | None = None
    previous_name: str | None = None
    base: dict[str, Any]
    # The document uses both words; `patches` is the one to write.
    patch: tuple[_Patch, ...] = Field((), strict=False)
    patches: tuple[_Patch, ...] = Field((), strict=False)

    @model_validator(mode="after")
    def _sound(self) -> _Resource:
        if self.patch and self.patches:
            raise ValueError("both 'patch' and 'patches' are given; fix: keep 'patches'")
        missing = [key for key in ("apiVersion", "kind") if not isinstance(self.base.get(key), str)]
        if missing:
            raise ValueError(
                f"the base has no {' and no '.join(missing)}; fix: name the managed resource that it makes"
            )
        return self


class _ResourceClassSpec(Model):
    claim: _Kind
    resource: _Resource


class _CompositeResourceClassSpec(Model):
    claim: _Kind
    resources: tuple[_Resource, ...] = Field(min_length=1, strict=False)


class _ResourceClass(Model):
    api_version: str
    kind: str
    metadata: Metadata
    spec: _ResourceClassSpec


class _CompositeResourceClass(Model):
    api_version: str
    kind: str
    metadata: Metadata
    spec: _CompositeResourceClassSpec


def read(document: Document) -> tuple[Class, list[Problem]]:
    """The class that the document describes, and warnings about what in it is ignored."""
    group_kind = GroupKind.of(document.data)
    raw: _ResourceClass | _CompositeResourceClass
    if group_kind.kind == "ResourceClass":
        raw = parse(_ResourceClass, document)
        listed = [("spec.resource", raw.spec.resource)]
        parent = Parent.claim
    else:
        raw = parse(_CompositeResourceClass, document)
        listed = [(f"spec.resources[{i}]", r) for i, r in enumerate(raw.spec.resources)]
        parent = Parent.composite
    warnings: list[Problem] = []
    names = _names(document, listed)
    templates = tuple(
        Template(
            name=name,
            base=_cleaned(resource.base, document, at, warnings),
            patches=tuple(_patches(resource, document, at)),
            previous_name=resource.previous_name,
            at=at,
        )
        for name, (at, resource) in zip(names, listed, strict=True)
    )
    claim = raw.spec.claim
    klass = Class(
        api_version=raw.api_version,
        key=ClassKey(group_kind, raw.metadata.name),
        serves=GroupKind.of({"apiVersion": claim.api_version, "kind": claim.kind}),
        templates=templates,
        parent=parent,
        document=document,
        labels=raw.metadata.labels,
        annotations=raw.metadata.annotations,
    )
    return klass, warnings


def _names(document: Document, listed: list[tuple[str, _Resource]]) -> list[str]:
    """The templates' names: given ones, else the kind's, numbered from the second on."""
    names: list[str] = []
    for at, resource in listed:
        plain = resource.name or kebab(str(resource.base["kind"]))
        taken = sum(
            1 for n in names if n == plain or (n.rpartition("-")[0] == plain and n.rpartition("-")[2].isdigit())
        )
        if resource.name and plain in names:
            what = f"two templates are named {plain!r}"
            raise ModelError(Problem(what, document.source_of(f"{at}.name"), f"{at}.name", "give each its own name"))
        names.append(f"{plain}-{taken + 1}" if taken and not resource.name else plain)
    return names


def _cleaned(base: dict[str, Any], document: Document, at: str, warnings: list[Problem]) -> dict[str, Any]:
    """The base with labels and annotations for metadata, and one spelling of the connection secret's place."""
    metadata = base.get("metadata") or {}
    for key in metadata:
        if key not in ("labels", "annotations"):
            path = f"{at}.base.metadata.{key}"
            what = f"the base's metadata.{key} is ignored: names are generated"
            warnings.append(Problem(what, document.source_of(path), path, "remove it"))
    kept = {k: dict(metadata[k]) for k in ("labels", "annotations") if metadata.get(k)}
    cleaned = {k: v for k, v in base.items() if k not in ("metadata", "status")}
    spec = cleaned.get("spec")
    if isinstance(spec, dict) and "writeConnectionSecretsToRef" in spec:
        renamed = {"writeConnectionSecretsToRef": "writeConnectionSecretToRef"}
        cleaned["spec"] = {renamed.get(k, k): v for k, v in spec.items()}
    head = {"apiVersion": cleaned.pop("apiVersion"), "kind": cleaned.pop("kind")}
    return {**head, **({"metadata": kept} if kept else {}), **cleaned}


def _patches(resource: _Resource, document: Document, at: str) -> Iterator[Patch]:
    word = "patch" if resource.patch else "patches"
    for index, raw in enumerate(resource.patch or resource.patches):
        here = f"{at}.{word}[{index}]"
        try:
            policy = MergePolicy.from_text(raw.policy.to_field_path)
        except ValueError as error:
            path = f"{here}.policy.toFieldPath"
            known = ", ".join(p.value for p in MergePolicy)
            raise ModelError(Problem(str(error), document.source_of(path), path, f"use one of: {known}")) from error
        yield Patch(
            reads=(raw.from_claim_field_path,),
            to=raw.to_resource_field_path.replace("writeConnectionSecretsToRef", "writeConnectionSecretToRef"),
            transforms=raw.transforms,
            required=raw.policy.from_field_path == "Required",
            policy=policy,
            at=here,
        )
