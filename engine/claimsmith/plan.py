"""The plan of a stack: every claim with its children, references and connection secrets, in order.

One plan serves the offline render, the review and the deployment. It is made from data alone:
the set of resources is known before the engine runs, only values inside them may be `Ref`s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from claimsmith import connection, fieldpath, flow, reference
from claimsmith.binding import Binding, Unbound, unrecorded_picks
from claimsmith.catalog import AGGREGATE_RESOURCE, COMPOSITE_RESOURCE
from claimsmith.compose.details import secret_place as composed_secret
from claimsmith.compose.identity import OWNER, SECRET_TYPE, Identity
from claimsmith.compose.options import Options, options_of
from claimsmith.connection import Connection, SecretPlace
from claimsmith.errors import Collector, ComposeError, ConnectionError_, EngineError, Problem, at
from claimsmith.expand import SECRET_REF, Child, Draft, Expansion, claim_data
from claimsmith.models.klass import Parent, Template
from claimsmith.models.objects import ClassKey, GroupKind, ObjectKey
from claimsmith.reference import Selection, Table, Target
from claimsmith.released import Released
from claimsmith.scope import Scopes
from claimsmith.targets import Published
from claimsmith.unread import Unread
from claimsmith.values import Ref, refs_at
from claimsmith.workload import Schedule
from claimsmith.workload_plan import PlannedWorkload, plan_workloads


@dataclass(frozen=True, slots=True)
class PlannedClaim:
    """A bound claim with all that is made for it, in the order of making."""

    binding: Binding
    identity: Identity
    children: tuple[Child, ...]
    nested: tuple[PlannedClaim, ...] = ()
    """Composites that it is made of, each under the name of its template."""
    connections: tuple[Connection, ...] = ()
    template: str = ""
    """The template that made it, for a composite within another."""
    status: Mapping[str, Any] = field(default_factory=dict)
    """What its children tell it: mostly values that are known only later."""

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
    """All that a stack makes."""

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


def build_plan(
    expansion: Expansion,
    *,
    project: str,
    stack: str,
    table: Table,
    given: Sequence[GivenResource] = (),
    warnings: Sequence[Problem] = (),
    schedule: Schedule | None = None,
    scopes: Scopes | None = None,
) -> Plan:
    """The plan for drafted claims; every problem of every claim is told at once."""
    problems = Collector()
    drafts = [d for root in expansion.drafts for d in root.walk()]
    targets = targets_of(drafts)
    for resource in given:
        targets.setdefault(resource.key.group_kind, []).append(target_of_given(resource))
    claims: list[PlannedClaim] = []
    needs: dict[str, list[tuple[str, str]]] = {}
    for draft in expansion.drafts:
        with problems.catch():
            claim = finished(draft, targets, table)
            claims.append(claim)
            needs[claim.address] = _outside_needs(claim)
    problems.raise_as(ComposeError)
    _refuse_shared_composites(claims, problems)
    _refuse_doubles([c for root in claims for c in root.walk()], given, problems)
    problems.raise_as(ComposeError)
    by_address = {c.address: c for c in claims}
    order = reference.ordered(list(by_address), needs)
    claims_in_order = tuple(by_address[a] for a in order)
    resources = tuple(_claimed(resource, claims_in_order) for resource in given)
    scheduled = schedule or Schedule()
    workloads = plan_workloads(scheduled, made=_secrets_made(claims_in_order, given), scopes=scopes or Scopes({}))
    picks = [p for root in claims_in_order for c in root.walk() for p in unrecorded_picks(c.binding, c.picks, stack)]
    said = (*warnings, *expansion.warnings, *(w for d in drafts for w in _contrary(d)), *scheduled.unscheduled, *picks)
    return Plan(
        project,
        stack,
        claims_in_order,
        resources,
        expansion.unbound,
        said,
        workloads,
        scheduled.targets,
        environments=expansion.environments,
    )


def _secrets_made(claims: Sequence[PlannedClaim], given: Sequence[GivenResource]) -> dict[tuple[str, str], str]:
    """Which claim or given resource of the plan makes a Secret, by namespace and name."""
    named = {(g.key.namespace, g.key.name): g.address for g in given if g.key.group_kind == GroupKind("", "Secret")}
    return named | {(s.namespace, s.name): c.address for root in claims for c in root.walk() for s in c.connections}


def hold(identity: Identity) -> dict[str, Any]:
    """The `claimRef` of a resource that a claim holds without having made it."""
    return {**identity.claim_reference(), "uid": identity.uid}


def _claimed(resource: GivenResource, claims: Sequence[PlannedClaim]) -> GivenResource:
    """A given resource with the reference to the claim that names it, if one does."""
    key = ClassKey(resource.key.group_kind, resource.key.name)
    holder = next((c for c in claims if c.binding.klass.static and c.binding.klass.key == key), None)
    if holder is None:
        return resource
    spec = {**(resource.document.get("spec") or {}), "claimRef": hold(holder.identity)}
    return replace(resource, document={**resource.document, "spec": spec})


def connections_of(
    identity: Identity, secret: tuple[str, str] | None, places: Sequence[SecretPlace], only: Sequence[str] = ()
) -> list[Connection]:
    """The Secrets of a claim: its composite's own, where that has one, and the one that it asks for.

    An aggregate's own Secret is named after the aggregate; the claim's is a copy of it.
    """
    own = []
    if secret and identity.namespaced and secret[0] != identity.namespace:
        what = f"its connection Secret would be in {secret[0]!r}, and it is in {identity.namespace!r} itself"
        path = "spec.writeConnectionSecretToRef.namespace"
        raise ConnectionError_(Problem(what, path=path, fix="let the composition name no other namespace"))
    if identity.secret_namespace and identity.parent not in (Parent.requirement, Parent.xr):
        own.append(Connection(identity.secret_namespace, identity.composite_name, tuple(places), tuple(only)))
    return [*own, *([Connection(*secret, tuple(places), tuple(only))] if secret else [])]


def secret_document(identity: Identity, secret: Connection) -> dict[str, Any]:
    """A Secret of ours without its data."""
    metadata = {
        "name": secret.name,
        "namespace": secret.namespace,
        "labels": identity.labels(),
        "annotations": {OWNER: identity.owner},
    }
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": SECRET_TYPE}


def targets_of(drafts: Iterable[Draft]) -> dict[GroupKind, list[Target]]:
    """What a selector may pick in this stack, by kind."""
    found: dict[GroupKind, list[Target]] = {}
    for draft in drafts:
        for child in draft.children:
            target = target_of(child, draft.identity)
            found.setdefault(target.group_kind, []).append(target)
    return found


def target_of(child: Child, identity: Identity) -> Target:
    """A child as something that a selector may pick."""
    labels = child.document["metadata"].get("labels") or {}
    template = child.template
    class_name = str((template.class_ref or {}).get("name", ""))
    parent, name = str(identity.key), child.name
    return Target(
        child.address, template.group_kind, labels, parent, name, template.name, class_name, namespace=child.namespace
    )


def given_resource(key: ObjectKey, data: Mapping[str, Any], *, namespaced: bool | None, managed: bool) -> GivenResource:
    """A resource that is given as it is: a namespaced one without a namespace is in `default`.

    What existed before its claim outlives it: a managed one is kept unless it says otherwise.
    """
    metadata = dict(data.get("metadata") or {})
    if namespaced and not metadata.get("namespace"):
        metadata["namespace"] = "default"
        key = ObjectKey(key.group_kind, "default", key.name)
    document = {**data, "metadata": metadata}
    options = options_of(document, managed=managed)
    # Deleting a definition would delete all its instances, whoever made them.
    definition = data.get("kind") == "CustomResourceDefinition"
    open_ = managed and "reclaimPolicy" not in (data.get("spec") or {})
    return GivenResource(key, document, replace(options, retain=options.retain or open_ or definition))


def target_of_given(resource: GivenResource) -> Target:
    """A given resource as something that a selector may pick."""
    labels = resource.document["metadata"].get("labels") or {}
    key = resource.key
    return Target(resource.address, key.group_kind, labels, "", key.name, namespace=key.namespace)


def finished(draft: Draft, targets: Mapping[GroupKind, Sequence[Target]], table: Table) -> PlannedClaim:
    """The claim with selectors replaced by references, its children in order, and its Secrets."""
    nested = [finished(d, targets, table) for d in draft.nested]
    own = [target_of(c, draft.identity) for c in draft.children]
    siblings = _siblings(draft) if draft.identity.parent is Parent.xr else own
    children = {
        c.address: _referenced(c, target, draft, siblings, targets, table)
        for c, target in zip(draft.children, own, strict=True)
    }
    needs = {
        a: [(ref.resource, fieldpath.to_text(path)) for path, ref in refs_at(c.document)] for a, c in children.items()
    }
    claim = draft.binding.claim
    with at(lambda: draft.binding.klass.document.source_of("spec"), prefix=f"{claim.key}: "):
        order = reference.ordered(list(children), needs)
        places = [p for a in order if (p := _place(children[a]))] + [
            p for n in nested if (p := _nested_place(n, draft))
        ]
        secret = (claim.secret_namespace, claim.secret_name) if claim.secret_name else None
        klass = draft.binding.klass
        if klass.parent is Parent.xr and klass.secret_namespace:
            wish = claim_data(draft.binding)["spec"][SECRET_REF]
            secret = wish["namespace"], wish["name"]
        if klass.secret and places:
            name, namespace = composed_secret(claim_data(draft.binding), klass.secret)
            secret = namespace or draft.identity.namespace, name
        secrets = connections_of(draft.identity, secret, places, only=klass.connection_keys)
    return PlannedClaim(
        draft.binding,
        draft.identity,
        tuple(children[a] for a in order),
        tuple(nested),
        tuple(secrets),
        draft.template,
        draft.status,
    )


def _place(child: Child) -> SecretPlace | None:
    details = child.template.details
    return None if details == () else connection.secret_place(child.template.name, child.document, details)


def _nested_place(inner: PlannedClaim, outer: Draft) -> SecretPlace | None:
    """The Secret of a composite, as a source for the one that is made of it."""
    template = next(t for t in outer.binding.klass.templates if t.name == inner.template)
    made = inner.connections[-1] if inner.connections else None
    secret = (made.namespace, made.name) if made else None
    composed = inner.identity.parent is Parent.xr
    return connection.composite_place(template.name, template.kind, secret, template.details, composed=composed)


def pick_key(template: str, ref_path: str) -> str:
    """How the record names a reference."""
    return f"{template} {ref_path}"


def recorded_pick(binding: Binding, template: Template, selection: Selection) -> str:
    """The address that a selector of a template is recorded to have picked; a renamed template keeps its picks."""
    path = fieldpath.to_text(selection.ref_path)
    names = (template.name, template.previous_name)
    return next((found for n in names if n and (found := binding.picks.get(pick_key(n, path)))), "")


def _referenced(
    child: Child,
    own: Target,
    draft: Draft,
    siblings: Sequence[Target],
    targets: Mapping[GroupKind, Sequence[Target]],
    table: Table,
) -> Child:
    picks: dict[str, str] = {}
    todays = draft.identity.parent is Parent.xr

    def candidates_for(selection: Selection) -> Sequence[Target]:
        if selection.same_parent:
            return siblings
        found = [t for kind in selection.targets for t in targets.get(kind, ())]
        # An application refers to nothing outside its namespace.
        return [t for t in found if t.namespace == own.namespace] if draft.identity.namespaced else found

    def fits(selection: Selection) -> bool:
        if selection.same_parent and flow.is_patched(child.template, selection.path):
            return False  # which sibling is meant is told once, for all composites
        return bool(reference.fitting(selection, own=own, candidates=candidates_for(selection)))

    def ref_of(selection: Selection) -> dict[str, Ref]:
        candidates = candidates_for(selection)
        recorded = recorded_pick(draft.binding, child.template, selection)
        picked = reference.pick(selection, own=own, candidates=candidates, recorded=recorded)
        if not selection.same_parent:
            picks[fieldpath.to_text(selection.ref_path)] = picked.address
        return {"name": Ref(picked.address, ("metadata", "name"), known=picked.name)}

    try:
        if todays:
            labels = draft.identity.sibling_labels()
            document = reference.replace_selectors(child.document, table, ref_of, siblings=labels, fits=fits)
        else:
            document = reference.replace_selectors(child.document, table, ref_of)
        return replace(child, document=document, picks=picks)
    except EngineError as error:
        source = child.template.document or draft.binding.klass.document
        prefix = f"{draft.binding.claim.key}, child {child.template.name!r}: "
        raise type(error)(
            *(
                replace(p, what=prefix + p.what, where=source.source_of(child.template.place_of(p.path)))
                for p in error.problems
            )
        ) from error


def _siblings(draft: Draft) -> list[Target]:
    """The children of a composite of today's dialect, with the labels that do not depend on the composite."""
    made = [target_of(child, draft.identity) for child in draft.children]
    return [replace(t, labels=flow.static_labels(c.template)) for t, c in zip(made, draft.children, strict=True)]


