"""Crossplane definitions and compositions among a platform's documents, and the environments that files give them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from claimsmith.base.documents import Document
from claimsmith.base.errors import Collector, ModelError, Problem
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.base.parse import twice
from claimsmith.base.values import object_at
from claimsmith.dialects.common.klass import Class, SecretDestination, Template
from claimsmith.dialects.crossplane import composition, xrd
from claimsmith.dialects.crossplane.dialect import CLAIMS
from claimsmith.dialects.crossplane.xrd import Xrd

if TYPE_CHECKING:
    from claimsmith.dialects.common.claim import Claim

ENVIRONMENT = GroupKind(xrd.GROUP, "EnvironmentConfig")


@dataclass(frozen=True, slots=True)
class CrossplaneDocuments:
    """Definitions by the kind of composite that they define, and compositions by their keys."""

    xrds: Mapping[GroupKind, Xrd] = field(default_factory=dict)
    compositions: Mapping[ClassKey, Class] = field(default_factory=dict)
    environments: Mapping[str, Document] = field(default_factory=dict)
    """What compositions may read beside the composite, by name."""

    def defined(self, kind: GroupKind) -> tuple[Xrd, bool] | None:
        """The definition behind a kind, and whether the kind is that of its claims."""
        for found in self.xrds.values():
            if kind in (found.kind, found.claim):
                return found, kind == found.claim
        return None

    def read_claim(self, document: Document) -> Claim | None:
        """The composite or claim that a document describes; None where its kind is not one of Crossplane's."""
        from claimsmith.dialects.crossplane import claims

        kind = GroupKind.of(document.data)
        found = self.defined(kind)
        if found:
            return claims.read(document, found[0], claim=found[1])
        serving = next((c for c in self.compositions.values() if c.serves == kind), None)
        if serving:
            what = f"{kind} is composed by {serving.key}, but nothing defines it"
            fix = f"add its {xrd.KIND.kind} to components/"
            raise ModelError(document.problem(what, "kind", fix))
        return None

    def pruned(self, document: Document) -> tuple[Document, list[Problem]]:
        """A document that a composition composes, without fields that the definition of its kind does not know."""
        from claimsmith.dialects.crossplane import claims

        found = self.defined(GroupKind.of(document.data))
        return claims.pruned(document, found[0], claim=found[1]) if found else (document, [])

    def with_environments(self, documents: Iterable[Document]) -> dict[str, Document]:
        """The environments with those of a stack, which stand for the platform's of the same name."""
        return {**self.environments, **{_name(d): d for d in documents}}


def is_crossplane(document: Document) -> bool:
    """Whether the document is a definition, composition or environment of Crossplane."""
    return xrd.is_definition(document) or composition.is_composition(document) or is_environment(document)


def is_environment(document: Document) -> bool:
    """Whether the document is data that compositions may read."""
    return GroupKind.of(document.data) == ENVIRONMENT


def read(
    documents: Iterable[Document], problems: Collector, warnings: list[Problem]
) -> tuple[CrossplaneDocuments, list[Document]]:
    """The definitions and compositions that documents hold, and the other documents. Each name stands once."""
    xrds: dict[GroupKind, Xrd] = {}
    compositions: dict[ClassKey, Class] = {}
    environments: dict[str, Document] = {}
    others: list[Document] = []
    for document in documents:
        if not is_crossplane(document):
            others.append(document)
            continue
        with problems.catch():
            if xrd.is_definition(document):
                defined = xrd.read(document)
                _once(xrds.setdefault(defined.kind, defined).document, document, str(defined.kind))
            elif is_environment(document):
                name = _name(document)
                _once(environments.setdefault(name, document), document, f"{ENVIRONMENT.kind} {name}")
            else:
                klass, messages = composition.read(document)
                warnings += messages
                _once(compositions.setdefault(klass.key, klass).document, document, str(klass.key))
    return CrossplaneDocuments(xrds, compositions, environments), others


def claiming(defined: Xrd) -> Class:
    """The class of a definition's claims: it creates the one composite that is claimed, with the same spec."""
    assert defined.claim, "only definitions with claimNames have claims"
    return Class(
        api_version=str(defined.document.data["apiVersion"]),
        key=ClassKey(xrd.KIND, defined.name),
        serves=defined.claim,
        templates=(Template.of_spec(defined.api_version, defined.kind.kind),),
        dialect=CLAIMS,
        document=defined.document,
        claim_api_version=defined.api_version,
    )


def _name(document: Document) -> str:
    name = object_at(document.data, "metadata").get("name")
    if not isinstance(name, str):
        where = document.source_of("metadata")
        raise ModelError(Problem(f"the {ENVIRONMENT.kind} has no name", where, "metadata.name", "add it"))
    return name


def _once(first: Document, document: Document, shown: str) -> None:
    if first is not document:
        raise twice(shown, first, document)


def classes(
    crossplane: CrossplaneDocuments, problems: Collector, warnings: list[Problem], functions: Container[str] = ()
) -> list[Class]:
    """Crossplane compositions, completed by their definitions, and a class for the claims of each definition.

    `functions` are those that the project declares.
    """
    from claimsmith.dialects.common import ordering

    found: list[Class] = []
    for klass in crossplane.compositions.values():
        with problems.catch():
            completed = _completed(klass, crossplane.xrds.get(klass.serves))
            klass, messages = ordering.deployable(completed, functions)
            found.append(klass)
            warnings += messages
    return [*found, *(claiming(x) for x in crossplane.xrds.values() if x.claim)]


def _completed(klass: Class, defined: Xrd | None) -> Class:
    """A composition completed by the definition of its kind: scope, connection details, and where they go."""
    if defined is None:
        return klass
    details = any(t.details for t in klass.templates) or any(
        "CompositeConnectionDetails" in str(step.input) for step in klass.steps
    )
    wanted = klass.secret_namespace or (xrd.SECRET_NAMESPACE if details else None)
    places = [s.secret for s in klass.steps if s.templates]
    return replace(
        klass,
        namespaced=True if defined.namespaced else None,
        connection_keys=defined.connection_keys,
        secret_namespace=None if defined.modern else wanted,
        secret=(places[-1] if places else SecretDestination()) if defined.modern else None,
    )
