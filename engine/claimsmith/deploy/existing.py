"""Objects that exist before the engine creates them: who owns them, and which of them are taken over.

Every object of this run that the stack's state does not hold is looked up. One that is ours, or that the platform's
files mark as to be adopted, is taken over: the engine imports it. Any other is refused before anything is created.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import Problem, Source
from claimsmith.base.names import ObjectKey
from claimsmith.deploy.left_behind import LeftBehind
from claimsmith.deploy.provider import Taken, key_of
from claimsmith.kubernetes.client import Cluster, Object, Place, controller_of, owner_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object that this run creates, and the owner that it must have if it exists."""

    document: Mapping[str, Any]
    owner: str
    head: str
    """The beginning of the error message: `… already exists and belongs to somebody else`."""
    where: Source | None
    path: str
    fix: str
    adopt: bool = False
    """Whether it is taken over, whoever created it."""
    always: bool = False
    """Whether it is looked up even if the state holds it: users choose its name, so two may choose the same."""

    @property
    def key(self) -> ObjectKey:
        """Which object it is."""
        return key_of(self.document)


def look_up(
    wanted: Iterable[Wanted],
    cluster: Cluster,
    held: Set[ObjectKey] | None,
    moving: Set[tuple[ObjectKey, str]] = frozenset(),
    left: LeftBehind | None = None,
) -> tuple[Taken, list[Problem]]:
    """Which of these exist and are taken over, and a problem for each that somebody else owns.

    `held` is what the state holds in this cluster; None if the state cannot be read: then nothing is taken over.
    Nor is what the state holds for the same owner in another cluster, `moving`: one cluster may have two names, and
    the engine replaces such an object, which it does not do with one that is imported. `left` knows what other stacks
    of the project left behind.
    """
    asked = [w for w in wanted if w.always or held is None or w.key not in held]
    live = _live(asked, cluster)
    there = [(w, live[w.key]) for w in asked if w.key in live]
    known = held if held is not None else {w.key for w, _ in there}
    foreign = [(w, found) for w, found in there if not w.adopt and not _is_ours(w, found, held=w.key in known)]
    foreign = [(w, found) for w, found in foreign if not _is_taken(w, found, left)]
    problems = dict.fromkeys(_foreign(w, found, left) for w, found in foreign)
    new = [w for w, _ in there if w.key not in known and (w.key, w.owner) not in moving]
    return {w.key: w.key.place for w in new}, list(problems)


def _live(asked: Sequence[Wanted], cluster: Cluster) -> dict[ObjectKey, Object]:
    kinds: dict[tuple[str, str], dict[Place, ObjectKey]] = {}
    for wanted in asked:
        head = str(wanted.document["apiVersion"]), str(wanted.document["kind"])
        key = wanted.key
        kinds.setdefault(head, {})[key.namespace, key.name] = key
    return {
        keys[place]: found
        for (api_version, kind), keys in kinds.items()
        for place, found in cluster.find(api_version, kind, list(keys)).items()
    }


def _is_ours(wanted: Wanted, found: Object, *, held: bool) -> bool:
    # What we deployed stays ours if a controller adopts it later: the state says so.
    return owner_of(found) == wanted.owner and (held or controller_of(found) is None)


def _is_taken(wanted: Wanted, found: Object, left: LeftBehind | None) -> bool:
    """Whether another stack left it behind, and this one takes that over."""
    return left is not None and controller_of(found) is None and left.is_taken(owner_of(found) or "", wanted.key)


def _foreign(wanted: Wanted, found: Object, left: LeftBehind | None) -> Problem:
    what = f"{wanted.head} already exists and {whose(found)}"
    stack = left.by(owner_of(found) or "", wanted.key) if left and controller_of(found) is None else ""
    if left and stack:
        fix = f"{left.fix(stack)}; or {wanted.fix}"
        return Problem(f"{what}: {left.story(stack)}", wanted.where, wanted.path, fix)
    return Problem(what, wanted.where, wanted.path, wanted.fix)


def whose(found: Object) -> str:
    """Who owns an object, as the end of the error message."""
    owner, controller = owner_of(found), controller_of(found)
    owners = [f"belongs to {owner}"] if owner else []
    owners += [f"is controlled by {controller}"] if controller else []
    return " and ".join(owners) or "was not created by claimsmith"
