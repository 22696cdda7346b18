"""Reads the definitions format's `Composition` (apiextensions.crossplane.io/v1alpha1): from one kind, to several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field, model_validator

from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem
from claimsmith.base.model import Model
from claimsmith.base.names import GroupKind, is_native
from claimsmith.base.parse import parse
from claimsmith.base.transform import Transform
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.details import NamedDetail, details_of
from claimsmith.dialects.common.klass import Class, Patch, Template
from claimsmith.dialects.common.loops import ForEach, check_loops
from claimsmith.dialects.common.metadata import Head
from claimsmith.dialects.common.native import wired
from claimsmith.dialects.common.policy import Policy
from claimsmith.dialects.common.template import (
    class_of,
    cleaned,
    names_of,
    refuse_namespace,
    spelt_path,
    without_effect,
)
from claimsmith.dialects.definitions.dialect import INSTANCES
from claimsmith.dialects.definitions.model import Definition

API_VERSION = "apiextensions.crossplane.io/v1alpha1"
KIND = GroupKind("apiextensions.crossplane.io", "Composition")


class _Kind(Model):
    api_version: str
    kind: str


class _Patch(Model):
    from_field_path: str
    to_field_path: str | None = None
    transforms: tuple[Transform, ...] = Field(default=(), strict=False)
    policy: Policy = Field(default_factory=Policy)


class _To(Model):
    name: str | None = None
    previous_name: str | None = None
    base: dict[str, Any]
    patches: tuple[_Patch, ...] = Field(default=(), strict=False)
    connection_details: tuple[NamedDetail, ...] = Field(default=(), strict=False)
    for_each: ForEach | None = None
    when: str = ""

    @model_validator(mode="after")
    def _sound(self) -> _To:
        if is_native(self.base):
            return self
        missing = [key for key in ("apiVersion", "kind") if not isinstance(self.base.get(key), str)]
        if missing:
            raise ValueError(f"the base has no {' and no '.join(missing)}; fix: name the resource that it composes")
        return self


class _Spec(Model):
    from_: _Kind = Field(alias="from")
    to: tuple[_To, ...] = Field(min_length=1, strict=False)


class _Composition(Head):
    spec: _Spec


def is_composition(document: Document) -> bool:
    """Whether the document is a composition of this dialect."""
    return document.data.get("apiVersion") == API_VERSION and document.data.get("kind") == KIND.kind


def read(document: Document) -> tuple[Class, list[Problem]]:
    """The class that the composition describes, and warnings. What its definition promises is added by the catalog."""
    raw = parse(_Composition, document)
    listed = [(f"spec.to[{i}]", t) for i, t in enumerate(raw.spec.to)]
    names = names_of(document, [(at, t.name, GroupKind.of(t.base).kind) for at, t in listed])
    refuse_namespace(raw.metadata, document)
    warnings: list[Problem] = []
    templates = [
        Template(
            name=name,
            base=cleaned(to.base, document, f"{at}.base", warnings),
            patches=tuple(_patches(to, at)),
            previous_name=to.previous_name,
            at=at,
            spec_at=f"{at}.base.spec",
            details=details_of(to.connection_details, document, at, native=is_native(to.base)),
            loop=to.for_each.loop() if to.for_each else None,
            when=to.when.strip(),
        )
        for name, (at, to) in zip(names, listed, strict=True)
    ]
    source = raw.spec.from_
    warnings += [w for template in templates for w in without_effect(template, document)]
    connected = wired(templates, document)
    check_loops(connected, document)
    klass = class_of(raw, document, INSTANCES, connected, api_version=source.api_version, kind=source.kind)
    ordering.operations(klass)
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


def completed(klass: Class, definitions: Mapping[GroupKind, Definition]) -> Class:
    """A composition completed by its definition: connection details, scope, service account."""
    defined = definitions.get(klass.serves)
    if defined is None:
        return klass
    return replace(
        klass,
        contract=() if defined.namespaced else defined.connection_details,
        namespaced=defined.namespaced,
        service_account=defined.service_account,
    )


def broken_promises(klass: Class) -> list[Problem]:
    """Connection details that a composition's definition asks for and that it delivers not at all, or twice."""
    if klass.dialect.publishing or not klass.contract:
        return []
    problems: list[Problem] = []
    delivered: dict[str, list[str]] = {}
    for template in klass.templates:
        for index, detail in enumerate(template.details or ()):
            delivered.setdefault(detail.name, []).append(f"{template.at}.connectionDetails[{index}]")
    for name in klass.contract:
        places = delivered.get(name, [])
        if not places:
            what = f"{klass.key} delivers no connection detail {name!r}, which {klass.serves} promises"
            fix = "add it to the connectionDetails of one of the resources"
            problems.append(klass.document.problem(what, "spec.to", fix))
        elif len(places) > 1:
            what = f"{klass.key} delivers the connection detail {name!r} {len(places)} times"
            problems.append(klass.document.problem(what, places[1], "keep one of them"))
    for name in sorted(delivered.keys() - set(klass.contract)):
        what = f"{klass.key} delivers the connection detail {name!r}, which {klass.serves} does not promise"
        fix = f"remove it, or promise it in the definition; promised: {', '.join(klass.contract)}"
        problems.append(klass.document.problem(what, delivered[name][0], fix))
    return problems
