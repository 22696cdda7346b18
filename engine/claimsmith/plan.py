"""The plan of a stack: every claim with its children, references and connection secret, in order.

One plan serves the offline render, the review and the deployment. It is made from data alone:
the set of resources is known before the engine runs, only values inside them may be `Ref`s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claimsmith import connection, fieldpath, reference
from claimsmith.binding import Binding, Unbound
from claimsmith.compose import patches
from claimsmith.compose.identity import EXTERNAL_NAME, OWNER, SECRET_TYPE, Identity, dress
from claimsmith.compose.options import Options, options_of
from claimsmith.connection import Connection
from claimsmith.errors import Collector, ComposeError, EngineError, Problem, at
from claimsmith.models.klass import Side, Template
from claimsmith.models.objects import GroupKind
from claimsmith.reference import Selection, Table, Target
from claimsmith.values import Ref, copied, walk

_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class Child:
    """One resource of a claim: its whole document, and how it is deployed."""

    address: str
    template: Template
    document: dict[str, Any]
    options: Options
    outcomes: tuple[patches.Outcome, ...] = ()

    @property
    def name(self) -> str:
        """The resource's name in the cluster."""
        return str(self.document["metadata"]["name"])


@dataclass(frozen=True, slots=True)
class PlannedClaim:
    """A bound claim with all that is made for it, in the order of making."""

    binding: Binding
    identity: Identity
    children: tuple[Child, ...]
    connection: Connection | None

    @property
    def address(self) -> str:
        """The claim's address in the plan."""
        return address_of(self.binding)

    @property
    def component_name(self) -> str:
        """The name of the claim's component: with its type, which is the claim's kind, it is unique in a stack."""
        return f"{self.identity.namespace}/{self.identity.name}"

    def secret_document(self) -> dict[str, Any] | None:
        """The claim's Secret without its data, which nobody knows before the children exist."""
        if self.connection is None:
            return None
        return secret_document(self.identity, self.connection.name)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a stack makes."""

    project: str
    stack: str
    claims: tuple[PlannedClaim, ...]
    unbound: tuple[Unbound, ...] = ()
    warnings: tuple[Problem, ...] = ()


def build_plan(
    bindings: Sequence[Binding],
    *,
    project: str,
    stack: str,
    table: Table,
    unbound: Sequence[Unbound] = (),
    warnings: Sequence[Problem] = (),
) -> Plan:
    """The plan for bound claims; every problem of every claim is told at once."""
    problems = Collector()
    drafts: list[tuple[Binding, Identity, list[Child]]] = []
    for binding in bindings:
        with problems.catch():
            identity = identity_of(binding, project=project, stack=stack)
            drafts.append((binding, identity, _drafted(binding, identity)))
    problems.raise_as(ComposeError)
    targets = _index(drafts)
    claims: list[PlannedClaim] = []
    needs: dict[str, list[tuple[str, str]]] = {}
    for binding, identity, children in drafts:
        with problems.catch():
            claim = _finished(binding, identity, children, targets, table)
            claims.append(claim)
            needs[claim.address] = _outside_needs(claim)
    problems.raise_as(ComposeError)
    _refuse_doubles(claims, problems)
    problems.raise_as(ComposeError)
    by_address = {c.address: c for c in claims}
    order = reference.ordered(list(by_address), needs)
    return Plan(project, stack, tuple(by_address[a] for a in order), tuple(unbound), tuple(warnings))


def identity_of(binding: Binding, *, project: str, stack: str) -> Identity:
    """Who the children of a bound claim are."""
    claim = binding.claim
    annotations = (claim.data.get("metadata") or {}).get("annotations") or {}
    return Identity(
        project=project,
        stack=stack,
        api_version=claim.api_version,
        kind=claim.key.group_kind.kind,
        namespace=claim.key.namespace,
        name=claim.key.name,
        uid=binding.uid,
        external_name=annotations.get(EXTERNAL_NAME),
        class_ref=binding.klass.reference(),
        parent=binding.klass.parent,
    )


def claim_data(binding: Binding) -> dict[str, Any]:
    """The claim as patches read it: with its namespace and uid filled in."""
    data = binding.claim.data
    key = binding.claim.key
    metadata = {**(data.get("metadata") or {}), "namespace": key.namespace, "uid": binding.uid}
    return {**data, "metadata": metadata, "spec": data.get("spec") or {}}


def address_of(binding: Binding) -> str:
    """The claim's address in the plan: its kind, namespace and name."""
    return str(binding.claim.key)


