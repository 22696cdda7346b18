"""Reads definitions and publications; each document is checked on its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError, Problem
from claimsmith.base.model import Model
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.base.parse import parse
from claimsmith.dialects.common.metadata import Head, Name, or_empty
from claimsmith.dialects.definitions.model import (
    API_VERSION,
    APPLICATION,
    COMPOSITION,
    REQUIREMENT,
    Definition,
    Publication,
)
from claimsmith.kubernetes import schema

_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")
_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
_DETAIL = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_TEMPLATE = "spec.crdSpecTemplate"
_RESOURCE = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})


class _Names(Model):
    kind: str
    plural: str
    list_kind: str | None = None
    singular: str | None = None
    short_names: tuple[str, ...] = Field((), strict=False)
    categories: tuple[str, ...] = Field((), strict=False)


class _Validation(Model):
    schema_: dict[str, Any] | None = Field(None, alias="openAPIV3Schema")


class _Version(Model):
    name: str
    served: Literal[True] = True
    storage: Literal[True] = True
    schema_: _Validation | None = Field(None, alias="schema")


class _Column(Model):
    name: str
    type: str
    json_path: str | None = None
    # How apiextensions.k8s.io/v1beta1 spells it.
    old_json_path: str | None = Field(None, alias="JSONPath")
    description: str | None = None
    format: str | None = None
    priority: int | None = None

    @model_validator(mode="after")
    def _sound(self) -> _Column:
        if (self.json_path is None) == (self.old_json_path is None):
            raise ValueError("a column needs one path; fix: write jsonPath: .spec.region")
        return self

    def plain(self) -> dict[str, Any]:
        """The column as apiextensions.k8s.io/v1 writes it."""
        given = self.model_dump(by_alias=True, exclude_none=True)
        return {{"JSONPath": "jsonPath"}.get(key, key): value for key, value in given.items()}


class _Template(Model):
    group: str
    version: str | None = None
    versions: tuple[_Version, ...] = Field((), strict=False)
    names: _Names
    scope: str | None = None
    validation: _Validation | None = None
    additional_printer_columns: tuple[_Column, ...] = Field((), strict=False)


class _AccountRef(Model):
    namespace: Name
    name: Name


class _CompositionRef(Model):
    api_version: str = API_VERSION
    kind: str = COMPOSITION.kind
    name: Name

    @property
    def key(self) -> ClassKey:
        return ClassKey(GroupKind.of({"apiVersion": self.api_version, "kind": self.kind}), self.name)


class _Spec(Model):
    crd_spec_template: _Template
    connection_details: tuple[str, ...] = Field((), strict=False)
    service_account_ref: _AccountRef | None = None
    default_composition: _CompositionRef | None = None
    force_composition: _CompositionRef | None = None

    _empty = field_validator("connection_details", mode="before")(lambda value: value or ())


class _Definition(Head):
    spec: _Spec


class _Reference(Model):
    name: Name


class _PublicationSpec(Model):
    infrastructure_definition_reference: _Reference


class _Publication(Head):
    spec: _PublicationSpec

    _empty = field_validator("spec", mode="before")(or_empty)


def read(document: Document) -> Definition:
    """The kind that the document defines; all its problems are reported together."""
    raw = parse(_Definition, document)
    kind_of: Literal["application", "infrastructure"]
    kind_of = "application" if GroupKind.of(document.data) == APPLICATION else "infrastructure"
    template, spec = raw.spec.crd_spec_template, raw.spec
    names = template.names
    at, written = _schema(template)
    found = schema.normalised(written)
    problems = [
        *_name_problems(raw, document),
        *_version_problems(template, document),
        *_spec_problems(spec, kind_of, document),
        *schema.check_schema(found, document=document, at=fieldpath.parse(at)),
        *_property_problems(found, kind_of, document, at),
    ]
    if problems:
        raise ModelError(*problems)
    version = template.version or template.versions[0].name
    account = spec.service_account_ref
    return Definition(
        kind_of=kind_of,
        api_version=f"{template.group}/{version}",
        group_kind=GroupKind(template.group, names.kind),
        plural=names.plural,
        singular=names.singular or names.kind.lower(),
        list_kind=names.list_kind or f"{names.kind}List",
        schema=found,
        document=document,
        connection_details=() if kind_of == "application" else spec.connection_details,
        service_account=(account.namespace, account.name) if account else None,
        default_composition=spec.default_composition.key if spec.default_composition else None,
        force_composition=spec.force_composition.key if spec.force_composition else None,
        short_names=names.short_names,
        categories=names.categories,
        columns=tuple(c.plain() for c in template.additional_printer_columns),
        warnings=tuple(_warnings(spec, kind_of, document)),
    )


def read_publication(document: Document) -> Publication:
    """The publication that the document asks for."""
    raw = parse(_Publication, document)
    return Publication(raw.metadata.name, raw.spec.infrastructure_definition_reference.name, document)


def _schema(template: _Template) -> tuple[str, dict[str, Any]]:
    """The schema of the spec, and where it stands.

    The format writes the spec's properties at the root. A root that names nothing but parts of a resource, `spec`
    among them, is the schema of the whole resource.
    """
    at = f"{_TEMPLATE}.validation.openAPIV3Schema"
    root = template.validation.schema_ if template.validation else None
    if root is None and template.versions and template.versions[0].schema_:
        at, root = f"{_TEMPLATE}.versions[0].schema.openAPIV3Schema", template.versions[0].schema_.schema_
    if root is None:
        return _TEMPLATE, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    properties = root.get("properties")
    if isinstance(properties, dict) and "spec" in properties and not properties.keys() - _RESOURCE:
        inner = properties["spec"]
        if isinstance(inner, dict) and inner.get("type", "object") == "object":
            return f"{at}.properties.spec", {"type": "object", **inner}
    return at, {"type": "object", **root}


def _name_problems(raw: _Definition, document: Document) -> Iterator[Problem]:
    template = raw.spec.crd_spec_template
    names = template.names
    wanted = f"{names.plural}.{template.group}"
    if raw.metadata.name != wanted:
        what = f"the name is {raw.metadata.name!r}, not <plural>.<group>"
        yield document.problem(what, "metadata.name", f"name it {wanted}")
    if not _DOMAIN.fullmatch(template.group):
        what = f"{template.group!r} is no API group"
        yield document.problem(what, f"{_TEMPLATE}.group", "use a domain with a dot, as in database.example.org")
    if not _KIND.fullmatch(names.kind):
        what = f"{names.kind!r} is no kind"
        yield document.problem(what, f"{_TEMPLATE}.names.kind", "begin with a capital, as in MySQLInstance")
    if names.list_kind is not None and (not _KIND.fullmatch(names.list_kind) or names.list_kind == names.kind):
        what = f"{names.list_kind!r} is no kind for lists of {names.kind}"
        yield document.problem(what, f"{_TEMPLATE}.names.listKind", f"use {names.kind}List, or leave it out")
    if names.kind.endswith(REQUIREMENT):
        what = f"the kind {names.kind!r} ends in {REQUIREMENT!r}, which marks the twins of published kinds"
        yield document.problem(what, f"{_TEMPLATE}.names.kind", "give it another name")
    for word, value in (("plural", names.plural), ("singular", names.singular)):
        if value is not None and not _LABEL.fullmatch(value):
            what = f"{value!r} is no {word} name"
            yield document.problem(what, f"{_TEMPLATE}.names.{word}", "use lower case letters, digits and '-'")


def _version_problems(template: _Template, document: Document) -> Iterator[Problem]:
    listed = [v.name for v in template.versions]
    versions = list(dict.fromkeys([*([template.version] if template.version else []), *listed]))
    path = f"{_TEMPLATE}.versions" if listed else f"{_TEMPLATE}.version"
    if not versions:
        yield document.problem("the kind has no version", path, "add version: v1alpha1")
    if len(versions) > 1:
        what = f"the kind has {len(versions)} versions ({', '.join(versions)}); only one may exist"
        yield document.problem(what, path, "keep one")
    for version in versions:
        if not _LABEL.fullmatch(version):
            yield document.problem(f"{version!r} is no API version", path, "write it as in v1alpha1, v1beta1 or v1")
    if template.validation and any(v.schema_ for v in template.versions):
        path = f"{_TEMPLATE}.validation"
        yield document.problem("there are two schemas, in validation and in versions", path, "keep one of the two")


def _spec_problems(spec: _Spec, kind_of: str, document: Document) -> Iterator[Problem]:
    scope, wanted = spec.crd_spec_template.scope, "Namespaced" if kind_of == "application" else "Cluster"
    if scope is not None and scope != wanted:
        truth = "infrastructure is in no namespace" if wanted == "Cluster" else "applications are in a namespace"
        what = f"the scope is {scope!r}, but {truth}"
        yield document.problem(what, f"{_TEMPLATE}.scope", f"write {wanted}, or leave it out")
    for word, reference in (("default", spec.default_composition), ("force", spec.force_composition)):
        if reference is not None and reference.key.group_kind != COMPOSITION:
            path = f"spec.{word}Composition"
            what = f"{reference.key.group_kind} is no composition"
            yield document.problem(what, path, f"write apiVersion: {API_VERSION}, kind: Composition")
    for index, detail in enumerate(spec.connection_details if kind_of == "infrastructure" else ()):
        path = f"spec.connectionDetails[{index}]"
        if detail in spec.connection_details[:index]:
            yield document.problem(f"the connection detail {detail!r} occurs twice", path, "remove one of the two")
        if not _DETAIL.fullmatch(detail):
            what = f"{detail!r} is no key of a Secret"
            yield document.problem(what, path, "use letters, digits, '-', '_' and '.'")


def _property_problems(found: dict[str, Any], kind_of: str, document: Document, at: str) -> Iterator[Problem]:
    properties = found.get("properties")
    if isinstance(properties, dict) and kind_of in properties:
        what = f"the property {kind_of!r} is taken: the definition adds an object of that name"
        yield document.problem(what, f"{at}.properties.{kind_of}", "give it another name")
    if found.get("type") != "object":
        what = f"the spec is of type {found.get('type')!r}"
        yield document.problem(what, f"{at}.type", "write type: object")
    if found.get("additionalProperties"):
        what = "the spec takes fields of any name, and so could not tell its own from what the definition adds"
        fix = "name the fields under properties, or put those of any name into a field of their own"
        yield document.problem(what, f"{at}.additionalProperties", fix)


def _warnings(spec: _Spec, kind_of: str, document: Document) -> Iterator[Problem]:
    if kind_of == "application" and spec.connection_details:
        path = "spec.connectionDetails"
        yield document.problem("applications have no connection details: these are ignored", path, "remove them")
