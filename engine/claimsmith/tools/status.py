"""`claimsmith status`: the claims of a deployed stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.project.project import Project


@dataclass(frozen=True, slots=True)
class ClaimStatus:
    """A deployed claim."""

    claim: ClaimKey
    details: dict[str, Any]

    @property
    def children(self) -> list[tuple[int, str, str]]:
        """Depth, kind and name of each child, those of a composite below it."""
        return list(_tree(self.details["resources"], 1))

    @property
    def secret(self) -> str:
        """The place and the keys of the connection details, in short: a Secret, else the stack's output."""
        secret, keys = self.details.get("connectionSecret"), self.details.get("connectionKeys")
        if secret:
            return f"{secret['namespace']}/{secret['name']}: {', '.join(secret['keys'])}"
        return f"stack output: {', '.join(keys)}" if keys else "none asked for"

    def to_dict(self) -> dict[str, Any]:
        """The claim for a machine to read."""
        return {"claim": str(self.claim), **self.details}


def _tree(resources: Sequence[Mapping[str, Any]], depth: int) -> Iterator[tuple[int, str, str]]:
    for resource in resources:
        yield depth, GroupKind.of(resource).kind, resource["name"]
        yield from _tree(resource.get("resources") or (), depth + 1)


def status(project: Project, stack: str) -> list[ClaimStatus]:
    """The claims of a deployed stack."""
    from claimsmith.project import workspace

    project.check_stack(stack)
    outputs = workspace.stack_outputs(project, stack)
    claims = {**(outputs.get("claims") or {}), **(outputs.get("workloads") or {})}
    return [ClaimStatus(ClaimKey.parse(name), details) for name, details in sorted(claims.items())]
