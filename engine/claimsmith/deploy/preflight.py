"""Before the engine runs: look up all objects that it would create, and refuse those that somebody else owns.

Kubernetes providers before 4.29 merge a create into an existing object of the same name, and delete it with the stack,
whoever created it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from claimsmith.base.errors import DeployError, Problem, Source, in_order
from claimsmith.base.labels import ADOPT, GIVEN_BY, PREVIOUS_API_VERSION
from claimsmith.base.names import ObjectKey
from claimsmith.compose.cluster_records import records_of, released_record, target_record
from claimsmith.compose.clusters import kubernetes_children
from claimsmith.compose.connections import Connection, secret_document
from claimsmith.compose.drafts import Child, claim_data
from claimsmith.compose.identity import is_adopting
from claimsmith.compose.plan import GivenResource, Plan, PlannedClaim
from claimsmith.deploy.existing import Wanted, look_up
from claimsmith.deploy.left_behind import LeftBehind
from claimsmith.deploy.provider import Taken, key_of
from claimsmith.kubernetes.client import Cluster
from claimsmith.project.layout import PRIVATE
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically
from claimsmith.providers import tokens

CLUSTERS = "clusters.json"
"""Which cluster each stack was deployed to from here, by its identity."""


def refuse_another_cluster(project: Project, stack: str, identity: str, *, keep: bool) -> None:
    """Refuse to deploy a stack to another cluster than before: its state holds the objects of that one.

    The engine would take them for objects of this cluster, or create them here and delete them there. `keep` records
    the cluster.
    """
    path = project.private / CLUSTERS
    known = _known_clusters(path)
    before = known.get(stack, identity)
    if before != identity:
        what = f"the stack {stack!r} was deployed to the cluster {before}, but this is {identity}: wiped, or another"
        shown = path.relative_to(project.root).as_posix()
        end = f"delete the old state (pulumi stack rm {stack} --force) and remove the stack from {shown}"
        fix = f"use the former kubeconfig; or {end}"
        raise DeployError(Problem(what, fix=fix))
    if keep and stack not in known:
        write_atomically(path, json.dumps({**known, stack: identity}, indent=2) + "\n")


def _known_clusters(path: Path) -> dict[str, str]:
    try:
        known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return dict(known)
    except (ValueError, TypeError) as error:
        what = f"{PRIVATE}/{CLUSTERS} is broken: {error}"
        raise DeployError(Problem(what, fix="remove it; the next up writes it again")) from error


def refuse_foreign(
    plan: Plan,
    cluster: Cluster,
    held: Mapping[ObjectKey, str] | None,
    *,
    records: bool,
    left: LeftBehind | None = None,
) -> Taken:
    """Refuse to create objects that somebody else owns; returns those of ours that are taken over.

    `held` are the URNs of what the stack's state holds in its own cluster, None if the state cannot be read. `left`
    knows what other stacks of the project left behind.
    """
    known = held.keys() if held is not None else None
    taken, problems = look_up(wanted(plan, records=records), cluster, known, left=left)
    problems += _renamed(plan, held or {})
    if problems:
        raise DeployError(*in_order(problems))
    return taken


def wanted(plan: Plan, *, records: bool) -> Iterator[Wanted]:
    """Every object that a plan creates in the stack's own cluster."""
    for claim in plan.walk():
        yield from (
            _child(claim, child)
            for child in kubernetes_children(claim)
            if isinstance(child.document["metadata"]["name"], str)
        )
        yield from (_secret(claim, secret) for secret in claim.connections)
    provided = [r for r in plan.resources if GIVEN_BY not in _annotations(r.document)]
    yield from (_provided(resource, plan) for resource in provided)
    if records:
        yield from _records(plan)


def _child(claim: PlannedClaim, child: Child) -> Wanted:
    document, template = child.document, child.template
    shown = f"{document['kind']} {key_of(document).place}"
    head = f"{claim.address}: its child {template.name!r} is {shown}, which"
    fix = f'delete the existing object, change the name, or adopt it: annotate the template with {ADOPT}: "true"'
    # Only the platform's own file counts: otherwise a claim could take over any object that it can name.
    adopt = is_adopting(template.base)
    where = claim.binding.claim.document.source_of("metadata")
    return Wanted(document, claim.identity.owner, head, where, "metadata", fix, adopt)


