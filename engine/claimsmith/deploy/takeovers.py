"""Before the engine runs: report the fields of our children that another field manager has taken over.

The engine does not report them until a child changes, and then only that the API server refuses the change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from claimsmith.base.errors import ControlPlaneError, Problem
from claimsmith.compose.clusters import kubernetes_children
from claimsmith.compose.drafts import Child
from claimsmith.compose.options import field_manager
from claimsmith.compose.plan import Plan
from claimsmith.dialects.common.dialect import Identity
from claimsmith.kubernetes import ownership
from claimsmith.kubernetes.client import Cluster, Object, Place, live_object

Row = tuple[Child, Identity]


def conflicts_ahead(plan: Plan, cluster: Cluster) -> list[Problem]:
    """A warning for each field that the next change of its child would be refused for.

    Who owns which field is part of the metadata, which is listed kind by kind; only children of which others own
    something that we set are read whole.
    """
    kinds: dict[tuple[str, str], list[Row]] = {}
    for claim in plan.walk():
        for child in kubernetes_children(claim):
            if ownership.is_forced(child.document, os.environ):
                continue
            head = str(child.document["apiVersion"]), str(child.document["kind"])
            kinds.setdefault(head, []).append((child, claim.identity))
    suspects = [row for (api, kind), rows in kinds.items() for row in _suspects(api, kind, rows, cluster)]
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [p for found in pool.map(lambda row: _conflicts(row, cluster), suspects) for p in found]


def _suspects(api_version: str, kind: str, rows: Sequence[Row], cluster: Cluster) -> list[Row]:
    """The children of a kind of which somebody else owns a field that we set, whatever it holds."""
    try:
        found = cluster.find(api_version, kind, [_place(child) for child, _ in rows])
    except ControlPlaneError:
        return []  # Who may not read an object cannot change it either: the engine reports it.
    return [(child, who) for child, who in rows if (live := found.get(_place(child))) and _taken(child, who, live)]


def _conflicts(row: Row, cluster: Cluster) -> list[Problem]:
    child, identity = row
    live = live_object(cluster, child.document)
    taken = _taken(child, identity, live) if live else []
    return [ownership.conflict(child.address, child.document, t) for t in taken]


def _taken(child: Child, identity: Identity, live: Object) -> list[ownership.Taken]:
    manager = field_manager(identity.project, identity.stack)
    return ownership.taken_over(child.document, live, manager, child.options.ignore_changes)


def _place(child: Child) -> Place:
    return child.namespace, child.name
