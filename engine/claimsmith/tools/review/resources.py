"""The resources that a plan deploys, each with its URN."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from claimsmith.base.documents import Document
from claimsmith.base.labels import OWNER
from claimsmith.base.names import ClassKey, GroupKind, ObjectKey
from claimsmith.base.values import object_at
from claimsmith.compose.cluster_records import records_of, reference, target_record
from claimsmith.compose.connections import Connection, secret_document
from claimsmith.compose.drafts import Child, Draft, claim_data
from claimsmith.compose.options import Options, options_of, waiting
from claimsmith.compose.plan import Plan, PlannedClaim, hold
from claimsmith.compose.sinks import COMPONENT, SERVES
from claimsmith.compose.workload_plan import PlannedWorkload
from claimsmith.dialects.common.klass import Template
from claimsmith.providers import tokens as urns

PATCH = "Patch"
CONNECTION = "connection"
COMPOSITE_CONNECTION = "composite-connection"
HOLD = "hold"


@dataclass(frozen=True, slots=True)
class PlannedResource:
    """One object, with all that determines its change."""

    urn: str
    claim: str
    """The address of the claim or application that it is for; empty for resources of the stack itself."""
    part: str
    document: Mapping[str, Any]
    options: Options
    aliases: tuple[str, ...] = ()
    """The URNs that it may have had."""
    cluster: str = ""
    account: str = ""
    """The service account that creates it; empty for the stack's own."""
    planned: PlannedClaim | None = None
    child: Child | None = None
    secret: Connection | None = None
    source: Document | None = None
    """The document of a pre-existing resource."""

    @property
    def kind(self) -> GroupKind:
        """Its kind."""
        return GroupKind.of(dict(self.document))

    @property
    def read(self) -> bool:
        """Whether it is an existing native resource that is only read."""
        return bool(self.child and self.child.template.existing_id)

    @property
    def held(self) -> bool:
        """Whether it is only a mark on something that somebody else owns."""
        return self.part.rpartition("/")[2] == HOLD and self.child is None

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What it is in the world: cluster, kind, namespace and name, whatever the engine calls it.

        The physical name of a native resource is its provider's business: it is what the engine calls it.
        """
        if urns.is_native(self.document):
            return self.cluster, "native", "", self.urn
        metadata = self.document["metadata"]
        kind = f"{self.kind}{PATCH if self.held else ''}"
        return self.cluster, kind, str(metadata.get("namespace") or ""), str(metadata["name"])


@dataclass(frozen=True, slots=True)
class _Place:
    """A component: the types that it is nested in, its name, and the names that it may have had."""

    project: str
    stack: str
    types: tuple[str, ...]
    names: tuple[str, ...]

    def urns(self, document: Mapping[str, Any], *words: str, patch: bool = False) -> tuple[str, ...]:
        """The URN of an object below, and those it may have had."""
        types = (*self.types, urns.resource_type(document) + (PATCH if patch else ""))
        return tuple(urns.urn(self.project, self.stack, types, n) for n in self._below(words))

    def native_urns(self, child: Child) -> tuple[str, ...]:
        """The URN of a native child, and those it may have had: its name has no slashes."""
        types = (*self.types, urns.resource_type(child.document))
        own = urns.urn(self.project, self.stack, types, child.name)
        aliases = object_at(child.document, "options").get("aliases", ())
        return (own, *(self._native_alias(alias, types) for alias in aliases))

    def _native_alias(self, alias: Any, types: tuple[str, ...]) -> str:
        """The URN that an alias of a native child stands for: a name, a name with another type, or the URN itself."""
        if isinstance(alias, str):
            return alias if alias.startswith("urn:") else urns.urn(self.project, self.stack, types, alias)
        return urns.urn(self.project, self.stack, (*self.types, alias["type"]), alias["name"])

    def known_urns(self, document: Mapping[str, Any], template: Template) -> list[str]:
        """The URNs that a child may have had as another template, each with the apiVersion of that time."""
        versions = {k: {**document, **({"apiVersion": k.type} if k.type else {})} for k in template.known_as}
        return [urn for known, before in versions.items() for urn in self.urns(before, known.name)]

    def below(self, kind: GroupKind, *words: str) -> _Place:
        """A component within."""
        return replace(self, types=(*self.types, urns.component_type(kind)), names=tuple(self._below(words)))

    def _below(self, words: Iterable[str]) -> Iterator[str]:
        return (f"{name}/{word}" for name, word in product(self.names, [w for w in words if w]))

    @property
    def urn(self) -> str:
        """The component's own URN."""
        return urns.urn(self.project, self.stack, self.types, self.names[0])


