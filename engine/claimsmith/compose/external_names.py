"""External names: what objects are called outside the cluster, and that no claim takes another's.

A managed resource is known to its provider by its external name: the annotation, or its own name where there is none.
Whoever gives a resource the external name of another one gets that other one, with its connection details. So a name
that a claim chooses must not be the name of anything of that kind that belongs to somebody else. A name that is written
in a class is the platform's doing: names below a parent (a rule of a server) are rightly equal for all its claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from claimsmith.base.errors import Problem, Source
from claimsmith.base.labels import EXTERNAL_NAME
from claimsmith.base.names import GroupKind
from claimsmith.base.values import object_at
from claimsmith.compose.expand import Child
from claimsmith.compose.plan import GivenResource, Plan, PlannedClaim

Key = tuple[GroupKind, str]


@dataclass(frozen=True, slots=True)
class Named:
    """An object with the name that it has outside the cluster."""

    stack: str
    claim: str
    """The address of the claim at the root: what belongs to one claim may share a name."""
    address: str
    kind: GroupKind
    name: str
    chosen: bool
    """Whether the claim chose the name; else the class did, or it is generated."""
    where: Source


def external_name(child: Child) -> str | None:
    """The name of a child outside the cluster, as far as it is known before it exists."""
    given = object_at(child.document["metadata"], "annotations").get(EXTERNAL_NAME, child.name)
    return given if isinstance(given, str) else None


def names(plan: Plan) -> list[Named]:
    """Every managed resource of a plan by its external name, and what the stack's files give as it is."""
    given = [_given(plan.stack, resource) for resource in plan.resources]
    children = [
        found
        for root in plan.claims
        for claim in root.walk()
        for child in claim.children
        if child.template.managed and (found := _named(plan.stack, root, child))
    ]
    return [*children, *given]


def taken(mine: Iterable[Named], others: Iterable[Named]) -> Iterator[Problem]:
    """One problem for each name that a claim chose and that belongs to another claim, here or in another stack."""
    known: dict[Key, list[Named]] = {}
    own = list(mine)
    for found in (*own, *others):
        known.setdefault(_outside(found), []).append(found)
    for name in own:
        other = next((o for o in known[_outside(name)] if _conflict(name, o)), None)
        if name.chosen and other:
            whose = other.claim if other.stack == name.stack else f"{other.claim} of the stack {other.stack!r}"
            what = (
                f"{name.address} would get the external name {name.name!r}, which {other.address} has: it is {whose}'s"
            )
            fix = (
                "choose another name; stacks on different clusters say so: claimsmith:kubeconfig or claimsmith:context"
            )
            path = f"metadata.annotations[{EXTERNAL_NAME}]"
            yield Problem(what, name.where, path, fix, rule="external-name-taken")


def _outside(named: Named) -> Key:
    """What an object is outside the cluster, as far as names tell: many providers know no upper case.

    A kind in namespaces and its twin at cluster scope, whose group lacks `.m.`, are one kind there.
    """
    kind = GroupKind(named.kind.group.replace(".m.", ".", 1), named.kind.kind)
    return kind, named.name.casefold()


def _given(stack: str, resource: GivenResource) -> Named:
    annotations = object_at(object_at(resource.document, "metadata"), "annotations")
    name = str(annotations.get(EXTERNAL_NAME, resource.key.name))
    address = resource.address
    return Named(stack, "the platform", address, resource.key.group_kind, name, chosen=False, where=Source(""))


def _conflict(name: Named, other: Named) -> bool:
    return (name.stack, name.claim) != (other.stack, other.claim)


def _named(stack: str, root: PlannedClaim, child: Child) -> Named | None:
    name = external_name(child)
    if name is None:
        return None
    written = object_at(object_at(child.template.base, "metadata"), "annotations").get(EXTERNAL_NAME)
    chosen = name not in (child.name, written)
    where = root.binding.claim.document.source_of(("metadata", "annotations", EXTERNAL_NAME)) if chosen else Source("")
    return Named(stack, root.address, child.address, child.template.group_kind, name, chosen, where)