def _secret(claim: PlannedClaim, secret: Connection) -> Wanted:
    document = secret_document(claim.identity, secret)
    place = f"{secret.namespace}/{secret.name}"
    if secret is not claim.connection:
        where = claim.binding.claim.document.source_of("metadata")
        fix = "remove it, or let the class put its Secret elsewhere"
        head = f"{claim.address}: the Secret {place} of its composite"
        return Wanted(document, claim.identity.owner, head, where, "metadata", fix)
    path = "spec.writeConnectionSecretToRef.name"
    where = claim.binding.claim.document.source_of(path)
    head = f"{claim.address} asks for the Secret {place}, which"
    fix = f'choose another name, delete the existing Secret, or adopt it: annotate the claim with {ADOPT}: "true"'
    adopt = is_adopting(claim.binding.claim.data)
    return Wanted(document, claim.identity.owner, head, where, path, fix, adopt, always=True)


def _provided(resource: GivenResource, plan: Plan) -> Wanted:
    """An object that the stack's files provide. The stack would delete it, and a namespace with all its objects."""
    head = f"stacks/{plan.stack}/resources provides {resource.key}, which"
    fix = f'remove it from the files (references still resolve to it), or adopt it: annotate it with {ADOPT}: "true"'
    adopt = is_adopting(resource.document)
    owner = given_owner(plan.project, plan.stack)
    return Wanted(resource.document, owner, head, None, "metadata.name", fix, adopt, always=True)


def _renamed(plan: Plan, held: Mapping[ObjectKey, str]) -> Iterator[Problem]:
    """Children that the state holds with another apiVersion, or of another template.

    The engine would take such a child for a new resource, create it, and then delete the old one: the same object.
    """
    for claim in plan.walk():
        for child in kubernetes_children(claim):
            before = held.get(key_of(child.document))
            if before and not _is_held_as(before, child):
                yield _renamed_child(claim, child, before)


def _is_held_as(urn: str, child: Child) -> bool:
    """Whether a URN is that of a child, as it is or as its template was before. Template names may have slashes."""
    *_, types, name = urn.split("::")
    document, template = child.document, child.template
    versions = {str(document["apiVersion"]), child.options.previous_api_version, *(k.type for k in template.known_as)}
    expected = [tokens.resource_type({**document, "apiVersion": version}) for version in versions if version]
    named = any(name.endswith(f"/{known}") for known in template.names)
    return types.rpartition("$")[2] in expected and named


def _renamed_child(claim: PlannedClaim, child: Child, urn: str) -> Problem:
    *_, types, name = urn.split("::")
    before = f"{types.rpartition('$')[2]}::{name.rpartition('/')[2]}"
    shown = f"{child.document['kind']} {key_of(child.document).place}"
    what = f"{claim.address}: its child {child.template.name!r} is {shown}, which the state holds as {before}"
    fix = f"declare what it was: {PREVIOUS_API_VERSION} on the template's base, previousName on the template, or Moved"
    whole = f"{what}: the engine would create it again, then delete it with the old one"
    return claim.binding.claim.document.problem(whole, "metadata", fix)


def _records(plan: Plan) -> Iterator[Wanted]:
    for claim in plan.walk():
        written = records_of(claim.identity, claim_data(claim.binding), [{}], ())
        where = claim.binding.claim.document.source_of("metadata.name")
        yield from (_record(claim.address, document, claim.identity.owner, where) for _, document in written)
    for left in plan.released:
        yield _record(str(left.identity.key), released_record(left.identity, ()), left.identity.owner)
    for target in plan.targets:
        owner = target_owner(plan.project, plan.stack)
        yield _record(str(target.target.key), target_record(target, owner), owner)
    for workload in plan.workloads:
        application = workload.placement.application
        key = application.key
        place = {"name": key.name, "namespace": key.namespace}
        whole = {"apiVersion": application.api_version, "kind": key.group_kind.kind, "metadata": place}
        owner = f"{plan.project}/{plan.stack}/{workload.placement.uid}"
        where = application.document.source_of("metadata.name")
        yield from (_record(workload.address, d, owner, where) for d in (whole, *workload.documents()))


def _record(address: str, document: Mapping[str, Any], owner: str, where: Source | None = None) -> Wanted:
    head = f"{address}: its record {document['kind']} {key_of(document).place}"
    fix = "remove what manages it, then the object, or write no records: claimsmith:records in the stack's config"
    return Wanted(document, owner, head, where, "metadata.name", fix)


def _annotations(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return (document.get("metadata") or {}).get("annotations") or {}


def given_owner(project: str, stack: str) -> str:
    """The owner of the objects that a stack's files provide."""
    return f"{project}/{stack}/given"


def target_owner(project: str, stack: str) -> str:
    """The owner of the records of targets."""
    return f"{project}/{stack}/target"
