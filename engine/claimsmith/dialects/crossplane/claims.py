"""Claims and Crossplane composites: what an application team, or a platform, asks for by a defined kind.

Read as claims: what a claim has in `classRef` and `classSelector` is in `compositionRef` and
`compositionSelector`, in the spec or, in newer composites, below `spec.crossplane`. Each is checked against the schema
of its definition and gets that schema's defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import ModelError, Problem, in_order
from claimsmith.base.names import ClaimKey, GroupKind
from claimsmith.base.parse import parse
from claimsmith.base.values import is_later, object_at
from claimsmith.dialects.common.claim import Claim, ObjectRef
from claimsmith.dialects.common.selector import Selector
from claimsmith.dialects.crossplane.xrd import GROUP, SECRET_NAMESPACE, Xrd
from claimsmith.dialects.definitions.claims import Instance
from claimsmith.dialects.definitions.injected import NAME, PRESERVE, TEXT, described, record, selector
from claimsmith.kubernetes import schema

Schema = dict[str, Any]
_STATUS: Schema = {"type": "object", "description": "The observed state.", PRESERVE: True}
_NAMED = record("An object by its name.", *("name",), name=described("Its name.", NAME))
_OPEN: Schema = {"type": "object", PRESERVE: True}


def read(document: Document, xrd: Xrd, *, claim: bool) -> Claim:
    """The composite, or the claim for one, checked and with its defaults."""
    data = document.data
    version = str(data.get("apiVersion", "")).rpartition("/")[2]
    _refuse_version(document, xrd, version)
    given = {**data, "spec": data.get("spec") or {}}
    rules = full_schema(xrd, version, claim=claim)
    found = schema.check(given, {**rules, "x-kubernetes-embedded-resource": True}, document=document, skip=is_later)
    found += _misplaced(document, xrd, claim=claim)
    if found:
        raise ModelError(*in_order(found))
    full: dict[str, Any] = schema.defaulted(given, rules)
    document = replace(document, data=full)
    raw = parse(Instance, document)
    namespaced = claim or xrd.namespaced
    namespace = (raw.metadata.namespace or "default") if namespaced else ""
    word, selection = _selection(full["spec"], xrd, claim=claim)
    secret = object_at(full["spec"], "writeConnectionSecretToRef") if claim or not xrd.modern else {}
    own = not claim
    wanted = selection.get("compositionSelector")
    revisions = selection.get("compositionRevisionSelector")
    reference, revision = object_at(selection, "compositionRef"), object_at(selection, "compositionRevisionRef")
    manual = selection.get("compositionUpdatePolicy") == "Manual"
    return Claim(
        api_version=raw.api_version,
        key=ClaimKey(GroupKind.of(data), namespace, raw.metadata.name),
        document=document,
        class_ref=_composition(reference["name"]) if reference and own else None,
        class_selector=Selector.model_validate(wanted) if wanted is not None and own else None,
        secret_name=secret.get("name"),
        secret_namespace=secret.get("namespace") or namespace or SECRET_NAMESPACE,
        word=f"{word}.composition",
        force=xrd.composition(enforced=True) if own else None,
        default=xrd.composition(enforced=False) if own else None,
        given_uid=raw.metadata.uid if own else None,
        any_class=own,
        revision=revision["name"] if revision and own and manual else None,
        revision_selector=Selector.model_validate(revisions) if revisions is not None and own else None,
    )


def pruned(document: Document, xrd: Xrd, *, claim: bool) -> tuple[Document, list[Problem]]:
    """A composed composite without what an API server takes away, and a warning for each such field.

    These are the fields that its definition does not know, and the namespace of a kind that is in none. That is for
    what a composition composes: in what a person wrote, such a field is a slip, and refused by `read`.
    """
    version = str(document.data.get("apiVersion", "")).rpartition("/")[2]
    _refuse_version(document, xrd, version)
    rules = {**full_schema(xrd, version, claim=claim), "x-kubernetes-embedded-resource": True}
    kept, lost = schema.pruned(document.data, rules)
    kind = document.data.get("kind")
    warnings = []
    for path in lost:
        meant = schema.nearest_field(rules, path)
        fix = f"did you mean {meant!r}?" if meant else "remove it, or add it to the definition's schema"
        text = fieldpath.to_text(path)
        warnings.append(Problem(f"{kind} has no field {text}: it is left out, as in Crossplane", path=text, fix=fix))
    if _misplaced(document, xrd, claim=claim):
        kept = {**kept, "metadata": {k: v for k, v in kept["metadata"].items() if k != "namespace"}}
        what = f"{kind} is in no namespace: it is left out, as in Crossplane"
        warnings.append(Problem(what, path="metadata.namespace", fix="remove it"))
    return Document(kept, document.file, document.line, document.text), warnings


def full_schema(xrd: Xrd, version: str, *, claim: bool) -> Schema:
    """The schema of a composite or claim: the definition's own, with the fields that all of them have."""
    own = xrd.schema_of(version)
    if not own:
        return {"type": "object", PRESERVE: True}
    properties = dict(own.get("properties") or {})
    spec = dict(properties.get("spec") or {"type": "object", PRESERVE: True})
    added = core_fields(xrd, claim=claim)
    mine = spec.get("properties") or {}
    spec["properties"] = {**added, **{k: _both(added.get(k), v) for k, v in mine.items()}}
    spec.setdefault("description", "The desired state.")
    status = properties.get("status")
    # Conditions and the like are written by whoever reconciles it.
    properties |= {"spec": spec, "status": {**status, PRESERVE: True} if isinstance(status, Mapping) else _STATUS}
    return {**own, "type": "object", "properties": properties}