def _outside_needs(root: PlannedClaim) -> list[tuple[str, str]]:
    """The other claims whose children this claim's children refer to."""
    own = {c.address for claim in root.walk() for c in claim.children}
    required = root.binding.klass.key if root.binding.klass.static else None
    found = [(str(required), root.binding.claim.resource_path)] if required else []
    for claim in root.walk():
        for child in claim.children:
            for path, ref in refs_at(child.document):
                other = ref.resource.rpartition("/")[0]
                if ref.resource not in own and other:
                    found.append((other, f"{child.template.name}: {fieldpath.to_text(path)}"))
    return found


def _contrary(draft: Draft) -> list[Problem]:
    """Where claim and class say different things, and the class stands."""
    found = []
    claim, klass = draft.binding.claim, draft.binding.klass
    if klass.claim_api_version and claim.api_version != klass.claim_api_version:
        what = f"{claim.key} is of {claim.api_version}, and {klass.key} speaks of {klass.claim_api_version}"
        found.append(Problem(what, claim.document.source_of("apiVersion"), "apiVersion", "use one version in both"))
    for child in draft.children:
        for outcome in child.outcomes:
            if outcome.contrary:
                read = outcome.patch.reads[0]
                what = f"{draft.binding.claim.key}: {read} has no effect on {child.template.name!r}: {outcome.why}"
                where = draft.binding.claim.document.source_of(read)
                found.append(Problem(what, where, read, "leave it out of the claim, or choose another class"))
    return found


