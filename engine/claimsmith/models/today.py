"""Today's definitions and compositions among a platform's documents, and the environments that files give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from claimsmith.documents import Document
from claimsmith.errors import Collector, ModelError, Problem
from claimsmith.models import composite, composition_today, xrd
from claimsmith.models.claim import Claim
from claimsmith.models.klass import Class, Parent, Patch, Template
from claimsmith.models.objects import ClassKey, GroupKind, kebab
from claimsmith.models.parse import twice
from claimsmith.models.xrd import Xrd

ENVIRONMENT = GroupKind(xrd.GROUP, "EnvironmentConfig")


@dataclass(frozen=True, slots=True)
class Today:
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
        """The composite or claim that a document describes; None where its kind is none of today's."""
        kind = GroupKind.of(document.data)
        found = self.defined(kind)
        if found:
            return composite.read(document, found[0], claim=found[1])
        serving = next((c for c in self.compositions.values() if c.serves == kind), None)
        if serving:
            what = f"{kind} is composed by {serving.key}, but nothing defines it"
            fix = f"add its {xrd.KIND.kind} to components/"
            raise ModelError(Problem(what, document.source_of("kind"), "kind", fix))
        return None

    def pruned(self, document: Document) -> tuple[Document, list[Problem]]:
        """A document that a composition makes, without fields that the definition of its kind does not know."""
        found = self.defined(GroupKind.of(document.data))
        return composite.pruned(document, found[0], claim=found[1]) if found else (document, [])

    def with_environments(self, documents: Iterable[Document]) -> dict[str, Document]:
        """The environments with those of a stack, which stand for the platform's of the same name."""
        return {**self.environments, **{_name(d): d for d in documents}}


def is_todays(document: Document) -> bool:
    """Whether the document is a definition, composition or environment of today's dialect."""
    return xrd.is_definition(document) or composition_today.is_composition(document) or is_environment(document)


def is_environment(document: Document) -> bool:
    """Whether the document is data that compositions may read."""
    return GroupKind.of(document.data) == ENVIRONMENT


def read(documents: Iterable[Document], problems: Collector, warnings: list[Problem]) -> tuple[Today, list[Document]]:
    """The definitions and compositions that documents hold, and the other documents. Each name stands once."""
    xrds: dict[GroupKind, Xrd] = {}
    compositions: dict[ClassKey, Class] = {}
    environments: dict[str, Document] = {}
    others: list[Document] = []
    for document in documents:
        if not is_todays(document):
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
                klass, said = composition_today.read(document)
                warnings += said
                _once(compositions.setdefault(klass.key, klass).document, document, str(klass.key))
    return Today(xrds, compositions, environments), others


def claiming(defined: Xrd) -> Class:
    """The class of a definition's claims: it makes the one composite that is claimed, with the same spec."""
    assert defined.claim, "only definitions with claimNames have claims"
    template = Template(
        name=kebab(defined.kind.kind),
        base={"apiVersion": defined.api_version, "kind": defined.kind.kind},
        patches=(Patch(reads=("spec",), to="spec", at="spec"),),
        at="spec",
    )
    return Class(
        api_version=str(defined.document.data["apiVersion"]),
        key=ClassKey(xrd.KIND, defined.name),
        serves=defined.claim,
        templates=(template,),
        parent=Parent.xr_claim,
        document=defined.document,
        claim_api_version=defined.api_version,
    )


def _name(document: Document) -> str:
    name = (document.data.get("metadata") or {}).get("name")
    if not isinstance(name, str):
        where = document.source_of("metadata")
        raise ModelError(Problem(f"the {ENVIRONMENT.kind} has no name", where, "metadata.name", "add it"))
    return name


def _once(first: Document, document: Document, shown: str) -> None:
    if first is not document:
        raise twice(shown, first, document)
