"""Claims that are gone while their resources stay: their composites are released, and can be taken up again.

A claim whose class retains its resources keeps its record, marked as released, until it comes back or is forgotten on
purpose. Its uid is kept with it, so that the same claim finds the same resources.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base.values import object_at
from claimsmith.compose.identity import identity_of
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.common.klass import Class, Template
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog
from claimsmith.providers import tokens

_KEPT = ("Retain", "Release")


@dataclass(frozen=True, slots=True)
class Released:
    """A composite without its claim: its former claim, and its resources that are still there."""

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
    """The composites without a claim, from records that are marked as released."""
    return [
        Released(identity := _identity(record, klass, project, stack), tuple(_references(klass, identity)))
        for record in records
        if record.released and record.claim not in catalog.claims and (klass := _class_of(catalog, record))
    ]


def _class_of(catalog: Catalog, record: Record) -> Class | None:
    return catalog.classes.get((record.klass, record.claim.group_kind))


def _retained(klass: Class) -> list[str]:
    """The templates whose resources stay; a class of one resource has no composite to stay with it."""
    if not klass.dialect.composite:
        return []
    return [t.name for t in klass.templates if _is_kept(t)]


def _is_kept(template: Template) -> bool:
    if template.native:
        return bool(object_at(template.base, "options").get("retainOnDelete"))
    return object_at(template.base, "spec").get("reclaimPolicy") in _KEPT


def _references(klass: Class, identity: Identity) -> Iterable[dict[str, Any]]:
    for template in klass.templates:
        if template.name in _retained(klass) and template.native:
            name = tokens.child_name(identity.namespace, identity.name, template.name)
            yield {"type": tokens.resource_type(template.base), "name": name}
        elif template.name in _retained(klass):
            name = identity.name_of(template.named_after)
            yield {"apiVersion": template.api_version, "kind": template.kind, "name": name}


def _identity(record: Record, klass: Class, project: str, stack: str) -> Identity:
    gone = {"apiVersion": klass.claim_api_version}
    return identity_of(record.claim, gone, klass, project=project, stack=record.stack or stack, uid=record.uid)
