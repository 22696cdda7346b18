"""A new class as YAML, to be filled in: what it serves, what it makes, and how its parts find each other.

Takes names, the reference table and the types of native resources, gives text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from claimsmith.base import yaml_text
from claimsmith.base.errors import LoadError, Problem
from claimsmith.base.names import GroupKind, kebab
from claimsmith.compose.references import Table
from claimsmith.tools.scaffold import native_resource
from claimsmith.tools.scaffold.claim_file import flow
from claimsmith.tools.scaffold.kind_fields import KindFields, fields_of
from claimsmith.tools.scaffold.native_resource import CLASSES, COMPOSITIONS, Native, Words

Schemas = Mapping[tuple[str, str], Mapping[str, Any]]
"""The schemas of kinds, by apiVersion and kind."""

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_KIND = re.compile(r"[A-Z][A-Za-z0-9]*")
_API = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*")


_JOINS = "resourceclass.crossplane.io/aggregate-to"


class Format(StrEnum):
    """The formats of classes, the recommended ones first."""

    composite = "composite"
    crossplane = "crossplane"
    definitions = "definitions"
    aggregate = "aggregate"
    single = "single"


_BY_DEFINITION = (Format.crossplane, Format.definitions)
"""In these a kind's definition names the default."""
_KUBERNETES_ONLY = (Format.aggregate, Format.single)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind in a version of its group."""

    api_version: str
    kind: str

    @property
    def group_kind(self) -> GroupKind:
        """The kind, whatever its version."""
        return GroupKind.of({"apiVersion": self.api_version, "kind": self.kind})

    @property
    def version(self) -> str:
        """The version alone."""
        return self.api_version.rpartition("/")[2]

    @classmethod
    def parse(cls, text: str) -> Kind:
        """What `group/version/Kind`, or `version/Kind` for Kubernetes' own, names."""
        api_version, _, kind = text.rpartition("/")
        if not _KIND.fullmatch(kind) or not _API.fullmatch(api_version):
            fix = "write it as group/version/Kind, as in platform.example.org/v1alpha1/Database"
            raise LoadError(Problem(f"{text!r} is no kind", fix=fix))
        return cls(api_version, kind)


@dataclass(frozen=True, slots=True)
class NewClass:
    """What is known of a class before it is written."""

    name: str
    claim: Kind
    makes: Sequence[Kind | Native]
    labels: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    default: bool = False
    format: Format = Format.composite

    def __post_init__(self) -> None:
        if not _LABEL.fullmatch(self.name) or len(self.name) > 63:
            fix = "use small letters, digits and dashes, 63 at most"
            raise LoadError(Problem(f"{self.name!r} is no name for a class", fix=fix))
        if not self.makes:
            raise LoadError(
                Problem("the class makes nothing", fix="add --makes group/version/Kind, or package:module:Type")
            )
        if self.default and self.format in _BY_DEFINITION:
            field = "defaultCompositionRef" if self.format == Format.crossplane else "defaultComposition"
            fix = f"leave out --default, and name the composition as {field} in the definition"
            raise LoadError(Problem("the default of a defined kind is in its definition", fix=fix))
        if self.format in _KUBERNETES_ONLY and any(isinstance(child, Native) for child in self.makes):
            fix = "leave out --format: a composite class makes native resources"
            raise LoadError(Problem(f"a class of the format {self.format} makes Kubernetes objects alone", fix=fix))
        if self.format == Format.single and len(self.makes) > 1:
            fix = "leave out --format, or use --format aggregate"
            raise LoadError(Problem("a class of the format single makes one resource", fix=fix))


def class_text(new: NewClass, table: Table, schemas: Schemas | None = None) -> str:
    """The class's file, in its format. Parts that refer to each other do so by selectors, where the table knows the
    fields; `schemas` has the definitions of the kinds that the platform knows.
    """
    parts = _Parts(new, table, schemas or {})
    lines = {
        Format.composite: _composite,
        Format.definitions: _definitions,
        Format.crossplane: _crossplane,
        Format.single: _single,
        Format.aggregate: _aggregate,
    }[new.format](parts)
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Parts:
    """What all formats are written from."""

    new: NewClass
    table: Table
    schemas: Schemas

    def fields(self, kind: Kind) -> KindFields:
        return fields_of(kind.api_version, kind.kind, self.schemas.get((kind.api_version, kind.kind)))

    def selectors(self, kind: Kind) -> list[str]:
        """The fields by which a part refers to others of the class."""
        others = {k.group_kind for k in self.new.makes if isinstance(k, Kind) and k is not kind}
        return [name for name, kinds in self.table.get(kind.group_kind, {}).items() if others & set(kinds)]


def _composite(parts: _Parts) -> Iterator[str]:
    yield from _head(parts.new, "infrastructure.crossplane.io/v1alpha1", "CompositeResourceClass")
    yield f"spec:\n  claim:\n    apiVersion: {parts.new.claim.api_version}\n    kind: {parts.new.claim.kind}"
    yield "  resources:"
    yield from _resources(parts, CLASSES, named=False)


def _definitions(parts: _Parts) -> Iterator[str]:
    yield from _head(parts.new, "apiextensions.crossplane.io/v1alpha1", "Composition")
    yield f"spec:\n  from:\n    apiVersion: {parts.new.claim.api_version}\n    kind: {parts.new.claim.kind}\n  to:"
    yield from _resources(parts, COMPOSITIONS, named=False)


