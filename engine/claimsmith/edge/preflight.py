"""Before the engine runs: names that a user chose are looked up, and what is somebody else's is refused.

The engine's create merges into an object of the same name, and its delete deletes it, whoever made it.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from claimsmith.cluster import Cluster, owner_of
from claimsmith.compose.identity import ADOPT, GIVEN_BY
from claimsmith.errors import ConnectionError_, DeployError, Problem
from claimsmith.plan import GivenResource, Plan, PlannedClaim
from claimsmith.project import PRIVATE, Project, write_atomically

CLUSTERS = "clusters.json"
"""Which cluster each stack was deployed to from here, by its identity."""


def refuse_another_cluster(project: Project, stack: str, identity: str, *, keep: bool) -> None:
    """Refuse to deploy a stack to another cluster than before: its state speaks of that one.

    What was there would seem to be here, or would be made here and deleted there. `keep` records the cluster.
    """
    path = project.private / CLUSTERS
    known = _known_clusters(path)
    before = known.get(stack, identity)
    if before != identity:
        what = f"the stack {stack!r} was deployed to the cluster {before}, but this is {identity}: wiped, or another"
        shown = path.relative_to(project.root).as_posix()
        end = f"end the old state (pulumi stack rm {stack} --force) and take the stack out of {shown}"
        fix = f"point its kubeconfig back; or {end}"
        raise DeployError(Problem(what, fix=fix))
    if keep and stack not in known:
        write_atomically(path, json.dumps({**known, stack: identity}, indent=2) + "\n")


def _known_clusters(path: Path) -> dict[str, str]:
    try:
        known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return dict(known)
    except (ValueError, TypeError) as error:
        what = f"{PRIVATE}/{CLUSTERS} is broken: {error}"
        raise DeployError(Problem(what, fix="remove it; the next up writes it again")) from error


def refuse_foreign_secrets(plan: Plan, cluster: Cluster) -> None:
    """Refuse to write over a Secret that a user named and somebody else made: the engine would merge into it."""
    asking = [c for c in plan.walk() if c.connection and not _adopts(c)]
    with ThreadPoolExecutor(max_workers=8) as pool:
        found = list(pool.map(lambda c: _foreign(c, cluster), asking))
    problems = [p for p in found if p]
    if problems:
        raise ConnectionError_(*problems)


def _adopts(claim: PlannedClaim) -> bool:
    """Whether the claim says that a Secret of its name is to be taken over, whoever made it."""
    metadata = claim.binding.claim.data.get("metadata") or {}
    return (metadata.get("annotations") or {}).get(ADOPT) == "true"


def _foreign(claim: PlannedClaim, cluster: Cluster) -> Problem | None:
    assert claim.connection, "only claims that ask for a Secret are looked at"
    namespace, name = claim.connection.namespace, claim.connection.name
    found = cluster.secret(namespace, name)
    if found is None or owner_of(found) == claim.identity.owner:
        return None
    owner = owner_of(found)
    whose = f"belongs to {owner}" if owner else "was not made by claimsmith"
    path = "spec.writeConnectionSecretToRef.name"
    where = claim.binding.claim.document.source_of(path)
    what = f"{claim.address} asks for the Secret {namespace}/{name}, which is there already and {whose}"
    fix = f'name another Secret, remove that one, or take it over: annotate the claim with {ADOPT}: "true"'
    return Problem(what, where, path, fix)


def refuse_foreign_given(plan: Plan, cluster: Cluster) -> None:
    """Refuse to give what somebody else made: with the stack it would go, and a namespace with all that is in it."""
    asking = [r for r in plan.resources if not _taken_over(r)]
    with ThreadPoolExecutor(max_workers=8) as pool:
        found = list(pool.map(lambda r: _foreign_given(r, plan, cluster), asking))
    problems = [p for p in found if p]
    if problems:
        raise DeployError(*problems)


def _taken_over(resource: GivenResource) -> bool:
    """Whether a given resource may be somebody else's: it is to be taken over, or only referred to."""
    annotations = resource.document["metadata"].get("annotations") or {}
    return annotations.get(ADOPT) == "true" or GIVEN_BY in annotations


def _foreign_given(resource: GivenResource, plan: Plan, cluster: Cluster) -> Problem | None:
    document, key = resource.document, resource.key
    live = cluster.read(str(document["apiVersion"]), str(document["kind"]), key.name, key.namespace or None)
    if live is None:
        return None
    owner = owner_of(live)
    if owner == given_owner(plan.project, plan.stack):
        return None
    whose = f"belongs to {owner}" if owner else "was not made by claimsmith"
    what = f"stacks/{plan.stack}/resources gives {key}, which is there already and {whose}"
    fix = f'leave it out (a reference finds it all the same), or take it over: annotate it with {ADOPT}: "true"'
    return Problem(what, path="metadata.name", fix=fix)


def given_owner(project: str, stack: str) -> str:
    """The owner of what a stack gives as it is."""
    return f"{project}/{stack}/given"
