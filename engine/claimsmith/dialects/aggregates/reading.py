"""Reads `AggregateResourceClass`, which selects resource classes by their labels.

Its members determine what it composes, and so which claims it serves: those that may bind directly to at
least one of them. For each such claim kind there is one `Class`, with the members that make sense for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, field_validator

from claimsmith.base.choice import known_word
from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem
from claimsmith.base.model import Model
from claimsmith.base.names import ClassKey, GroupKind, kebab
from claimsmith.base.parse import parse
from claimsmith.dialects.aggregates.dialect import AGGREGATES
from claimsmith.dialects.common.bindable import Bindable
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.dialects.common.metadata import Head, Name, or_empty
from claimsmith.dialects.common.selector import Selector
from claimsmith.dialects.common.template import class_of
from claimsmith.dialects.resource_classes import reading as resource_classes
from claimsmith.dialects.resource_classes.reading import Member

KIND = GroupKind("aggregation.crossplane.io", "AggregateResourceClass")

ReclaimPolicy = Literal["Delete", "Retain", "Release"]


class _Rule(Model):
    class_selector: Selector

    _empty = field_validator("class_selector", mode="before")(or_empty)


class _SpecTemplate(Model):
    reclaim_policy: Annotated[ReclaimPolicy, BeforeValidator(known_word("reclaimPolicy", *get_args(ReclaimPolicy)))] = (
        "Delete"
    )
    write_connection_secrets_to_namespace: Name | None = None


class _AggregateResourceClass(Head):
    aggregation_rule: _Rule
    spec_template: _SpecTemplate = Field(default_factory=_SpecTemplate)

    _empty = field_validator("spec_template", mode="before")(or_empty)


def read(document: Document, members: Iterable[Member], bindable: Bindable) -> tuple[list[Class], list[Problem]]:
    """The class, once for each claim kind that it may serve, and warnings. One that serves no claim is reported."""
    raw = parse(_AggregateResourceClass, document)
    warnings = resource_classes.check_metadata(raw.metadata, document)
    key = ClassKey(KIND, raw.metadata.name)
    selector = raw.aggregation_rule.class_selector
    if not selector.match_labels and not selector.match_expressions:
        warnings.append(_warning(document, f"{key} takes up every class: its classSelector is empty", _LABELS))
    matching = {m.key: m for m in members if selector.matches(m.labels)}
    taken = [matching[k] for k in sorted(matching)]
    claims = sorted({claim for m in taken for claim in _served(m, bindable)})
    if not claims:
        warnings.append(_useless(document, key, selector, taken))
    classes = []
    for claim in claims:
        fitting = {m.key: t for m in taken if (t := _fitting(m, claim, bindable))}
        left = [m for m in taken if m.key not in fitting]
        if left:
            warnings.append(_left_out(document, key, claim, left))
        templates = _templates([m for m in taken if m.key in fitting], fitting)
        classes.append(_class(raw, document, claim, templates))
    return classes, warnings


_LABELS = "give it the labels of the classes that it means"


def _served(member: Member, bindable: Bindable) -> list[GroupKind]:
    claims = bindable.claims_for(member.template.group_kind)
    return [c for c in claims if resource_classes.for_claim(member.template, c, bindable)]


def _fitting(member: Member, claim: GroupKind, bindable: Bindable) -> Template | None:
    """The member's template as it serves or supports a claim; None where it makes no sense for it."""
    direct = resource_classes.for_claim(member.template, claim, bindable)
    return direct or (member.template if member.template.group_kind in bindable.supports(claim) else None)


def _templates(members: Sequence[Member], fitting: Mapping[ClassKey, Template]) -> tuple[Template, ...]:
    """The members' templates, each of which knows its own class."""
    names = _names(members)
    return tuple(
        replace(fitting[m.key], name=names[m.key], class_ref=m.reference(), document=m.document) for m in members
    )


def _class(
    raw: _AggregateResourceClass, document: Document, claim: GroupKind, templates: tuple[Template, ...]
) -> Class:
    version = resource_classes.claim_api_version(claim)
    return replace(
        class_of(raw, document, AGGREGATES, templates, api_version=version, kind=claim.kind),
        secret_namespace=raw.spec_template.write_connection_secrets_to_namespace,
        retain=raw.spec_template.reclaim_policy == "Retain",
    )


def _names(members: Sequence[Member]) -> dict[ClassKey, str]:
    """A name for each member's template: its kind, and its class's name where others are of that kind too.

    No numbers, as far as can be: another class that is taken up later must not change which resource is which.
    """
    kinds = Counter(kebab(m.template.kind) for m in members)
    names: dict[ClassKey, str] = {}
    for member in members:
        kind = kebab(member.template.kind)
        plain = kind if kinds[kind] == 1 else f"{kind}-{member.key.name.replace('.', '-')}"
        name, number = plain, 2
        while name in names.values():
            name, number = f"{plain}-{number}", number + 1
        names[member.key] = name
    return names


def _useless(document: Document, key: ClassKey, selector: Selector, taken: Sequence[Member]) -> Problem:
    if not taken:
        return _warning(document, f"{key} serves no claim: no class has the labels {selector}", _LABELS)
    what = f"{key} serves no claim: none may bind directly to what {_listed(taken)} make"
    fix = "label a class that a claim may bind to, or say in components/bindable.yaml which claims these serve"
    return _warning(document, what, fix)


def _left_out(document: Document, key: ClassKey, claim: GroupKind, left: Sequence[Member]) -> Problem:
    what = f"{key} leaves out for {claim}: {_listed(left)}; what they make neither serves nor supports such a claim"
    fix = f"take the label from them, or say in components/bindable.yaml what supports {claim}"
    return _warning(document, what, fix)


def _warning(document: Document, what: str, fix: str) -> Problem:
    return document.problem(what, "aggregationRule.classSelector", fix)


def _listed(members: Sequence[Member]) -> str:
    return ", ".join(str(m.key) for m in members)
