"""Claims for existing resources: the resource is read and bound, never created and never deleted.

A patch sets its `claimRef`. When the claim is removed, that field is removed, and nothing else. The members of an
aggregate or a composite are bound in the same way, by a reference to what they are part of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from claimsmith.base.errors import BindingError, Problem
from claimsmith.base.names import GroupKind
from claimsmith.compose.connections import Connection, SecretSource
from claimsmith.compose.plan import Plan, PlannedClaim, hold
from claimsmith.deploy.component import Composite
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.deploy.members import PARENTS, Member, given_document
from claimsmith.deploy.served import ClaimKind, ClassRef
from claimsmith.kubernetes.client import Cluster, owner_of
from claimsmith.platform.catalog import AGGREGATE_RESOURCE


class StaticClaim(Composite):
    """A claim bound to an existing resource."""

    RESOURCE: Mapping[str, Any] = {}

    def _begin(self) -> None:
        composite = self._context.claimed(self.RESOURCE)
        if composite is not None:
            self._require(composite)
            return
        provided = self._context.provided(self.RESOURCE)
        resource = provided or self._read()
        # A resource that this stack provides has the claim's reference from the start.
        self._children.append(provided or self._held(resource))
        if GroupKind.of(dict(self.RESOURCE)) in PARENTS:
            self._bind(resource)
        else:
            self._copy_secret(resource)

    def _require(self, composite: Composite) -> None:
        """Bind to a composite of this stack, whose details are outputs already."""
        self._children.append(composite)
        self.publish_connection(composite)

    def _read(self) -> KubernetesObject:
        """The resource as it is in the cluster. The engine reads it, and does not own it."""
        opts = pulumi.ResourceOptions(parent=self, provider=self._context.provider, id=self.RESOURCE["name"])
        return KubernetesObject(f"{self._name}/resource", _partial(self.RESOURCE), opts)

    def _patched(self, word: str, document: Mapping[str, Any], needs: list[Any]) -> KubernetesObject:
        """Register a patch of an existing object."""
        opts = pulumi.ResourceOptions(parent=self, provider=self._context.provider, depends_on=needs)
        return KubernetesObject(f"{self._name}/{word}", document, opts, patch=True)

    def _held(self, resource: KubernetesObject) -> KubernetesObject:
        return self._patched("hold", _partial(self.RESOURCE, spec={"claimRef": hold(self.claim)}), [resource])

    def _bind(self, resource: KubernetesObject) -> None:
        """Bind the members of an aggregate or a composite, and merge their connection Secrets."""
        members = self._context.members.get(self._address, ())
        bound = [self._bound(member, resource) for member in members]
        self._children += bound
        self._write_status(bound)
        requested = self._requested_secret()
        sources = [(place, child) for member, child in zip(members, bound, strict=True) if (place := member.place)]
        if requested is None or not sources:
            return
        self._secrets = [Connection(*requested, tuple(place for place, _ in sources))]
        self._publish(self._secrets[0], sources)

    def _bound(self, member: Member, resource: KubernetesObject) -> KubernetesObject:
        own = {key: member.document[key] for key in ("apiVersion", "kind")} | {"name": member.key.name}
        parent = {**self.RESOURCE, "uid": resource.metadata.apply(lambda metadata: metadata["uid"])}
        document = _partial(own, spec={PARENTS[GroupKind.of(self.RESOURCE)]: parent})
        provided = self._context.provided(own)
        needs = [self._children[0], *([provided] if provided else [])]
        return self._patched(f"member/{member.key.name}", document, needs)

    def _write_status(self, bound: list[KubernetesObject]) -> None:
        """Write the bound members to the composite's status. Like all our patches, they are removed with the claim."""
        word = "aggregatedResources" if GroupKind.of(dict(self.RESOURCE)) == AGGREGATE_RESOURCE else "resources"
        heads = [{key: member.document[key] for key in ("apiVersion", "kind")} for member in bound]
        names = [member.document["metadata"]["name"] for member in bound]
        members = [{**h, "name": n, "bindingPhase": "Bound"} for h, n in zip(heads, names, strict=True)]
        self._patched("status", _partial(self.RESOURCE, status={word: members, "bindingPhase": "Bound"}), bound)

    def _copy_secret(self, resource: KubernetesObject) -> None:
        """Copy the resource's connection Secret to the one that the claim asks for."""
        requested = self._requested_secret()
        if requested is None:
            return
        live = self._context.live(_partial(self.RESOURCE))
        place = secret_of(live or resource.document)
        if place is None:
            what = f"{self._address} asks for a Secret, but {self.RESOURCE['kind']} {self.RESOURCE['name']} writes none"
            fix = "leave out writeConnectionSecretToRef, or let the resource write its connection details"
            self._context.problems.append(Problem(what, fix=fix))
            return
        source = SecretSource(str(self.RESOURCE["name"]), str(self.RESOURCE["kind"]), *place)
        self._secrets = [Connection(*requested, (source,))]
        self._publish(self._secrets[0], [(source, resource)])


