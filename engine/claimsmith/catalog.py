"""All models of a stack, indexed: the platform's classes and the application teams' claims.

Takes documents, gives a `Catalog`. Every name stands once, and every problem is told at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from claimsmith.documents import Document
from claimsmith.errors import CatalogError, Collector, ModelError, Problem, nearest
from claimsmith.models import claim as claim_model
from claimsmith.models import resource_class
from claimsmith.models.claim import Claim
from claimsmith.models.klass import Class
from claimsmith.models.objects import ClaimKey, ClassKey, GroupKind

CRD = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")


class _FromDocument(Protocol):
    @property
    def document(self) -> Document: ...


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=_FromDocument)


@dataclass(frozen=True)
class Catalog:
    """What a stack knows: its claims by their keys, its classes by their keys and the kind of claim they serve."""

    classes: Mapping[tuple[ClassKey, GroupKind], Class] = field(default_factory=dict)
    claims: Mapping[ClaimKey, Claim] = field(default_factory=dict)
    crds: tuple[Document, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def serving(self, kind: GroupKind) -> list[Class]:
        """The classes that may serve claims of a kind, in the order of their keys."""
        return sorted((c for c in self.classes.values() if c.serves == kind), key=lambda c: c.key)

    def named(self, key: ClassKey) -> list[Class]:
        """The class of that key, once for each kind of claim that it serves."""
        return [c for c in self.classes.values() if c.key == key]


def read_catalog(platform: Iterable[Document], claims: Iterable[Document] = ()) -> Catalog:
    """The catalog of the platform's documents and a stack's claims."""
    problems = Collector()
    warnings: list[Problem] = []
    classes: dict[tuple[ClassKey, GroupKind], Class] = {}
    crds: list[Document] = []
    for document in platform:
        with problems.catch():
            match _kind_of(document):
                case kind if kind in resource_class.KINDS:
                    klass, found = resource_class.read(document)
                    warnings += found
                    _add(classes, (klass.key, klass.serves), klass)
                case kind if kind == CRD:
                    crds.append(document)
                case kind:
                    raise _unknown(document, kind)
    requests: dict[ClaimKey, Claim] = {}
    for document in claims:
        with problems.catch():
            _kind_of(document)
            claim = claim_model.read(document)
            _add(requests, claim.key, claim)
    problems.raise_as(CatalogError)
    return Catalog(classes, requests, tuple(crds), tuple(warnings))


def _kind_of(document: Document) -> GroupKind:
    for key in ("apiVersion", "kind"):
        if not isinstance(document.data.get(key), str):
            where = document.source_of(key)
            raise ModelError(
                Problem(f"the document has no {key}", where, key, "every document names its apiVersion and kind")
            )
    return GroupKind.of(document.data)


def _add(index: dict[K, V], key: K, value: V) -> None:
    first = index.setdefault(key, value)
    if first is not value:
        shown = key[0] if isinstance(key, tuple) else key
        what = f"{shown} stands twice; the first is at {first.document.source_of('metadata.name')}"
        where = value.document.source_of("metadata.name")
        raise CatalogError(Problem(what, where, "metadata.name", "rename or remove one of the two"))


def _unknown(document: Document, kind: GroupKind) -> ModelError:
    known = {k.kind: k for k in (*resource_class.KINDS, CRD)}
    close = known.get(nearest(kind.kind, known) or "")
    fix = (
        f"did you mean {close}?"
        if close
        else f"the platform's files hold: {', '.join(sorted(map(str, known.values())))}"
    )
    return ModelError(Problem(f"{kind} is no kind that is read here", document.source_of("kind"), "kind", fix))
