"""Claims and composites as objects in the cluster, so that `kubectl get` lists them.

Pure: from a claim's identity and its resources to the objects that record it. They carry no status subresource
and no owner references: nothing reconciles them, and the garbage collector must not act on derived uids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimsmith.base.labels import OWNER
from claimsmith.base.names import is_native
from claimsmith.compose.connections import Connection
from claimsmith.compose.workload_plan import PlannedWorkload, shown
from claimsmith.compose.workload_targets import Published
from claimsmith.dialects.common.dialect import Identity, Reference, recorded_annotations
from claimsmith.dialects.workloads.reading import API_VERSION, APPLICATION_RESOURCE, TARGET


def reference(document: Mapping[str, Any]) -> dict[str, str]:
    """An object as a record names it."""
    metadata = document["metadata"]
    if is_native(document):
        return {"type": str(document["type"]), "name": metadata["name"]}
    place = {"namespace": str(metadata["namespace"])} if metadata.get("namespace") else {}
    return {"apiVersion": str(document["apiVersion"]), "kind": str(document["kind"]), **place, "name": metadata["name"]}


def records_of(
    identity: Identity, claim: Mapping[str, Any], children: Sequence[Reference], secrets: Sequence[Connection]
) -> list[tuple[str, dict[str, Any]]]:
    """The documents that record a claim and its composite, each with its name in the component."""
    places = [(secret.namespace, secret.name) for secret in secrets]
    return identity.dialect.records(identity, claim, children, places)


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
        annotations = {**recorded_annotations(metadata.get("annotations") or {}), OWNER: identity.owner}
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
    return [("record", identity.record(data, spec) | {"status": {**status, **counts}}), *written]


def target_record(published: Published, owner: str) -> dict[str, Any]:
    """The document that records a target."""
    target = published.target
    labels = {"labels": dict(target.labels)} if target.labels else {}
    metadata = {"name": target.key.name, "namespace": target.key.namespace, **labels, "annotations": {OWNER: owner}}
    reference = target.cluster.model_dump(by_alias=True)
    return {"apiVersion": API_VERSION, "kind": TARGET.kind, "metadata": metadata, "spec": {"clusterRef": reference}}


def released_record(identity: Identity, resources: Sequence[Reference]) -> dict[str, Any]:
    """The composite of a claim that is gone: its children are still there, and nobody holds it."""
    return identity.dialect.composite_record(identity, resources, released=True)
