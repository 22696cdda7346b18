"""Custom resource definitions: of defined kinds, of claims, and of the records that are kept in a cluster.

Takes a `Definition`, or an apiVersion and kind; gives apiextensions.k8s.io/v1 as plain data. None of these has a status
subresource: they are written whole, and such a status would be dropped from each write. Reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith.base import fieldpath, values
from claimsmith.base.documents import Document
from claimsmith.base.errors import Problem
from claimsmith.dialects.crossplane.claims import full_schema as full_schema_of
from claimsmith.dialects.crossplane.xrd import Xrd
from claimsmith.dialects.definitions import Definition
from claimsmith.dialects.definitions.injected import (
    NAME,
    PRESERVE,
    TEXT,
    described,
    full_schema,
    object_ref,
    record,
    selector,
)
from claimsmith.kubernetes import crds
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.crds import Crd

Columns = Sequence[tuple[str, str, str]]

_READY = ("Ready", "string", ".status.conditions[?(@.type=='Ready')].status")
_AGE = ("Age", "date", ".metadata.creationTimestamp")

CLAIM_FIELDS = (
    "spec.writeConnectionSecretToRef.name",
    *(f"spec.{ref}.{key}" for ref in ("classRef", "resourceRef") for key in ("apiVersion", "kind", "name")),
    "spec.classSelector.matchLabels",
    "status.bindingPhase",
    "status.conditions",
)
"""What every claim's kind must have, so that it can be bound."""

_CLAIMED: Columns = (
    ("Claim", "string", ".spec.claimRef.name"),
    ("Class", "string", ".spec.classRef.name"),
    ("Phase", "string", ".status.bindingPhase"),
)
_SCHEDULED: Columns = (("Target", "string", ".spec.targetRef.name"), ("State", "string", ".status.state"))
RECORDS: Sequence[tuple[str, str, bool, str, Columns]] = (
    (
        *("core.crossplane.io/v1alpha1", "CompositeResource", False),
        "Several managed resources that satisfy one claim.",
        _CLAIMED,
    ),
    (
        *("aggregation.crossplane.io/v1alpha1", "AggregateResource", False),
        "Managed resources of several classes that satisfy one claim.",
        _CLAIMED,
    ),
    (
        *("workload.crossplane.io/v1alpha1", "WorkloadTarget", True),
        "A cluster that applications of this namespace may be scheduled to.",
        (("Cluster", "string", ".spec.clusterRef.name"),),
    ),
    (
        *("workload.crossplane.io/v1alpha1", "KubernetesApplication", True),
        "Resources that are deployed together to one target.",
        _SCHEDULED,
    ),
    (
        *("workload.crossplane.io/v1alpha1", "KubernetesApplicationResource", True),
        "One resource that is deployed to a target.",
        _SCHEDULED,
    ),
)
"""The kinds of our own records: apiVersion, kind, whether namespaced, what it is, columns."""


def crds_of(definition: Definition) -> list[Crd]:
    """The definition of the defined kind, and of its requirement where it is published."""
    kind = definition.group_kind.kind
    chosen = f".spec.{definition.injected}"
    composition = ("Composition", "string", f"{chosen}.compositionRef.name")
    names = {
        **_names(kind, definition.plural, definition.singular, definition.list_kind),
        "categories": list(dict.fromkeys([*definition.categories, "composite"])),
        **({"shortNames": list(definition.short_names)} if definition.short_names else {}),
    }
    found = {
        **full_schema(definition, requirement=False),
        "description": f"{kind} is {definition.kind_of} that is composed of other resources.",
    }
    own = _crd(definition.api_version, names, found, [composition, _READY, _AGE], namespaced=definition.namespaced)
    own["spec"]["versions"][0]["additionalPrinterColumns"] += [dict(c) for c in definition.columns]
    if definition.requirement is None:
        return [own]
    required = definition.requirement.kind
    singular = f"{definition.singular}requirement"
    names = {**_names(required, f"{singular}s", singular, f"{required}List"), "categories": ["requirement"]}
    found = {
        **full_schema(definition, requirement=True),
        "description": f"{required} asks for a {kind}, from a namespace.",
    }
    columns = [("Resource", "string", f"{chosen}.resourceRef.name"), composition]
    secret = ("Secret", "string", f"{chosen}.writeConnectionSecretToRef.name")
    twin = _crd(definition.api_version, names, found, [*columns, secret, _READY, _AGE], namespaced=True)
    return [own, twin]


