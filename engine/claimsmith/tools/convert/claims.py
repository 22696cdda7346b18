"""Claims, requirements and instances of defined kinds, as Crossplane claims and composites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.names import ClaimKey
from claimsmith.base.values import copied, object_at
from claimsmith.dialects.common.claim import Claim
from claimsmith.dialects.common.exported import bare
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.definitions import Definition
from claimsmith.platform.binding import Record
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.selection import Choice, choose
from claimsmith.platform.unread import CHOOSING
from claimsmith.tools.convert import paths
from claimsmith.tools.convert.kinds import Kinds, Names, is_crossplane
from claimsmith.tools.convert.notes import Notes

_KEPT = ("writeConnectionSecretToRef", "resourceRef")


def spec_of(spec: Any, definition: Definition, notes: Notes, *, document: Document, at: str) -> Any:
    """The spec of an instance or requirement, as a Crossplane composite or claim has it; `at` is its place.

    What a definition injects under one word stands beside the kind's own fields there, or below `spec.crossplane` if
    the composite is namespaced.
    """
    if not isinstance(spec, Mapping):
        return spec
    here = f"{at}.{definition.injected}"
    given = object_at(spec, definition.injected)
    own = {k: copied(v) for k, v in spec.items() if k != definition.injected}
    selection: dict[str, Any] = {}
    reference = _one(given.get("compositionRef"))
    if reference:
        selection["compositionRef"] = {"name": reference.get("name")}
    if given.get("compositionSelector") is not None:
        labels = selector(given["compositionSelector"], notes, document, f"{here}.compositionSelector")
        if labels is not None:
            selection["compositionSelector"] = labels
    selection |= {k: copied(_one(given[k])) for k in _KEPT if given.get(k)}
    if given.get("reclaimPolicy") not in (None, "Delete"):
        what = f"the reclaimPolicy {given['reclaimPolicy']!r} of a composite and all that it is composed of"
        fix = "set what the provider has for it on each resource: deletionPolicy: Orphan"
        notes.leave_out(document, f"{here}.reclaimPolicy", f"{what} is left out: a composite has no such field", fix)
    if not selection:
        return own
    return {**own, "crossplane": selection} if definition.namespaced else {**own, **selection}


def selector(given: Any, notes: Notes, document: Document, path: fieldpath.Path | str) -> dict[str, Any] | None:
    """A selector of compositions, which has labels only; None if labels cannot express it."""
    if object_at({"s": given}, "s").get("matchExpressions"):
        what = "a compositionSelector has matchLabels only: the matchExpressions cannot be converted"
        notes.leave_out(document, path, what, "label the compositions so that matchLabels finds them, or name one")
        return None
    return {"matchLabels": dict(object_at(given, "matchLabels"))}


def _one(value: Any) -> Any:
    """A reference, which the definitions format also allows as a list of one."""
    return (value[0] if value else None) if isinstance(value, list) else value


def document(
    claim: Claim, catalog: Catalog, kinds: Kinds, names: Names, records: Mapping[ClaimKey, Record], notes: Notes
) -> dict[str, Any] | None:
    """The claim for Crossplane; None if it cannot be converted."""
    kind = claim.key.group_kind
    if is_crossplane(catalog, kind):
        return None
    defined = catalog.defined(kind)
    data = _as_written(claim)
    if defined:
        written = dict(object_at(data, "spec"))
        return _document(data, spec_of(written, defined[0], notes, document=claim.document, at="spec"))
    if claim.resource_ref:
        existing = claim.object_ref.key if claim.object_ref else claim.native_ref
        what = f"{claim.key} claims {existing}, which exists; Crossplane claims only composites"
        fix = "compose the resource with its external name and managementPolicies: [Observe]"
        notes.leave_out(claim.document, claim.resource_path, what, fix)
        return None
    if kind not in kinds:
        what = f"no class serves {kind}, so that no definition is created for it"
        notes.leave_out(claim.document, "kind", what, "pass the files of the classes that serve it")
        return None
    spec = dict(object_at(data, "spec"))
    taken = [k for k in spec if k in paths.TAKEN and k not in CHOOSING]
    for key in taken:
        what = f"{claim.key} has a field spec.{key}, which Crossplane claims reserve"
        notes.leave_out(claim.document, f"spec.{key}", what, "give the field another name")
    own = {k: copied(v) for k, v in spec.items() if k not in (*CHOOSING, *taken)}
    secret = spec.get("writeConnectionSecretToRef")
    connection = {"writeConnectionSecretToRef": copied(secret)} if secret else {}
    return _document(data, {**own, **_selection(claim, catalog, names, records, notes), **connection})


def _document(data: Mapping[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    metadata = copied(dict(object_at(data, "metadata")))
    return {"apiVersion": data["apiVersion"], "kind": data["kind"], "metadata": metadata, "spec": spec}


def _as_written(claim: Claim) -> dict[str, Any]:
    """The claim without the defaults that its definition fills in: the Crossplane definition fills them in too."""
    if not claim.document.text:
        return claim.data
    [whole, *_] = read_documents(claim.document.text, file=claim.document.file)
    at = claim.document.at
    return bare(replace(claim.document, data=fieldpath.get(whole.data, at) if at else whole.data)).data


def _selection(
    claim: Claim, catalog: Catalog, names: Names, records: Mapping[ClaimKey, Record], notes: Notes
) -> dict[str, Any]:
    """How the claim selects its composition: as it selects its class, or by name if Crossplane would take any."""
    selection: dict[str, Any] = {}
    expressions = bool(claim.class_selector and claim.class_selector.match_expressions)
    if claim.class_selector is not None and not expressions:
        selection["compositionSelector"] = {"matchLabels": dict(claim.class_selector.match_labels)}
    klass, several = _class_of(claim, catalog, records)
    if klass is None:
        path = "spec.classSelector" if claim.class_selector is not None else "spec"
        what = f"{claim.key} is served by no class; in Crossplane, a claim that selects nothing gets any composition"
        if claim.class_selector is None or expressions:
            notes.leave_out(claim.document, path, what, "name a class, or add one that it selects")
        return selection
    name = names[klass]
    if claim.class_ref or several or expressions:
        selection = {**selection, "compositionRef": {"name": name}}
    if expressions:
        what = f"{claim.key} selects by matchExpressions, which cannot be converted: it names {name}, which they select"
        notes.differ(claim.document, "spec.classSelector", what, "select by matchLabels")
    elif several:
        what = f"{claim.key} selects among {several} classes; Crossplane would take any: it names {name}"
        notes.differ(claim.document, "spec.classSelector", what, "select by labels that one class has")
    return selection


def _class_of(claim: Claim, catalog: Catalog, records: Mapping[ClaimKey, Record]) -> tuple[Class | None, int]:
    """The class that serves a claim, recorded or selected now; and the number of candidates, if there are several."""
    match choose(claim, catalog):
        case Choice(klass, _, candidates):
            several = len(candidates) if len(candidates) > 1 else 0
            record = records.get(claim.key)
            held = catalog.classes.get((record.klass, claim.key.group_kind)) if record else None
            return (held, several or 2) if held and held is not klass else (klass, several)
        case _:
            return None, 0
