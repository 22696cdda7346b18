"""Claims for what is there already: the resource is read and held, never made and never deleted.

To hold it, its `claimRef` is set by a patch of ours; when the claim goes, so does that field, and nothing else. The
members of an aggregate or a composite are held in the same way, by a reference to what they are part of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from claimsmith.catalog import AGGREGATE_RESOURCE
from claimsmith.cluster import Cluster, owner_of
from claimsmith.connection import Connection, SecretPlace
from claimsmith.edge import secrets
from claimsmith.edge.component import Composite
from claimsmith.edge.deployment import Deployment
from claimsmith.edge.managed import Managed
from claimsmith.edge.members import PARENTS, Member, given_document
from claimsmith.edge.served import ClaimKind, ClassRef
from claimsmith.errors import BindingError, Problem
from claimsmith.models.objects import GroupKind
from claimsmith.plan import Plan, PlannedClaim, hold


class StaticClaim(Composite):
    """A claim bound to an existing resource."""

    RESOURCE: Mapping[str, Any] = {}

    def __init__(
        self,
        name: str,
        args: Any,
        opts: pulumi.ResourceOptions | None = None,
        *,
        context: Deployment | None = None,
    ) -> None:
        super().__init__(name, args, opts, context=context)
        composite = self._deployment.claimed(self.RESOURCE)
        if composite is not None:
            self._require(composite)
            return
        given = self._deployment.given(self.RESOURCE)
        resource = given or self._read()
        # One that this stack gives carries the claim's reference from the start.
        self._made.append(given or self._held(resource))
        if GroupKind.of(dict(self.RESOURCE)) in PARENTS:
            self._bind(resource)
        else:
            self._publish(resource)
        self.finish()

    def _require(self, composite: Composite) -> None:
        """Bind to a composite that this stack makes itself: its details are at hand."""
        self._made.append(composite)
        self.publish_connection(composite)
        self.finish()

    def _read(self) -> Managed:
        """The resource as it is in the cluster; the engine keeps it as something that it does not own."""
        opts = pulumi.ResourceOptions(parent=self, provider=self._deployment.provider, id=self.RESOURCE["name"])
        document = {**self.RESOURCE, "metadata": {"name": self.RESOURCE["name"]}}
        return Managed(f"{self._name}/resource", {k: v for k, v in document.items() if k != "name"}, opts)

    def _held(self, resource: Managed) -> Managed:
        document = {
            "apiVersion": self.RESOURCE["apiVersion"],
            "kind": self.RESOURCE["kind"],
            "metadata": {"name": self.RESOURCE["name"]},
            "spec": {"claimRef": hold(self.claim)},
        }
        opts = pulumi.ResourceOptions(parent=self, provider=self._deployment.provider, depends_on=[resource])
        return Managed(f"{self._name}/hold", document, opts, patch=True)

    def _bind(self, resource: Managed) -> None:
        """Bind what is part of an aggregate or a composite, and unite the members' connection Secrets."""
        members = self._deployment.members.get(self._address, ())
        bound = [self._bound(member, resource) for member in members]
        self._made += bound
        self._tell(bound)
        wish = self._wish()
        found = [(place, made) for member, made in zip(members, bound, strict=True) if (place := member.place)]
        if wish is None or not found:
            return
        self._secrets = [Connection(*wish, tuple(place for place, _ in found))]
        self.details = secrets.united(self._deployment, self._address, self._secrets[0], found, parent=self)
        self._secret_resources.append(self._secret(self._secrets[0], "connection", found))

    def _bound(self, member: Member, resource: Managed) -> Managed:
        head = {key: member.document[key] for key in ("apiVersion", "kind")}
        own = {key: self.RESOURCE[key] for key in ("apiVersion", "kind", "name")}
        parent = {**own, "uid": resource.metadata.apply(lambda metadata: metadata["uid"])}
        spec = {PARENTS[GroupKind.of(dict(self.RESOURCE))]: parent}
        document = {**head, "metadata": {"name": member.key.name}, "spec": spec}
        given = self._deployment.given({**head, "name": member.key.name})
        needs = [self._made[0], *([given] if given else [])]
        opts = pulumi.ResourceOptions(parent=self, provider=self._deployment.provider, depends_on=needs)
        return Managed(f"{self._name}/member/{member.key.name}", document, opts, patch=True)

    def _tell(self, bound: list[Managed]) -> None:
        """Write in the composite's status what it has bound; like all that we hold, it goes with the claim."""
        word = "aggregatedResources" if GroupKind.of(dict(self.RESOURCE)) == AGGREGATE_RESOURCE else "resources"
        heads = [{key: made.document[key] for key in ("apiVersion", "kind")} for made in bound]
        names = [made.document["metadata"]["name"] for made in bound]
        told = [{**h, "name": n, "bindingPhase": "Bound"} for h, n in zip(heads, names, strict=True)]
        document = {
            **{key: self.RESOURCE[key] for key in ("apiVersion", "kind")},
            "metadata": {"name": self.RESOURCE["name"]},
            "status": {word: told, "bindingPhase": "Bound"},
        }
        opts = pulumi.ResourceOptions(parent=self, provider=self._deployment.provider, depends_on=bound)
        Managed(f"{self._name}/status", document, opts, patch=True)

    def _publish(self, resource: Managed) -> None:
        """Copy the resource's connection Secret, wherever it says that it is."""
        wish = self._wish()
        if wish is None:
            return
        live = self._deployment.live({**self.RESOURCE, "metadata": {"name": self.RESOURCE["name"]}})
        place = secret_of(live or resource.document)
        if place is None:
            what = f"{self._address} asks for a Secret, but {self.RESOURCE['kind']} {self.RESOURCE['name']} writes none"
            fix = "leave out writeConnectionSecretToRef, or let the resource write its connection details"
            self._deployment.problems.append(Problem(what, fix=fix))
            return
        source = SecretPlace(str(self.RESOURCE["name"]), str(self.RESOURCE["kind"]), *place)
        self._secrets = [Connection(*wish, (source,))]
        found = [(source, resource)]
        self.details = secrets.united(self._deployment, self._address, self._secrets[0], found, parent=self)
        self._secret_resources.append(self._secret(self._secrets[0], "connection", [(source, resource)]))