def xrd_crds(xrd: Xrd) -> list[Crd]:
    """The definition of a Crossplane composite, and of its claims where it has them."""
    chosen = ".spec.crossplane" if xrd.modern else ".spec"
    composition = ("Composition", "string", f"{chosen}.compositionRef.name")
    kinds: list[tuple[Mapping[str, Any], str, bool, Columns]] = [
        (xrd.names, "composite", xrd.namespaced, [composition, _READY, _AGE])
    ]
    if xrd.claim:
        secret = ("Connection-Secret", "string", ".spec.writeConnectionSecretToRef.name")
        kinds.append((xrd.claim_names, "claim", True, [secret, _READY, _AGE]))
    found = []
    for given, category, namespaced, columns in kinds:
        kind = given["kind"]
        names = {
            **_names(kind, given["plural"], given["singular"] or kind.lower(), given["listKind"] or f"{kind}List"),
            "categories": list(dict.fromkeys([*given["categories"], category])),
            **({"shortNames": list(given["shortNames"])} if given["shortNames"] else {}),
        }
        for version in xrd.versions:
            rules = schemas.normalised(full_schema_of(xrd, version, claim=category == "claim"))
            found.append(_crd(f"{xrd.kind.group}/{version}", names, rules, columns, namespaced=namespaced))
    return found


def claim_crd(api_version: str, kind: str, *, schema: Mapping[str, Any] | None = None) -> Crd:
    """The definition of a claim's kind; `schema` is that of its own spec, without which any field is kept."""
    spec: dict[str, Any] = schemas.normalised(schema or {"type": "object", PRESERVE: True})
    spec["properties"] = {**(spec.get("properties") or {}), **_claim_fields()}
    spec.setdefault("description", "The desired state.")
    found = {
        "type": "object",
        "description": f"{kind} is a claim: it asks for a resource that a class provisions.",
        "properties": {"spec": spec, "status": _claim_status()},
    }
    names = {**_names(kind, crds.plural_of(kind), kind.lower(), f"{kind}List"), "categories": ["claim"]}
    columns = [
        ("Status", "string", ".status.bindingPhase"),
        ("Class-Kind", "string", ".spec.classRef.kind"),
        ("Class-Name", "string", ".spec.classRef.name"),
        ("Resource-Name", "string", ".spec.resourceRef.name"),
    ]
    return _crd(api_version, names, found, [*columns, _AGE], namespaced=True)


def check_claim_crd(crd: Mapping[str, Any], *, document: Document | None = None) -> list[Problem]:
    """What a given definition of a claim's kind lacks for its instances to be bound."""
    spec = crd["spec"]
    kind = spec["names"]["kind"]
    problems = []
    if spec.get("scope") != "Namespaced":
        where = document.source_of("spec.scope") if document else None
        what = f"{kind} is not in a namespace, as every claim is"
        problems.append(Problem(what, where, "spec.scope", "write scope: Namespaced"))
    for path, name in _served(spec):
        found = schemas.crd_schema(crd, name)
        where = document.source_of(path) if document else None
        for field in CLAIM_FIELDS if found is not None else ():
            if schemas.knows(found or {}, fieldpath.parse(field)):
                continue
            what = f"{kind} {name} has no {field}, which every claim has"
            problems.append(Problem(what, where, path, "add the field; claimsmith crds shows how it is written"))
    return problems


