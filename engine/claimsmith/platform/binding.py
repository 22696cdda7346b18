"""A claim with its class, and the record that keeps the choice.

A claim is bound once, to the class that `selection` chooses. The choice is recorded with the claim's uid and the
class's digest, and from then on the record rules: a class that appears later changes nothing, a bound class that is
gone or changed is an error.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from claimsmith.base.errors import BindingError, Problem, Source
from claimsmith.base.grouping import grouped
from claimsmith.base.names import ClaimKey, ClassKey, GroupKind
from claimsmith.base.printable import counted
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.klass import Class
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.reading import read_only
from claimsmith.platform.selection import Choice, Unbound, choose, class_word, may_serve, not_permitted, static_class

UNRECORDED = "unrecorded-binding"
"""The check that finds choices which bindings.yaml does not hold yet."""
CHANGED = "class-changed"
"""The check that finds classes which changed after claims were bound to them."""
_NAMESPACE = uuid.UUID("6f1f5b0e-3f3c-5b0a-9a57-4e6f0c1d2a90")


@dataclass(frozen=True, slots=True)
class Record:
    """One line of `bindings.yaml`: the class of a claim, and when that must be reviewed again."""

    claim: ClaimKey
    uid: str
    klass: ClassKey
    reason: str
    digest: str
    previous: ClassKey | None = None
    where: Source | None = None
    released: bool = False
    """Whether the claim is gone while its resources stay."""
    picks: Mapping[str, str] = field(default_factory=dict)
    """What selectors picked among all resources of the stack: `<template> <path of the reference>`, and the address."""
    stack: str = ""
    """The stack whose name its objects carry, where the claim was moved from there."""
    resource: str = ""
    """The existing native resource that the claim reads, by type and id."""
    derived: bool = True
    """Whether its uid is the one that was derived for the claim; else the claim's own file must have it."""

    def refuse_changed_uid(self, given: str | None = None) -> None:
        """Refuse a uid that was changed by hand: all names come from it, so everything would be created again."""
        if not self.derived and self.uid != given:
            what = f"the uid of {self.claim} is not the one that it was bound with"
            fix = "restore bindings.yaml from version control; after a rename, let uidsFrom name the old project/stack"
            raise BindingError(Problem(what, self.where, "uid", fix))


@dataclass(frozen=True, slots=True)
class ClassProblem(Problem):
    """A problem of a class with the claims that are bound to it. One for all claims of all stacks: see `folded`."""

    klass: ClassKey | None = field(default=None, compare=False)
    bound: tuple[tuple[str, ClaimKey], ...] = field(default=(), compare=False)
    """The claims that are bound to it, each after its stack."""


class ClassChanged(ClassProblem):
    """A class that changed after claims were bound to it."""

    __slots__ = ()


class ClassGone(ClassProblem):
    """A class that does not exist any more, although claims are bound to it."""

    __slots__ = ()


def class_changed(klass: ClassKey, where: Source | None, bound: Sequence[tuple[str, ClaimKey]]) -> ClassChanged:
    """The problem of a class that changed after these claims were bound to it."""
    what = f"class changed: {klass}: {claims_in(Counter(stack for stack, _ in bound))}"
    if len(bound) == 1:
        what = f"{klass} has changed since {bound[0][1]} was bound to it"
    fix = f"review and accept it: claimsmith accept {klass.name}; or put the class back and add a new one"
    return ClassChanged(what, where, "spec", fix, CHANGED, klass, tuple(bound))


def class_gone(klass: ClassKey, where: Source | None, bound: Sequence[tuple[str, ClaimKey]]) -> ClassGone:
    """The problem of a class that is gone, although these claims are bound to it."""
    what = f"class gone: {klass}: {claims_in(Counter(stack for stack, _ in bound))}"
    stacks = dict.fromkeys(stack for stack, _ in bound)
    again = "; ".join(f"claimsmith bind {stack} --rebind-class {klass.name}" for stack in stacks)
    if len(bound) == 1:
        [(stack, claim)] = bound
        what, again = f"{claim} is bound to {klass}, which is gone", f"claimsmith bind {stack} --rebind {claim}"
    return ClassGone(
        what, where, "class", f"bring the class back, or rebind on purpose: {again}", "", klass, tuple(bound)
    )


