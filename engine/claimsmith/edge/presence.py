"""Before the engine runs: kinds and namespaces that must be there already are looked for.

Without them the engine tries for a minute, and its preview says nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from claimsmith.cluster import Cluster
from claimsmith.edge.elsewhere import given_by
from claimsmith.errors import ControlPlaneError, DeployError, Problem, in_order
from claimsmith.models.objects import GroupKind
from claimsmith.plan import Plan, PlannedClaim


def refuse_missing(plan: Plan, cluster: Cluster) -> None:
    """Refuse to make what the cluster has no definition or no namespace for, unless this stack brings them."""
    problems = [*_unknown_kinds(plan, cluster), *_missing_namespaces(plan, cluster)]
    if problems:
        raise DeployError(*in_order(problems))


def _unknown_kinds(plan: Plan, cluster: Cluster) -> Iterator[Problem]:
    brought = {
        GroupKind(d["spec"]["group"], d["spec"]["names"]["kind"]) for d in _made(plan, "CustomResourceDefinition")
    }
    wanted: dict[tuple[str, str], tuple[PlannedClaim, str]] = {}
    for claim in plan.walk():
        for child in claim.children:
            if child.template.group_kind not in brought:
                known_as = str(child.document["apiVersion"]), str(child.document["kind"])
                wanted.setdefault(known_as, (claim, child.template.name))
    for (api_version, kind), (claim, template) in wanted.items():
        if not cluster.serves(api_version, kind):
            what = (
                f"{claim.address}: its child {template!r} is a {kind} of {api_version}, which the cluster does not know"
            )
            fix = f"install the definition of {kind} ({api_version}); locally: claimsmith local up --stack {plan.stack}"
            yield Problem(what, claim.binding.claim.document.source_of("kind"), "kind", fix)


def _missing_namespaces(plan: Plan, cluster: Cluster) -> Iterator[Problem]:
    brought = {str(d["metadata"]["name"]) for d in _made(plan, "Namespace")}
    wanted: dict[str, PlannedClaim] = {}
    for claim in plan.walk():
        places = [c.namespace for c in claim.children if c.namespace] + [s.namespace for s in claim.connections]
        for namespace in places:
            wanted.setdefault(namespace, claim)
    asked = [(name, claim) for name, claim in wanted.items() if name not in brought]
    with ThreadPoolExecutor(max_workers=8) as pool:
        there = list(pool.map(lambda row: _namespace_is_there(cluster, row[0]), asked))
    for (namespace, claim), found in zip(asked, there, strict=True):
        if not found:
            what = f"{claim.address} needs the namespace {namespace!r}, which is not there"
            fix = f"make it (kubectl create namespace {namespace}), or give it in stacks/{plan.stack}/resources/"
            yield Problem(what, claim.binding.claim.document.source_of("metadata"), "metadata.namespace", fix)


def _namespace_is_there(cluster: Cluster, name: str) -> bool:
    """Whether a namespace is there, or this user may not know."""
    try:
        return cluster.read("v1", "Namespace", name) is not None
    except ControlPlaneError:
        return True


def _made(plan: Plan, kind: str) -> Iterator[dict[str, Any]]:
    """The documents of a kind that this stack brings itself."""
    yield from (r.document for r in plan.resources if r.document["kind"] == kind and not given_by(r))
    yield from (c.document for claim in plan.walk() for c in claim.children if c.document["kind"] == kind)