def secret_of(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """Namespace and name of the Secret that a resource or composite writes, in any dialect's words."""
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
        "CLASS": ClassRef(klass.api_version, klass.key.group_kind.kind, klass.name, bound_by=klass.parent.value),
        "RESOURCE": klass.static,
    }
    return type("StaticClaim", (StaticClaim,), members)


def refuse_held(plan: Plan, cluster: Cluster) -> None:
    """Refuse a claim for a resource that is not there, that another claim holds, or that is part of a composite."""
    given = {r.address for r in plan.resources} | {c.address for c in plan.claims}
    problems = [p for c in plan.claims if c.binding.klass.static and (p := _held_problem(c, plan, cluster, given))]
    if problems:
        raise BindingError(*problems)


def _held_problem(planned: PlannedClaim, plan: Plan, cluster: Cluster, given: set[str]) -> Problem | None:
    klass, claim = planned.binding.klass, planned.binding.claim
    if str(klass.key) in {c.address for c in plan.claims}:
        return None
    live = cluster.read(klass.api_version, klass.key.group_kind.kind, klass.name)
    where = claim.document.source_of(claim.resource_path)

    def problem(why: str, fix: str) -> Problem:
        return Problem(f"{claim.key} claims {klass.key}, which {why}", where, claim.resource_path, fix)

    live = live or given_document(plan, klass.key.group_kind, klass.name)
    if live is None:
        return None if str(klass.key) in given else problem("is not there", "provision it first, or name another")
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
            f"does not say that {claim.key.group_kind} may bind to it",
            f"annotate it with {_bindable(planned)}: bindable",
        )
    owner = owner_of(live)
    if owner and not owner.endswith("/given"):
        return problem("was made for another claim", "name another resource")
    return None


def _bindable(planned: PlannedClaim) -> str:
    """The annotation by which a composite says that a kind of claim may bind to it."""
    kind = planned.binding.claim.key.group_kind
    return f"{kind.kind.lower()}.{kind.group}/{planned.binding.claim.api_version.rpartition('/')[2]}"
