"""Native children while the engine runs: resources of the providers' own SDKs among the children of a component.

A generated component constructs them as any Pulumi program does, with the name and the options of its base class. What
the base class needs to know of them beside that is here: their template, their labels, and whether they stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pulumi

from claimsmith.base.labels import IMPORT
from claimsmith.base.names import GroupKind
from claimsmith.deploy.values import Deferred, once_known

Timeouts = str | Mapping[str, str]
"""How long the engine waits: for every operation, or by the name of each."""


@dataclass(slots=True, eq=False)
class NativeChild:
    """A resource of a provider's SDK, from the moment at which its component asks for its options."""

    name: str
    """Its name for the engine."""
    template: str
    labels: Mapping[str, str] = field(default_factory=dict)
    kept: bool = False
    """Whether it stays when it leaves the stack."""
    existing: bool = False
    """Whether it is only read, and never owned."""
    resource: pulumi.CustomResource | None = None
    """The resource itself; None until the component is complete."""
    _ready: pulumi.Output[str] | None = None
    _signs: list[pulumi.Output[Any]] | None = None

    @property
    def token(self) -> str:
        """Its type for the engine."""
        return self.resource.pulumi_resource_type if self.resource else ""

    @property
    def group_kind(self) -> GroupKind:
        """Package and module, and the name of its type: the kind that selectors know it by."""
        return _kind_of(self.token)

    @property
    def ready(self) -> pulumi.Output[str]:
        """An output that is known once it exists as the program wants it.

        The id of a resource whose update failed is known too, and no other output of it, while the engine goes on with
        the others (SDK 3.272). In a preview, outputs that a provider computes are unknown in any case. Of a resource
        that could not be read, every output is known to be None.
        """
        if self._ready is None:
            id_, *others = self.signs
            self._ready = once_known([id_], str, conditions=others)
        return self._ready

    @property
    def signs(self) -> list[pulumi.Output[Any]]:
        """The outputs that are known once it is ready: its id first."""
        if self._signs is None:
            resource = self.resource
            assert resource, "only children whose resource exists are waited for"
            self._signs = [resource.id, *self._other_signs(resource)]
        return self._signs

    def _other_signs(self, resource: pulumi.CustomResource) -> Iterator[pulumi.Output[Any]]:
        if self.existing:
            return iter([self._found(resource)])
        return itertools.islice(() if pulumi.runtime.is_dry_run() else outputs_of(resource), 1)

    def _found(self, resource: pulumi.CustomResource) -> pulumi.Output[None]:
        """An output that is known once a resource that is only read was found."""
        outputs = list(outputs_of(resource))

        async def nothing() -> None:
            return None

        async def known() -> bool:
            return not outputs or any([await output.future() is not None for output in outputs])

        return pulumi.Output({resource}, Deferred(nothing), Deferred(known))

    async def is_ready(self) -> bool:
        """Whether it exists as the program wants it, once the engine is done with it."""
        return all([await sign.is_known() for sign in self.signs])

    def reference(self) -> dict[str, str]:
        """The child as the outputs of its claim name it."""
        return {"type": self.token, "name": self.name}


def constructed_by(component: pulumi.ComponentResource) -> dict[str, pulumi.CustomResource]:
    """The resources that a component constructed, by their names for the engine.

    The SDK keeps the children of a resource: no generated code has to report what it constructs.
    """
    resources = (child for child in component._childResources if isinstance(child, pulumi.CustomResource))
    return {resource.pulumi_resource_name: resource for resource in resources}


@cache
def _kind_of(token: str) -> GroupKind:
    return GroupKind.of({"type": token})


def outputs_of(resource: pulumi.CustomResource) -> Iterator[pulumi.Output[Any]]:
    """The outputs that the provider gives, beside id and URN."""
    return (v for k, v in vars(resource).items() if isinstance(v, pulumi.Output) and k not in ("id", "urn"))


def timeouts_of(timeout: Timeouts | None) -> pulumi.CustomTimeouts | None:
    """The timeouts as Pulumi takes them; None leaves them to the provider."""
    match timeout:
        case None:
            return None
        case str():
            return pulumi.CustomTimeouts(create=timeout, update=timeout, delete=timeout)
        case _:
            return pulumi.CustomTimeouts(**timeout)


def imported_id(annotations: Mapping[str, Any], template: str) -> str | None:
    """The id of the existing resource that a claim lets the child of a template take over, if it names one."""
    if IMPORT not in annotations:
        return None
    entries = (part.partition("=") for part in str(annotations[IMPORT]).split(","))
    return next((id_.strip() for name, _, id_ in entries if name.strip() == template and id_.strip()), None)


def aliases_of(names: Sequence[tuple[str, str]], given: Sequence[str]) -> list[str | pulumi.Alias]:
    """What the state may hold a child as: under other names, each with its type if that was another; or whole URNs."""
    return [
        *(pulumi.Alias(name=name, type_=type_) if type_ else pulumi.Alias(name=name) for name, type_ in names),
        *(alias if alias.startswith("urn:") else pulumi.Alias(name=alias) for alias in given),
    ]
