"""Before the engine runs: fields of our children that somebody else has taken over are reported.

The engine says nothing of them until a child changes, and then only that the API server refuses it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from claimsmith import ownership
from claimsmith.cluster import Cluster
from claimsmith.compose.identity import Identity
from claimsmith.compose.options import field_manager
from claimsmith.errors import ControlPlaneError, Problem
from claimsmith.expand import Child
from claimsmith.plan import Plan


def conflicts_ahead(plan: Plan, cluster: Cluster) -> list[Problem]:
    """A warning for each field that the next change of its child would be refused for."""
    made = [(child, claim.identity) for claim in plan.walk() for child in claim.children]
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [p for found in pool.map(lambda row: _of_child(row[0], row[1], cluster), made) for p in found]


def _of_child(child: Child, identity: Identity, cluster: Cluster) -> list[Problem]:
    document = child.document
    try:
        live = cluster.read(str(document["apiVersion"]), str(document["kind"]), child.name, child.namespace or None)
    except ControlPlaneError:
        return []  # Who may not read an object cannot change it either: told by the engine.
    if live is None:
        return []
    manager = field_manager(identity.project, identity.stack)
    taken = ownership.taken_over(document, live, manager, child.options.ignore_changes)
    return [ownership.conflict(child.address, document, t) for t in taken]