def planned_resources(
    plan: Plan,
    drafts: Iterable[Draft] = (),
    provided: Mapping[ObjectKey, Document] | None = None,
    *,
    records: bool = False,
) -> dict[str, PlannedResource]:
    """Every object of a plan by its URN.

    `drafts` are those of the plan's claims, for applications within them; `provided` the documents of the stack's own
    resources. `records` says whether claims and composites are written to the cluster too.
    """
    found = [
        *_provided(plan, provided or {}),
        *(m for claim in plan.claims for m in _claim(plan, claim, _place(plan, claim), "", claim.address)),
        *(m for claim in plan.claims for m in _sink(plan, claim)),
        *_workloads(plan, list(drafts)),
    ]
    if records:
        found += [m for c in plan.claims for m in _claim_records(c, _place(plan, c), "", c.address)]
        found += _workload_records(plan, list(drafts))
    return {m.urn: m for m in found}


def claim_urn(plan: Plan, claim: PlannedClaim) -> str:
    """The URN of a claim's component."""
    return _place(plan, claim).urn


def _place(plan: Plan, claim: PlannedClaim) -> _Place:
    kind = urns.component_type(claim.binding.claim.key.group_kind)
    return _Place(plan.project, plan.stack, (kind,), (claim.component_name,))


def _provided(plan: Plan, documents: Mapping[ObjectKey, Document]) -> Iterator[PlannedResource]:
    for resource in plan.resources:
        # One without a namespace was put into `default`.
        bare = ObjectKey(resource.key.group_kind, "", resource.key.name)
        source = documents.get(resource.key) or documents.get(bare)
        types = (urns.resource_type(resource.document),)
        urn = urns.urn(plan.project, plan.stack, types, resource.address)
        document = _annotated(resource.document, resource.options)
        yield PlannedResource(urn, "", resource.address, document, resource.options, source=source)


def _claim(plan: Plan, claim: PlannedClaim, here: _Place, prefix: str, root: str) -> Iterator[PlannedResource]:
    account = "/".join(claim.binding.klass.service_account or ())
    templates = {t.name: t for t in claim.templates}
    for inner in claim.nested:
        words = templates[inner.template].names if inner.template in templates else ()
        kind = inner.binding.claim.key.group_kind
        below = here.below(kind, *dict.fromkeys([inner.template, *words]))
        yield from _claim(plan, inner, below, f"{prefix}{inner.template}/", root)
    for child in claim.children:
        template = child.template
        if template.native:
            urn, *aliases = here.native_urns(child)
            part = f"{prefix}{template.name}"
            yield PlannedResource(
                urn, root, part, child.document, child.options, tuple(aliases), planned=claim, child=child
            )
            continue
        urn, *aliases = here.urns(child.document, template.name, template.previous_name or "")
        if child.options.previous_api_version:
            before = {**child.document, "apiVersion": child.options.previous_api_version}
            aliases += here.urns(before, template.name, template.previous_name or "")
        aliases += here.known_urns(child.document, template)
        document = _annotated(child.document, child.options, claim.identity.owner)
        part = f"{prefix}{template.name}"
        yield PlannedResource(urn, root, part, document, child.options, tuple(aliases), "", account, claim, child)
    for secret in claim.connections:
        word = CONNECTION if secret is claim.connections[-1] else COMPOSITE_CONNECTION
        document = secret_document(claim.identity, secret)
        urn, *aliases = here.urns(document, word)
        bare = Options(wait_for=())
        yield PlannedResource(
            urn, root, f"{prefix}{word}", document, bare, tuple(aliases), planned=claim, secret=secret
        )
    yield from _held(plan, claim, here, prefix, root)


def _sink(plan: Plan, claim: PlannedClaim) -> Iterator[PlannedResource]:
    """What takes the connection details of a claim to native resources: a part of the claim."""
    if sink := plan.sinks.get(claim.address):
        here = _place(plan, claim).below(SERVES, COMPONENT)
        yield from _claim(plan, sink, here, f"{COMPONENT}/", claim.address)


def _claim_records(claim: PlannedClaim, here: _Place, prefix: str, root: str) -> Iterator[PlannedResource]:
    """The objects that record a claim and its composites."""
    composed = [reference(c.document) for c in claim.children] + [
        dict(n.identity.claim_reference()) for n in claim.nested
    ]
    if claim.binding.klass.static:
        composed = [dict(claim.binding.klass.static)]
    kept = any(child.options.retain for child in claim.children)
    for word, document in records_of(claim.identity, claim_data(claim.binding), composed or [{}], claim.connections):
        # A composite is retained with its children.
        options = Options(wait_for=(), retain=word == "composite" and kept)
        urn, *aliases = here.urns(document, word)
        yield PlannedResource(urn, root, f"{prefix}{word}", document, options, tuple(aliases), planned=claim)
    for inner in claim.nested:
        below = here.below(inner.binding.claim.key.group_kind, inner.template)
        yield from _claim_records(inner, below, f"{prefix}{inner.template}/", root)


