"""Objects that are there before the engine creates them: whose they are, and which of them are taken over.

Every object of this run that the stack's state does not hold is looked up. One that is ours, or that the platform's
files say to adopt, is taken over: the engine imports it. Anybody else's is refused before anything is created.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from claimsmith.cluster import Cluster, Object, Place, controller_of, owner_of
from claimsmith.edge.provider import Taken, key_of
from claimsmith.errors import Problem, Source
from claimsmith.models.objects import ObjectKey


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object that this run makes, and whose it must be if it is there already."""

    document: Mapping[str, Any]
    owner: str
    head: str
    """Who wants it, as the beginning of a sentence: `… is there already and belongs to somebody else`."""
    where: Source | None
    path: str
    fix: str
    adopt: bool = False
    """Whether it is taken over, whoever made it."""
    always: bool = False
    """Whether it is looked up even where the state holds it: a user chose its name, so that others may as well."""

    @property
    def key(self) -> ObjectKey:
        """Which object it is."""
        return key_of(self.document)


def look_up(
    wanted: Iterable[Wanted],
    cluster: Cluster,
    held: Set[ObjectKey] | None,
    moving: Set[tuple[ObjectKey, str]] = frozenset(),
) -> tuple[Taken, list[Problem]]:
    """What of these is there already and to be taken over, and what is somebody else's.

    `held` is what the state holds in this cluster; None where the state cannot be read: then nothing is taken over.
    Nor is what the state holds for the same owner in another cluster, `moving`: one cluster may have two names, and
    the engine replaces such an object, which it does not do with one that is imported.
    """
    asked = [w for w in wanted if w.always or held is None or w.key not in held]
    live = _live(asked, cluster)
    there = [(w, live[w.key]) for w in asked if w.key in live]
    known = held if held is not None else {w.key for w, _ in there}
    strange = [(w, found) for w, found in there if not w.adopt and not _is_ours(w, found, held=w.key in known)]
    problems = dict.fromkeys(_foreign(w, found) for w, found in strange)
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


def _foreign(wanted: Wanted, found: Object) -> Problem:
    return Problem(f"{wanted.head} already and {whose(found)}", wanted.where, wanted.path, wanted.fix)


def whose(found: Object) -> str:
    """Who an object belongs to, as the end of a sentence."""
    owner, controller = owner_of(found), controller_of(found)
    told = [f"belongs to {owner}"] if owner else []
    told += [f"is controlled by {controller}"] if controller else []
    return " and ".join(told) or "was not made by claimsmith"
