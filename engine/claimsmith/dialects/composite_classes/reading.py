"""Reads `ResourceClass` (one resource) and `CompositeResourceClass` (several)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem
from claimsmith.base.model import Model
from claimsmith.base.names import GroupKind, is_native
from claimsmith.base.parse import parse
from claimsmith.base.transform import Transform
from claimsmith.dialects.common import opaque, ordering
from claimsmith.dialects.common.checked import FieldPath
from claimsmith.dialects.common.details import NamedDetail, details_of
from claimsmith.dialects.common.dialect import Dialect
from claimsmith.dialects.common.klass import Class, Detail, Patch, Template
from claimsmith.dialects.common.loops import ForEach, check_loops
from claimsmith.dialects.common.metadata import ApiVersion, Head, Kind
from claimsmith.dialects.common.native import wired
from claimsmith.dialects.common.opaque import OpaqueTemplate
from claimsmith.dialects.common.policy import Policy
from claimsmith.dialects.common.template import (
    class_of,
    cleaned,
    names_of,
    refuse_namespace,
    spelt_path,
    without_effect,
)
from claimsmith.dialects.composite_classes.dialect import COMPOSITE_CLASSES
from claimsmith.dialects.resource_classes.dialect import RESOURCE_CLASSES

API_VERSION = "infrastructure.crossplane.io/v1alpha1"
KINDS = frozenset({GroupKind("infrastructure.crossplane.io", k) for k in ("ResourceClass", "CompositeResourceClass")})


class _Kind(Model):
    api_version: ApiVersion
    kind: Kind


class _Patch(Model):
    from_claim_field_path: FieldPath
    to_resource_field_path: FieldPath
    transforms: tuple[Transform, ...] = Field((), strict=False)
    policy: Policy = Field(default_factory=Policy)


class _Resource(Model):
    name: str | None = None
    previous_name: str | None = None
    base: dict[str, Any] | None = None
    template: OpaqueTemplate | None = None
    # The document uses both words; `patches` is the one to write.
    patch: tuple[_Patch, ...] = Field((), strict=False)
    patches: tuple[_Patch, ...] = Field((), strict=False)
    connection_details: tuple[NamedDetail, ...] | None = Field(None, strict=False)
    for_each: ForEach | None = None
    when: str = ""

    @model_validator(mode="after")
    def _sound(self) -> _Resource:
        if self.patch and self.patches:
            raise ValueError("both 'patch' and 'patches' are set; fix: keep 'patches'")
        if (self.base is None) == (self.template is None):
            raise ValueError("a resource has either a base or a template; fix: give it a base")
        if self.template and (self.patch or self.patches):
            raise ValueError("a template cannot be patched; fix: read the claim's fields in the template itself")
        base = self.known_base()
        if is_native(base):
            return self
        missing = [key for key in ("apiVersion", "kind") if not isinstance(base.get(key), str)]
        if missing:
            raise ValueError(
                f"the base has no {' and no '.join(missing)}; fix: name the managed resource that it composes,"
                " or the type of a native one"
            )
        return self

    def known_base(self) -> dict[str, Any]:
        """The base, or what is known of a template's document."""
        return self.base if self.base is not None else self.template.base() if self.template else {}


def _some(resources: tuple[_Resource, ...]) -> tuple[_Resource, ...]:
    if not resources:
        raise ValueError("a class composes at least one resource; fix: add one with a base")
    return resources


class _ResourceClassSpec(Model):
    claim: _Kind
    resource: _Resource


class _CompositeResourceClassSpec(Model):
    claim: _Kind
    # Not `min_length`, which would also complain wherever an entry is wrong.
    resources: Annotated[tuple[_Resource, ...], Field(strict=False), AfterValidator(_some)]


class _ResourceClass(Head):
    spec: _ResourceClassSpec


class _CompositeResourceClass(Head):
    spec: _CompositeResourceClassSpec


def read(document: Document) -> tuple[Class, list[Problem]]:
    """The class that the document describes, and warnings about what in it is ignored."""
    raw: _ResourceClass | _CompositeResourceClass
    if document.data["kind"] == "ResourceClass":
        raw = parse(_ResourceClass, document)
        listed = [("spec.resource", raw.spec.resource)]
        dialect: Dialect = RESOURCE_CLASSES
    else:
        raw = parse(_CompositeResourceClass, document)
        listed = [(f"spec.resources[{i}]", r) for i, r in enumerate(raw.spec.resources)]
        dialect = COMPOSITE_CLASSES
    refuse_namespace(raw.metadata, document)
    warnings: list[Problem] = []
    names = names_of(document, [(at, r.name, GroupKind.of(r.known_base()).kind) for at, r in listed])
    templates = [
        Template(
            name=name,
            base=cleaned(resource.known_base(), document, f"{at}.base", warnings, placed=True),
            patches=tuple(_patches(resource, at)),
            previous_name=resource.previous_name,
            at=at,
            spec_at=f"{at}.base.spec",
            opaque=resource.template.opaque() if resource.template else None,
            details=_details(resource, document, at),
            loop=resource.for_each.loop() if resource.for_each else None,
            when=resource.when.strip(),
        )
        for name, (at, resource) in zip(names, listed, strict=True)
    ]
    warnings += [w for template in templates for w in without_effect(template, document, placed=True)]
    connected = wired(templates, document)
    check_loops(connected, document)
    for at, resource in listed:
        if resource.template:
            warnings += opaque.check(resource.template, document, at)
    claim = raw.spec.claim
    klass = class_of(raw, document, dialect, connected, api_version=claim.api_version, kind=claim.kind)
    ordering.operations(klass)
    return klass, warnings


def _details(resource: _Resource, document: Document, at: str) -> tuple[Detail, ...] | None:
    """The connection details of a template; those of a looped one would be the same for each element."""
    silent = is_native(resource.known_base()) or resource.for_each is not None
    return details_of(resource.connection_details, document, at, native=silent)


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
