"""Document 002's `Composition` (apiextensions.crossplane.io/v1alpha1): from one kind, to several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field, model_validator

from claimsmith.documents import Document
from claimsmith.errors import Problem
from claimsmith.models.base import Model
from claimsmith.models.klass import Class, Detail, Parent, Patch, Template
from claimsmith.models.metadata import Metadata
from claimsmith.models.objects import ClassKey, GroupKind
from claimsmith.models.parse import parse
from claimsmith.models.policy import Policy
from claimsmith.models.template import cleaned, names_of, refuse_namespace, spelt_path
from claimsmith.models.transform import Transform

API_VERSION = "apiextensions.crossplane.io/v1alpha1"
KIND = GroupKind("apiextensions.crossplane.io", "Composition")


class _Kind(Model):
    api_version: str
    kind: str


class _Patch(Model):
    from_field_path: str
    to_field_path: str | None = None
    transforms: tuple[Transform, ...] = Field(default=(), strict=False)
    policy: Policy = Policy()


class _Detail(Model):
    name: str | None = None
    from_connection_secret_key: str


class _To(Model):
    name: str | None = None
    previous_name: str | None = None
    base: dict[str, Any]
    patches: tuple[_Patch, ...] = Field(default=(), strict=False)
    connection_details: tuple[_Detail, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def _sound(self) -> _To:
        missing = [key for key in ("apiVersion", "kind") if not isinstance(self.base.get(key), str)]
        if missing:
            raise ValueError(f"the base has no {' and no '.join(missing)}; fix: name the resource that it makes")
        return self


class _Spec(Model):
    from_: _Kind = Field(alias="from")
    to: tuple[_To, ...] = Field(min_length=1, strict=False)


class _Composition(Model):
    api_version: str
    kind: str
    metadata: Metadata
    spec: _Spec


def is_composition(document: Document) -> bool:
    """Whether the document is a composition of this dialect."""
    return document.data.get("apiVersion") == API_VERSION and document.data.get("kind") == KIND.kind


def read(document: Document) -> tuple[Class, list[Problem]]:
    """The class that the composition describes, and warnings. What its definition promises is added by the catalog."""
    raw = parse(_Composition, document)
    listed = [(f"spec.to[{i}]", t) for i, t in enumerate(raw.spec.to)]
    names = names_of(document, [(at, t.name, str(t.base["kind"])) for at, t in listed])
    refuse_namespace(raw.metadata, document)
    warnings: list[Problem] = []
    templates = tuple(
        Template(
            name=name,
            base=cleaned(to.base, document, f"{at}.base", warnings),
            patches=tuple(_patches(to, at)),
            previous_name=to.previous_name,
            at=at,
            spec_at=f"{at}.base.spec",
            details=tuple(
                Detail(d.name or d.from_connection_secret_key, d.from_connection_secret_key)
                for d in to.connection_details
            ),
        )
        for name, (at, to) in zip(names, listed, strict=True)
    )
    source = raw.spec.from_
    klass = Class(
        api_version=raw.api_version,
        key=ClassKey(KIND, raw.metadata.name),
        serves=GroupKind.of({"apiVersion": source.api_version, "kind": source.kind}),
        templates=templates,
        parent=Parent.instance,
        document=document,
        labels=raw.metadata.labels,
        annotations=raw.metadata.annotations,
        claim_api_version=source.api_version,
    )
    return klass, warnings


def _patches(to: _To, at: str) -> Iterator[Patch]:
    for index, raw in enumerate(to.patches):
        yield Patch(
            reads=(raw.from_field_path,),
            to=spelt_path(raw.to_field_path or raw.from_field_path),
            transforms=raw.transforms,
            required=raw.policy.required,
            policy=raw.policy.merge_policy(),
            at=f"{at}.patches[{index}]",
        )
