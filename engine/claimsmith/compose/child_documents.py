"""The document of a child: its template's base with the patches applied, or its rendered text.

Outward patches, which read a composed child, are applied here too. Problems name the claim's field and the patch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from claimsmith import templating
from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError, EngineError, Problem, Source, at
from claimsmith.base.values import Ref, SiblingOutput, mapped
from claimsmith.compose.drafts import Child, Draft, Sides, observed
from claimsmith.compose.native_children import resolved, sibling_value
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.klass import Opaque, Patch, Side, Template
from claimsmith.dialects.common.template import cleaned
from claimsmith.patching import patches, transforms
from claimsmith.patching.compiled import Composed, Reader, compiled
from claimsmith.platform.binding import Binding


def composed_document(template: Template, reader: Reader, binding: Binding) -> Composed:
    """The document of a template: its base with its patches applied, or its rendered text."""
    if template.opaque is None:
        return compiled(template).make(reader, lambda problem, patch: _blamed(problem, patch, template, binding))
    where = binding.klass.source_of(template)
    with at(where, prefix=f"{binding.claim.key}, child {template.name!r}: "):
        return Composed(templated(template.opaque, template.base, reader.sides[Side.claim], where), (), fits=False)


def with_sibling_outputs(document: dict[str, Any], template: Template, draft: Draft) -> dict[str, Any]:
    """The document of a Kubernetes object with the outputs of native siblings that its base names."""
    if not template.is_interpolated:
        return document
    found: dict[str, Any] = mapped(document, lambda leaf: resolved(leaf, partial(value_of_sibling, draft)))
    return found


def value_of_sibling(draft: Draft, output: SiblingOutput) -> Any:
    """A field of a sibling, as a class names it: the siblings that a template needs are composed before it."""
    nested = next((n for n in draft.nested if n.template == output.template), None)
    if nested:
        path = fieldpath.to_text(output.path)
        return patches.read(observed(nested, (path,)), output.path)
    child = next((c for c in draft.children if c.template.name == output.template), None)
    if child is None:
        what = f"${{{output}}} names a sibling that is no resource of this stack"
        raise ComposeError(Problem(what, fix="name a sibling that is deployed here"))
    return sibling_value(output, child.address, native=child.template.native, document=child.document)


def sibling_of(draft: Draft, name: str) -> Ref | None:
    """A sibling as something to come after; None for a composite, whose children all come before its parent's."""
    child = next((c for c in draft.children if c.template.name == name), None)
    return Ref(child.address, ()) if child else None


def patch_outward(operation: ordering.Operation, child: Child | Draft, reader: Reader, binding: Binding) -> None:
    """Apply the patches that read a composed child."""
    for patch in operation.outward:
        reader.forget()
        applied_patch(patch, {**reader.sides, Side.resource: observed(child, patch.reads)}, operation.template, binding)


def templated(
    opaque: Opaque, base: Mapping[str, Any], claim: Mapping[str, Any], where: Source | None = None
) -> dict[str, Any]:
    """The document that a template's text renders to for a claim; it must be of the template's kind."""
    document = templating.render_document(opaque.engine, opaque.text, claim)
    head = {key: document[key] for key in ("apiVersion", "kind")}
    if head != {key: base[key] for key in ("apiVersion", "kind")}:
        what = f"the template rendered {head['apiVersion']} {head['kind']}, not {base['apiVersion']} {base['kind']}"
        raise ComposeError(Problem(what, where, fix="let it begin with the apiVersion and kind of its class"))
    return cleaned(document, Document(document, where.file if where else ""), "", [], placed=True)


def applied_patch(patch: Patch, sides: Sides, template: Template | None, binding: Binding) -> patches.Outcome:
    """The outcome of a patch; its problems are reported with their places."""
    try:
        return patches.apply(patch, sides)
    except EngineError as error:
        raise ComposeError(*(_blamed(p, patch, template, binding) for p in error.problems)) from error


def _blamed(problem: Problem, patch: Patch, template: Template | None, binding: Binding) -> Problem:
    """The problem of a patch with both places: the claim's field where there is one, and the patch in the class."""
    document = (template.document if template else None) or binding.klass.document
    patch_place = document.source_of(patch.at)
    whose = f"child {template.name!r}" if template else "environment"
    from_claim = patch.origin is Side.claim and patch.reads
    # What a transform refuses is a value of the claim: its field comes first.
    field = f"{patch.reads[0]}: " if from_claim and transforms.AT in problem.what else ""
    what = f"{binding.claim.key}, {whose}: {field}{problem.what} (patch at {patch_place})"
    where = binding.claim.document.source_of(patch.reads[0]) if from_claim else patch_place
    fix = problem.fix or "fix the claim's value or the class's patch"
    return replace(problem, what=what, where=where, path=problem.path or patch.reads[0], fix=fix)
