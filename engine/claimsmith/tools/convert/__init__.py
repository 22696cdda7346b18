"""Classes of the older formats as Crossplane definitions, compositions of mode Pipeline, and claims.

Takes a catalog and returns plain documents, each with the file that it comes from, and two lists of problems: what
Crossplane cannot express, and what it expresses differently. Nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base.errors import Problem, in_order
from claimsmith.compose.references import Table
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog
from claimsmith.tools.convert import claims, compositions, xrds
from claimsmith.tools.convert.kinds import Names, composites, names, old_classes
from claimsmith.tools.convert.notes import Notes

__all__ = ["Conversion", "Converted", "Stack", "convert"]


@dataclass(frozen=True, slots=True)
class Stack:
    """Claims as one stack has them: the catalog that they are in, and what they are bound to."""

    catalog: Catalog
    records: Iterable[Record] = ()


@dataclass(frozen=True, slots=True)
class Converted:
    """One Crossplane document, and the file that it is converted from."""

    file: str
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Conversion:
    """All converted documents, and the problems to report."""

    platform: tuple[Converted, ...] = ()
    claims: tuple[Converted, ...] = ()
    unsupported: tuple[Problem, ...] = ()
    """What Crossplane cannot express: it is in none of the documents."""
    differs: tuple[Problem, ...] = ()
    """What Crossplane expresses differently."""
    names: Names = field(default_factory=Names)
    """The composition of each class."""


def convert(catalog: Catalog, table: Table, stacks: Sequence[Stack] | None = None) -> Conversion:
    """The catalog's classes and definitions for Crossplane, and the claims of stacks, by default the catalog's own.

    What Crossplane cannot express is reported once for all stacks.
    """
    asked = [Stack(catalog)] if stacks is None else stacks
    notes = Notes()
    kinds = composites(catalog, [claim for stack in asked for claim in stack.catalog.claims.values()])
    classes = old_classes(catalog)
    named = names(classes, [key.name for key in catalog.crossplane.compositions])
    unique = {c.name: c for c in kinds.values()}
    platform = [Converted(c.document.file, xrds.document(c, catalog, named, notes)) for c in unique.values()]
    for klass in classes:
        composite = kinds.get(klass.serves)
        if any(template.native for template in klass.templates):
            what = f"{klass.key} composes resources of Pulumi providers, which Crossplane does not have"
            notes.leave_out(klass.document, "spec", what, "keep it as it is: the claims that it serves need it")
            continue
        if any(template.loop or template.when for template in klass.templates):
            what = f"{klass.key} has loops or conditions, which patch-and-transform does not have"
            notes.leave_out(klass.document, "spec", what, "keep it as it is, or write a composition with a function")
            continue
        if composite is None:
            what = f"{klass.key} serves {klass.serves}, which nothing in these files defines"
            notes.leave_out(klass.document, "spec", what, "pass the file of its definition too")
            continue
        composition = compositions.document(klass, composite, named[klass], catalog, table, notes)
        if composition:
            platform.append(Converted(klass.document.file, composition))
    wanted: list[Converted] = []
    for stack in asked:
        known = {r.claim: r for r in stack.records}
        for claim in stack.catalog.claims.values():
            written = claims.document(claim, stack.catalog, kinds, named, known, notes)
            if written:
                wanted.append(Converted(claim.document.file, written))
    unsupported, differs = in_order(notes.unsupported), in_order(notes.differs)
    return Conversion(tuple(platform), tuple(wanted), tuple(unsupported), tuple(differs), named)
