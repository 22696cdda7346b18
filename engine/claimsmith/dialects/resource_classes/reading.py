"""Reads resource classes, one for each kind of managed resource, like `CloudMemorystoreInstanceClass`.

A class creates a resource of its kind without `Class`; its `specTemplate` is the resource's spec. Which claims it
serves is not in it but in the table of bindable kinds. So one document becomes one `Class` for each claim kind
that it may serve, and a `Member` that aggregates may take up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from pydantic import field_validator

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, ModelError, Problem
from claimsmith.base.model import Model
from claimsmith.base.names import ClassKey, GroupKind, kebab
from claimsmith.base.parse import parse
from claimsmith.base.values import copied, value_at, walk
from claimsmith.dialects.common.bindable import Bindable
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.dialects.common.metadata import CheckedHead, Metadata, Name, or_empty
from claimsmith.dialects.common.template import one_spelling
from claimsmith.dialects.composite_classes import reading as composite_classes
from claimsmith.dialects.resource_classes.dialect import RESOURCE_CLASSES

CARRIED = (
    "crossplane.io/external-name-prefix",
    "crossplane.io/external-name-suffix",
    "aggregation.crossplane.io/connection-secret-prefix",
    "claimsmith.io/controller-owned",
    "claimsmith.io/timeout",
)
"""The annotations of a class that its resources carry too; its labels are for selection alone."""
IS_DEFAULT = "resourceclass.crossplane.io/is-default-class"
WEIGHT = "resourceclass.crossplane.io/weight"
CLAIM_VERSION = "v1alpha1"
"""The version of the portable claim kinds, which a class that names no claim implies."""

_SUFFIX = "Class"
_NAMESPACE = "writeConnectionSecretsToNamespace"
_SECRET = "writeConnectionSecretToRef"
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class Member:
    """A class as aggregates see it: what it creates, and the labels by which they find it."""

    key: ClassKey
    api_version: str
    template: Template
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    document: Document = field(repr=False, compare=False)

    def reference(self) -> dict[str, Any]:
        """The class as a `classRef` names it."""
        return {"apiVersion": self.api_version, "kind": self.key.group_kind.kind, "name": self.key.name}


class _SpecificClass(CheckedHead):
    spec_template: dict[str, Any] | None = None
    # An example of the aggregate format has `spec`.
    spec: dict[str, Any] | None = None

    _empty = field_validator("spec_template", "spec", mode="before")(or_empty)


class _Secret(Model):
    namespace: Name


def made_by(document: Document) -> tuple[str, str]:
    """The apiVersion and kind of what a class creates."""
    return str(document.data.get("apiVersion", "")), str(document.data.get("kind", "")).removesuffix(_SUFFIX)


def is_class(document: Document, bindable: Bindable) -> bool:
    """Whether the document is a class of this dialect: it has a specTemplate, or its kind is one that is known."""
    kind = str(document.data.get("kind", ""))
    if not kind.endswith(_SUFFIX) or kind in (_SUFFIX, "AggregateResourceClass"):
        return False
    if GroupKind.of(document.data) in composite_classes.KINDS:
        return False
    return "specTemplate" in document.data or bindable.knows(_created_kind(document))


def read(document: Document, bindable: Bindable) -> tuple[list[Class], list[Problem]]:
    """The class, once for each claim kind that it may serve, and warnings. A class that only supports serves none."""
    found, warnings = _read(document, bindable)
    created = found.template.group_kind
    classes = [
        Class(
            api_version=found.api_version,
            key=found.key,
            serves=claim,
            templates=(template,),
            dialect=RESOURCE_CLASSES,
            document=document,
            labels=found.labels,
            annotations=found.annotations,
            claim_api_version=claim_api_version(claim),
            makes=created.kind,
        )
        for claim in bindable.claims_for(created)
        if not _needs_siblings(found.template.base) and (template := for_claim(found.template, claim, bindable))
    ]
    alone = not _needs_siblings(found.template.base)
    if not classes and alone and (bindable.claims_for(created) or not bindable.knows(created)):
        warnings.append(_useless(document, found.key, bindable))
    return classes, warnings


def _needs_siblings(value: Any) -> bool:
    """Whether a resource selects others of its aggregate: alone it would find none."""
    match value:
        case dict():
            return value.get("matchAggregate") is True or any(_needs_siblings(v) for v in value.values())
        case list():
            return any(_needs_siblings(v) for v in value)
        case _:
            return False


def member(document: Document, bindable: Bindable) -> Member:
    """The class as aggregates see it, whether or not it serves a claim by itself."""
    found, _ = _read(document, bindable)
    return found


def for_claim(template: Template, claim: GroupKind, bindable: Bindable) -> Template | None:
    """The template as it serves a kind of claim directly; None where that kind of claim may not bind to it."""
    terms = bindable.terms(claim, template.group_kind)
    if terms is None:
        return None
    base = copied(dict(template.base))
    for path, pattern in terms.only.items():
        own = value_at(base, _placed(path, base), ABSENT)
        if own is not ABSENT and not fnmatchcase(str(own), pattern):
            return None
    for path, value in terms.values.items():
        place = _placed(path, base)
        own = value_at(base, place, ABSENT)
        if own is ABSENT:
            fieldpath.put(base, place, value)
        elif own != value:
            return None
    patches = []
    for patch in terms.patches:
        place = _placed(patch.to, base)
        # The table is no place in the class's file; the field that the class leaves open is.
        at = fieldpath.to_text((*fieldpath.parse(template.at), *place[1:]))
        patches.append(replace(patch, to=fieldpath.to_text(place), at=at))
    return replace(template, base=base, patches=tuple(patches))


def claim_api_version(claim: GroupKind) -> str:
    """The apiVersion under which a class that names no claim speaks of it."""
    return f"{claim.group}/{CLAIM_VERSION}"


def check_metadata(metadata: Metadata, document: Document) -> list[Problem]:
    """Warnings about a class's metadata; a namespace, or a weight that is no number, is refused."""
    problems = Collector()
    if metadata.namespace is not None:
        where = document.source_of("metadata.namespace")
        what = f"the class {metadata.name!r} is in the namespace {metadata.namespace!r}, but classes are cluster-scoped"
        problems.add(Problem(what, where, "metadata.namespace", "remove it; group classes by labels"))
    weight = metadata.annotations.get(WEIGHT)
    if weight is not None and not re.fullmatch(r"[-+]?[0-9]+", weight):
        where, path = document.source_of(("metadata", "annotations", WEIGHT)), f"metadata.annotations[{WEIGHT}]"
        problems.add(Problem(f"the weight {weight!r} is no whole number", where, path, 'write it like "10"'))
    problems.raise_as(ModelError)
    if IS_DEFAULT not in metadata.labels:
        return []
    where = document.source_of(("metadata", "labels", IS_DEFAULT))
    what = f"{IS_DEFAULT} is a label of {metadata.name!r}, which makes it no default class"
    return [Problem(what, where, f"metadata.labels[{IS_DEFAULT}]", "write it as an annotation")]


