"""Definitions and publications, joined: which kinds exist, and which of them application teams may ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, Collector, Problem, suggest
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.dialects.crossplane.xrd import SECRET_NAMESPACE
from claimsmith.dialects.definitions.dialect import REQUIREMENTS
from claimsmith.dialects.definitions.model import API_VERSION, PUBLICATION, Definition, Publication


def publish(definitions: Iterable[Definition], publications: Iterable[Publication]) -> list[Definition]:
    """The definitions in their order, those that are published marked so; contradictions are refused together."""
    given = list(definitions)
    problems = Collector()
    by_name: dict[str, Definition] = {}
    kinds: dict[GroupKind, Definition] = {}
    for definition in given:
        first = by_name.setdefault(definition.name, definition)
        same = kinds.setdefault(definition.group_kind, definition)
        if first is not definition or same is not definition:
            problems.add(_defined_twice(definition, first if first is not definition else same))
    published: dict[str, Publication] = {}
    for publication in publications:
        problem = _refusal(publication, by_name, published)
        if problem:
            problems.add(problem)
        published.setdefault(publication.definition, publication)
    problems.problems += _clashes(given, published)
    problems.raise_as(CatalogError)
    return [replace(d, published=True) if d.name in published else d for d in given]


def _defined_twice(definition: Definition, first: Definition) -> Problem:
    path = "metadata.name"
    place = first.document.source_of(path)
    what = f"{definition.group_kind} ({definition.name}) is defined twice; the first is at {place}"
    return definition.document.problem(what, path, "remove one of the two, or give it another kind")


def _refusal(
    publication: Publication, by_name: dict[str, Definition], published: dict[str, Publication]
) -> Problem | None:
    path = "spec.infrastructureDefinitionReference.name"
    where = publication.document.source_of(path)
    definition = by_name.get(publication.definition)
    if definition is None:
        known = [name for name, d in by_name.items() if d.kind_of == "infrastructure"]
        what = f"{publication.definition!r} is not defined; only kinds of an InfrastructureDefinition can be published"
        fix = suggest(publication.definition, sorted(known), none="none")
        return Problem(what, where, path, fix)
    if definition.kind_of != "infrastructure":
        what = f"{publication.definition!r} is an application; only infrastructure can be published"
        return Problem(what, where, path, "remove the publication: applications are in a namespace already")
    if publication.definition in published:
        first = published[publication.definition].document.source_of("metadata.name")
        what = f"{publication.definition!r} is published twice; the first is at {first}"
        return publication.document.problem(what, "metadata.name", "remove one of the two")
    if publication.name != publication.definition:
        what = f"the publication {publication.name!r} has another name than what it publishes"
        return publication.document.problem(what, "metadata.name", f"name it {publication.definition}")
    return None


def _clashes(definitions: Sequence[Definition], published: dict[str, Publication]) -> list[Problem]:
    """Kinds whose plural is that of another's requirement."""
    plurals = {d.name: d for d in definitions}
    problems = []
    for definition in definitions:
        plural = f"{definition.singular}requirements.{definition.group_kind.group}"
        if definition.name in published and plural in plurals:
            path = "spec.crdSpecTemplate.names.plural"
            what = f"the plural {plurals[plural].plural!r} is that of {definition.requirement_kind}"
            problems.append(plurals[plural].document.problem(what, path, "give it another plural"))
    return problems


def requirement_class(defined: Definition, document: Document) -> Class:
    """The class of a requirement: its one child is the composite that is required, with the same spec."""
    assert defined.requirement, "only published kinds have requirements"
    return Class(
        api_version=API_VERSION,
        key=ClassKey(PUBLICATION, f"{defined.plural}.{defined.group_kind.group}"),
        serves=defined.requirement,
        templates=(Template.of_spec(defined.api_version, defined.group_kind.kind),),
        dialect=REQUIREMENTS,
        document=document,
        secret_namespace=SECRET_NAMESPACE if defined.connection_details else None,
        claim_api_version=defined.api_version,
        contract=defined.connection_details,
    )