def secret_document(identity: Identity, name: str) -> dict[str, Any]:
    """A claim's Secret without its data."""
    metadata = {
        "name": name,
        "namespace": identity.namespace,
        "labels": identity.labels(),
        "annotations": {OWNER: identity.owner},
    }
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": SECRET_TYPE}


def _drafted(binding: Binding, identity: Identity) -> list[Child]:
    """The claim's children, patched and dressed; selectors still stand."""
    problems = Collector()
    claim = claim_data(binding)
    children: list[Child] = []
    for template in binding.klass.templates:
        with problems.catch():
            document, outcomes = _patched(template, claim, binding)
            _refuse_huge(document, outcomes, template, binding)
            here = binding.klass.document.source_of(template.at)
            dressed = dress(document, template.name, identity)
            with at(here, prefix=f"{address_of(binding)}, child {template.name!r}: "):
                options = options_of(dressed)
            children.append(
                Child(f"{address_of(binding)}/{template.name}", template, dressed, options, tuple(outcomes))
            )
    problems.raise_as(ComposeError)
    return children


def _patched(
    template: Template, claim: dict[str, Any], binding: Binding
) -> tuple[dict[str, Any], list[patches.Outcome]]:
    document: dict[str, Any] = copied(dict(template.base))
    sides = {Side.claim: claim, Side.resource: document}
    outcomes: list[patches.Outcome] = []
    problems = Collector()
    for patch in template.patches:
        with problems.catch():
            try:
                outcomes.append(patches.apply(patch, sides))
            except EngineError as error:
                raise ComposeError(*(_blamed(p, patch.at, template, binding) for p in error.problems)) from error
    problems.raise_as(ComposeError)
    return document, outcomes


def _refuse_huge(
    document: dict[str, Any], outcomes: Sequence[patches.Outcome], template: Template, binding: Binding
) -> None:
    """Refuse whole numbers that no cluster can hold; the engine would round them."""
    for path, leaf in walk(document):
        if not isinstance(leaf, int) or leaf in _INT64:
            continue
        written = (o.patch for o in outcomes if o.applied and path[: len(to := fieldpath.parse(o.patch.to))] == to)
        patch = next(written, None)
        where = (
            binding.claim.document.source_of(patch.reads[0])
            if patch
            else binding.klass.document.source_of(f"{template.at}.base.{fieldpath.to_text(path)}")
        )
        what = f"{binding.claim.key}, child {template.name!r}: {leaf} needs more than 64 bits"
        raise ComposeError(Problem(what, where, fieldpath.to_text(path), "use a smaller number, or quote it"))


def _blamed(problem: Problem, at_: str, template: Template, binding: Binding) -> Problem:
    """The problem of a patch with both places: the claim's field where there is one, and the patch in the class."""
    klass = binding.klass
    patch_place = klass.document.source_of(at_)
    what = f"{binding.claim.key}, child {template.name!r}: {problem.what} (patch at {patch_place})"
    patch = next(p for p in template.patches if p.at == at_)
    where = binding.claim.document.source_of(patch.reads[0]) if patch.reads else patch_place
    return replace(
        problem,
        what=what,
        where=where,
        path=problem.path or patch.reads[0],
        fix=problem.fix or "mend the claim's value or the class's patch",
    )


