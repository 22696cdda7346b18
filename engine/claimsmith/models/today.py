"""Today's definitions and compositions among a platform's documents.

They are read and checked with all the rest, and rendered offline; deploying them is still to come. What a stack says of
a kind that only they serve is refused here, in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from claimsmith.documents import Document
from claimsmith.errors import CatalogError, Collector, ModelError, Problem
from claimsmith.models import composition_today, xrd
from claimsmith.models.klass import Class
from claimsmith.models.objects import ClassKey, GroupKind
from claimsmith.models.xrd import Xrd


@dataclass(frozen=True, slots=True)
class Today:
    """Definitions by the kind of composite that they define, and compositions by their keys."""

    xrds: Mapping[GroupKind, Xrd] = field(default_factory=dict)
    compositions: Mapping[ClassKey, Class] = field(default_factory=dict)

    def kinds(self) -> set[GroupKind]:
        """The kinds of composite and of claim that are composed this way."""
        claims = {x.claim for x in self.xrds.values() if x.claim}
        return {*self.xrds, *claims, *(c.serves for c in self.compositions.values())}

    def refuse(self, document: Document) -> None:
        """Refuse a claim or composite of a kind that is composed this way."""
        kind = GroupKind.of(document.data)
        if kind in self.kinds():
            what = f"{kind} is composed by today's dialect, which is rendered offline only in this version"
            fix = "run: claimsmith render COMPOSITE.yaml COMPOSITION.yaml; or write a class that serves the kind"
            raise ModelError(Problem(what, document.source_of("kind"), "kind", fix))


def is_todays(document: Document) -> bool:
    """Whether the document is a definition or composition of today's dialect."""
    return xrd.is_definition(document) or composition_today.is_composition(document)


def read(documents: Iterable[Document], problems: Collector, warnings: list[Problem]) -> tuple[Today, list[Document]]:
    """The definitions and compositions that documents hold, and the other documents. Each name stands once."""
    xrds: dict[GroupKind, Xrd] = {}
    compositions: dict[ClassKey, Class] = {}
    others: list[Document] = []
    for document in documents:
        if not is_todays(document):
            others.append(document)
            continue
        with problems.catch():
            if xrd.is_definition(document):
                defined = xrd.read(document)
                _once(xrds.setdefault(defined.kind, defined).document, document, str(defined.kind))
            else:
                klass, said = composition_today.read(document)
                warnings += said
                _once(compositions.setdefault(klass.key, klass).document, document, str(klass.key))
    return Today(xrds, compositions), others


def _once(first: Document, document: Document, shown: str) -> None:
    if first is not document:
        what = f"{shown} stands twice; the first is at {first.source_of('metadata.name')}"
        where = document.source_of("metadata.name")
        raise CatalogError(Problem(what, where, "metadata.name", "rename or remove one of the two"))
