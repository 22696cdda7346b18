"""`claimsmith classes`: what serves each kind of claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from claimsmith.base.names import GroupKind
from claimsmith.platform import offers as offered
from claimsmith.platform.offers import Offer
from claimsmith.project.project import Project


@dataclass(frozen=True, slots=True)
class Offers:
    """A kind that can be claimed, and what serves it."""

    kind: GroupKind
    offers: list[Offer]

    def to_dict(self) -> dict[str, Any]:
        """The kind for a machine to read."""
        return {"kind": str(self.kind), "classes": [o.to_dict() for o in self.offers]}


def classes(project: Project, kind: str | None = None) -> list[Offers]:
    """What serves a kind of claim, or each kind that can be claimed."""
    catalog = project.catalog()
    kinds = offered.find_kinds(catalog, kind) if kind else offered.kinds(catalog)
    return [Offers(k, offered.offers(catalog, k)) for k in kinds]
