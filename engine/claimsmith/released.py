"""Claims that are gone while their resources stay: their composites are released, and can be taken up again.

A claim whose class retains what it makes keeps its record, marked as released, until it comes back or is forgotten on
purpose. Its uid is kept with it, so that the same claim finds the same resources.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.binding import Record
from claimsmith.catalog import Catalog
from claimsmith.compose.identity import Identity
from claimsmith.models.klass import Class, Parent

_KEPT = ("Retain", "Release")


@dataclass(frozen=True, slots=True)
class Released:
    """A composite without its claim: who it was made for, and what of it is still there."""

    identity: Identity
    resources: tuple[dict[str, Any], ...]

    @property
    def component_name(self) -> str:
        """The name of the component that the claim had."""
        return self.identity.key.place


def keep(catalog: Catalog, gone: Iterable[Record]) -> list[Record]:
    """The records of claims that are gone and whose resources are not."""
    return [replace(r, released=True) for r in gone if (klass := _class_of(catalog, r)) and _retained(klass)]


def released(catalog: Catalog, records: Iterable[Record], *, project: str, stack: str) -> list[Released]:
    """The composites that stand without a claim, from the records that say so."""
    return [
        Released(identity := _identity(record, klass, project, stack), tuple(_references(klass, identity)))
        for record in records
        if record.released and record.claim not in catalog.claims and (klass := _class_of(catalog, record))
    ]


def _class_of(catalog: Catalog, record: Record) -> Class | None:
    return catalog.classes.get((record.klass, record.claim.group_kind))


def _retained(klass: Class) -> list[str]:
    """The templates whose resources stay; a class of one resource has no composite to stay with it."""
    if klass.parent not in (Parent.composite, Parent.aggregate):
        return []
    return [t.name for t in klass.templates if (t.base.get("spec") or {}).get("reclaimPolicy") in _KEPT]


def _references(klass: Class, identity: Identity) -> Iterable[dict[str, Any]]:
    for template in klass.templates:
        if template.name in _retained(klass):
            name = identity.name_of(template.named_after)
            yield {"apiVersion": template.api_version, "kind": template.kind, "name": name}


def _identity(record: Record, klass: Class, project: str, stack: str) -> Identity:
    return Identity(
        project=project,
        stack=record.stack or stack,
        api_version=klass.claim_api_version,
        kind=record.claim.group_kind.kind,
        namespace=record.claim.namespace,
        name=record.claim.name,
        uid=record.uid,
        external_name=None,
        class_ref=klass.reference(),
        parent=klass.parent,
    )
