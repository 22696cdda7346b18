"""Refusals of a plan in which two writers meet: one composite with two parents, one object or Secret written twice.

The cluster would accept both writes, and the later one would win in silence on every run.
"""

from __future__ import annotations

from collections.abc import Sequence

from claimsmith.base.errors import Collector
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.base.values import object_at
from claimsmith.compose import connections
from claimsmith.compose.plan import GivenResource, PlannedClaim
from claimsmith.dialects.common.native import OPTIONS


def refuse_shared_composites(claims: Sequence[PlannedClaim], problems: Collector) -> None:
    """A composite has one parent: were it bound by two, one of them would delete what the other still needs."""
    seen = {root.address: "a file of its own" for root in claims}
    for parent in (c for root in claims for c in root.walk()):
        for inner in parent.nested:
            maker = f"{parent.address}, child {inner.template!r}"
            other = seen.setdefault(inner.address, maker)
            if other != maker:
                template = next(t for t in parent.templates if t.name == inner.template)
                what = f"{maker}, and {other} would both compose {inner.address}"
                fix = "let its name be generated, or patch metadata.name with a name that differs for each parent"
                problems.add(parent.binding.klass.document.problem(what, template.at, fix))


def refuse_doubles(claims: Sequence[PlannedClaim], given: Sequence[GivenResource], problems: Collector) -> None:
    """Nothing may stand twice in the cluster: two resources of one identity, two writers of one Secret.

    Nor may two claims hold one resource.
    """
    seen = {(str(r.key.group_kind), r.key.namespace, r.key.name): f"the given {r.key}" for r in given}
    # A claim holds the resources that it composes: a claim of another namespace must not read their Secrets by naming
    # one of them as its resourceRef.
    held = {
        str(ClassKey(c.template.group_kind, c.name)): p.address
        for p in claims
        for c in p.children
        if not c.template.native
    }
    held |= {
        str(ClassKey(GroupKind.of(p.identity.dialect.composite), p.identity.composite_name)): p.address
        for p in claims
        if p.identity.dialect.composite and not p.binding.klass.static
    }
    for planned in claims:
        if planned.binding.klass.static:
            other = held.setdefault(str(planned.binding.klass.key), planned.address)
            if other != planned.address:
                path = planned.binding.claim.resource_path
                what = f"{planned.address} and {other} both claim {planned.binding.klass.key}"
                document = planned.binding.claim.document
                problems.add(document.problem(what, path, "let one of them claim another resource"))

    def place(kind: str, namespace: str, name: str, writer: str, planned: PlannedClaim, path: str) -> None:
        other = seen.setdefault((kind, namespace, name), writer)
        if other != writer:
            what = f"{writer} and {other} would both write {kind} {namespace + '/' if namespace else ''}{name}"
            problems.add(planned.binding.claim.document.problem(what, path, "give one of them another name"))

    for planned in claims:
        for child in planned.children:
            if child.template.native:
                continue
            kind = str(child.template.group_kind)
            place(kind, child.namespace, child.name, child.address, planned, "metadata.name")
            secret = connections.written_secret(child.document)
            if secret:
                place("Secret", *secret, child.address, planned, "metadata.name")
        for own in planned.connections:
            path = "spec.writeConnectionSecretToRef.name"
            last = own is planned.connections[-1]
            writer = planned.address if last else f"the composite of {planned.address}"
            place("Secret", own.namespace, own.name, writer, planned, path)


def refuse_read_twice(claims: Sequence[PlannedClaim], problems: Collector) -> None:
    """Two claims must not hold one existing native resource, by reading it or by taking it over."""
    seen: dict[tuple[str, str, object], str] = {}
    natives = [(p, c) for p in claims for c in p.children if c.template.native]
    # Who takes a resource over owns it: the claim that would read it is the one that is refused.
    for planned, child in sorted(natives, key=lambda pair: bool(pair[1].template.existing_id)):
        options = object_at(child.document, OPTIONS)
        id_ = child.template.existing_id or options.get("import")
        if not id_:
            continue
        place = (str(child.document["type"]), str(id_), options.get("provider"))
        other = seen.setdefault(place, planned.address)
        if other != planned.address:
            what = f"{planned.address} and {other} both claim {child.document['type']} {id_}"
            claim = planned.binding.claim
            problems.add(claim.document.problem(what, claim.resource_path, "let one of them claim another resource"))


def refuse_native_doubles(claims: Sequence[PlannedClaim], problems: Collector) -> None:
    """Two native resources must not have one name: template `b-c` of claim `a`, and `c` of `a-b`, are joined to one.

    The kind of the claim is a part of the URN: claims of different kinds may have one name.
    """
    seen: dict[tuple[GroupKind, str], str] = {}
    for planned in claims:
        for child in (c for c in planned.children if c.template.native):
            other = seen.setdefault((planned.identity.key.group_kind, child.name), child.address)
            if other != child.address:
                what = f"{child.address} and {other} would both be the native resource {child.name!r}"
                fix = "rename one of the claims or templates: their names are joined with dashes"
                problems.add(planned.binding.claim.document.problem(what, "metadata.name", fix))