def claims_in(numbers: Mapping[str, int]) -> str:
    """`151 claims in dev, 150 in prod`."""
    words = [f"{number} in {stack}" for stack, number in numbers.items()]
    first = [f"{counted(number, 'claim')} in {stack}" for stack, number in numbers.items()][:1]
    return ", ".join([*first, *words[1:]])


_FOLDED: Final = {ClassChanged: class_changed, ClassGone: class_gone}


def folded(problems: Iterable[Problem]) -> list[Problem]:
    """The problems with one for each class that changed or is gone, however many claims and stacks it serves."""
    listed = list(problems)
    same = grouped((p for p in listed if isinstance(p, ClassProblem)), lambda p: (type(p), p.klass))
    kept: list[Problem] = []
    for problem in listed:
        if not isinstance(problem, ClassProblem):
            kept.append(problem)
        elif problem.klass and (several := same.pop((type(problem), problem.klass), None)):
            bound = dict.fromkeys(pair for p in several for pair in p.bound)
            one = _FOLDED[type(problem)](problem.klass, problem.where, list(bound))
            kept.append(replace(one, rule=problem.rule))
    return kept


@dataclass(frozen=True, slots=True)
class Binding:
    """A claim with the class that serves it and its identity."""

    claim: Claim
    klass: Class
    uid: str
    reason: str
    recorded: bool = True
    picks: Mapping[str, str] = field(default_factory=dict)
    """The recorded picks: each holds as long as it fits."""
    stack: str = ""
    """The stack that it was moved from, whose name its objects keep as their owner."""


def bind_one(
    claim: Claim, record: Record | None, catalog: Catalog, *, project: str, stack: str, anew: bool = False
) -> Binding | Unbound:
    """A claim with its class: as recorded, else by choice. A record that no longer holds is an error.

    A claim that was bound has resources: it must not silently lose its class.
    """
    if record:
        record.refuse_changed_uid(claim.given_uid)
    if record and not anew:
        return Binding(
            claim,
            _held(claim, record, catalog, stack),
            record.uid,
            record.reason,
            picks=record.picks,
            stack=record.stack,
        )
    match choose(claim, catalog):
        case Unbound() as none:
            if record:
                raise BindingError(none.problem)
            return none
        case Choice(klass, reason):
            own = claim.given_uid or new_uid(claim.key, catalog, project=project, stack=stack)
            uid, kept, moved = (record.uid, record.picks, record.stack) if record else (own, {}, "")
            return Binding(claim, klass, uid, reason, recorded=False, picks=kept, stack=moved)


def accepted(records: Iterable[Record], catalog: Catalog, classes: Collection[str]) -> list[Record]:
    """The records with the digests that classes of these names have now: each claim keeps its class, changed or not."""
    digests: dict[int, str] = {}
    renewed = []
    for record in records:
        klass = catalog.classes.get((record.klass, record.claim.group_kind))
        if klass and klass.name in classes and not record.released:
            # A digest reads the whole class, and most claims share theirs.
            if id(klass) not in digests:
                digests[id(klass)] = klass.digest()
            record = replace(record, digest=digests[id(klass)])
        renewed.append(record)
    return renewed


def to_records(
    bindings: Iterable[Binding], before: Iterable[Record], picks: Mapping[ClaimKey, Mapping[str, str]] | None = None
) -> list[Record]:
    """The records to write for bindings, in the order of the claims' keys; a changed class keeps the one before.

    `picks` are the current picks of each claim's selectors.
    """
    picks = picks or {}
    known = {r.claim: r for r in before}
    records = []
    for b in bindings:
        old = known.get(b.claim.key)
        picked = dict(sorted(picks.get(b.claim.key, {}).items()))
        new = Record(
            b.claim.key,
            b.uid,
            b.klass.key,
            b.reason,
            b.klass.digest(),
            picks=picked,
            stack=b.stack,
            resource=resource_of(b.claim),
        )
        if old:
            moved = old.klass != new.klass
            new = replace(new, previous=old.klass if moved else old.previous)
        records.append(new)
    return sorted(records, key=lambda r: r.claim)


def resource_of(claim: Claim) -> str:
    """The existing native resource that a claim reads, as a record has it; empty where it reads none."""
    return str(claim.native_ref or "")


def unrecorded(bindings: Iterable[Binding], stack: str) -> list[Problem]:
    """One problem for each binding that is not in the record."""
    return [
        Problem(
            f"{b.claim.key} is not bound yet; {b.klass.key} would serve it ({b.reason})",
            b.claim.document.source_of("kind"),
            "",
            f"run: claimsmith bind {stack}",
            rule=UNRECORDED,
        )
        for b in bindings
        if not b.recorded
    ]


