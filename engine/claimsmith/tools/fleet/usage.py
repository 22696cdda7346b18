"""`claimsmith classes --usage`: which claims of which stacks each class serves, by the recorded bindings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.platform import offers
from claimsmith.project.project import Project


@dataclass(frozen=True, slots=True)
class Usage:
    """One class of a kind of claim, and who is on it."""

    kind: GroupKind
    klass: ClassKey
    stacks: Mapping[str, int]
    """How many claims of each stack it serves."""
    changed: int = 0
    """How many of them were bound to another text of the class than it has now."""
    moved_from: Mapping[str, int] | None = None
    """How many of them were on another class before, by the name of that class."""
    exists: bool = True

    @property
    def claims(self) -> int:
        """How many claims it serves."""
        return sum(self.stacks.values())

    def to_dict(self) -> dict[str, Any]:
        """The usage for a machine to read."""
        return {
            "kind": str(self.kind),
            "class": str(self.klass),
            "claims": self.claims,
            "stacks": dict(self.stacks),
            "changed": self.changed,
            "movedFrom": dict(self.moved_from or {}),
            "exists": self.exists,
        }


def usage(project: Project, kind: str | None = None) -> list[Usage]:
    """Every class with its claims, those that serve none included; and the classes of records that are gone."""
    catalog = project.catalog()
    wanted = set(offers.find_kinds(catalog, kind)) if kind else None
    stacks: dict[tuple[GroupKind, ClassKey], Counter[str]] = {
        (serves, key): Counter() for key, serves in catalog.classes if wanted is None or serves in wanted
    }
    digests = {(serves, key): klass.digest() for (key, serves), klass in catalog.classes.items()}
    changed: Counter[tuple[GroupKind, ClassKey]] = Counter()
    moved: dict[tuple[GroupKind, ClassKey], Counter[str]] = {}
    for stack in project.stacks():
        for record in project.records(stack):
            place = (record.claim.group_kind, record.klass)
            if record.released or (wanted is not None and place[0] not in wanted):
                continue
            stacks.setdefault(place, Counter())[stack] += 1
            changed[place] += place in digests and digests[place] != record.digest
            if record.previous:
                moved.setdefault(place, Counter())[record.previous.name] += 1
    return [
        Usage(serves, key, found, changed[serves, key], moved.get((serves, key)), exists=(serves, key) in digests)
        for (serves, key), found in sorted(stacks.items())
    ]
