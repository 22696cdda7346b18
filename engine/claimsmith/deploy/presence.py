"""Before the engine runs: check that the cluster has the kinds and namespaces that the plan needs.

Without them an `up` retries for a minute, and a preview does not report them at all (Kubernetes provider 4.25).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from claimsmith.base.errors import ControlPlaneError, DeployError, Problem, in_order
from claimsmith.base.names import GroupKind
from claimsmith.compose.clusters import kubernetes_children
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.deploy.other_stacks import provided_by
from claimsmith.kubernetes.client import Cluster


def refuse_missing(plan: Plan, cluster: Cluster) -> None:
    """Refuse resources whose definition or namespace the cluster lacks, unless this stack creates it."""
    problems = [*_unknown_kinds(plan, cluster), *_missing_namespaces(plan, cluster)]
    if problems:
        raise DeployError(*in_order(problems))


def _unknown_kinds(plan: Plan, cluster: Cluster) -> Iterator[Problem]:
    created = {
        GroupKind(d["spec"]["group"], d["spec"]["names"]["kind"]) for d in _documents(plan, "CustomResourceDefinition")
    }
    wanted: dict[tuple[str, str], tuple[PlannedClaim, str]] = {}
    for claim in plan.walk():
        for child in kubernetes_children(claim):
            if child.template.group_kind not in created:
                known_as = str(child.document["apiVersion"]), str(child.document["kind"])
                wanted.setdefault(known_as, (claim, child.template.name))
    for (api_version, kind), (claim, template) in wanted.items():
        if not cluster.serves(api_version, kind):
            shown = f"{claim.address}: its child {template!r} is a {kind} of {api_version}"
            fix = f"install the definition of {kind} ({api_version}); locally: claimsmith local up --stack {plan.stack}"
            yield claim.binding.claim.document.problem(f"{shown}, which the cluster does not serve", "kind", fix)


def _missing_namespaces(plan: Plan, cluster: Cluster) -> Iterator[Problem]:
    created = {str(d["metadata"]["name"]) for d in _documents(plan, "Namespace")}
    wanted: dict[str, PlannedClaim] = {}
    for claim in plan.walk():
        places = [c.namespace for c in kubernetes_children(claim) if c.namespace] + [
            s.namespace for s in claim.connections
        ]
        for namespace in places:
            wanted.setdefault(namespace, claim)
    unresolved = [(name, claim) for name, claim in wanted.items() if name not in created]
    with ThreadPoolExecutor(max_workers=8) as pool:
        exists = list(pool.map(lambda row: _namespace_exists(cluster, row[0]), unresolved))
    for (namespace, claim), found in zip(unresolved, exists, strict=True):
        if not found:
            what = f"{claim.address} needs the namespace {namespace!r}, which does not exist"
            fix = (
                f"let the stack create it: claimsmith new namespace {namespace} --stack {plan.stack}; "
                f"or: kubectl create namespace {namespace}"
            )
            yield Problem(what, claim.binding.claim.document.source_of("metadata"), "metadata.namespace", fix)


def _namespace_exists(cluster: Cluster, name: str) -> bool:
    """Whether a namespace exists; true as well if this user may not read it."""
    try:
        return cluster.read("v1", "Namespace", name) is not None
    except ControlPlaneError:
        return True


def _documents(plan: Plan, kind: str) -> Iterator[dict[str, Any]]:
    """The documents of a kind that this stack creates."""
    yield from (r.document for r in plan.resources if r.document["kind"] == kind and not provided_by(r))
    yield from (c.document for claim in plan.walk() for c in kubernetes_children(claim) if c.document["kind"] == kind)
