"""Documents told apart: what a platform is made of, what asks for something of it, and what is neither."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from claimsmith.catalog import AGGREGATE, CRD, DEFINITIONS, PUBLICATION, Catalog
from claimsmith.documents import Document
from claimsmith.models import composition, resource_class, specific_class, today
from claimsmith.models.bindable import Bindable
from claimsmith.models.objects import GroupKind

_PLATFORM = frozenset({AGGREGATE, CRD, PUBLICATION}) | DEFINITIONS | resource_class.KINDS


def is_platform(document: Document, bindable: Bindable) -> bool:
    """Whether the document is a class, definition, publication, composition or CRD."""
    return (
        GroupKind.of(document.data) in _PLATFORM
        or composition.is_composition(document)
        or today.is_todays(document)
        or specific_class.is_class(document, bindable)
    )


def claimed_kinds(catalog: Catalog) -> set[GroupKind]:
    """The kinds that a platform serves or defines."""
    served = {c.serves for c in catalog.classes.values()} | set(catalog.bindable.served)
    defined = {kind for d in catalog.definitions.values() for kind in (d.group_kind, d.requirement_kind)}
    return served | defined


def claims_among(documents: Iterable[Document], kinds: Collection[GroupKind]) -> tuple[list[Document], list[Document]]:
    """The documents of kinds that can be claimed, and the others."""
    listed = list(documents)
    claims = [d for d in listed if GroupKind.of(d.data) in kinds]
    return claims, [d for d in listed if d not in claims]
