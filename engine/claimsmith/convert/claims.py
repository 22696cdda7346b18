"""Claims, requirements and authored instances in today's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from claimsmith import binding, fieldpath
from claimsmith.binding import Choice, Record
from claimsmith.catalog import Catalog
from claimsmith.convert import instances, paths
from claimsmith.convert.kinds import Kinds, is_todays
from claimsmith.convert.names import Names
from claimsmith.convert.said import Said
from claimsmith.documents import read_documents
from claimsmith.models.claim import Claim
from claimsmith.models.definition import Definition
from claimsmith.models.exported import bare
from claimsmith.models.klass import Class
from claimsmith.models.objects import ClaimKey
from claimsmith.values import copied, object_at

_OWN = ("classRef", "classSelector", "resourceRef", "writeConnectionSecretToRef")


def document(
    claim: Claim, catalog: Catalog, kinds: Kinds, names: Names, records: Mapping[ClaimKey, Record], said: Said
) -> dict[str, Any] | None:
    """The claim as it is written there; None where it cannot be."""
    kind = claim.key.group_kind
    if is_todays(catalog, kind):
        return None
    defined = catalog.defined(kind)
    data = _as_written(claim)
    if defined:
        return _instance(claim, data, defined[0], said)
    if claim.resource_ref:
        what = f"{claim.key} claims {claim.resource_ref.key}, which exists; there, a claim can only claim a composite"
        fix = "compose the resource with its external name and managementPolicies: [Observe]"
        said.leave_out(claim.document, claim.resource_path, what, fix)
        return None
    if kind not in kinds:
        what = f"no class serves {kind}, so that nothing defines it there"
        said.leave_out(claim.document, "kind", what, "give the files of the classes that serve it")
        return None
    spec = dict(object_at(data, "spec"))
    taken = [k for k in spec if k in paths.TAKEN and k not in _OWN]
    for key in taken:
        what = f"{claim.key} has a field spec.{key}, which today's claims keep for themselves"
        said.leave_out(claim.document, f"spec.{key}", what, "give the field another name")
    own = {k: copied(v) for k, v in spec.items() if k not in (*_OWN, *taken)}
    secret = spec.get("writeConnectionSecretToRef")
    return _document(
        data,
        {
            **own,
            **_chosen(claim, catalog, names, records, said),
            **({"writeConnectionSecretToRef": copied(secret)} if secret else {}),
        },
    )


def _instance(claim: Claim, data: Mapping[str, Any], definition: Definition, said: Said) -> dict[str, Any]:
    spec = instances.spec_of(dict(object_at(data, "spec")), definition, said, document=claim.document, at="spec")
    return _document(data, spec)


def _document(data: Mapping[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    metadata = copied(dict(object_at(data, "metadata")))
    return {"apiVersion": data["apiVersion"], "kind": data["kind"], "metadata": metadata, "spec": spec}


def _as_written(claim: Claim) -> dict[str, Any]:
    """The claim without the defaults that its definition fills in: today's definition fills them in too."""
    if not claim.document.text:
        return claim.data
    [whole, *_] = read_documents(claim.document.text, file=claim.document.file)
    at = claim.document.at
    return bare(replace(claim.document, data=fieldpath.get(whole.data, at) if at else whole.data)).data


def _chosen(
    claim: Claim, catalog: Catalog, names: Names, records: Mapping[ClaimKey, Record], said: Said
) -> dict[str, Any]:
    """How the claim chooses its composition: as it chose its class, and by name where that says too little there."""
    made: dict[str, Any] = {}
    expressions = bool(claim.class_selector and claim.class_selector.match_expressions)
    if claim.class_selector is not None and not expressions:
        made["compositionSelector"] = {"matchLabels": dict(claim.class_selector.match_labels)}
    klass, several = _class_of(claim, catalog, records)
    if klass is None:
        path = "spec.classSelector" if claim.class_selector is not None else "spec"
        what = f"{claim.key} is served by no class; there, a claim that chooses nothing gets any composition"
        if claim.class_selector is None or expressions:
            said.leave_out(claim.document, path, what, "name a class, or add one that it chooses")
        return made
    name = names[klass]
    if claim.class_ref or several or expressions:
        made = {**made, "compositionRef": {"name": name}}
    if expressions:
        what = f"{claim.key} chooses by matchExpressions, which cannot be said: it names {name}, which they choose"
        said.differ(claim.document, "spec.classSelector", what, "choose by matchLabels")
    elif several:
        what = f"{claim.key} chooses among {several} classes; there, any would be taken: it names {name}"
        said.differ(claim.document, "spec.classSelector", what, "select by labels that one class has")
    return made


def _class_of(claim: Claim, catalog: Catalog, records: Mapping[ClaimKey, Record]) -> tuple[Class | None, int]:
    """The class that serves a claim, recorded or chosen; and among how many it was chosen, where among several."""
    match binding.choose(claim, catalog):
        case Choice(klass, _, candidates):
            several = len(candidates) if len(candidates) > 1 else 0
            record = records.get(claim.key)
            held = catalog.classes.get((record.klass, claim.key.group_kind)) if record else None
            return (held, several or 2) if held and held is not klass else (klass, several)
        case _:
            return None, 0
