"""Document 001's classes: `ResourceClass` (one resource) and `CompositeResourceClass` (several)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from claimsmith import fieldpath
from claimsmith.documents import Document
from claimsmith.errors import FieldPathError, Problem
from claimsmith.models import opaque
from claimsmith.models.base import Model
from claimsmith.models.klass import Class, Parent, Patch, Template
from claimsmith.models.metadata import ApiVersion, Kind, Metadata
from claimsmith.models.objects import ClassKey, GroupKind
from claimsmith.models.opaque import OpaqueTemplate
from claimsmith.models.parse import parse
from claimsmith.models.policy import Policy
from claimsmith.models.template import cleaned, names_of, refuse_namespace, spelt_path
from claimsmith.models.transform import Transform

API_VERSION = "infrastructure.crossplane.io/v1alpha1"
KINDS = frozenset({GroupKind("infrastructure.crossplane.io", k) for k in ("ResourceClass", "CompositeResourceClass")})


def _parsed(path: str) -> str:
    try:
        fieldpath.parse(path)
    except FieldPathError as error:
        raise ValueError(f"{error.problems[0].what}; fix: {error.problems[0].fix}") from error
    return path


FieldPath = Annotated[str, AfterValidator(_parsed)]


class _Kind(Model):
    api_version: ApiVersion
    kind: Kind


class _Patch(Model):
    from_claim_field_path: FieldPath
    to_resource_field_path: FieldPath
    transforms: tuple[Transform, ...] = Field((), strict=False)
    policy: Policy = Policy()


class _Resource(Model):
    name: str | None = None
    previous_name: str | None = None
    base: dict[str, Any] | None = None
    template: OpaqueTemplate | None = None
    # The document uses both words; `patches` is the one to write.
    patch: tuple[_Patch, ...] = Field((), strict=False)
    patches: tuple[_Patch, ...] = Field((), strict=False)

    @model_validator(mode="after")
    def _sound(self) -> _Resource:
        if self.patch and self.patches:
            raise ValueError("both 'patch' and 'patches' are given; fix: keep 'patches'")
        if (self.base is None) == (self.template is None):
            raise ValueError("a resource has either a base or a template; fix: give it a base")
        if self.template and (self.patch or self.patches):
            raise ValueError("a template cannot be patched; fix: read the claim's fields in the template itself")
        made = self.made()
        missing = [key for key in ("apiVersion", "kind") if not isinstance(made.get(key), str)]
        if missing:
            raise ValueError(
                f"the base has no {' and no '.join(missing)}; fix: name the managed resource that it makes"
            )
        return self

    def made(self) -> dict[str, Any]:
        """The base, or what is known of a template's document."""
        return self.base if self.base is not None else self.template.base() if self.template else {}


def _some(resources: tuple[_Resource, ...]) -> tuple[_Resource, ...]:
    if not resources:
        raise ValueError("a class makes at least one resource; fix: add one with a base")
    return resources


class _ResourceClassSpec(Model):
    claim: _Kind
    resource: _Resource


class _CompositeResourceClassSpec(Model):
    claim: _Kind
    # Not `min_length`, which would also complain wherever an entry is wrong.
    resources: Annotated[tuple[_Resource, ...], Field(strict=False), AfterValidator(_some)]


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
    refuse_namespace(raw.metadata, document)
    warnings: list[Problem] = []
    names = names_of(document, [(at, r.name, str(r.made()["kind"])) for at, r in listed])
    templates = tuple(
        Template(
            name=name,
            base=cleaned(resource.made(), document, f"{at}.base", warnings),
            patches=tuple(_patches(resource, at)),
            previous_name=resource.previous_name,
            at=at,
            spec_at=f"{at}.base.spec",
            opaque=resource.template.opaque() if resource.template else None,
        )
        for name, (at, resource) in zip(names, listed, strict=True)
    )
    for at, resource in listed:
        if resource.template:
            warnings += opaque.check(resource.template, document, at)
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
        claim_api_version=claim.api_version,
    )
    return klass, warnings


def _patches(resource: _Resource, at: str) -> Iterator[Patch]:
    word = "patch" if resource.patch else "patches"
    for index, raw in enumerate(resource.patch or resource.patches):
        here = f"{at}.{word}[{index}]"
        yield Patch(
            reads=(raw.from_claim_field_path,),
            to=spelt_path(raw.to_resource_field_path),
            transforms=raw.transforms,
            required=raw.policy.required,
            policy=raw.policy.merge_policy(),
            at=here,
        )