def _served(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where the schema of each served version stands, and the version."""
    listed = [
        (f"spec.versions[{index}].schema", str(version["name"]))
        for index, version in enumerate(spec.get("versions") or ())
        if version.get("served", True)
    ]
    return listed or [("spec.validation", str(spec.get("version")))]


def record_crds() -> list[Crd]:
    """The definitions of our own records, which keep every field; real ones, where given, take their place."""
    return [_record_crd(*described_record) for described_record in RECORDS]


def _record_crd(api_version: str, kind: str, namespaced: bool, description: str, columns: Columns) -> Crd:
    found = {
        "type": "object",
        "description": description,
        PRESERVE: True,
        "properties": {
            "spec": {"type": "object", "description": "The desired state.", PRESERVE: True},
            "status": {"type": "object", "description": "The observed state.", PRESERVE: True},
        },
    }
    names = _names(kind, crds.plural_of(kind), kind.lower(), f"{kind}List")
    crd = _crd(api_version, names, found, [*columns, _AGE], namespaced=namespaced)
    crd["metadata"]["annotations"] = {**crd["metadata"].get("annotations", {}), crds.PERMISSIVE: "true"}
    return crd


def _claim_fields() -> dict[str, Any]:
    return {
        "writeConnectionSecretToRef": record(
            "Where the connection details go: a Secret in the claim's own namespace. Without it there is none.",
            *("name",),
            name=described("The Secret's name.", NAME),
        ),
        "classRef": object_ref("The class that provisions the claimed resource; selected if it is not set."),
        "classSelector": selector("Which classes may be chosen, by their labels; {} means any."),
        "resourceRef": _existing_ref(),
    }


def _existing_ref() -> dict[str, Any]:
    """A reference to an existing resource: an object of the cluster, or a native resource."""
    native = {
        "type": described("The type of a native resource, like aws:s3:Bucket.", TEXT),
        "id": described("The id by which its provider knows a native resource.", TEXT),
        "template": described("The template that it stands for, if the class has several of its type.", TEXT),
    }
    found = object_ref("The resource that this claim is bound to; set it beforehand to claim an existing resource.")
    return record(found["description"], **found["properties"], **native)


def _claim_status() -> dict[str, Any]:
    condition = record(
        "One condition of the claim.",
        *("type", "status"),
        type=described("What it is about, as in Ready.", TEXT),
        status=described("Whether it holds: True, False or Unknown.", TEXT),
        reason=described("Why, in one word.", TEXT),
        message=described("Why, for a person to read.", TEXT),
        lastTransitionTime=described("Since when.", {**TEXT, "format": "date-time"}),
    )
    phases = {**TEXT, "enum": ["Unbound", "Bound", "Released"]}
    return {
        "type": "object",
        "description": "The observed state.",
        PRESERVE: True,
        "properties": {
            "bindingPhase": described("Whether the claim is bound.", phases),
            "conditions": described("The conditions of the claim.", {"type": "array", "items": condition}),
        },
    }


def _names(kind: str, plural: str, singular: str, list_kind: str) -> dict[str, Any]:
    return {"kind": kind, "listKind": list_kind, "plural": plural, "singular": singular}


def _crd(
    api_version: str, names: Mapping[str, Any], found: Mapping[str, Any], columns: Columns, *, namespaced: bool
) -> Crd:
    """A definition of one served version; groups, names and odd cases are those of a permissive one."""
    crd = crds.permissive_crd(api_version, names["kind"], namespaced=namespaced, managed=False, plural=names["plural"])
    annotations = {k: v for k, v in crd["metadata"]["annotations"].items() if k != crds.PERMISSIVE}
    crd["metadata"] = {"name": crd["metadata"]["name"], **({"annotations": annotations} if annotations else {})}
    crd["spec"]["names"] = dict(names)
    version = crd["spec"]["versions"][0]
    version["schema"] = {"openAPIV3Schema": dict(found)}
    version["additionalPrinterColumns"] = [{"name": n, "type": t, "jsonPath": p} for n, t, p in columns]
    # Parts that are shared would come out of a YAML dumper as anchors.
    result: Crd = values.copied(crd)
    return result
