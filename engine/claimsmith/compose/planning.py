"""From drafts to the plan: references are resolved, children and claims are ordered, Secrets are placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from claimsmith.base import fieldpath, topological
from claimsmith.base.errors import Collector, ComposeError, Problem, ReferenceError_, Refused, at
from claimsmith.base.names import ChildAddress, ClassKey, GroupKind
from claimsmith.base.values import copied, refs_at
from claimsmith.compose import connections
from claimsmith.compose.candidates import candidate_of, candidates_of, referenced, siblings_of
from claimsmith.compose.collisions import (
    refuse_doubles,
    refuse_native_doubles,
    refuse_read_twice,
    refuse_shared_composites,
)
from claimsmith.compose.connections import SecretSource, connections_of
from claimsmith.compose.drafts import Child, Draft, Expansion, claim_data
from claimsmith.compose.piped import Piped
from claimsmith.compose.plan import GivenResource, Plan, PlannedClaim, candidate_of_given, hold
from claimsmith.compose.references import NO_MATCH, Candidate, Table
from claimsmith.compose.scheduling import Schedule
from claimsmith.compose.workload_plan import plan_workloads
from claimsmith.dialects.common.dialect import SECRET_REF
from claimsmith.dialects.common.klass import Detail, Template
from claimsmith.kubernetes.scope import Scopes
from claimsmith.patching.details import secret_destination
from claimsmith.platform.binding import unrecorded_picks


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
    refused: Refused | None = None,
) -> Plan:
    """The plan for drafted claims; the problems of all claims are reported together.

    `refused` takes them where the other claims are to be planned all the same.
    """
    drafts = [d for root in expansion.drafts for d in root.walk()]
    finished_claims = _finished(expansion, _candidates(drafts, given), table, refused)
    _refuse_collisions(finished_claims, given, refused)
    claims = _in_order(finished_claims)
    scheduled = schedule or Schedule()
    messages = (
        *warnings,
        *expansion.warnings,
        *(w for d in drafts for w in _contrary(d)),
        *(_no_details(c) for c in claims if c.binding.claim.secret_name and not c.connections),
        *scheduled.unscheduled,
        *(p for root in claims for c in root.walk() for p in unrecorded_picks(c.binding, c.picks, stack)),
    )
    return Plan(
        project,
        stack,
        claims,
        tuple(_claimed(resource, claims) for resource in given),
        expansion.unbound,
        messages,
        plan_workloads(scheduled, secret_writers=_secret_writers(claims, given), scopes=scopes or Scopes({})),
        scheduled.targets,
        environments=expansion.environments,
    )


def _candidates(drafts: Sequence[Draft], given: Sequence[GivenResource]) -> dict[GroupKind, list[Candidate]]:
    """What selectors may select: the children of all drafts, and the provided resources."""
    found = candidates_of(drafts)
    for resource in given:
        found.setdefault(resource.key.group_kind, []).append(candidate_of_given(resource))
    return found


def _finished(
    expansion: Expansion, targets: Mapping[GroupKind, Sequence[Candidate]], table: Table, refused: Refused | None
) -> list[PlannedClaim]:
    """The claims that can be finished; the problems of the others are reported together."""
    problems = Collector()
    claims = []
    for draft in expansion.drafts:
        with problems.catch():
            claims.append(finished(draft, targets, table))
    if not expansion.complete:
        problems.problems = [p for p in problems.problems if p.rule != NO_MATCH]
    problems.raise_as(ComposeError, refused)
    return claims


def _refuse_collisions(claims: Sequence[PlannedClaim], given: Sequence[GivenResource], refused: Refused | None) -> None:
    """Refuse what two claims would both compose, hold or name."""
    problems = Collector()
    refuse_shared_composites(claims, problems)
    everything = [c for root in claims for c in root.walk()]
    refuse_doubles(everything, given, problems)
    refuse_native_doubles(everything, problems)
    refuse_read_twice(everything, problems)
    problems.raise_as(ComposeError, refused)


def _in_order(claims: Sequence[PlannedClaim]) -> tuple[PlannedClaim, ...]:
    """The claims, each after those that its children refer to."""
    by_address = {c.address: c for c in claims}
    needs = {c.address: _outside_needs(c) for c in claims}
    return tuple(by_address[a] for a in topological.ordered(list(by_address), needs))


def _secret_writers(claims: Sequence[PlannedClaim], given: Sequence[GivenResource]) -> dict[tuple[str, str], str]:
    """Which claim or provided resource of the plan creates a Secret, by namespace and name."""
    named = {(g.key.namespace, g.key.name): g.address for g in given if g.key.group_kind == GroupKind("", "Secret")}
    return named | {(s.namespace, s.name): c.address for root in claims for c in root.walk() for s in c.connections}


def _claimed(resource: GivenResource, claims: Sequence[PlannedClaim]) -> GivenResource:
    """A given resource with the reference to the claim that names it, if one does."""
    key = ClassKey(resource.key.group_kind, resource.key.name)
    holder = next((c for c in claims if c.binding.klass.static and c.binding.klass.key == key), None)
    if holder is None:
        return resource
    spec = {**(resource.document.get("spec") or {}), "claimRef": hold(holder.identity)}
    return replace(resource, document={**resource.document, "spec": spec})


def finished(draft: Draft, targets: Mapping[GroupKind, Sequence[Candidate]], table: Table) -> PlannedClaim:
    """The claim with selectors replaced by references, its children in order, and its Secrets."""
    nested = [finished(d, targets, table) for d in draft.nested]
    own = [candidate_of(c, draft.identity) for c in draft.children]
    siblings = siblings_of(draft) if draft.identity.dialect.static_siblings else own
    children: dict[str, Child] = {
        c.address: referenced(c, target, draft, siblings, targets, table)
        for c, target in zip(draft.children, own, strict=True)
    }
    piped = draft.piped
    if piped and piped.scalars and _is_circular(children):
        children, piped = _without_waiting(children, piped)
    needs = _needs(children)
    claim = draft.binding.claim
    with at(lambda: draft.binding.klass.document.source_of("spec"), prefix=f"{claim.key}: "):
        order = topological.ordered(list(children), needs)
        places = _sources([children[a] for a in order], nested, draft)
        secret = (claim.secret_namespace, claim.secret_name) if claim.secret_name else None
        klass = draft.binding.klass
        if klass.dialect.default_secret and klass.secret_namespace:
            wish = claim_data(draft.binding)["spec"][SECRET_REF]
            secret = wish["namespace"], wish["name"]
        if klass.secret and places:
            name, namespace = secret_destination(claim_data(draft.binding), klass.secret)
            secret = namespace or draft.identity.namespace, name
        # The API server stores an empty Secret without data: it would differ for ever.
        wanted = bool(places or klass.static)
        secrets = connections_of(draft.identity, secret, places, only=klass.connection_keys) if wanted else []
    return PlannedClaim(
        draft.binding,
        draft.identity,
        tuple(children[a] for a in order),
        tuple(nested),
        tuple(secrets),
        draft.template,
        draft.status,
        tuple(places),
        piped,
    )


def _needs(children: Mapping[str, Child]) -> dict[str, list[tuple[str, str]]]:
    """What the documents of children refer to, with the fields that do."""
    return {
        a: [(ref.resource, fieldpath.to_text(path)) for path, ref in refs_at(c.document)] for a, c in children.items()
    }


def _is_circular(children: Mapping[str, Child]) -> bool:
    try:
        topological.ordered(list(children), _needs(children))
    except ReferenceError_:
        return True
    return False


def _without_waiting(children: Mapping[str, Child], piped: Piped) -> tuple[dict[str, Child], Piped]:
    """Children of a pipeline with the values of now in the fields that another one would fill in.

    A selector may lead from that one back: a control plane resolves both sides over time, so this is no error.
    """
    templates, changed = [], dict(children)
    for template in piped.templates:
        base = copied(dict(template.base))
        for path in piped.scalars.get(template.name, ()):
            fieldpath.put(base, path, piped.value_now(template.name, path))
        templates.append(replace(template, base=base))
    by_name = {t.name: t for t in templates}
    for address, child in children.items():
        document = copied(child.document)
        for path in piped.scalars.get(child.template.name, ()):
            fieldpath.put(document, path, piped.value_now(child.template.name, path))
        changed[address] = replace(child, template=by_name[child.template.name], document=document)
    return changed, replace(piped, templates=tuple(templates), scalars={})


def _sources(children: Sequence[Child], nested: Sequence[PlannedClaim], draft: Draft) -> list[SecretSource]:
    """Where the connection details of a claim are found: in the order of its children, then of its composites."""
    own = {c.template.name: c for c in children}
    below = {n.template: n for n in nested}
    found: list[SecretSource | None] = []
    for name in (*own, *below):
        template = own[name].template if name in own else _template(draft, name)
        if template.details is None:
            found.append(_source(template, own.get(name), below.get(name)))
            continue
        # A detail may be that of a sibling: it is taken where it is found.
        for source in dict.fromkeys(d.from_resource or name for d in template.details):
            details = tuple(d for d in template.details if (d.from_resource or name) == source)
            found.append(_source(_template(draft, source), own.get(source), below.get(source), details))
    return [place for place in found if place]


def _template(draft: Draft, name: str) -> Template:
    return next(t for t in draft.templates if t.name == name)


def _source(
    template: Template, child: Child | None, inner: PlannedClaim | None, details: Sequence[Detail] | None = None
) -> SecretSource | None:
    """The details of a child, or of a nested composite with its Secret; None where it is neither."""
    if child:
        return connections.secret_source(template.name, child.document, details)
    if inner is None:
        return None
    own = inner.connections[-1] if inner.connections else None
    secret = (own.namespace, own.name) if own else None
    composed = inner.identity.dialect.lenient_details
    return connections.composite_source(template.name, template.kind, secret, details, composed=composed)


def _outside_needs(root: PlannedClaim) -> list[tuple[str, str]]:
    """The other claims whose children this claim's children refer to."""
    own = {c.address for claim in root.walk() for c in claim.children}
    required = root.binding.klass.key if root.binding.klass.static else None
    found = [(str(required), root.binding.claim.resource_path)] if required else []
    for claim in root.walk():
        for child in claim.children:
            for path, ref in refs_at(child.document):
                if isinstance(ref.resource, ChildAddress) and ref.resource not in own:
                    found.append((str(ref.resource.claim), f"{child.template.name}: {fieldpath.to_text(path)}"))
    return found


def _no_details(planned: PlannedClaim) -> Problem:
    claim = planned.binding.claim
    what = f"{claim.key} asks for a Secret, and {planned.binding.klass.key} has no connection details: none is created"
    path = "spec.writeConnectionSecretToRef"
    return claim.document.problem(what, path, "remove it from the claim, or add connection details to the class")


def _contrary(draft: Draft) -> list[Problem]:
    """Warnings where claim and class contradict each other; the class wins."""
    found = []
    claim, klass = draft.binding.claim, draft.binding.klass
    if klass.claim_api_version and claim.api_version != klass.claim_api_version:
        what = f"{claim.key} is of {claim.api_version}, and {klass.key} speaks of {klass.claim_api_version}"
        found.append(claim.document.problem(what, "apiVersion", "use one version in both"))
    for child in draft.children:
        for outcome in child.outcomes:
            if outcome.contrary:
                read = outcome.patch.reads[0]
                what = f"{claim.key}: {read} has no effect on {child.template.name!r}: {outcome.why}"
                fix = "leave it out of the claim, or choose another class"
                found.append(claim.document.problem(what, read, fix))
    return found