def _workload_records(plan: Plan, drafts: list[Draft]) -> Iterator[PlannedResource]:
    """The objects that record applications, their resources and targets; their status is unknown here."""
    composed = dict(_composed(plan, drafts))
    options = Options(wait_for=())
    for workload in plan.workloads:
        here = composed.get(workload.address, _own_place(plan, workload))
        for resource, document in zip(workload.resources, workload.documents(), strict=True):
            word = f"record/{resource.name}"
            yield PlannedResource(here.urns(document, word)[0], workload.address, word, document, options)
    for target in plan.targets:
        document = target_record(target, f"{plan.project}/{plan.stack}/target")
        name = f"target/{target.target.key.place}"
        urn = urns.urn(plan.project, plan.stack, (urns.resource_type(document),), name)
        yield PlannedResource(urn, "", name, document, options)


def _held(plan: Plan, claim: PlannedClaim, here: _Place, prefix: str, root: str) -> Iterator[PlannedResource]:
    """The mark on an existing resource that a claim holds; one that the stack gives carries it from the start."""
    static = claim.binding.klass.static
    if not static:
        return
    key = claim.binding.klass.key
    provided = {ClassKey(r.key.group_kind, r.key.name) for r in plan.resources}
    own = {ClassKey(c.binding.claim.key.group_kind, c.binding.claim.key.name) for c in plan.claims}
    if key in provided | own:
        return
    head = {k: static[k] for k in ("apiVersion", "kind")}
    spec = {"claimRef": hold(claim.identity)}
    document = {**head, "metadata": {"name": static["name"]}, "spec": spec}
    urn, *aliases = here.urns(document, HOLD, patch=True)
    yield PlannedResource(urn, root, f"{prefix}{HOLD}", document, Options(wait_for=()), tuple(aliases), planned=claim)


def _workloads(plan: Plan, drafts: list[Draft]) -> Iterator[PlannedResource]:
    composed = dict(_composed(plan, drafts))
    for workload in plan.workloads:
        yield from _workload(plan, workload, composed.get(workload.address, _own_place(plan, workload)))


def _own_place(plan: Plan, workload: PlannedWorkload) -> _Place:
    key = workload.placement.application.key
    return _Place(plan.project, plan.stack, (urns.component_type(key.group_kind),), (key.place,))


def _workload(plan: Plan, workload: PlannedWorkload, here: _Place) -> Iterator[PlannedResource]:
    cluster = workload.placement.target.cluster.identity
    for resource in workload.resources:
        options = options_of(resource.document, managed=False)
        urn, *aliases = here.urns(resource.document, resource.name)
        document = _annotated(resource.document, options)
        yield PlannedResource(urn, workload.address, resource.name, document, options, tuple(aliases), cluster)
    for secret in workload.secrets:
        name = f"{cluster}/{secret.namespace}/{secret.name}"
        document = {**urns.SECRET, "metadata": {"name": secret.name, "namespace": secret.namespace}}
        urn = urns.urn(plan.project, plan.stack, (urns.resource_type(document),), name)
        yield PlannedResource(urn, "", name, document, Options(wait_for=()), cluster=cluster)


def _composed(plan: Plan, drafts: list[Draft]) -> Iterator[tuple[str, _Place]]:
    """The places of the applications that claims compose, by their addresses."""
    for root in drafts:
        key = root.binding.claim.key
        here = _Place(plan.project, plan.stack, (urns.component_type(key.group_kind),), (key.place,))
        yield from _composed_in(root, here)


def _composed_in(draft: Draft, here: _Place) -> Iterator[tuple[str, _Place]]:
    names = {draft.identity.name_of(t.named_after): t for t in draft.templates}
    for application in draft.applications:
        template = names[application.key.name]
        kind = application.key.group_kind
        yield str(application.key), here.below(kind, *template.names)
    for inner in draft.nested:
        yield from _composed_in(inner, here.below(inner.binding.claim.key.group_kind, inner.template))


def _united(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A Secret as the API server keeps it: stringData is data like the rest."""
    texts = document.get("stringData")
    if document.get("kind") != "Secret" or not isinstance(texts, dict):
        return document
    encoded = {k: base64.b64encode(v.encode()).decode() if isinstance(v, str) else v for k, v in texts.items()}
    rest = {k: v for k, v in document.items() if k != "stringData"}
    return {**rest, "data": {**(document.get("data") or {}), **encoded}}


def _annotated(document: Mapping[str, Any], options: Options, owner: str = "") -> dict[str, Any]:
    """The document with the annotations for the engine, as far as these may change."""
    document = _united(document)
    annotations = ({OWNER: owner} if owner else {}) | waiting(options)
    if not annotations:
        return dict(document)
    metadata = document["metadata"]
    return {**document, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotations}}}
