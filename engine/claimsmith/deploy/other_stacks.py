"""Resources that another stack of the project provides: a stack reference has their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi

from claimsmith.base.errors import Problem
from claimsmith.base.labels import GIVEN_BY
from claimsmith.compose.plan import GivenResource, Plan

OUTPUT = "given"


def provided_by(resource: GivenResource) -> str:
    """The other stack that provides a resource; empty if it is this one."""
    return str((resource.document["metadata"].get("annotations") or {}).get(GIVEN_BY) or "")


def export_provided(plan: Plan) -> None:
    """Export the names of the resources that this stack provides, for the stacks that were split off from it."""
    names = {r.address: str(r.document["metadata"]["name"]) for r in plan.resources if not provided_by(r)}
    if names:
        pulumi.export(OUTPUT, names)


@dataclass(frozen=True)
class Elsewhere:
    """A resource of another stack, of which only the name is available."""

    address: str
    stack: str
    reference: pulumi.StackReference

    @property
    def name(self) -> pulumi.Output[str]:
        """The object's name, once the other stack has it."""
        return self.reference.get_output(OUTPUT).apply(self._named)

    def _named(self, names: Any) -> str:
        name = (names or {}).get(self.address)
        if not isinstance(name, str):
            what = f"the stack {self.stack!r} does not provide {self.address} yet"
            raise pulumi.RunError(str(Problem(what, fix=f"run first: pulumi up --stack {self.stack}")))
        return name
