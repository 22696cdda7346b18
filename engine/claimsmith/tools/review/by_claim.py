"""A comparison, claim by claim: the fields of each resource that change, and their causes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.names import GET, ClaimKey, is_native
from claimsmith.base.values import object_at, refs
from claimsmith.compose.external_names import external_name
from claimsmith.compose.plan import PlannedClaim
from claimsmith.platform.binding import Binding
from claimsmith.tools.explain.formatting import options_text
from claimsmith.tools.review.causes import cause_of, place_of
from claimsmith.tools.review.changes import (
    Cause,
    Change,
    ClaimChange,
    FieldChange,
    Kept,
    Op,
    Part,
    ResourceChange,
    StackReview,
)
from claimsmith.tools.review.compare import Comparison, Pair, immutability, replacing
from claimsmith.tools.review.fields import Difference, differences, is_secret, shown, text_differences
from claimsmith.tools.review.resources import PlannedResource, claim_urn
from claimsmith.tools.review.staying import broken, stays


def stack_review(comparison: Comparison) -> StackReview:
    """The review of an environment, without its warnings."""
    claims = [c for c in _claims(comparison) if c]
    own = [resource_change(p, comparison) for p in comparison.pairs.get("", ()) if p.op is not Op.same]
    compared = len({*comparison.old.claims, *comparison.new.claims} | _applications(comparison))
    return StackReview(
        stack=comparison.new.plan.stack,
        claims=tuple(claims),
        given=tuple(own),
        unchanged=compared - len(claims),
        refusals=(*comparison.new.refusals, *broken(comparison)),
    )


def resource_change(pair: Pair, comparison: Comparison) -> ResourceChange:
    """The change of one resource."""
    resource = pair.resource
    metadata = resource.document["metadata"]
    return ResourceChange(
        part=resource.part,
        api_version=str(resource.document.get("apiVersion", "")),
        kind=resource.kind.kind,
        namespace=str(metadata.get("namespace") or ""),
        name=str(metadata["name"]),
        op=pair.op,
        urn=resource.urn,
        fields=tuple(_fields(pair, comparison)),
        settings=tuple(_settings(pair)),
        why="; ".join(filter(None, (_why(pair, comparison), _external(pair)))),
        where=place_of(resource),
        holds_data=comparison.new.kinds.holds_data(resource.kind),
        cluster=resource.cluster,
        address=_address(resource),
        refers=_refers(resource),
    )


def _claims(comparison: Comparison) -> Iterator[ClaimChange | None]:
    old, new = comparison.old.claims, comparison.new.claims
    for address in [*new, *(a for a in old if a not in new)]:
        yield _claim(address, old.get(address), new.get(address), comparison)
    for address in sorted(_applications(comparison)):
        yield _application(address, comparison)


def _applications(comparison: Comparison) -> set[str]:
    return {w.address for side in (comparison.old, comparison.new) for w in side.plan.workloads}


def _claim(
    address: str, old: PlannedClaim | None, new: PlannedClaim | None, comparison: Comparison
) -> ClaimChange | None:
    pairs = comparison.pairs.get(address, [])
    touched = [p for p in pairs if p.op is not Op.same]
    change = _change(old, new)
    if change is Change.changed and not touched:
        return None
    present = new or old
    assert present, "a claim is on one side at least"
    plan = comparison.new.plan if new else comparison.old.plan
    serving = _serving if change is Change.rebound else _own
    return ClaimChange(
        claim=address,
        short=present.binding.claim.key.short,
        change=change,
        class_before=str(serving(old).klass.key) if old else "",
        class_after=str(serving(new).klass.key) if new else "",
        reason=serving(new).reason if new else "",
        where=present.binding.claim.document.source_of(),
        urn=claim_urn(plan, present),
        resources=tuple(resource_change(p, comparison) for p in touched),
        kept=_kept(pairs),
        stays=stays(pairs, comparison, rebound=change is Change.rebound) if old and new else (),
    )


def _change(old: PlannedClaim | None, new: PlannedClaim | None) -> Change:
    if old is None:
        return Change.added
    if new is None:
        return Change.removed
    moved = _serving(old).klass.key != _serving(new).klass.key
    return Change.rebound if moved else Change.changed


def _own(claim: PlannedClaim) -> Binding:
    return claim.binding


def _serving(claim: PlannedClaim) -> Binding:
    """The binding by which a claim gets its resources: that of the composite, where one is published for it."""
    published = claim.binding.klass.dialect.publishing and claim.nested
    return claim.nested[0].binding if published else claim.binding


def _application(address: str, comparison: Comparison) -> ClaimChange | None:
    """An application, which moves between targets as a claim does between classes."""
    old, new = (
        next((w.placement for w in side.plan.workloads if w.address == address), None)
        for side in (comparison.old, comparison.new)
    )
    pairs = comparison.pairs.get(address, [])
    touched = [p for p in pairs if p.op is not Op.same]
    moved = bool(old and new and old.target_key != new.target_key)
    if old and new and not touched and not moved:
        return None
    present = new or old
    assert present, "an application is on one side at least"
    change = Change.added if old is None else Change.removed if new is None else Change.changed
    return ClaimChange(
        claim=address,
        short=ClaimKey.parse(address).short,
        change=Change.rebound if moved else change,
        class_before=str(old.target_key) if old else "",
        class_after=str(new.target_key) if new else "",
        reason=new.reason if new else "",
        where=present.application.document.source_of(),
        resources=tuple(resource_change(p, comparison) for p in touched),
        kept=_kept(pairs),
    )


def _kept(pairs: list[Pair]) -> tuple[Kept, ...]:
    same = [p.resource for p in pairs if p.op is Op.same]
    names = [str(m.document["metadata"]["name"]) for m in same]
    return tuple(Kept(m.part, m.kind.kind, name, _address(m), _refers(m)) for m, name in zip(same, names, strict=True))


def _address(resource: PlannedResource) -> str:
    return (
        resource.child.address
        if resource.child
        else f"{resource.claim}/{resource.part}"
        if resource.claim
        else resource.part
    )


def _refers(resource: PlannedResource) -> tuple[str, ...]:
    """What it refers to; for a Secret the children whose keys it unites."""
    if resource.secret and resource.planned:
        templates = {c.template.name: c.address for c in resource.planned.children}
        return tuple(templates[s.child] for s in resource.secret.sources if s.child in templates)
    return tuple(dict.fromkeys(r.resource for r in refs(resource.document)))


def _fields(pair: Pair, comparison: Comparison) -> Iterator[FieldChange]:
    new, old, found = pair.new, pair.old, pair.found
    if new and new.urn in comparison.lost:
        # The same object under another name of the engine's.
        old = comparison.lost[new.urn].old
        found = tuple(differences(dict(old.document), dict(new.document))) if old else ()
    if old is None or new is None:
        return
    for difference in found:
        yield FieldChange(
            fieldpath.to_text(difference.path),
            shown(old.document, difference.path, difference.old),
            shown(new.document, difference.path, difference.new),
            cause_of(difference, (comparison.old, old), (comparison.new, new)),
            replaces=replacing(new, difference.path, comparison.new),
            secret=is_secret(new.document, difference.path),
            immutable=bool(immutability(pair, difference, comparison.new)),
            parts=_parts(difference),
        )


def _parts(difference: Difference) -> tuple[Part, ...]:
    """What differs within two JSON texts."""
    found = text_differences(difference.old, difference.new)
    return tuple(
        Part(fieldpath.to_text(d.path), shown({}, d.path, d.old), shown({}, d.path, d.new)) for d in found if d.path
    )


def _settings(pair: Pair) -> Iterator[FieldChange]:
    """How the engine treats it, where that changes; and what feeds a Secret, whose data is unknown here."""
    old, new = pair.old, pair.new
    if old is None or new is None:
        return
    # The options of a native resource are a part of its document.
    for name in () if is_native(new.document) else ("retain", "protect", "timeout", "ignore_changes"):
        before, after = getattr(old.options, name), getattr(new.options, name)
        if before != after:
            retain, *others = options_text(new.options)
            cause = Cause("option", retain if name == "retain" else "; ".join(others), place_of(new))
            yield FieldChange(name, _plain(before), _plain(after), cause)
    if old.account != new.account:
        own = "the stack's own"
        yield FieldChange("created as", old.account or own, new.account or own)
    if old.secret and new.secret and old.secret != new.secret:
        yield FieldChange("fed by", _sources(old), _sources(new), Cause("source", "its data comes from these Secrets"))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _sources(resource: PlannedResource) -> list[str]:
    assert resource.secret, "only Secrets have sources"
    return [
        f"{s.child}: {', '.join(s.key_names)}" if s.keys is not None else f"{s.child}: all keys"
        for s in resource.secret.sources
    ]


def _external(pair: Pair) -> str:
    """The external name of a new object, if one is set: a resource of that name may exist already."""
    if pair.op is not Op.created or pair.resource.child is None:
        return ""
    if is_native(pair.resource.document):
        taken = object_at(pair.resource.document, "options").get("import")
        return f"takes over the existing {taken}" if taken else ""
    name = external_name(pair.resource.child)
    return f"its external name is {name!r}" if name not in (None, pair.resource.child.name) else ""


def _existing(resource: PlannedResource) -> str:
    """An existing native resource, by type and id."""
    return f"{resource.document['type']} {resource.document[GET]['id']}"


def _element(resource: PlannedResource) -> tuple[str, str] | None:
    """The looped template of a resource and the key of its element; None for any other."""
    return resource.child.template.element if resource.child else None


def _is_piped(resource: PlannedResource) -> bool:
    """Whether functions of a pipeline decide that there is such a resource."""
    return bool(resource.planned and resource.planned.piped)


def _why(pair: Pair, comparison: Comparison) -> str:
    resource = pair.resource
    again = pair.new is None and resource.urn in comparison.reborn
    match pair.op:
        case Op.read:
            return f"reads the existing {_existing(resource)}, and neither changes nor deletes it"
        case Op.created if pair.old and pair.old.read:
            return f"the existing {_existing(pair.old)}, which was read so far, stays as it is"
        case Op.retained if pair.old and pair.old.read:
            return f"the existing {_existing(pair.old)} is no longer read, and stays as it is"
        case Op.replaced if resource.read:
            existing = _existing(resource)
            return f"the existing {existing} is read in its place; what was created is deleted unless it has that id"
        case Op.created if resource.urn in comparison.lost:
            return "merged into the live object, which has another URN"
        case Op.deleted if again:
            return "with the live object that the new one was merged into"
        case Op.created if resource.claim in comparison.old.claims:
            if element := _element(resource):
                return f"one element added: {element[1]!r}"
            return "the pipeline composes it now" if _is_piped(resource) else "its template is new"
        case Op.deleted | Op.retained if resource.claim in comparison.new.claims:
            if element := _element(resource):
                return f"no element has the key {element[1]!r} any more; one whose key changed is deleted and created"
            if _is_piped(resource):
                return "the pipeline no longer composes it; it is deleted once all that the pipeline composes is ready"
            return "no template composes it any more"
        case Op.replaced if pair.old and pair.old.cluster != resource.cluster:
            return f"it moves from {pair.old.cluster or 'the stack'} to {resource.cluster or 'the stack'}"
        case Op.replaced:
            changed = [fieldpath.to_text(d.path) for d in pair.found if replacing(resource, d.path, comparison.new)]
            return f"{', '.join(changed or ['its cluster'])} cannot be changed in place by the engine"
        case _:
            return ""
