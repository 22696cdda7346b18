"""Where a stack's claims can be cut apart: by namespace or by a label, so that no reference between claims is cut.

Claims that refer to each other stay together. What the stack gives as it is stays where it is; claims that refer to it
from another stack read its name through a stack reference. Claims that cannot leave are reported with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.grouping import joined
from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.base.values import Ref, walk
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.dialects.workloads.reading import APPLICATION

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
Key = Callable[[PlannedClaim], str]
"""Where a claim belongs; empty if nothing says so."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stack to create from some claims of another."""

    stack: str
    claims: tuple[PlannedClaim, ...]
    shared: tuple[str, ...]
    """The addresses of pre-existing resources that its claims refer to, and that stay in the old stack."""

    @property
    def keys(self) -> frozenset[ClaimKey]:
        """Its claims and all composites within them."""
        return frozenset(c.binding.claim.key for root in self.claims for c in root.walk())


@dataclass(frozen=True, slots=True)
class Cut:
    """How a stack falls apart."""

    stack: str
    parts: tuple[Part, ...]
    stays: tuple[tuple[PlannedClaim, str], ...]
    """The claims that stay, and why."""
    joined: tuple[tuple[PlannedClaim, str], ...]
    """The claims that go with others than their own, and because of which."""


def by_namespace(claim: PlannedClaim) -> str:
    """A claim's namespace; a claim at cluster scope has none."""
    return claim.binding.claim.key.namespace


def by_label(name: str) -> Key:
    """The value of a label of the claim, its team for example."""

    def value(claim: PlannedClaim) -> str:
        metadata = claim.binding.claim.data.get("metadata") or {}
        return str((metadata.get("labels") or {}).get(name) or "")

    return value


def cut(plan: Plan, key: Key, *, stacks: Iterable[str] = ()) -> Cut:
    """The parts of a stack. A part whose name is a stack already, for other claims, is refused."""
    roots = {c.address: root.address for root in plan.claims for c in root.walk()}
    claims = {root.address: root for root in plan.claims}
    groups = _together(plan, roots)
    bound = _bound_to_stay(plan, roots)
    parts: dict[str, list[PlannedClaim]] = {}
    stays: list[tuple[PlannedClaim, str]] = []
    joined: list[tuple[PlannedClaim, str]] = []
    for group in groups:
        members = [claims[address] for address in group]
        reason = next((bound[m.address] for m in members if m.address in bound), "")
        where = _most(key(m) for m in members)
        if reason or not where:
            stays += [(m, bound.get(m.address) or _why(m, members, reason)) for m in members]
            continue
        parts.setdefault(where, []).extend(members)
        joined += [(m, _partner(m, members, key, where)) for m in members if key(m) != where]
    names = {where: f"{plan.stack}-{where}" for where in parts}
    _refuse_names(names.values(), plan.stack, stacks)
    given = {r.address for r in plan.resources}
    new_stacks = [
        Part(names[where], tuple(members), tuple(sorted({r for m in members for r in _refers(m)} & given)))
        for where, members in sorted(parts.items())
    ]
    return Cut(plan.stack, tuple(new_stacks), tuple(stays), tuple(joined))


def _together(plan: Plan, roots: Mapping[str, str]) -> list[list[str]]:
    """The claims in groups that references tie together, in the plan's order."""
    pairs = [(root.address, target) for root in plan.claims for target in _claims_referred_to(root, roots)]
    return joined((root.address for root in plan.claims), pairs)


def _claims_referred_to(root: PlannedClaim, roots: Mapping[str, str]) -> Iterator[str]:
    """The other claims whose children, or whose composite, a claim refers to."""
    found = [str(a.claim) for a in _refers(root) if isinstance(a, ChildAddress)]
    if root.binding.klass.static:
        found.append(str(root.binding.klass.key))
    yield from (roots[claim] for claim in found if claim in roots and roots[claim] != root.address)


def _refers(root: PlannedClaim) -> Iterator[str]:
    """The addresses of all that a claim's children refer to."""
    for claim in root.walk():
        for child in claim.children:
            yield from (leaf.resource for _, leaf in walk(child.document) if isinstance(leaf, Ref))


def _bound_to_stay(plan: Plan, roots: Mapping[str, str]) -> dict[str, str]:
    """The claims that other parts of the stack hold, and which."""
    found: dict[str, str] = {}
    for root in plan.claims:
        if root.binding.klass.static:
            found[root.address] = f"it claims {root.binding.klass.key}, which is there already"
        elif root.binding.claim.native_ref:
            found[root.address] = f"it claims {root.binding.claim.native_ref}, which is there already"
        elif any(t.group_kind == APPLICATION for c in root.walk() for t in c.binding.klass.templates):
            found[root.address] = "it composes applications in other clusters"
    for published in plan.targets:
        claim = str(published.cluster.claim)
        if claim in roots:
            found.setdefault(roots[claim], f"{published.target.key} leads to its cluster")
    for workload in plan.workloads:
        for need in workload.needs:
            needed = need.resource.claim if isinstance(need.resource, ChildAddress) else need.resource
            address = roots.get(str(needed))
            if address:
                found.setdefault(address, f"{workload.address} needs what it creates")
    return found


def _most(keys: Iterable[str]) -> str:
    """The key that most claims of a group have, the first by name among equals."""
    counts = Counter(k for k in keys if k)
    return min(counts, key=lambda k: (-counts[k], k), default="")


def _why(member: PlannedClaim, members: list[PlannedClaim], reason: str) -> str:
    others = ", ".join(m.address for m in members if m is not member)
    return f"it goes with {others}" if reason else "nothing says where it belongs"


def _partner(member: PlannedClaim, members: list[PlannedClaim], key: Key, where: str) -> str:
    return next(m.address for m in members if m is not member and key(m) == where)


def _refuse_names(names: Iterable[str], stack: str, stacks: Iterable[str]) -> None:
    names = list(names)
    for name in names:
        if not _NAME.fullmatch(name):
            what = f"{name!r} cannot be the name of a stack"
            raise ComposeError(Problem(what, fix="use letters, digits, dots, dashes and underscores in what is cut by"))
    taken = sorted(set(names) & set(stacks))
    if taken:
        what = f"there is a stack {taken[0]!r} already: a part of {stack!r} cannot be named so"
        raise ComposeError(Problem(what, fix=f"move the claims of {taken[0]} elsewhere, or rename it"))