def unrecorded_picks(binding: Binding, picks: Mapping[str, str], stack: str) -> list[Problem]:
    """One problem for each pick of a bound claim that is not in the record, or no longer as recorded."""
    problems = []
    for place, address in picks.items() if binding.recorded else ():
        old = binding.picks.get(place)
        if old == address:
            continue
        what = f"{binding.claim.key}, {place}: the pick of {address} is not recorded yet"
        if old:
            what = f"{binding.claim.key}, {place}: {old} was picked, which no longer fits; now it is {address}"
        fix = f"run: claimsmith bind {stack}"
        problems.append(Problem(what, binding.claim.document.source_of("kind"), "", fix, rule=UNRECORDED))
    return problems


def changed_and_gone(catalog: Catalog, gone: Iterable[Record]) -> list[Problem]:
    """A claim that was removed in the same change as its class: whether its resources are kept would be anyone's guess.

    The engine keeps or deletes by the policy of the last deployment, not by the one that is written now. A composite
    within a claim has no file that could be removed: no template composes it any more.
    """
    problems = []
    inner = composed_kinds(catalog)
    for record in gone:
        klass = catalog.classes.get((record.klass, record.claim.group_kind))
        if klass and klass.digest() != record.digest and not record.released:
            within = record.claim.group_kind in inner
            gone_word = "is no longer composed" if within else "was removed"
            what = f"{record.claim} {gone_word}, and {record.klass} changed in the same change"
            fix = "deploy the changed class first (rebind the claim), then remove it"
            problems.append(Problem(what, record.where, "class", fix))
    return problems


def composed_kinds(catalog: Catalog) -> frozenset[GroupKind]:
    """The kinds of composites that classes compose within claims."""
    return frozenset(t.group_kind for c in catalog.classes.values() for t in c.templates if t.composite)


def new_uid(claim: ClaimKey, catalog: Catalog, *, project: str, stack: str) -> str:
    """A claim's uid at its first binding, by the names that its stack had at its own first binding."""
    named = catalog.uids_from.split("/") if catalog.uids_from else (project, stack)
    return derive_uid(claim, project=named[0], stack=named[1])


def derive_uid(claim: ClaimKey, *, project: str, stack: str) -> str:
    """A claim's uid at its first binding: the same on every machine."""
    return str(uuid.uuid5(_NAMESPACE, f"{project}/{stack}/{claim}"))


def _held(claim: Claim, record: Record, catalog: Catalog, stack: str) -> Class:
    """The recorded class, if the record still holds."""
    if claim.object_ref and claim.object_ref.key == record.klass:
        return static_class(claim, claim.object_ref)
    klass = catalog.classes.get((record.klass, claim.key.group_kind))
    again = f"claimsmith bind {stack} --rebind {claim.key}"
    if klass is None:
        raise BindingError(class_gone(record.klass, record.where, [(stack, claim.key)]))
    if not may_serve(klass, claim):
        fix = "have the platform team permit the class in claimsmith.yaml again; the claim keeps what it has until then"
        raise BindingError(Problem(not_permitted(klass, claim), record.where, "class", fix))
    if claim.class_ref and not claim.force and claim.class_ref.key != record.klass:
        what = f"{claim.key} is bound to {record.klass}, but its {class_word(claim)}Ref now names {claim.class_ref.key}"
        where = claim.document.source_of(f"{claim.word}Ref.name")
        raise BindingError(Problem(what, where, f"{claim.word}Ref", f"put it back, or rebind on purpose: {again}"))
    if klass.digest() != record.digest:
        raise BindingError(class_changed(klass.key, klass.document.source_of("spec"), [(stack, claim.key)]))
    if resource_of(claim) != record.resource:
        # What the class created for the claim so far would be deleted, or the existing resource be forgotten.
        before, now = (
            f"the existing {r}" if r else "resources of its own" for r in (record.resource, resource_of(claim))
        )
        what = f"{claim.key} is bound to {before}, and its resourceRef now asks for {now}"
        fix = f"put it back, or rebind on purpose: {again}"
        raise BindingError(claim.document.problem(what, claim.resource_path, fix))
    return read_only(klass, claim)


def pick_key(template: str, ref_path: str) -> str:
    """How the record names a reference."""
    return f"{template} {ref_path}"
