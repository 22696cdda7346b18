"""What another stack of the project gives: referred to here by name, through a stack reference."""

from __future__ import annotations

from typing import Any

import pulumi

from claimsmith.compose.identity import GIVEN_BY
from claimsmith.errors import Problem
from claimsmith.plan import GivenResource, Plan

OUTPUT = "given"


def given_by(resource: GivenResource) -> str:
    """The other stack that gives a resource; empty for one that this stack gives itself."""
    return str((resource.document["metadata"].get("annotations") or {}).get(GIVEN_BY) or "")


def export_given(plan: Plan) -> None:
    """Export the names of what this stack gives, for the stacks that were cut off from it."""
    names = {r.address: str(r.document["metadata"]["name"]) for r in plan.resources if not given_by(r)}
    if names:
        pulumi.export(OUTPUT, names)


class Elsewhere:
    """A resource of another stack: only its name is known here."""

    def __init__(self, address: str, stack: str, reference: pulumi.StackReference) -> None:
        self._address = address
        self._stack = stack
        self._reference = reference

    @property
    def name(self) -> pulumi.Output[str]:
        """The object's name, once the other stack has it."""
        return self._reference.get_output(OUTPUT).apply(self._named)

    def _named(self, names: Any) -> str:
        name = (names or {}).get(self._address)
        if not isinstance(name, str):
            what = f"the stack {self._stack!r} does not give {self._address} yet"
            raise pulumi.RunError(str(Problem(what, fix=f"run first: pulumi up --stack {self._stack}")))
        return name
