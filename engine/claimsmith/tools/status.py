"""`claimsmith status`: the claims of a deployed stack, with the conditions that their children have now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base.errors import EngineError, Problem
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.values import object_at
from claimsmith.project.project import Project

READY = "Ready"
GONE = "Gone"
_SHOWN = ("type", "status", "reason", "message")

Resource = Mapping[str, Any]
Observe = Callable[[Resource], Mapping[str, Any] | None]
"""Reads a child as it is in the cluster now; None where it is not there."""


@dataclass(frozen=True, slots=True)
class ChildStatus:
    """A child of a deployed claim, and its state now."""

    depth: int
    kind: str
    name: str
    state: str = ""
    """`Ready`, `Not ready`, `Gone`; empty where that is not known, as for a native resource."""
    waiting: str = ""
    """The conditions that are not met."""

    @property
    def shown(self) -> str:
        """What it is, for a sentence."""
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class ClaimStatus:
    """A deployed claim."""

    claim: ClaimKey
    details: dict[str, Any]

    @property
    def children(self) -> list[ChildStatus]:
        """Each child, those of a composite below it."""
        return list(_tree(self.details["resources"], 1))

    @property
    def secret(self) -> str:
        """The place and the keys of the connection details, in short: a Secret, else the stack's output."""
        secret, keys = self.details.get("connectionSecret"), self.details.get("connectionKeys")
        if secret:
            return f"{secret['namespace']}/{secret['name']}: {', '.join(secret['keys'])}"
        return f"stack output: {', '.join(keys)}" if keys else "none"

    @property
    def following(self) -> tuple[str, ...]:
        """The resources that its pipelines add with a later deployment."""
        return tuple(self.details.get("following") or ())

    def to_dict(self) -> dict[str, Any]:
        """The claim for a machine to read."""
        return {"claim": str(self.claim), **self.details}


@dataclass(frozen=True, slots=True)
class StackStatus:
    """The claims of a deployed stack."""

    claims: list[ClaimStatus]
    warnings: list[Problem] = field(default_factory=list)
    """Why the state of children is not known, where it is not."""

    def to_dict(self) -> dict[str, Any]:
        """The claims for a machine to read."""
        return {"claims": [c.to_dict() for c in self.claims], "warnings": [p.to_dict() for p in self.warnings]}


def _tree(resources: Sequence[Resource], depth: int) -> Iterator[ChildStatus]:
    for resource in resources:
        kind, name = GroupKind.of(dict(resource)).kind, str(resource["name"])
        yield ChildStatus(depth, kind, name, resource.get("state", ""), _waiting(resource.get("conditions") or ()))
        yield from _tree(resource.get("resources") or (), depth + 1)


def _waiting(conditions: Sequence[Mapping[str, Any]]) -> str:
    """The conditions that are not met, each with its reason and message."""
    unmet = [c for c in conditions if c["status"] != "True"]
    words = [": ".join(str(c[k]) for k in ("reason", "message") if c.get(k)) for c in unmet]
    return "; ".join(
        f"{c['type']} is {c['status']}" + (f": {w}" if w else "") for c, w in zip(unmet, words, strict=True)
    )


def status(project: Project, stack: str) -> StackStatus:
    """The claims of a deployed stack, with the conditions that their children have in its cluster now."""
    from claimsmith.project import workspace

    project.check_stack(stack)
    outputs = workspace.stack_outputs(project, stack)
    claims = {**(outputs.get("claims") or {}), **(outputs.get("workloads") or {})}
    found = [ClaimStatus(ClaimKey.parse(name), details) for name, details in sorted(claims.items())]
    if not any(_in_cluster(r) for c in found for r in c.details["resources"]):
        return StackStatus(found)
    settings = workspace.settings_of(project, stack)
    try:
        with workspace.stack_cluster(project, settings.get("kubeconfig"), settings.get("context")) as cluster:

            def live(resource: Resource) -> Mapping[str, Any] | None:
                place = str(resource.get("namespace") or "")
                return cluster.read(str(resource["apiVersion"]), str(resource["kind"]), str(resource["name"]), place)

            return StackStatus([observed(claim, live) for claim in found])
    except EngineError as error:
        # What was deployed is known without a cluster.
        return StackStatus(found, list(error.problems))


def observed(claim: ClaimStatus, live: Observe) -> ClaimStatus:
    """The claim with the state and the conditions of its children."""
    resources = [_observed(resource, live) for resource in claim.details["resources"]]
    return ClaimStatus(claim.claim, {**claim.details, "resources": resources})


def _observed(resource: Resource, live: Observe) -> dict[str, Any]:
    below = [_observed(inner, live) for inner in resource.get("resources") or ()]
    whole = {**resource, **({"resources": below} if below else {})}
    if not _in_cluster(resource):
        return whole
    found = live(resource)
    if found is None:
        # A composite is an object only where the stack keeps records.
        return whole if below else {**whole, "state": GONE, "conditions": []}
    listed = object_at(dict(found), "status").get("conditions")
    conditions = [
        {key: str(c[key]) for key in _SHOWN if c.get(key)}
        for c in (listed if isinstance(listed, list) else ())
        if isinstance(c, Mapping) and c.get("type") and c.get("status")
    ]
    return {**whole, **({"state": _state(conditions)} if conditions else {}), "conditions": conditions}


def _in_cluster(resource: Resource) -> bool:
    return "apiVersion" in resource


def _state(conditions: Sequence[Mapping[str, str]]) -> str:
    """A child is ready by its condition Ready; a kind without it by Available, as that of a Deployment."""
    by_type = {c["type"]: c["status"] for c in conditions}
    deciding = by_type.get("Ready", by_type.get("Available", ""))
    return READY if deciding == "True" else "Not ready" if deciding else ""
