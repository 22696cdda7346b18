"""Whether a stack needs a cluster: it does where its plan has Kubernetes objects, and only there.

Native resources go to their providers. The Secrets that their claims ask for are Kubernetes objects only in a stack
that has a cluster; in any other the details are in the stack's output.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from claimsmith.base.errors import Problem
from claimsmith.base.names import is_native
from claimsmith.compose.drafts import Child
from claimsmith.compose.plan import Plan, PlannedClaim

_SETTING = "claimsmith:kubeconfig"


def needs_cluster(plan: Plan, *, records: bool = False) -> bool:
    """Whether anything of a plan is in a cluster: what it creates there, or reads. `records` are objects as well."""
    secrets = any(claim.connections for claim in plan.walk())
    return _has_objects(plan) or secrets or (records and bool(plan.claims or plan.released))


def kubernetes_children(claim: PlannedClaim) -> Iterator[Child]:
    """The children of a claim that are Kubernetes objects."""
    return (child for child in claim.children if not is_native(child.document))


def settled(plan: Plan, *, cluster: bool) -> Plan:
    """The plan with the Secrets that can be written: none, with a warning, where there is no cluster for them.

    `cluster` is whether the stack's config asks for one. A plan with Kubernetes objects has one all the same.
    """
    if cluster or _has_objects(plan) or not needs_cluster(plan):
        return plan
    asking = [c for c in plan.walk() if c.connections and c.binding.claim.secret_name]
    claims = tuple(_without_secrets(claim) for claim in plan.claims)
    return replace(plan, claims=claims, warnings=(*plan.warnings, *(_no_secret(c, plan.stack) for c in asking)))


def _has_objects(plan: Plan) -> bool:
    """Whether a plan has objects of a cluster, beside the Secrets of its claims."""
    if plan.resources or plan.workloads or plan.targets:
        return True
    composites = {claim.address for claim in plan.claims}
    return any(_in_cluster(claim, composites) for claim in plan.walk())


def _in_cluster(claim: PlannedClaim, composites: Collection[str]) -> bool:
    """Whether a claim has objects in the cluster; one that requires a composite of the plan has none of its own."""
    klass = claim.binding.klass
    existing = klass.static and str(klass.key) not in composites
    return bool(existing) or any(True for _ in kubernetes_children(claim))


def _without_secrets(claim: PlannedClaim) -> PlannedClaim:
    return replace(claim, connections=(), nested=tuple(_without_secrets(inner) for inner in claim.nested))


def _no_secret(claim: PlannedClaim, stack: str) -> Problem:
    what = f"{claim.address} asks for the Secret {claim.binding.claim.secret_name!r}, and the stack has no cluster"
    fix = f"none needed: claimsmith connection {stack} prints its connection details; for a Secret set {_SETTING}"
    return claim.binding.claim.document.problem(what, "spec.writeConnectionSecretToRef", fix)