def oversized(base: Mapping[str, Any]) -> list[fieldpath.Path]:
    """The paths of whole numbers that do not fit into 64 bits, so that no API server takes them."""
    return [path for path, leaf in walk(dict(base)) if type(leaf) is int and leaf not in _INT64]


def _read(document: Document, bindable: Bindable) -> tuple[Member, list[Problem]]:
    raw = parse(_SpecificClass, document)
    warnings = check_metadata(raw.metadata, document)
    at, spec = _spec(raw, document, bindable, warnings)
    api_version, kind = made_by(document)
    carried = {key: raw.metadata.annotations[key] for key in CARRIED if key in raw.metadata.annotations}
    base = {
        "apiVersion": api_version,
        "kind": kind,
        **({"metadata": {"annotations": carried}} if carried else {}),
        "spec": _with_secret(_sound(spec, document, at), document, at),
    }
    template = Template(kebab(kind), base, at=at, spec_at=at)
    warnings += _oversized(template, document, then="; a claim that is bound to the class is refused")
    key = ClassKey(GroupKind.of(document.data), raw.metadata.name)
    labels, annotations = raw.metadata.labels, raw.metadata.annotations
    return Member(key, raw.api_version, template, labels, annotations, document), warnings


def _spec(
    raw: _SpecificClass, document: Document, bindable: Bindable, warnings: list[Problem]
) -> tuple[str, dict[str, Any]]:
    """The fields of a class for its resource, and their place."""
    if raw.spec is None and raw.spec_template is not None:
        return "specTemplate", raw.spec_template
    where = document.source_of("spec")
    if raw.spec is None or not bindable.knows(_created_kind(document)):
        what = "the field 'specTemplate' is missing"
        raise ModelError(
            Problem(what, where, "specTemplate", "add specTemplate: with the spec of the composed resource")
        )
    if raw.spec_template is not None:
        raise ModelError(Problem("both 'spec' and 'specTemplate' are set", where, "spec", "keep 'specTemplate'"))
    warnings.append(Problem("'spec' is read as 'specTemplate'", where, "spec", "write specTemplate:"))
    return "spec", raw.spec


