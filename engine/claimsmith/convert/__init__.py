"""The older dialects in today's words: definitions, compositions in mode Pipeline, and claims.

Takes a catalog, gives plain documents, each with the file that it comes from, and two lists of problems: what today's
dialect cannot say, and what it says differently. Nothing is left out without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

__all__ = ["Conversion", "Converted", "Stack", "convert"]


@dataclass(frozen=True, slots=True)
class Stack:
    """Claims as one stack has them: the catalog that they are in, and what they are bound to."""

    catalog: Catalog
    records: Iterable[Record] = ()


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


def convert(catalog: Catalog, table: Table, stacks: Sequence[Stack] | None = None) -> Conversion:
    """The catalog's classes and definitions in today's dialect, and the claims of stacks; its own where none is given.

    What cannot be said is told once for all stacks.
    """
    asked = [Stack(catalog)] if stacks is None else stacks
    said = Said()
    kinds = composites(catalog, [claim for stack in asked for claim in stack.catalog.claims.values()])
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
    wanted: list[Converted] = []
    for stack in asked:
        known = {r.claim: r for r in stack.records}
        for claim in stack.catalog.claims.values():
            written = claims.document(claim, stack.catalog, kinds, named, known, said)
            if written:
                wanted.append(Converted(claim.document.file, written))
    unsaid, differs = in_order(said.unsaid), in_order(said.differs)
    return Conversion(tuple(platform), tuple(wanted), tuple(unsaid), tuple(differs), named)
