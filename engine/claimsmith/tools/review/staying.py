"""Which live objects stay when a claim gets another class, or its templates other names or types.

Both plans decide that, and not what is declared: an object of the cluster stays if both plans give it one identity and
the engine knows it by its URN or an alias; a native resource, by its URN or an alias alone. A declaration that the
plans do not keep is a problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claimsmith.base.errors import Problem
from claimsmith.base.names import is_native
from claimsmith.dialects.common.klass import Class, KnownAs, Template
from claimsmith.platform.moved import kind_of, type_of
from claimsmith.providers.package_schema import Effect
from claimsmith.tools.review.causes import place_of
from claimsmith.tools.review.changes import Op, Stay
from claimsmith.tools.review.compare import Comparison, Pair, effect_on
from claimsmith.tools.review.resources import PlannedResource

_KEPT = (Op.same, Op.settings, Op.updated)


def stays(pairs: Sequence[Pair], comparison: Comparison, *, rebound: bool) -> tuple[Stay, ...]:
    """The objects of a claim that stay; empty if neither its class nor any URN changes."""
    there = [p for p in pairs if _is_kept(p)]
    if not rebound and not any(_is_moved(p) for p in there):
        return ()
    return tuple(_stay(p, comparison) for p in there)


def broken(comparison: Comparison) -> Iterator[Problem]:
    """Objects that a class declares to keep, by `Moved` or `previousName`, and that the plans do not keep."""
    after = {c.address: c for c in comparison.new.plan.walk()}
    for pair in comparison.all():
        old = pair.old
        if old is None or old.child is None or old.planned is None or old.read:
            continue
        claim = after.get(old.planned.address)
        if claim is None:
            continue
        # The whole class: that of a claim has no templates whose condition does not hold.
        bound = claim.binding.klass
        klass = comparison.new.catalog.classes.get((bound.key, claim.binding.claim.key.group_kind), bound)
        template = _declared(old.child.template, old.planned.binding.klass, klass)
        if template and not (_is_kept(pair) and _name(pair.new) == template.name):
            yield _problem(pair, old, klass, template)


def _is_kept(pair: Pair) -> bool:
    if pair.old is None or pair.new is None or pair.op not in _KEPT or pair.new.read:
        return False
    # A native resource that is found by an alias is the same by the engine's word.
    return is_native(pair.new.document) or pair.old.identity == pair.new.identity


def _is_moved(pair: Pair) -> bool:
    return bool(pair.old and pair.new and pair.old.urn != pair.new.urn)


def _stay(pair: Pair, comparison: Comparison) -> Stay:
    old, new = pair.old, pair.new
    assert old, "what stays was there"
    assert new, "what stays is there"
    metadata = new.document["metadata"]
    native = is_native(new.document)
    return Stay(
        part=new.part,
        was=old.part,
        kind=new.kind.kind,
        type=_type(new),
        type_before=_type(old),
        namespace=str(metadata.get("namespace") or ""),
        name=str(metadata["name"]),
        op=pair.op,
        urn=new.urn,
        urn_before=old.urn,
        sure=not native or all(effect_on(new, d.path, comparison.new) is not Effect.unknown for d in pair.found),
    )


def _type(resource: PlannedResource) -> str:
    return str(resource.document["type" if is_native(resource.document) else "apiVersion"])


def _declared(old: Template, before: Class, klass: Class) -> Template | None:
    """The template of a class that is declared to keep the object of another one; None if there is none."""
    name, type_ = _of_class(old), type_of(old)
    for template in klass.templates:
        if name == template.name:
            return template if KnownAs(name, type_) in template.known_as else None
        # A class that nothing is declared of may use one of its names for another kind.
        if name in template.names and (before.key == klass.key or kind_of(old) == kind_of(template)):
            return template
    return None


def _of_class(template: Template) -> str:
    """The name of a template in its class: that of an element is its own."""
    return template.element[0] if template.element else template.name


def _name(resource: PlannedResource | None) -> str:
    return _of_class(resource.child.template) if resource and resource.child else ""


def _problem(pair: Pair, old: PlannedResource, klass: Class, template: Template) -> Problem:
    metadata = old.document["metadata"]
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    happens = pair.op if pair.new is None or pair.op not in _KEPT else "another object by its kind, namespace and name"
    what = (
        f"{template.name!r} of {klass.name} is declared to keep what {_name(old)!r} was, and the plans do not: "
        f"{old.kind.kind} {place}{metadata['name']} of {old.claim} is {happens}"
    )
    fix = "keep its name and the fields that replace it; or remove it from Moved, or its previousName"
    where = place_of(pair.new) if pair.new else (template.document or klass.document).source_of(template.at)
    return Problem(what, where, "", fix)
