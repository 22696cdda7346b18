"""The plan of a stack: every claim with its children, references and connection secrets, in order.

One plan serves the offline render, the review and the deployment. It is built from data alone:
the set of resources is certain before the engine runs, only values inside them may be `Ref`s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from claimsmith.base.errors import Problem
from claimsmith.base.names import ObjectKey
from claimsmith.compose.connections import Connection, SecretSource
from claimsmith.compose.drafts import Child
from claimsmith.compose.options import Options, options_of
from claimsmith.compose.piped import Piped
from claimsmith.compose.references import Candidate
from claimsmith.compose.released import Released
from claimsmith.compose.workload_plan import PlannedWorkload
from claimsmith.compose.workload_targets import Published
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.common.klass import Template
from claimsmith.platform.binding import Binding, pick_key
from claimsmith.platform.selection import Unbound
from claimsmith.platform.unread import Unread


@dataclass(frozen=True, slots=True)
class PlannedClaim:
    """A bound claim with all resources composed for it, in the order of their creation."""

    binding: Binding
    identity: Identity
    children: tuple[Child, ...]
    nested: tuple[PlannedClaim, ...] = ()
    """Nested composites, each under the name of its template."""
    connections: tuple[Connection, ...] = ()
    template: str = ""
    """Its template, for a composite within another."""
    status: Mapping[str, Any] = field(default_factory=dict)
    """The status that patches of its children write: mostly values that are known only later."""
    sources: tuple[SecretSource, ...] = ()
    """Where its connection details are found, whether it asks for a Secret or not."""
    piped: Piped | None = None
    """What its pipeline composes, for a composition with other functions than patches."""

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates of its resources: those of its class, or those that its pipeline composes."""
        return self.piped.templates if self.piped else self.binding.klass.templates

    @property
    def address(self) -> str:
        """The claim's address in the plan."""
        return str(self.binding.claim.key)

    @property
    def component_name(self) -> str:
        """The name of the claim's component: with its type, which is the claim's kind, it is unique in a stack."""
        return self.binding.claim.key.place

    @property
    def connection(self) -> Connection | None:
        """The Secret that the claim asks for."""
        return next((c for c in self.connections if c.name == self.binding.claim.secret_name), None)

    @property
    def published(self) -> Connection | None:
        """The Secret with its details for applications: the one that it asks for, or that is composed unasked.

        The own Secret of an aggregate is not for them.
        """
        unasked = () if self.binding.klass.dialect.own_secret else self.connections[-1:]
        return self.connection or next(iter(unasked), None)

    @property
    def picks(self) -> dict[str, str]:
        """What its selectors picked among all resources of the stack, as it is recorded."""
        return {pick_key(c.template.name, path): to for c in self.children for path, to in c.picks.items()}

    def walk(self) -> Iterator[PlannedClaim]:
        """This claim and all composites below it, parents first."""
        yield self
        for inner in self.nested:
            yield from inner.walk()


@dataclass(frozen=True, slots=True)
class GivenResource:
    """A resource that the stack's files give as it is."""

    key: ObjectKey
    document: dict[str, Any]
    options: Options

    @property
    def address(self) -> str:
        """Its address in the plan."""
        return str(self.key)


@dataclass(frozen=True, slots=True)
class Plan:
    """All resources of a stack."""

    project: str
    stack: str
    claims: tuple[PlannedClaim, ...]
    resources: tuple[GivenResource, ...] = ()
    unbound: tuple[Unbound, ...] = ()
    warnings: tuple[Problem, ...] = ()
    workloads: tuple[PlannedWorkload, ...] = ()
    """What is deployed to other clusters, after what it needs."""
    targets: tuple[Published, ...] = ()
    released: tuple[Released, ...] = ()
    """Composites whose claims are gone, and whose resources are not."""
    environments: tuple[Mapping[str, Any], ...] = ()
    """What compositions may read beside their composites."""
    sinks: Mapping[str, PlannedClaim] = field(default_factory=dict)
    """What takes the connection details of claims to native resources, by the claims' addresses."""
    unread: Unread = field(default_factory=Unread)
    """The fields of its claims that nothing reads."""

    @property
    def picks(self) -> dict[tuple[str, str], str]:
        """What was picked among all resources of the stack: child and path of the reference, and the address."""
        return {(c.address, path): to for p in self.walk() for c in p.children for path, to in c.picks.items()}

    def walk(self) -> Iterator[PlannedClaim]:
        """Every claim and every composite below one."""
        for claim in self.claims:
            yield from claim.walk()


def hold(identity: Identity) -> dict[str, Any]:
    """The `claimRef` of a resource that a claim holds that it did not create."""
    return {**identity.claim_reference(), "uid": identity.uid}


def given_resource(key: ObjectKey, data: Mapping[str, Any], *, namespaced: bool | None, managed: bool) -> GivenResource:
    """A resource that is given as it is: a namespaced one without a namespace is in `default`.

    What existed before its claim outlives it: a managed one is kept unless its policy is another.
    """
    metadata = dict(data.get("metadata") or {})
    if namespaced and not metadata.get("namespace"):
        metadata["namespace"] = "default"
        key = ObjectKey(key.group_kind, "default", key.name)
    document = {**data, "metadata": metadata}
    options = options_of(document, managed=managed)
    # Deleting a definition would delete all its instances, whoever created them.
    definition = data.get("kind") == "CustomResourceDefinition"
    open_ = managed and "reclaimPolicy" not in (data.get("spec") or {})
    return GivenResource(key, document, replace(options, retain=options.retain or open_ or definition))


def candidate_of_given(resource: GivenResource) -> Candidate:
    """A given resource as something that a selector may pick."""
    labels = resource.document["metadata"].get("labels") or {}
    key = resource.key
    return Candidate(resource.address, key.group_kind, labels, "", key.name, namespace=key.namespace)
