"""References of a claim's children: selectors of a draft resolved to candidates of the stack.

`references` knows what a selector is; here it meets the drafts: siblings, candidates of other claims, recorded picks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from claimsmith.base import fieldpath
from claimsmith.base.errors import EngineError
from claimsmith.base.names import GroupKind
from claimsmith.base.values import Ref
from claimsmith.compose import references
from claimsmith.compose.drafts import Child, Draft
from claimsmith.compose.references import Candidate, Selection, Table
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.common.klass import Template
from claimsmith.platform.binding import Binding, pick_key


def candidates_of(drafts: Iterable[Draft]) -> dict[GroupKind, list[Candidate]]:
    """What a selector may pick in this stack, by kind."""
    found: dict[GroupKind, list[Candidate]] = {}
    for draft in drafts:
        for child in draft.children:
            target = candidate_of(child, draft.identity)
            found.setdefault(target.group_kind, []).append(target)
    return found


def candidate_of(child: Child, identity: Identity) -> Candidate:
    """A child as something that a selector may pick."""
    labels = child.document["metadata"].get("labels") or {}
    template = child.template
    class_name = str((template.class_ref or {}).get("name", ""))
    parent, name = str(identity.key), child.name
    return Candidate(
        child.address, template.group_kind, labels, parent, name, template.name, class_name, namespace=child.namespace
    )


def recorded_pick(binding: Binding, template: Template, selection: Selection) -> str:
    """The address that a selector of a template is recorded to have picked; a renamed template keeps its picks."""
    path = fieldpath.to_text(selection.ref_path)
    return next((found for n in template.names if (found := binding.picks.get(pick_key(n, path)))), "")


def referenced(
    child: Child,
    own: Candidate,
    draft: Draft,
    siblings: Sequence[Candidate],
    targets: Mapping[GroupKind, Sequence[Candidate]],
    table: Table,
) -> Child:
    """The child with its selectors replaced by references, and what they picked among all resources of the stack."""
    if child.template.native:
        return child  # its selectors were resolved when the class was read
    picks: dict[str, str] = {}

    def candidates_for(selection: Selection) -> Sequence[Candidate]:
        if selection.same_parent:
            return siblings
        found = [t for kind in selection.targets for t in targets.get(kind, ())]
        # An application refers to nothing outside its namespace.
        return [t for t in found if t.namespace == own.namespace] if draft.identity.namespaced else found

    def fits(selection: Selection) -> bool:
        if selection.same_parent and ordering.is_patched(child.template, selection.path):
            return False  # a sibling is selected once, for all composites
        return bool(references.fitting(selection, own=own, candidates=candidates_for(selection)))

    def ref_of(selection: Selection) -> dict[str, Ref]:
        candidates = candidates_for(selection)
        recorded = recorded_pick(draft.binding, child.template, selection)
        picked = references.pick(selection, own=own, candidates=candidates, recorded=recorded)
        if not selection.same_parent:
            picks[fieldpath.to_text(selection.ref_path)] = str(picked.address)
        return {"name": Ref(picked.address, ("metadata", "name"), known=picked.name)}

    try:
        if draft.identity.dialect.static_siblings:
            labels = draft.identity.sibling_labels()
            document = references.replace_selectors(child.document, table, ref_of, siblings=labels, fits=fits)
        else:
            document = references.replace_selectors(child.document, table, ref_of)
        return replace(child, document=document, picks=picks)
    except EngineError as error:
        prefix = f"{draft.binding.claim.key}, child {child.template.name!r}: "
        raise type(error)(*draft.binding.klass.located(error.problems, child.template, prefix=prefix)) from error


def siblings_of(draft: Draft) -> list[Candidate]:
    """The children of a Crossplane composite, with the labels that do not depend on the composite."""
    candidates = [candidate_of(child, draft.identity) for child in draft.children]
    return [
        replace(t, labels=ordering.static_labels(c.template)) for t, c in zip(candidates, draft.children, strict=True)
    ]