def core_fields(xrd: Xrd, *, claim: bool) -> dict[str, Schema]:
    """The fields of the spec that Crossplane itself adds to every composite, or to every claim."""
    if claim:
        return _core(xrd) | _of_claims()
    if not xrd.modern:
        return _core(xrd) | _of_composites()
    refs = {"resourceRefs": {"type": "array", "items": _OPEN}}
    return {"crossplane": record("How it is composed.", **_core(xrd), **refs)}


def _both(added: Schema | None, given: Any) -> Any:
    """A field that the definition speaks of too: ours, with its default."""
    if added is None or not isinstance(given, Mapping):
        return given
    inner = {**(added.get("properties") or {}), **(given.get("properties") or {})}
    return {**given, **added, **({"properties": inner} if inner else {}), **_default(given)}


def _default(given: Mapping[str, Any]) -> Schema:
    return {"default": given["default"]} if "default" in given else {}


def _core(xrd: Xrd) -> dict[str, Schema]:
    policy = {"default": xrd.update_policy} if xrd.update_policy else {}
    return {
        "compositionRef": described("The composition to use.", _NAMED),
        "compositionSelector": selector("Which compositions may be used, by their labels."),
        "compositionRevisionRef": described("The revision of it to use, where updates are manual.", _NAMED),
        "compositionRevisionSelector": selector("Which revisions of it may be used, by their labels."),
        "compositionUpdatePolicy": described(
            "Whether a newer revision is used.", {**TEXT, "enum": ["Automatic", "Manual"], **policy}
        ),
    }


def _of_claims() -> dict[str, Schema]:
    return {
        "compositeDeletePolicy": described(
            "Whether a deletion waits for all that was composed.", {**TEXT, "enum": ["Background", "Foreground"]}
        ),
        "resourceRef": described("The composite that was created for the claim.", _OPEN),
        "publishConnectionDetailsTo": _OPEN,
        "writeConnectionSecretToRef": record(
            "Where the connection details go: a Secret in the claim's own namespace.",
            *("name",),
            name=described("The Secret's name.", NAME),
        ),
    }


def _of_composites() -> dict[str, Schema]:
    return {
        "claimRef": _OPEN,
        "resourceRefs": {"type": "array", "items": _OPEN},
        "publishConnectionDetailsTo": _OPEN,
        "compositeDeletePolicy": {**TEXT, "enum": ["Background", "Foreground"]},
        "writeConnectionSecretToRef": record(
            "Where the connection details go.",
            *("name",),
            namespace=described("The Secret's namespace.", NAME),
            name=described("The Secret's name.", NAME),
        ),
    }


def _selection(spec: Mapping[str, Any], xrd: Xrd, *, claim: bool) -> tuple[str, Mapping[str, Any]]:
    """The path of the fields that select a composition, and these fields."""
    return ("spec.crossplane", object_at(spec, "crossplane")) if xrd.modern and not claim else ("spec", spec)


def _composition(name: str) -> ObjectRef:
    return ObjectRef(api_version=f"{GROUP}/v1", kind="Composition", name=name)


def _refuse_version(document: Document, xrd: Xrd, version: str) -> None:
    if version not in xrd.versions:
        what = f"the kind {document.data.get('kind')!r} is not defined in {document.data.get('apiVersion')!r}"
        fix = f"use one of: {', '.join(f'{xrd.kind.group}/{v}' for v in xrd.versions)}"
        raise ModelError(document.problem(what, "apiVersion", fix))


def _misplaced(document: Document, xrd: Xrd, *, claim: bool) -> list[Problem]:
    if claim or xrd.namespaced or object_at(document.data, "metadata").get("namespace") is None:
        return []
    fix = f"remove it; from a namespace, ask with a {xrd.claim.kind}" if xrd.claim else "remove it"
    return [document.problem(f"{xrd.kind.kind} is in no namespace", "metadata.namespace", fix)]