def _sound(spec: dict[str, Any], document: Document, at: str) -> dict[str, Any]:
    """The spec, in which forProvider is an object: claims may fill its fields."""
    given = spec.get("forProvider")
    if "forProvider" not in spec or isinstance(given, dict):
        return spec
    if given is not None:
        raise ModelError(document.problem(f"forProvider {given!r} is no object", f"{at}.forProvider", "give it fields"))
    return {**spec, "forProvider": {}}


def _with_secret(template: dict[str, Any], document: Document, at: str) -> dict[str, Any]:
    """The spec with the place of the connection secret, whose name is the resource's own."""
    spec = one_spelling(template)
    if _NAMESPACE not in spec:
        return spec
    path = f"{at}.{_NAMESPACE}"
    where = document.source_of(path)
    if _SECRET in spec:
        what = f"both {_NAMESPACE} and {_SECRET} say where the connection secret goes"
        raise ModelError(Problem(what, where, path, f"keep {_NAMESPACE}"))
    namespace = spec.pop(_NAMESPACE)
    try:
        secret = _Secret.model_validate({"namespace": namespace})
    except ValueError as error:
        what = f"{_NAMESPACE} {namespace!r} is no namespace"
        raise ModelError(Problem(what, where, path, "write the namespace's name, like crossplane-system")) from error
    return {**spec, _SECRET: {"namespace": secret.namespace}}


def _placed(path: str, base: Mapping[str, Any]) -> fieldpath.Path:
    """Where a field of the table is in a base: alpha kinds may have no forProvider, and their fields in the spec."""
    steps = fieldpath.parse(path)
    version = str(base["apiVersion"]).rpartition("/")[2]
    if steps[1:2] == ("forProvider",) and "forProvider" not in base["spec"] and "alpha" in version:
        return (steps[0], *steps[2:])
    return steps


def _oversized(template: Template, document: Document, *, then: str = "") -> Iterator[Problem]:
    for path in oversized(template.base):
        place = (*fieldpath.parse(template.at), *path[1:])
        what = f"{fieldpath.get(template.base, path)} has more than 64 bits, which no API server takes{then}"
        fix = "write a number that the provider knows"
        yield document.problem(what, place, fix)


def _useless(document: Document, key: ClassKey, bindable: Bindable) -> Problem:
    created = _created_kind(document)
    claims = bindable.claims_for(created)
    if claims:
        kinds = ", ".join(map(str, claims))
        what = f"{key} serves no claim: {kinds} may bind to {created}, but not as it is described here"
        return document.problem(what, "kind", "fix the engine or version of the class")
    what = f"{key} serves no claim: no kind of claim may bind to {created}"
    fix = f"say in components/bindable.yaml which claims {created} serves or supports"
    return document.problem(what, "kind", fix)


def _created_kind(document: Document) -> GroupKind:
    api_version, kind = made_by(document)
    return GroupKind.of({"apiVersion": api_version, "kind": kind})
