"""Two sides of an environment compared: what becomes of each object that was or will be made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from claimsmith import fieldpath
from claimsmith.review.changes import Op
from claimsmith.review.fields import Difference, differences, touching, within, without
from claimsmith.review.made import Made
from claimsmith.review.side import Side

IDENTITY = (("metadata", "name"), ("metadata", "namespace"))


@dataclass(frozen=True, slots=True)
class Pair:
    """One object on both sides, or on the one that has it."""

    old: Made | None
    new: Made | None
    op: Op
    found: tuple[Difference, ...] = ()

    @property
    def made(self) -> Made:
        """It as it will be, or as it was."""
        known = self.new or self.old
        assert known, "a pair has a side"
        return known


@dataclass(slots=True)
class Comparison:
    """All pairs of an environment, by the claim that they are for."""

    old: Side
    new: Side
    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    lost: dict[str, Pair] = field(default_factory=dict)
    """What is no longer made under one URN, by the new URN under which the same object is made."""

    reborn: dict[str, str] = field(default_factory=dict)
    """The same the other way round: old URN and new."""

    def all(self) -> Iterator[Pair]:
        """Every pair."""
        return (pair for pairs in self.pairs.values() for pair in pairs)


def compare(old: Side, new: Side) -> Comparison:
    """What becomes of every object of two sides."""
    comparison = Comparison(old, new)
    taken: set[str] = set()
    for made in new.made.values():
        before = next((old.made[u] for u in (made.urn, *made.aliases) if u in old.made and u not in taken), None)
        if before:
            taken.add(before.urn)
        comparison.pairs.setdefault(made.claim, []).append(_pair(before, made, new))
    for made in old.made.values():
        if made.urn not in taken:
            op = Op.retained if made.options.retain else Op.deleted
            comparison.pairs.setdefault(made.claim, []).append(Pair(made, None, op))
    gone = {p.old.identity: p for p in comparison.all() if p.old and p.new is None}
    fresh = [p.new for p in comparison.all() if p.new and p.old is None]
    comparison.lost = {made.urn: gone[made.identity] for made in fresh if made.identity in gone}
    comparison.reborn = {lost.made.urn: urn for urn, lost in comparison.lost.items()}
    return comparison


def replacing(made: Made, path: fieldpath.Path, side: Side) -> bool:
    """Whether a change of this field makes the engine's provider delete the object and make it anew."""
    if any(within(path, p) for p in IDENTITY):
        return True
    return touching(path, side.kinds.replaced.get(made.kind, ())) is not None and not made.held


def _pair(old: Made | None, new: Made, side: Side) -> Pair:
    if old is None:
        return Pair(None, new, Op.created)
    if old.document == new.document and old.options == new.options and _elsewhere(old) == _elsewhere(new):
        same = old.secret == new.secret
        return Pair(old, new, Op.same if same else Op.settings)
    ignored = [fieldpath.parse(p) for p in new.options.ignore_changes]
    found = tuple(without(differences(dict(old.document), dict(new.document)), ignored))
    if old.cluster != new.cluster or any(replacing(new, d.path, side) for d in found):
        return Pair(old, new, Op.replaced, found)
    if found:
        return Pair(old, new, Op.updated, found)
    return Pair(old, new, Op.settings if _treated(old) != _treated(new) else Op.same)


def _elsewhere(made: Made) -> tuple[str, str]:
    return made.cluster, made.account


def _treated(made: Made) -> tuple[object, ...]:
    """How the engine treats it, beside its document."""
    options = made.options
    return options.retain, options.protect, options.timeout, options.ignore_changes, made.account, made.secret