def _index(drafts: Iterable[tuple[Binding, Identity, list[Child]]]) -> dict[GroupKind, list[Target]]:
    """What a selector may pick in this stack, by kind."""
    found: dict[GroupKind, list[Target]] = {}
    for _, identity, children in drafts:
        for child in children:
            target = _target(child, identity)
            found.setdefault(target.group_kind, []).append(target)
    return found


def _target(child: Child, identity: Identity) -> Target:
    labels = child.document["metadata"]["labels"]
    template = child.template
    return Target(child.address, template.group_kind, labels, identity.uid, child.name, template.name)


def _finished(
    binding: Binding,
    identity: Identity,
    drafts: list[Child],
    targets: Mapping[GroupKind, Sequence[Target]],
    table: Table,
) -> PlannedClaim:
    """The claim with selectors replaced by references, its children in order, and its Secret."""
    children = {c.address: _referenced(c, identity, targets, table, binding) for c in drafts}
    needs = {
        a: [(r.resource, fieldpath.to_text(p)) for p, r in walk(c.document) if isinstance(r, Ref)]
        for a, c in children.items()
    }
    with at(binding.klass.document.source_of("spec"), prefix=f"{address_of(binding)}: "):
        order = reference.ordered(list(children), needs)
        places = [p for a in order if (p := connection.secret_place(children[a].template.name, children[a].document))]
        secret = connection.gather(binding.claim.secret_name, binding.claim.key.namespace, places)
    return PlannedClaim(binding, identity, tuple(children[a] for a in order), secret)


def _referenced(
    child: Child,
    identity: Identity,
    targets: Mapping[GroupKind, Sequence[Target]],
    table: Table,
    binding: Binding,
) -> Child:
    own = _target(child, identity)

    def name_of(selection: Selection) -> Ref:
        picked = reference.pick(selection, own=own, candidates=targets.get(selection.target, ()))
        return Ref(picked.address, ("metadata", "name"), known=picked.name)

    try:
        return replace(child, document=reference.replace_selectors(child.document, table, name_of))
    except EngineError as error:
        klass = binding.klass
        raise type(error)(
            *(
                replace(
                    p,
                    what=f"{address_of(binding)}, child {child.template.name!r}: {p.what}",
                    where=klass.document.source_of(f"{child.template.at}.base.{p.path}"),
                )
                for p in error.problems
            )
        ) from error


def _outside_needs(claim: PlannedClaim) -> list[tuple[str, str]]:
    """The other claims whose children this claim's children refer to."""
    found = []
    for child in claim.children:
        for path, leaf in walk(child.document):
            if isinstance(leaf, Ref):
                other = leaf.resource.rpartition("/")[0]
                if other != claim.address:
                    found.append((other, f"{child.template.name}: {fieldpath.to_text(path)}"))
    return found


def _refuse_doubles(claims: Sequence[PlannedClaim], problems: Collector) -> None:
    """Nothing may stand twice in the cluster: two resources of one identity, two writers of one Secret."""
    seen: dict[tuple[str, str, str], str] = {}

    def claim_place(kind: str, namespace: str, name: str, writer: str, planned: PlannedClaim, path: str) -> None:
        other = seen.setdefault((kind, namespace, name), writer)
        if other != writer:
            what = f"{writer} and {other} would both write {kind} {namespace + '/' if namespace else ''}{name}"
            where = planned.binding.claim.document.source_of(path)
            problems.add(Problem(what, where, path, "give one of them another name"))

    for planned in claims:
        for child in planned.children:
            claim_place(str(child.template.group_kind), "", child.name, child.address, planned, "metadata.name")
            place = connection.secret_place(child.template.name, child.document)
            if place:
                claim_place("Secret", place.namespace, place.name, child.address, planned, "metadata.name")
        if planned.connection:
            c = planned.connection
            claim_place("Secret", c.namespace, c.name, planned.address, planned, "spec.writeConnectionSecretToRef.name")
