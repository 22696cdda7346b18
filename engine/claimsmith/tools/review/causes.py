"""What caused a field's change: the patch, literal or reference that sets it, and the claim's field that it reads."""

from __future__ import annotations

from claimsmith.base import fieldpath
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import EngineError, Source
from claimsmith.base.names import ClaimKey
from claimsmith.dialects.common.klass import Side as Origin
from claimsmith.tools.explain.children import ExplainedPatch, Step
from claimsmith.tools.explain.formatting import shown
from claimsmith.tools.explain.provenance import trace
from claimsmith.tools.review.changes import Cause
from claimsmith.tools.review.fields import Difference, is_secret
from claimsmith.tools.review.resources import PlannedResource
from claimsmith.tools.review.snapshot import Snapshot


def cause_of(
    difference: Difference, old: tuple[Snapshot, PlannedResource], new: tuple[Snapshot, PlannedResource]
) -> Cause | None:
    """What sets the field now; or what set it, if it is gone."""
    if new[1].source or old[1].source:
        return _written(difference, old[1], new[1])
    before = _last(*old, difference.path)
    after = _last(*new, difference.path)
    if difference.new is ABSENT or after is None:
        return _cause(before, None, new[1], gone=True) if before else None
    return _cause(after, before, new[1], gone=False)


def place_of(resource: PlannedResource) -> Source | None:
    """The place in the project's files that an object comes from."""
    if resource.source:
        return resource.source.source_of()
    if resource.child is None or resource.planned is None:
        return resource.planned.binding.claim.document.source_of() if resource.planned else None
    template = resource.child.template
    return (template.document or resource.planned.binding.klass.document).source_of(template.at)


def _written(difference: Difference, old: PlannedResource, new: PlannedResource) -> Cause | None:
    """A field of what the stack gives as it is."""
    gone = difference.new is ABSENT
    source = (old if gone else new).source
    return (
        Cause("base", "written in the stack's files", source.source_of(difference.path), gone=gone) if source else None
    )


def _last(side: Snapshot, resource: PlannedResource, path: fieldpath.Path) -> Step | None:
    """The last step that sets a field."""
    if resource.child is None:
        return None
    if resource.kind.kind == "Secret" and path[0] == "data" and "stringData" in resource.child.document:
        path = ("stringData", *path[1:])
    try:
        claim = side.facts.claims[ClaimKey.parse(resource.claim)]
        steps = trace(side.facts, claim, child=resource.part, path=fieldpath.to_text(path)).steps
    except (EngineError, KeyError):
        return None
    counting = [s for s in steps if s.patch is None or s.patch.applied]
    return counting[-1] if counting else None


def _cause(step: Step, before: Step | None, resource: PlannedResource, *, gone: bool) -> Cause:
    what, was = _text(step), _text(before) if before else ""
    was = was if was != what else ""
    if step.patch is None:
        return Cause(step.by, what, step.where, was, gone=gone)
    read, where = _changed_read(step.patch, before.patch if before else None, resource)
    whose = "environment" if step.patch.origin == Origin.environment.value else "claim"
    return Cause("patch", what, step.where, was, read, where, whose, gone)


def _text(step: Step) -> str:
    if step.patch is None:
        return step.what
    reads = ", ".join(r.path for r in step.patch.reads)
    return " · ".join([f"{reads} → {step.patch.to}", *step.patch.transforms])


def _changed_read(
    patch: ExplainedPatch, before: ExplainedPatch | None, resource: PlannedResource
) -> tuple[str, Source | None]:
    """The claim's field that the patch reads and whose value has changed."""
    read_before = {r.path: r.value for r in before.reads} if before else {}
    for read in patch.reads:
        old = read_before.get(read.path, ABSENT)
        if old != read.value and (before is None or read.path in read_before):
            if before is None:
                return "", None
            if is_secret(resource.document, fieldpath.parse(patch.to)) or is_secret({}, fieldpath.parse(read.path)):
                return f"{read.path} changed", read.where
            return f"{read.path}: {shown(old)} → {shown(read.value)}", read.where
    return "", None
