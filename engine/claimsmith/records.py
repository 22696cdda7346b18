"""Claims and composites as objects in the cluster, so that `kubectl get` tells their story.

Pure: from who a claim is and what was made for it, to the documents that record it. They carry no status subresource
and no owner references: nothing reconciles them, and the garbage collector must not act on derived uids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith.compose.identity import AGGREGATE, COMPOSITE, DIRECTING, OWNER, Identity
from claimsmith.connection import Connection
from claimsmith.models.klass import Parent
from claimsmith.models.workload import API_VERSION, APPLICATION_RESOURCE, TARGET
from claimsmith.targets import Published
from claimsmith.workload_plan import PlannedWorkload, shown

Reference = Mapping[str, Any]


def reference(document: Mapping[str, Any]) -> dict[str, str]:
    """An object as a record names it."""
    metadata = document["metadata"]
    place = {"namespace": str(metadata["namespace"])} if metadata.get("namespace") else {}
    return {"apiVersion": str(document["apiVersion"]), "kind": str(document["kind"]), **place, "name": metadata["name"]}


def records_of(
    identity: Identity, claim: Mapping[str, Any], made: Sequence[Reference], secrets: Sequence[Connection]
) -> list[tuple[str, dict[str, Any]]]:
    """The documents that record a claim and its composite, each with the word that it has in the component."""
    match identity.parent:
        case Parent.instance:
            return [("instance", _instance(identity, claim, made))]
        case Parent.requirement:
            return [("requirement", _requirement(identity, claim, made))]
        case Parent.xr:
            return [("xr", _composed(identity, claim, made))]
        case Parent.xr_claim:
            return [("claim", _written(identity, claim, {**claim["spec"], "resourceRef": dict(made[0])}))]
        case Parent.composite:
            composite = _composite(identity, COMPOSITE, made, secrets)
        case Parent.aggregate:
            composite = _composite(identity, AGGREGATE, made, secrets)
        case Parent.claim:
            return [("claim", _claim(identity, claim, made[0] if made else {}))]
    reference = {key: composite[key] for key in ("apiVersion", "kind")} | {"name": identity.composite_name}
    return [("composite", composite), ("claim", _claim(identity, claim, reference))]


def workload_records(
    identity: Identity, planned: PlannedWorkload, credentials: tuple[str, str]
) -> list[tuple[str, dict[str, Any]]]:
    """The documents that record a scheduled application and its resources; only their status names the credentials."""
    placement = planned.placement
    status = {
        "state": "Submitted",
        "cluster": placement.target.cluster.identity,
        "credentialsSecretRef": dict(zip(("namespace", "name"), credentials, strict=True)),
    }
    written: list[tuple[str, dict[str, Any]]] = []
    for resource, document in zip(planned.resources, planned.documents(), strict=True):
        metadata = document["metadata"]
        annotations = {**_own(metadata.get("annotations") or {}), OWNER: identity.owner}
        written.append(
            (
                f"record/{resource.name}",
                {**document, "metadata": {**metadata, "annotations": annotations}, "status": dict(status)},
            )
        )
    if placement.application.key.group_kind == APPLICATION_RESOURCE:
        return written
    data = placement.application.data
    templates = [
        {**given, "spec": {**given["spec"], "template": shown(given["spec"]["template"])}}
        for given in data["spec"]["resourceTemplates"]
    ]
    spec = {
        **data["spec"],
        "targetRef": {"name": placement.target.target.key.name},
        "resourceTemplates": templates,
    }
    counts = {"desiredResources": len(written), "submittedResources": len(written)}
    return [("record", _written(identity, data, spec) | {"status": {**status, **counts}}), *written]


def target_record(published: Published, owner: str) -> dict[str, Any]:
    """The document that records a target."""
    target = published.target
    labels = {"labels": dict(target.labels)} if target.labels else {}
    metadata = {"name": target.key.name, "namespace": target.key.namespace, **labels, "annotations": {OWNER: owner}}
    reference = target.cluster.model_dump(by_alias=True)
    return {"apiVersion": API_VERSION, "kind": TARGET.kind, "metadata": metadata, "spec": {"clusterRef": reference}}


def _claim(identity: Identity, claim: Mapping[str, Any], resource: Reference) -> dict[str, Any]:
    spec = {**claim["spec"], "classRef": dict(identity.class_ref), "resourceRef": dict(resource)}
    return _written(identity, claim, spec) | {"status": {"bindingPhase": "Bound"}}


def _composite(
    identity: Identity, kind: Mapping[str, str], made: Sequence[Reference], secrets: Sequence[Connection]
) -> dict[str, Any]:
    aggregate = kind is AGGREGATE
    selector = {"resourceSelector": {"matchLabels": identity.labels()}}
    group = identity.key.group_kind.group
    version = identity.api_version.rpartition("/")[2]
    annotations = {OWNER: identity.owner, f"{identity.kind.lower()}.{group}/{version}": "bindable"}
    own = [s for s in secrets if s.name == identity.composite_name]
    spec = {
        **({"aggregationRule": selector} if aggregate else selector),
        "claimRef": identity.claim_reference(),
        "classRef": dict(identity.class_ref),
        **({"writeConnectionSecretsToRef": {"namespace": own[0].namespace, "name": own[0].name}} if own else {}),
    }
    bound = [{**reference, "bindingPhase": "Bound"} for reference in made]
    status = {"aggregatedResources" if aggregate else "resources": bound, "bindingPhase": "Bound"}
    metadata = {"name": identity.composite_name, "labels": identity.labels(), "annotations": annotations}
    return {**kind, "metadata": metadata, "spec": spec, "status": status}


def released_record(identity: Identity, resources: Sequence[Reference]) -> dict[str, Any]:
    """The composite of a claim that is gone: what it is made of is still there, and nobody holds it."""
    kind = AGGREGATE if identity.parent is Parent.aggregate else COMPOSITE
    document = _composite(identity, kind, resources, ())
    document["spec"].pop("claimRef")
    word = "aggregatedResources" if kind is AGGREGATE else "resources"
    bound = [{**reference, "bindingPhase": "Bound"} for reference in resources]
    return document | {"status": {word: bound, "bindingPhase": "Released"}}


def _instance(identity: Identity, claim: Mapping[str, Any], made: Sequence[Reference]) -> dict[str, Any]:
    word = "application" if identity.namespaced else "infrastructure"
    injected = {**(claim["spec"].get(word) or {}), "compositionRef": {"name": identity.class_ref["name"]}}
    return _written(identity, claim, {**claim["spec"], word: {**injected, "composedRefs": [dict(r) for r in made]}})


def _composed(identity: Identity, claim: Mapping[str, Any], made: Sequence[Reference]) -> dict[str, Any]:
    """A composite of today's dialect, which names its composition and what it is composed of."""
    said = {"compositionRef": {"name": identity.class_ref["name"]}, "resourceRefs": [dict(r) for r in made]}
    spec = dict(claim["spec"])
    modern = isinstance(spec.get("crossplane"), Mapping) or identity.namespaced
    named = {"crossplane": {**(spec.get("crossplane") or {}), **said}} if modern else said
    return _written(identity, claim, {**spec, **named})


def _requirement(identity: Identity, claim: Mapping[str, Any], made: Sequence[Reference]) -> dict[str, Any]:
    injected = {**(claim["spec"].get("infrastructure") or {}), **({"resourceRef": dict(made[0])} if made else {})}
    return _written(identity, claim, {**claim["spec"], "infrastructure": injected})


def _written(identity: Identity, claim: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    given = claim["metadata"]
    place = {"namespace": identity.namespace} if identity.namespace else {}
    labels = {"labels": dict(given["labels"])} if given.get("labels") else {}
    annotations = {**_own(given.get("annotations") or {}), OWNER: identity.owner}
    metadata = {"name": identity.name, **place, **labels, "annotations": annotations}
    return {"apiVersion": identity.api_version, "kind": identity.kind, "metadata": metadata, "spec": dict(spec)}


def _own(annotations: Mapping[str, Any]) -> dict[str, Any]:
    """A claim's annotations without those that direct claimsmith and the engine: a record is nobody's instruction."""
    return {k: v for k, v in annotations.items() if not str(k).startswith(DIRECTING)}