def _partial(reference: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """The document of the object that a reference names, with these fields alone."""
    head = {"apiVersion": reference["apiVersion"], "kind": reference["kind"]}
    return {**head, "metadata": {"name": reference["name"]}, **fields}


def secret_of(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """Namespace and name of the Secret that a resource or composite writes, in any dialect."""
    spec = document.get("spec") or {}
    for holder in (spec, spec.get("infrastructure") or {}):
        for word in ("writeConnectionSecretToRef", "writeConnectionSecretsToRef"):
            place = holder.get(word)
            if place and place.get("namespace") and place.get("name"):
                return place["namespace"], place["name"]
    return None


def static_component(planned: PlannedClaim) -> type[Composite]:
    """The component of a claim that names an existing resource."""
    klass, claim = planned.binding.klass, planned.binding.claim
    members = {
        "CLAIM": ClaimKind(claim.api_version, claim.key.group_kind.kind),
        "CLASS": ClassRef(klass.api_version, klass.key.group_kind.kind, klass.name, bound_by=klass.dialect.bound_by),
        "RESOURCE": klass.static,
    }
    return type("StaticClaim", (StaticClaim,), members)


def refuse_held(plan: Plan, cluster: Cluster) -> None:
    """Refuse a claim for a resource that does not exist, is bound to another claim, or is part of a composite."""
    provided = {r.address for r in plan.resources} | {c.address for c in plan.claims}
    problems = [p for c in plan.claims if c.binding.klass.static and (p := _held_problem(c, plan, cluster, provided))]
    if problems:
        raise BindingError(*problems)


def _held_problem(planned: PlannedClaim, plan: Plan, cluster: Cluster, provided: set[str]) -> Problem | None:
    klass, claim = planned.binding.klass, planned.binding.claim
    if str(klass.key) in {c.address for c in plan.claims}:
        return None
    live = cluster.read(klass.api_version, klass.key.group_kind.kind, klass.name)

    def problem(why: str, fix: str) -> Problem:
        return claim.document.problem(f"{claim.key} claims {klass.key}, which {why}", claim.resource_path, fix)

    live = live or given_document(plan, klass.key.group_kind, klass.name)
    if live is None:
        return None if str(klass.key) in provided else problem("does not exist", "provision it first, or name another")
    spec = live.get("spec") or {}
    if any(spec.get(parent) for parent in PARENTS.values()):
        return problem("is part of a composite", "claim the composite instead")
    holder = spec.get("claimRef")
    mine = planned.identity.claim_reference()
    if holder and {k: holder.get(k) for k in ("kind", "namespace", "name")} != {
        k: mine[k] for k in ("kind", "namespace", "name")
    }:
        return problem(
            f"{holder.get('kind')} {holder.get('namespace')}/{holder.get('name')} holds", "name another resource"
        )
    if holder and holder.get("uid") not in (None, planned.identity.uid):
        return problem("the same claim of another stack holds", "name another resource")
    if (
        klass.key.group_kind in PARENTS
        and (live["metadata"].get("annotations") or {}).get(_bindable(planned)) != "bindable"
    ):
        return problem(
            f"does not permit {claim.key.group_kind} to bind to it",
            f"annotate it with {_bindable(planned)}: bindable",
        )
    owner = owner_of(live)
    if owner and not owner.endswith("/given"):
        return problem("was created for another claim", "name another resource")
    return None


def _bindable(planned: PlannedClaim) -> str:
    """The annotation on a composite that lets a kind of claim bind to it."""
    kind = planned.binding.claim.key.group_kind
    return f"{kind.kind.lower()}.{kind.group}/{planned.binding.claim.api_version.rpartition('/')[2]}"
