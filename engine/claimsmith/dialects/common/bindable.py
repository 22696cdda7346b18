"""Which kinds of managed resources may serve a kind of claim: built in, and extended by a project.

Takes documents of the table's form, gives a `Bindable`. A claim binds *directly* to some kinds; other kinds
*support* these, and only make sense beside them in an aggregate. A claim kind that no table names is served
by no resource class and no aggregate class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.model import JSON, Model
from claimsmith.base.names import GroupKind
from claimsmith.base.parse import parse
from claimsmith.base.transform import Transform
from claimsmith.dialects.common.checked import FieldPath, readable
from claimsmith.dialects.common.klass import Patch
from claimsmith.dialects.common.metadata import or_empty

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Terms:
    """How a kind of managed resource serves a kind of claim."""

    patches: tuple[Patch, ...] = ()
    """The claim's fields that fill what a class leaves open."""
    values: Mapping[str, JSON] = field(default_factory=dict)
    """What the kind of claim calls for, by field: filled in where a class leaves it open."""
    only: Mapping[str, str] = field(default_factory=dict)
    """The values of a class, by field, with which it may serve the claim: patterns of letters and '*'."""


@dataclass(frozen=True, slots=True)
class Bindable:
    """The table: claim kinds, with what they bind to and what supports that."""

    served: Mapping[GroupKind, Mapping[GroupKind, Terms]] = field(default_factory=dict)
    supporting: Mapping[GroupKind, frozenset[GroupKind]] = field(default_factory=dict)
    clusters: frozenset[GroupKind] = frozenset()

    def direct(self, claim: GroupKind) -> Mapping[GroupKind, tuple[Patch, ...]]:
        """The managed kinds that a claim may bind to, each with the patches that fill what its class leaves open."""
        return {kind: terms.patches for kind, terms in self.served.get(claim, {}).items()}

    def terms(self, claim: GroupKind, kind: GroupKind) -> Terms | None:
        """How a managed kind serves a claim directly; None where it does not."""
        return self.served.get(claim, {}).get(kind)

    def supports(self, claim: GroupKind) -> frozenset[GroupKind]:
        """The managed kinds that make sense for a claim beside those that it binds to."""
        return self.supporting.get(claim, frozenset())

    def claims_for(self, kind: GroupKind) -> list[GroupKind]:
        """The claim kinds that a managed kind serves directly, in order."""
        return sorted(claim for claim, kinds in self.served.items() if kind in kinds)

    def knows(self, kind: GroupKind) -> bool:
        """Whether a managed kind serves or supports any claim."""
        return bool(self.claims_for(kind)) or any(kind in kinds for kinds in self.supporting.values())

    def is_cluster(self, kind: GroupKind) -> bool:
        """Whether a managed kind is a Kubernetes cluster."""
        return kind in self.clusters


def _named(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no Kind.group; fix: write it like MySQLInstance.database.crossplane.io")
    return text


def _in_spec(path: str) -> str:
    steps = fieldpath.parse(readable(path))
    if len(steps) < 2 or steps[0] != "spec" or fieldpath.has_wildcard(path):
        raise ValueError(f"{path!r} is no one field of a spec; fix: write it like spec.forProvider.version")
    return fieldpath.to_text(steps)


KindName = Annotated[str, AfterValidator(_named)]
InSpec = Annotated[str, AfterValidator(_in_spec)]


class _Field(Model):
    origin: FieldPath | None = Field(None, alias="from")
    to: InSpec
    transforms: tuple[Transform, ...] = Field((), strict=False)
    value: JSON = None

    @model_validator(mode="after")
    def _sound(self) -> _Field:
        if (self.origin is None) == (self.value is None):
            raise ValueError("a field is filled from the claim or with a value; fix: write either 'from' or 'value'")
        if self.value is not None and self.transforms:
            raise ValueError("a value needs no transforms; fix: write the value itself")
        return self


class _Direct(Model):
    fields: tuple[_Field, ...] = Field((), strict=False)
    only: dict[InSpec, str] = Field(default_factory=dict)


class _Claim(Model):
    direct: dict[KindName, Annotated[_Direct, BeforeValidator(or_empty)]] = Field(default_factory=dict)
    supports: tuple[KindName, ...] = Field((), strict=False)


class _File(Model):
    bindable: dict[KindName, _Claim] = Field(default_factory=dict)
    supports: tuple[KindName, ...] = Field((), strict=False)
    clusters: tuple[KindName, ...] = Field((), strict=False)


def read_bindable(documents: Iterable[Document]) -> Bindable:
    """One table of several; later documents add to earlier ones, field by field."""
    served: dict[GroupKind, dict[GroupKind, Terms]] = {}
    supporting: dict[GroupKind, set[GroupKind]] = {}
    everywhere: set[GroupKind] = set()
    clusters: set[GroupKind] = set()
    for document in documents:
        raw = parse(_File, document)
        everywhere |= _kinds(raw.supports)
        clusters |= _kinds(raw.clusters)
        for name, claim in raw.bindable.items():
            key = GroupKind.parse(name)
            kinds = served.setdefault(key, {})
            for kind, direct in ((GroupKind.parse(k), d) for k, d in claim.direct.items()):
                kinds[kind] = _added(kinds.get(kind, Terms()), direct)
            supporting.setdefault(key, set()).update(_kinds(claim.supports))
    return Bindable(served, {c: frozenset(kinds | everywhere) for c, kinds in supporting.items()}, frozenset(clusters))


def _added(before: Terms, more: _Direct) -> Terms:
    """The terms with more of them; a later value of a field wins."""
    anew = {f.to for f in more.fields}
    patches = {p.to: p for p in before.patches if p.to not in anew}
    values: dict[str, Any] = {to: value for to, value in before.values.items() if to not in anew}
    for raw in more.fields:
        if raw.origin is None:
            values[raw.to] = raw.value
        else:
            patches[raw.to] = Patch((raw.origin,), raw.to, raw.transforms, fill=True)
    return Terms(tuple(patches.values()), values, {**before.only, **more.only})


def _kinds(names: Iterable[str]) -> set[GroupKind]:
    return {GroupKind.parse(name) for name in names}
