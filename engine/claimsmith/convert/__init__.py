"""The older dialects in today's words: definitions, compositions in mode Pipeline, and claims.

Takes a catalog, gives plain documents, each with the file that it comes from, and two lists of problems: what today's
dialect cannot say, and what it says differently. Nothing is left out without a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from claimsmith.binding import Record
from claimsmith.catalog import Catalog
from claimsmith.convert import claims, compositions, xrds
from claimsmith.convert.kinds import composites, old_classes
from claimsmith.convert.names import Names, names
from claimsmith.convert.said import Said
from claimsmith.errors import Problem, in_order
from claimsmith.reference import Table

__all__ = ["Conversion", "Converted", "convert"]


@dataclass(frozen=True, slots=True)
class Converted:
    """One document of today's dialect, and the file whose words it says."""

    file: str
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Conversion:
    """All that was converted, and what there is to say about it."""

    platform: tuple[Converted, ...] = ()
    claims: tuple[Converted, ...] = ()
    unsaid: tuple[Problem, ...] = ()
    """What today's dialect cannot say, and so is in none of the documents."""
    differs: tuple[Problem, ...] = ()
    """What is said in another way."""
    names: Names = field(default_factory=Names)
    """The composition of each class."""


def convert(catalog: Catalog, table: Table, records: Iterable[Record] = ()) -> Conversion:
    """The catalog's classes, definitions and claims in today's dialect; `records` say what claims are bound to."""
    said = Said()
    kinds = composites(catalog)
    classes = old_classes(catalog)
    named = names(classes, [key.name for key in catalog.today.compositions])
    unique = {c.name: c for c in kinds.values()}
    platform = [Converted(c.document.file, xrds.document(c, catalog, named, said)) for c in unique.values()]
    for klass in classes:
        composite = kinds.get(klass.serves)
        if composite is None:
            what = f"{klass.key} serves {klass.serves}, which nothing in these files defines"
            said.leave_out(klass.document, "spec", what, "give the file of its definition too")
            continue
        made = compositions.document(klass, composite, named[klass], catalog, table, said)
        if made:
            platform.append(Converted(klass.document.file, made))
    known = {r.claim: r for r in records}
    asked = [
        Converted(claim.document.file, made)
        for claim in catalog.claims.values()
        if (made := claims.document(claim, catalog, kinds, named, known, said))
    ]
    return Conversion(tuple(platform), tuple(asked), tuple(in_order(said.unsaid)), tuple(in_order(said.differs)), named)
