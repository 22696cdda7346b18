"""Drafts: bound claims with their composed children, before references between these are resolved.

A draft is a bound claim with its patched and dressed children; a child of a defined kind is a draft of its own, so
that composites of composites become a tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import Problem
from claimsmith.base.names import ChildAddress
from claimsmith.base.values import Ref, has, known
from claimsmith.compose.options import Options
from claimsmith.compose.piped import Piped
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.dialect import SECRET_REF, Dialect, Identity
from claimsmith.dialects.common.klass import Side, Template
from claimsmith.dialects.workloads.reading import Application
from claimsmith.patching import patches
from claimsmith.platform.binding import Binding
from claimsmith.platform.selection import Unbound

Sides = dict[Side, dict[str, Any]]
"""What patches read and write beside the child: the claim, and the environment."""


@dataclass(frozen=True, slots=True)
class Child:
    """One resource of a claim: its whole document, and how it is deployed."""

    address: ChildAddress
    template: Template
    document: dict[str, Any]
    options: Options
    outcomes: tuple[patches.Outcome, ...] = ()
    picks: Mapping[str, str] = field(default_factory=dict)
    """The addresses of what its selectors picked among all resources of the stack, by the reference's path."""

    @property
    def name(self) -> str:
        """The resource's name in the cluster; of a native one, its name for the engine."""
        return str(self.document["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """The resource's namespace, empty at cluster scope."""
        return str(self.document["metadata"].get("namespace", ""))


@dataclass(slots=True)
class Draft:
    """A bound claim with its children; composites among them are drafts themselves, under their template's name."""

    binding: Binding
    identity: Identity
    template: str = ""
    children: list[Child] = field(default_factory=list)
    nested: list[Draft] = field(default_factory=list)
    outcomes: tuple[patches.Outcome, ...] = ()
    """The outcomes of the patches of its template."""
    applications: list[Application] = field(default_factory=list)
    """Applications that it composes for other clusters: scheduled like those that users write."""
    status: dict[str, Any] = field(default_factory=dict)
    """The status that patches of its children write: mostly values that are known only later."""
    environment: dict[str, Any] = field(default_factory=dict)
    """The environment of its composition."""
    piped: Piped | None = None
    """What its pipeline composes, for a composition with other functions than patches."""

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates of its resources: those of its class, or those that its pipeline composes."""
        return self.piped.templates if self.piped else self.binding.klass.templates

    def sides(self) -> Sides:
        """What patches read beside the child: the claim with its final status, and the environment."""
        status = {ordering.STATUS: self.status} if self.binding.klass.dialect.pipelined else {}
        return {Side.claim: {**claim_data(self.binding), **status}, Side.environment: self.environment}

    def walk(self) -> Iterator[Draft]:
        """This draft and all below it, parents first."""
        yield self
        for draft in self.nested:
            yield from draft.walk()


@dataclass(frozen=True, slots=True)
class Expansion:
    """All claims of a stack as drafts, and those that nothing serves."""

    drafts: tuple[Draft, ...]
    unbound: tuple[Unbound, ...]
    environments: tuple[Mapping[str, Any], ...] = ()
    """What compositions may read beside their composites."""
    warnings: tuple[Problem, ...] = ()
    complete: bool = True
    """Whether every claim could be composed: else references may lead to what is missing here."""

    def bindings(self) -> list[Binding]:
        """Every binding, those of composites below their claims'."""
        return [d.binding for root in self.drafts for d in root.walk()]


def claim_data(binding: Binding) -> dict[str, Any]:
    """The claim as patches read it: with its namespace and uid filled in."""
    data = binding.claim.data
    key = binding.claim.key
    place = {"namespace": key.namespace} if key.namespace else {}
    metadata = {**(data.get("metadata") or {}), **place, "uid": binding.uid}
    spec = with_secret_place(data.get("spec") or {}, key.name, binding.klass.dialect, binding.klass.secret_namespace)
    return {**data, "metadata": metadata, "spec": spec}


def with_secret_place(spec: dict[str, Any], name: str, dialect: Dialect, namespace: str | None) -> dict[str, Any]:
    """The spec of a composite with the place of its Secret, as its control plane fills it in where nobody else did."""
    if not dialect.default_secret or not namespace:
        return spec
    return {**spec, SECRET_REF: {"namespace": namespace, "name": name, **(spec.get(SECRET_REF) or {})}}


def observed(child: Child | Draft, paths: Iterable[str]) -> dict[str, Any]:
    """A child as its outward patches read it: fields that are known later, with their values where these are certain.

    The status of a nested composite is complete already.
    """
    if isinstance(child, Draft):
        return {**claim_data(child.binding), ordering.STATUS: child.status}
    document: dict[str, Any] = {}
    for text in paths:
        path = fieldpath.parse(text)
        certain = known(fieldpath.get(child.document, path)) if has(child.document, text) else None
        fieldpath.put(document, path, Ref(child.address, path, known=certain))
    return document