def _refuse_shared_composites(claims: Sequence[PlannedClaim], problems: Collector) -> None:
    """A composite has one parent: were it bound by two, one of them would delete what the other still needs."""
    seen = {root.address: "a file of its own" for root in claims}
    for parent in (c for root in claims for c in root.walk()):
        for inner in parent.nested:
            maker = f"{parent.address}, child {inner.template!r}"
            other = seen.setdefault(inner.address, maker)
            if other != maker:
                template = next(t for t in parent.binding.klass.templates if t.name == inner.template)
                where = parent.binding.klass.document.source_of(template.at)
                what = f"{maker}, and {other} would both compose {inner.address}"
                fix = "let its name be generated, or patch metadata.name with a name that differs for each parent"
                problems.add(Problem(what, where, template.at, fix))


def _refuse_doubles(claims: Sequence[PlannedClaim], given: Sequence[GivenResource], problems: Collector) -> None:
    """Nothing may stand twice in the cluster: two resources of one identity, two writers of one Secret.

    Nor may two claims hold one resource.
    """
    seen = {(str(r.key.group_kind), r.key.namespace, r.key.name): f"the given {r.key}" for r in given}
    # What a claim made is held by it: no other claim, of whatever namespace, reads its Secret by naming it.
    held = {str(ClassKey(c.template.group_kind, c.name)): p.address for p in claims for c in p.children}
    composites = {Parent.composite: COMPOSITE_RESOURCE, Parent.aggregate: AGGREGATE_RESOURCE}
    held |= {
        str(ClassKey(composites[p.identity.parent], p.identity.composite_name)): p.address
        for p in claims
        if p.identity.parent in composites and not p.binding.klass.static
    }
    for planned in claims:
        if planned.binding.klass.static:
            other = held.setdefault(str(planned.binding.klass.key), planned.address)
            if other != planned.address:
                path = planned.binding.claim.resource_path
                what = f"{planned.address} and {other} both claim {planned.binding.klass.key}"
                where = planned.binding.claim.document.source_of(path)
                problems.add(Problem(what, where, path, "let one of them claim another resource"))

    def place(kind: str, namespace: str, name: str, writer: str, planned: PlannedClaim, path: str) -> None:
        other = seen.setdefault((kind, namespace, name), writer)
        if other != writer:
            what = f"{writer} and {other} would both write {kind} {namespace + '/' if namespace else ''}{name}"
            where = planned.binding.claim.document.source_of(path)
            problems.add(Problem(what, where, path, "give one of them another name"))

    for planned in claims:
        for child in planned.children:
            kind = str(child.template.group_kind)
            place(kind, child.namespace, child.name, child.address, planned, "metadata.name")
            secret = connection.written_secret(child.document)
            if secret:
                place("Secret", *secret, child.address, planned, "metadata.name")
        for own in planned.connections:
            path = "spec.writeConnectionSecretToRef.name"
            last = own is planned.connections[-1]
            writer = planned.address if last else f"the composite of {planned.address}"
            place("Secret", own.namespace, own.name, writer, planned, path)
