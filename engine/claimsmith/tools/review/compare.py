"""Two snapshots of an environment compared: what happens to each object of either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.names import is_native
from claimsmith.base.values import object_at
from claimsmith.dialects.common.native import OPTIONS, PROPERTIES
from claimsmith.providers.package_schema import Effect, effect_of
from claimsmith.tools.review.changes import Op
from claimsmith.tools.review.fields import Difference, differences, touching, within, without
from claimsmith.tools.review.resources import PlannedResource
from claimsmith.tools.review.snapshot import Snapshot

IDENTITY = (("metadata", "name"), ("metadata", "namespace"))
_UNSENT = (("metadata",),)
"""Parts of a native resource's document that no provider gets."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One object on both sides, or on the one that has it."""

    old: PlannedResource | None
    new: PlannedResource | None
    op: Op
    found: tuple[Difference, ...] = ()

    @property
    def resource(self) -> PlannedResource:
        """It as it will be, or as it was."""
        present = self.new or self.old
        assert present, "a pair has a side"
        return present


@dataclass(slots=True)
class Comparison:
    """All pairs of an environment, by the claim that they are for."""

    old: Snapshot
    new: Snapshot
    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    lost: dict[str, Pair] = field(default_factory=dict)
    """Objects that move to another URN, by their new URN."""

    reborn: dict[str, str] = field(default_factory=dict)
    """The same the other way round: old URN and new."""

    def all(self) -> Iterator[Pair]:
        """Every pair."""
        return (pair for pairs in self.pairs.values() for pair in pairs)


def compare(old: Snapshot, new: Snapshot) -> Comparison:
    """What becomes of every object of two sides."""
    comparison = Comparison(old, new)
    taken: set[str] = set()
    for resource in new.resources.values():
        before = next(
            (old.resources[u] for u in (resource.urn, *resource.aliases) if u in old.resources and u not in taken), None
        )
        if before:
            taken.add(before.urn)
        comparison.pairs.setdefault(resource.claim, []).append(_pair(before, resource, new))
    for resource in old.resources.values():
        if resource.urn not in taken:
            op = Op.retained if resource.options.retain or resource.read else Op.deleted
            comparison.pairs.setdefault(resource.claim, []).append(Pair(resource, None, op))
    gone = {p.old.identity: p for p in comparison.all() if p.old and p.new is None}
    fresh = [p.new for p in comparison.all() if p.new and p.old is None]
    comparison.lost = {resource.urn: gone[resource.identity] for resource in fresh if resource.identity in gone}
    comparison.reborn = {lost.resource.urn: urn for urn, lost in comparison.lost.items()}
    return comparison


def replacing(resource: PlannedResource, path: fieldpath.Path, side: Snapshot) -> bool:
    """Whether the engine's provider replaces the object when this field changes."""
    if is_native(resource.document):
        return effect_on(resource, path, side) is Effect.replaced
    if any(within(path, p) for p in IDENTITY):
        return True
    return touching(path, side.kinds.replaced.get(resource.kind, ())) is not None and not resource.held


def effect_on(resource: PlannedResource, path: fieldpath.Path, side: Snapshot) -> Effect:
    """What the change of a field does to a native resource: by its class, the table of kinds, and its provider."""
    if path[:1] != (PROPERTIES,):
        # Another provider may be another account, and another type another thing: nobody but the engine can tell.
        return Effect.unknown if path[:2] == (OPTIONS, "provider") or path == ("type",) else Effect.in_place
    if touching(path, side.kinds.replaced.get(resource.kind, ())) is not None:
        return Effect.replaced
    asked = object_at(resource.document, OPTIONS).get("replaceOnChanges") or ()
    token = str(resource.document["type"])
    paths = [fieldpath.parse(p) for p in asked]
    return effect_of(path[1:], token, side.package_schema(token.partition(":")[0]), paths)


def immutability(pair: Pair, difference: Difference, side: Snapshot) -> str:
    """Why a changed field of an updated object cannot be changed; empty if it can, as far as is known."""
    if pair.new is None or pair.op is not Op.updated or difference.old is ABSENT:
        return ""
    messages = dict(side.rules.get(pair.new.kind, ()))
    rule = touching(difference.path, messages)
    if rule is not None:
        return f"its definition says {messages[rule]!r}"
    listed = touching(difference.path, side.kinds.immutable.get(pair.new.kind, ()))
    return "known to be immutable" if listed is not None else ""


def _pair(old: PlannedResource | None, new: PlannedResource, side: Snapshot) -> Pair:
    if old is None:
        return Pair(None, new, Op.read if new.read else Op.created)
    if old.document == new.document and old.options == new.options and _elsewhere(old) == _elsewhere(new):
        same = old.secret == new.secret
        return Pair(old, new, Op.same if same else Op.settings)
    head = (PROPERTIES,) if is_native(new.document) else ()
    ignored = [(*head, *fieldpath.parse(p)) for p in new.options.ignore_changes]
    ignored += list(_UNSENT) if head else []
    found = tuple(without(differences(dict(old.document), dict(new.document)), ignored))
    if old.read and found:
        return Pair(old, new, Op.read if new.read else Op.created, found)
    if new.read:
        return Pair(old, new, Op.replaced, found)
    if head and found and all(d.path[:1] == (OPTIONS,) for d in found):
        return Pair(old, new, Op.settings, found)
    if old.cluster != new.cluster or any(replacing(new, d.path, side) for d in found):
        return Pair(old, new, Op.replaced, found)
    if found:
        return Pair(old, new, Op.updated, found)
    return Pair(old, new, Op.settings if _treated(old) != _treated(new) else Op.same)


def _elsewhere(resource: PlannedResource) -> tuple[str, str]:
    return resource.cluster, resource.account


def _treated(resource: PlannedResource) -> tuple[object, ...]:
    """How the engine treats it, beside its document."""
    options = resource.options
    return options.retain, options.protect, options.timeout, options.ignore_changes, resource.account, resource.secret
