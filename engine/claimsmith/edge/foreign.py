"""Target clusters before the engine runs: where their credentials are, and whether what is there is ours to write.

The engine merges into an object of the same name that somebody else made. So where a target can be reached already,
its objects are read first; one that is made in this run is empty, and one that is out of reach is told of.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pulumi

from claimsmith import kubeconfig
from claimsmith.cluster import Cluster, owner_of
from claimsmith.compose.identity import ADOPT, OWNER
from claimsmith.edge.deployment import Credentials
from claimsmith.edge.static import secret_of
from claimsmith.edge.workloads import copy_document
from claimsmith.errors import Collector, ConnectionError_, DeployError, EngineError, Problem
from claimsmith.models.workload import PROVIDER
from claimsmith.plan import Plan
from claimsmith.targets import Published, TargetCluster
from claimsmith.workload_plan import PlannedResource, PlannedWorkload


def credentials_of(plan: Plan, control: Cluster) -> dict[str, Credentials]:
    """The place of each target cluster's credentials; one that only the live object tells is looked up."""
    problems = Collector()
    found: dict[str, Credentials] = {}
    for target in {w.placement.target.cluster.identity: w.placement.target for w in plan.workloads}.values():
        with problems.catch():
            found[target.cluster.identity] = _place(target, control)
    problems.raise_as(DeployError)
    return found


def refuse_foreign_objects(plan: Plan, control: Cluster) -> None:
    """Refuse to write over what somebody else made in a target cluster."""
    credentials = credentials_of(plan, control)
    by_cluster: dict[str, list[PlannedWorkload]] = {}
    for workload in plan.workloads:
        by_cluster.setdefault(workload.placement.target.cluster.identity, []).append(workload)
    problems: list[Problem] = []
    for identity, workloads in by_cluster.items():
        target = _reached(identity, credentials[identity], control)
        if target is None:
            continue
        try:
            problems += _foreign(plan, workloads, target)
        finally:
            target.close()
    if problems:
        raise DeployError(*dict.fromkeys(problems))


def _place(target: Published, control: Cluster) -> Credentials:
    cluster = target.cluster
    if cluster.secret:
        return (*cluster.secret, cluster.secret_key)
    where, path = target.target.document.source_of(target.target.path), target.target.path
    live = control.read(cluster.api_version, cluster.key.group_kind.kind, cluster.key.name)
    if live is None:
        what = f"{target.target.key} points to {cluster.identity}, which is not there"
        raise DeployError(Problem(what, where, path, "provision it, or give it in stacks/<stack>/resources/"))
    found = _credentials(cluster, live)
    if found is None:
        what = f"{target.target.key} points to {cluster.identity}, which names no Secret with its credentials"
        raise DeployError(Problem(what, where, path, "let it write its connection details"))
    return found


def _credentials(cluster: TargetCluster, live: Mapping[str, Any]) -> Credentials | None:
    if cluster.key.group_kind != PROVIDER:
        place = secret_of(live)
        return (*place, "") if place else None
    secret = (live.get("spec") or {}).get("credentialsSecretRef") or {}
    if not secret.get("namespace") or not secret.get("name"):
        return None
    return str(secret["namespace"]), str(secret["name"]), str(secret.get("key") or "")


def _reached(identity: str, place: Credentials, control: Cluster) -> Cluster | None:
    """The target cluster, if its credentials are there already and lead to it."""
    namespace, name, key = place
    data = control.secret_data(namespace, name)
    if data is None:
        return None
    try:
        target = Cluster(kubeconfig.from_secret(data, key=key, shown=f"the Secret {namespace}/{name} of {identity}"))
        target.identity()
        return target
    except ConnectionError_:
        return None  # Told where the credentials are used.
    except EngineError as error:
        what = f"{identity} cannot be looked into before deploying to it: {error.problems[0].what}"
        pulumi.log.warn(str(Problem(what, fix=f"check the Secret {namespace}/{name}")))
        return None


def _foreign(plan: Plan, workloads: list[PlannedWorkload], target: Cluster) -> list[Problem]:
    """What stands in a target cluster under our names, and is not ours."""
    wanted: list[tuple[PlannedWorkload, str, Mapping[str, Any], str]] = []
    for workload in workloads:
        owner = f"{plan.project}/{plan.stack}/{workload.placement.uid}"
        wanted += [
            (workload, f"{r.template.at}.metadata.name", r.document, owner)
            for r in workload.resources
            if not _adopts(workload, r)
        ]
        cluster = workload.placement.target.cluster
        copies = [copy_document(plan.project, plan.stack, cluster, s) for s in workload.secrets]
        wanted += [(workload, "spec", c, c["metadata"]["annotations"][OWNER]) for c in copies]
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [p for p in pool.map(lambda row: _problem(*row, target=target), wanted) if p]


def _adopts(workload: PlannedWorkload, resource: PlannedResource) -> bool:
    """Whether the application, or this resource of it, says that an object of its name is to be taken over."""
    given = workload.placement.application.data["metadata"].get("annotations") or {}
    return "true" in (given.get(ADOPT), resource.template.annotations.get(ADOPT))


def _problem(
    workload: PlannedWorkload, path: str, document: Mapping[str, Any], owner: str, *, target: Cluster
) -> Problem | None:
    metadata = document["metadata"]
    namespace, name = metadata.get("namespace"), metadata["name"]
    found = target.read(str(document["apiVersion"]), str(document["kind"]), name, namespace)
    if found is None or owner_of(found) == owner:
        return None
    whose = f"belongs to {owner_of(found)}" if owner_of(found) else "was not made by claimsmith"
    place = f"{namespace}/{name}" if namespace else name
    cluster = workload.placement.target.cluster.identity
    what = f"{workload.address}: {document['kind']} {place} is in {cluster} already and {whose}"
    where = workload.placement.application.document.source_of(path)
    fix = f'give it another name or namespace, remove that one, or take it over: annotate it with {ADOPT}: "true"'
    return Problem(what, where, path, fix)
