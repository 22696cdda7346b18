"""Candidate clusters before the engine runs: where their credentials are, and which of their objects are ours.

Kubernetes providers before 4.29 merge into an existing object of the same name. So the objects of a target that can be
reached are looked up first. A target that is created in this run is empty, and one out of reach is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pulumi

from claimsmith.base.errors import Collector, ConnectionError_, DeployError, EngineError, Problem
from claimsmith.base.labels import ADOPT, OWNER
from claimsmith.compose.plan import Plan
from claimsmith.compose.workload_plan import PlannedResource, PlannedWorkload
from claimsmith.compose.workload_targets import Published, TargetCluster
from claimsmith.deploy.context import Credentials
from claimsmith.deploy.deployed import Held
from claimsmith.deploy.existing import Wanted, look_up
from claimsmith.deploy.provider import Taken, key_of
from claimsmith.deploy.static import secret_of
from claimsmith.deploy.workloads import copy_document
from claimsmith.dialects.workloads.reading import PROVIDER
from claimsmith.kubernetes import kubeconfig
from claimsmith.kubernetes.client import Cluster


def credentials_of(plan: Plan, control: Cluster) -> dict[str, Credentials]:
    """The Secret with each target cluster's credentials; if only the live object names it, that is looked up."""
    problems = Collector()
    found: dict[str, Credentials] = {}
    for target in {w.placement.target.cluster.identity: w.placement.target for w in plan.workloads}.values():
        with problems.catch():
            found[target.cluster.identity] = _place(target, control)
    problems.raise_as(DeployError)
    return found


def refuse_foreign_objects(plan: Plan, control: Cluster, held: Held | None) -> dict[str, Taken]:
    """Refuse to overwrite objects of others in a target cluster; returns those to take over, by cluster."""
    credentials = credentials_of(plan, control)
    by_cluster: dict[str, list[PlannedWorkload]] = {}
    for workload in plan.workloads:
        by_cluster.setdefault(workload.placement.target.cluster.identity, []).append(workload)
    problems: list[Problem] = []
    taken: dict[str, Taken] = {}
    for identity, workloads in by_cluster.items():
        target = _reached(identity, credentials[identity], control)
        if target is None:
            continue
        known = held.within(identity, by_cluster.keys()).keys() if held else None
        try:
            moving = held.owned if held else frozenset()
            taken[identity], found = look_up(_wanted(plan, workloads), target, known, moving)
        finally:
            target.close()
        problems += found
    if problems:
        raise DeployError(*dict.fromkeys(problems))
    return taken


def _place(target: Published, control: Cluster) -> Credentials:
    cluster = target.cluster
    if cluster.secret:
        return (*cluster.secret, cluster.secret_key)
    where, path = target.target.document.source_of(target.target.path), target.target.path
    live = control.read(cluster.api_version, cluster.key.group_kind.kind, cluster.key.name)
    if live is None:
        what = f"{target.target.key} points to {cluster.identity}, which does not exist"
        raise DeployError(Problem(what, where, path, "provision it, or add it to stacks/<stack>/resources/"))
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
    """The target cluster, if its credentials exist and work."""
    namespace, name, key = place
    data = control.secret_data(namespace, name)
    if data is None:
        return None
    try:
        target = Cluster(kubeconfig.from_secret(data, key=key, shown=f"the Secret {namespace}/{name} of {identity}"))
        target.identity()
        return target
    except ConnectionError_:
        return None  # Reported where the credentials are used.
    except EngineError as error:
        what = f"{identity} cannot be looked into before deploying to it: {error.problems[0].what}"
        pulumi.log.warn(str(Problem(what, fix=f"check the Secret {namespace}/{name}")))
        return None


def _wanted(plan: Plan, workloads: list[PlannedWorkload]) -> Iterator[Wanted]:
    """All objects of these applications in their target cluster, looked up in every run: others write there."""
    for workload in workloads:
        owner = f"{plan.project}/{plan.stack}/{workload.placement.uid}"
        for r in workload.resources:
            path = f"{r.template.at}.metadata.name"
            yield _object(workload, path, r.document, owner, adopt=_adopts(workload, r))
        cluster = workload.placement.target.cluster
        for secret in workload.secrets:
            copy = copy_document(plan.project, plan.stack, cluster, secret)
            yield _object(workload, "spec", copy, copy["metadata"]["annotations"][OWNER])


def _adopts(workload: PlannedWorkload, resource: PlannedResource) -> bool:
    """Whether the application, or this resource of it, is annotated to take over an existing object."""
    annotations = workload.placement.application.data["metadata"].get("annotations") or {}
    return "true" in (annotations.get(ADOPT), resource.template.annotations.get(ADOPT))


def _object(
    workload: PlannedWorkload, path: str, document: Mapping[str, Any], owner: str, *, adopt: bool = False
) -> Wanted:
    cluster = workload.placement.target.cluster.identity
    head = f"{workload.address}: {document['kind']} {key_of(document).place} in {cluster}"
    where = workload.placement.application.document.source_of(path)
    fix = f'change its name or namespace, delete the existing object, or adopt it: annotate it with {ADOPT}: "true"'
    return Wanted(document, owner, head, where, path, fix, adopt, always=True)