def _crossplane(parts: _Parts) -> Iterator[str]:
    yield from _head(parts.new, "apiextensions.crossplane.io/v1", "Composition")
    claim = parts.new.claim
    yield f"spec:\n  compositeTypeRef:\n    apiVersion: {claim.api_version}\n    kind: {claim.kind}"
    yield "  mode: Pipeline\n  pipeline:"
    yield "  - step: patch-and-transform\n    functionRef:\n      name: function-patch-and-transform"
    yield "    input:\n      apiVersion: pt.fn.crossplane.io/v1beta1\n      kind: Resources\n      resources:"
    yield from (textwrap.indent(lines, "    ") for lines in _resources(parts, COMPOSITIONS, named=True))
    yield "  - step: ready\n    functionRef:\n      name: function-auto-ready"


def _single(parts: _Parts) -> Iterator[str]:
    (kind,) = _kinds(parts.new)
    yield from _template_of(parts, kind, parts.new)


def _aggregate(parts: _Parts) -> Iterator[str]:
    new = parts.new
    yield from _head(new, "aggregation.crossplane.io/v1alpha1", "AggregateResourceClass")
    yield f"aggregationRule:\n  classSelector:\n    matchLabels:\n      {_JOINS}: {new.name}"
    yield "specTemplate:\n  reclaimPolicy: Delete\n  writeConnectionSecretsToNamespace: crossplane-system"
    member = replace(new, labels={_JOINS: new.name}, description="", default=False)
    for kind in _kinds(new):
        yield "---"
        yield from _template_of(parts, kind, member)


def _template_of(parts: _Parts, kind: Kind, named: NewClass) -> Iterator[str]:
    """A class of one kind, whose specTemplate is the spec of its resources."""
    yield from _head(named, kind.api_version, f"{kind.kind}Class")
    found = parts.fields(kind)
    selector = {"matchAggregate": True, "matchClassRef": {"name": named.name}}
    provider = {f"{name}Selector": selector for name in parts.selectors(kind)}
    content: dict[str, object] = {"forProvider": provider} if found.provider.endswith("forProvider") else {**provider}
    content |= {**found.rest, "writeConnectionSecretsToNamespace": "crossplane-system"}
    yield "specTemplate:\n  # The provider's fields: those that are the same for every claim."
    yield textwrap.indent(block(content), "  ").rstrip()


def _kinds(new: NewClass) -> list[Kind]:
    return [child for child in new.makes if isinstance(child, Kind)]


def _head(new: NewClass, api_version: str, kind: str) -> Iterator[str]:
    yield f"apiVersion: {api_version}\nkind: {kind}"
    yield f"metadata:\n  name: {new.name}"
    if new.labels:
        yield "  labels:"
        yield from (f"    {flow(k)}: {flow(v)}" for k, v in new.labels.items())
    if new.description or new.default:
        yield "  annotations:"
    if new.description:
        yield f"    claimsmith.io/description: {flow(new.description)}"
    if new.default:
        yield '    resourceclass.crossplane.io/is-default-class: "true"'


def _resources(parts: _Parts, words: Words, *, named: bool) -> Iterator[str]:
    natives = [child for child in parts.new.makes if isinstance(child, Native)]
    names = iter(native_resource.names_of(natives))
    numbered = iter(_names(_kinds(parts.new)))
    for child in parts.new.makes:
        if isinstance(child, Native):
            others = [other for other in natives if other is not child]
            yield from native_resource.resource_lines(child, next(names), others, words)
        else:
            yield from _resource(
                parts, child, words, f"  - name: {next(numbered)}\n    base:" if named else "  - base:"
            )


def _names(kinds: Sequence[Kind]) -> list[str]:
    """The names of the resources: those of their kinds, numbered where they repeat."""
    bases = [kebab(k.kind) for k in kinds]
    return [f"{b}-{bases[:i].count(b) + 1}" if b in bases[:i] else b for i, b in enumerate(bases)]


def _resource(parts: _Parts, kind: Kind, words: Words, head: str) -> Iterator[str]:
    yield f"{head}\n      apiVersion: {kind.api_version}\n      kind: {kind.kind}"
    found = parts.fields(kind)
    selectors = parts.selectors(kind)
    top, _, inner = found.provider.partition(".")
    indent = "          " if inner else "        "
    empty = not (inner or selectors or found.rest)
    if empty:
        yield "      # Its fields: those that are the same for every claim."
    yield f"      {top}: {{}}" if empty else f"      {top}:"
    if not empty:
        yield "        # The provider's fields: those that are the same for every claim."
    if inner:
        yield f"        {inner}:" if selectors else f"        {inner}: {{}}"
    yield from (f"{indent}{name}Selector:\n{indent}  {words.sibling}: true" for name in selectors)
    if found.rest:
        yield textwrap.indent(block(found.rest), "        ").rstrip()
    patched = [name for name in found.required if name not in selectors]
    yield "    patches:" if patched else "    # patches:"
    mark = "" if patched else "# "
    for name in patched or ["region"]:
        yield f"    {mark}- {words.origin}: spec.{name}"
        yield f"    {mark}  {words.target}: {found.provider}.{name}"


def block(value: object) -> str:
    """A value as YAML over several lines."""
    return yaml_text.dumped(value)
