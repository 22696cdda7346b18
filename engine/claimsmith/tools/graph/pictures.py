"""What a plan or a class looks like, as a graph for `drawing`.

Takes a plan, or a class with the reference table; gives nodes and edges. Of Secrets it knows names, and the names of
keys where a class promises them; there is no value in a plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.base.printable import counted, visible
from claimsmith.base.values import Interpolation, refs_at, walk
from claimsmith.compose import references
from claimsmith.compose.connections import Connection, SecretSource
from claimsmith.compose.plan import GivenResource, Plan, PlannedClaim
from claimsmith.compose.references import Candidate, Table
from claimsmith.compose.released import Released
from claimsmith.compose.workload_plan import PlannedWorkload
from claimsmith.dialects.common.klass import Class, Side, Template
from claimsmith.dialects.common.ordering import is_piped
from claimsmith.platform.offers import dialect_of
from claimsmith.platform.selection import Unbound
from claimsmith.providers import tokens
from claimsmith.tools.graph import Edge, Graph, Node
from claimsmith.tools.graph.model import Kind


def of_stack(plan: Plan, table: Table) -> Graph:
    """All that a stack makes: each claim with its children, what serves it, and what refers to what."""
    drawn = _Drawn(plan.project, plan.stack, table)
    for claim in plan.claims:
        drawn.claim(claim)
    for workload in plan.workloads:
        drawn.workload(workload)
    for given in plan.resources:
        drawn.given(given)
    for unbound in plan.unbound:
        drawn.unbound(unbound)
    for left in plan.released:
        drawn.released(left)
    return drawn.graph()


def served_by(plan: Plan, klass: ClassKey) -> list[str]:
    """The addresses of a stack's claims that a class serves, themselves or within them."""
    return [c.address for c in plan.claims if any(i.binding.klass.key == klass for i in c.walk())]


def narrowed(graph: Graph, outermost: Iterable[str]) -> Graph:
    """Some outermost nodes with all within them, and what edges join to these, out of its own frame."""
    kept = {i for o in outermost for i in graph.below(o)}
    edges = tuple(e for e in graph.edges if e.source in kept or e.target in kept)
    near = {end for e in edges for end in (e.source, e.target)} - kept
    nodes = [_alone(n, graph) if n.id in near else n for n in graph.nodes if n.id in kept or n.id in near]
    return Graph(tuple(nodes), edges)


def of_class(klass: Class, table: Table) -> Graph:
    """What a class makes of a claim, before there is one: which of its fields go where, what refers to what.

    What a pipeline of functions makes is known for a claim only: of its class, the steps are drawn.
    """
    claim, frame = f"claim {klass.serves}", f"class {klass.key}"
    where = klass.document.source_of("metadata.name")
    nodes = [
        Node(claim, f"any {klass.serves.kind}", klass.serves.group, "claim"),
        Node(frame, klass.name, dialect_of(klass), "class", note=visible(f"{where.file}:{where.line}")),
    ]
    read = [(name, template, to) for template in klass.templates for name, to in _reads(template)]
    nodes += [Node(f"{claim} {name}", name, kind="field", parent=claim) for name in dict.fromkeys(r[0] for r in read)]
    edges = [Edge(f"{claim} {name}", f"{frame}/{template.name}", to, "gives") for name, template, to in read]
    for template in klass.templates:
        kind: Kind = "claim" if template.composite else "resource"
        nodes.append(Node(f"{frame}/{template.name}", template.kind, template.name, kind, parent=frame))
        edges += _sibling_edges(klass, template, frame, table)
    if is_piped(klass):
        nodes += [Node(f"{frame}/{s.name}", s.name, s.function, "resource", parent=frame) for s in klass.steps]
        edges += [Edge(f"{frame}/{a.name}", f"{frame}/{b.name}", "then") for a, b in pairwise(klass.steps)]
    keys = _keys(klass)
    if keys:
        secret = f"{frame} secret"
        nodes.append(Node(secret, "Secret", counted(len(keys), "key"), "secret", parent=frame, note=_noted(keys)))
        feeding = [t for t in klass.templates if t.details or (klass.contract and t.details is None)]
        sources = dict.fromkeys(n for t in feeding for n in _detail_sources(t))
        edges += [Edge(f"{frame}/{name}", secret, kind="secret") for name in sources]
    served = [] if read else [Edge(claim, frame, "is served by")]
    return Graph(tuple(nodes), (*served, *edges))


@dataclass(slots=True)
class _Drawn:
    """Nodes and edges as they come; edges to what is not drawn are left out."""

    project: str
    stack: str
    table: Table
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def graph(self) -> Graph:
        """The graph, classes first."""
        nodes = sorted(self.nodes.values(), key=lambda n: n.kind != "class")
        known = [e for e in self.edges if e.source in self.nodes and e.target in self.nodes]
        return Graph(tuple(nodes), tuple(dict.fromkeys(known)))

    def add(self, node: Node) -> None:
        """Keep a node; one that is there already stays."""
        self.nodes.setdefault(node.id, node)

    def urn(self, types: tuple[str, ...], name: str) -> str:
        """What the engine calls something."""
        return visible(tokens.urn(self.project, self.stack, types, name))

    def claim(
        self, claim: PlannedClaim, parent: str | None = None, types: tuple[str, ...] = (), name: str = ""
    ) -> None:
        """A claim, or a composite within one, with all that is composed for it."""
        key, klass = claim.binding.claim.key, claim.binding.klass
        types = (*types, tokens.component_type(key.group_kind))
        name = f"{name}/{claim.template}" if parent else claim.component_name
        which, what = key.place, key.group_kind.kind
        title, subtitle = (what, which) if parent else (which, what)
        self.add(Node(claim.address, title, subtitle, "claim", parent=parent, note=self.urn(types, name)))
        self._served(claim, klass)
        for child in claim.children:
            called = child.name if child.template.native else f"{name}/{child.template.name}"
            own = self.urn((*types, tokens.resource_type(child.document)), called)
            subtitle = f"{child.name} · exists, only read" if child.template.existing_id else child.name
            self.add(Node(child.address, child.template.kind, subtitle, parent=claim.address, note=own))
            self.edges.append(Edge(claim.address, child.address))
            self.edges += _references(child.address, child.document, self.table)
        for inner in claim.nested:
            self.claim(inner, claim.address, types, name)
        for number, secret in enumerate(claim.connections):
            self._secret(claim, secret, after=claim.connections[number - 1] if number else None)

    def _served(self, claim: PlannedClaim, klass: Class) -> None:
        if klass.static:
            self.edges.append(Edge(claim.address, str(klass.key), "holds", "refers"))
            return
        node = f"class {klass.key} for {klass.serves}"
        self.add(Node(node, klass.name, dialect_of(klass), "class", note=visible(str(klass.key))))
        self.edges.append(Edge(node, claim.address))

    def _secret(self, claim: PlannedClaim, secret: Connection, after: Connection | None) -> None:
        """A Secret of the claim. Where its composite has one of its own, the claim's is a copy of that."""
        node = _secret_id(claim, secret)
        keys = dict.fromkeys(n for s in secret.sources for n in s.key_names if n in (secret.only or (n,)))
        place = f"{secret.namespace}/{secret.name}"
        self.add(Node(node, "Secret", place, "secret", parent=claim.address, note=_noted(keys)))
        if after:
            self.edges.append(Edge(_secret_id(claim, after), node, kind="secret"))
            return
        self.edges += [Edge(_feeding(claim, s), node, _promised_keys(s), "secret") for s in secret.sources]

    def workload(self, workload: PlannedWorkload) -> None:
        """An application with its objects in another cluster."""
        key, target = workload.placement.application.key, workload.placement.target
        self.add(Node(workload.address, key.place, f"{key.group_kind.kind} · to {target.target.key.name}", "claim"))
        for resource in workload.resources:
            node = f"{workload.address}/{resource.name}"
            name = str((resource.document.get("metadata") or {}).get("name", resource.name))
            self.add(Node(node, str(resource.document.get("kind", "")), name, parent=workload.address))
            self.edges += [Edge(node, f"{workload.address}/{n}", kind="refers") for n in resource.needs]
        for need in workload.needs:
            word = "credentials" if need == target.cluster.credentials else "Secret"
            self.edges.append(Edge(workload.address, need.resource, word, "secret"))

    def given(self, resource: GivenResource) -> None:
        """A resource that the stack gives as it is."""
        self.add(Node(resource.address, resource.key.place, resource.key.group_kind.kind, "resource"))

    def unbound(self, unbound: Unbound) -> None:
        """A claim that nothing serves."""
        key = unbound.claim.key
        subtitle = f"{key.group_kind.kind} · nothing serves it"
        self.add(Node(str(key), key.place, subtitle, "claim", note=visible(unbound.problem.what)))

    def released(self, left: Released) -> None:
        """A composite whose claim is gone, with what is still there."""
        address = str(left.identity.key)
        subtitle = f"{left.identity.kind} · its claim is gone"
        self.add(Node(address, left.component_name, subtitle, "claim", "retained"))
        for r in left.resources:
            self.add(
                Node(f"{address}/{r['name']}", GroupKind.of(r).kind, str(r["name"]), "resource", "retained", address)
            )


def _references(address: str, document: dict[str, Any], table: Table) -> Iterator[Edge]:
    """What a child's values come from, and what it names outright where the table knows the kinds that it may name."""
    named = table.get(GroupKind.of(document), {})
    for path, ref in refs_at(document):
        if ref.resource != address:
            yield Edge(address, ref.resource, _field(path), "refers")
    for path, leaf in walk(document):
        if isinstance(leaf, str) and path[-1:] == ("name",) and _field(path) in named:
            yield from (Edge(address, f"{kind}/{leaf}", _field(path), "refers") for kind in named[_field(path)])


def _field(path: fieldpath.Path) -> str:
    """The field that refers, in short: `resourceGroupName` for `spec.forProvider.resourceGroupNameRef.name`."""
    words = [str(p) for p in path if isinstance(p, str)]
    named = next((w for w in reversed(words) if w.endswith("Ref")), words[-1] if words else "")
    return named.removesuffix("Ref") or named


def _secret_id(claim: PlannedClaim, secret: Connection) -> str:
    return f"{claim.address} Secret {secret.namespace}/{secret.name}"


def _feeding(claim: PlannedClaim, source: SecretSource) -> str:
    """What a Secret's keys come from: a child, or the Secret of a composite within the claim."""
    inner = next((i for i in claim.nested if i.template == source.child), None)
    if inner and inner.connections:
        same = (c for c in inner.connections if (c.namespace, c.name) == (source.namespace, source.name))
        return _secret_id(inner, next(same, inner.connections[-1]))
    return f"{claim.address}/{source.child}"


def _promised_keys(source: SecretSource) -> str:
    return f"{len(names)} keys" if len(names := source.key_names) > 1 else ""


def _noted(texts: Iterable[str]) -> str:
    return "\n".join(map(visible, texts))


def _alone(node: Node, graph: Graph) -> Node:
    """A node out of its frame: the tooltip names its frame."""
    within = "\n".join(graph.by_id[i].title for i in graph.above(node.id)[1:])
    return replace(node, parent=None, note="\n".join(filter(None, (within and f"of {within}", node.note))))


def _reads(template: Template) -> Iterator[tuple[str, str]]:
    """The fields of a claim that a template's patches read, and the fields that they write."""
    for patch in template.patches:
        if patch.origin is Side.claim and patch.target is Side.resource:
            to = _field(fieldpath.parse(patch.to))
            yield from ((r.removeprefix("spec."), to) for r in patch.reads if r.startswith("spec."))


def _sibling_edges(klass: Class, template: Template, frame: str, table: Table) -> Iterator[Edge]:
    """Which of its siblings a template selects, or names."""
    for path, leaf in walk(dict(template.base)):
        for output in leaf.outputs if isinstance(leaf, Interpolation) else ():
            yield Edge(f"{frame}/{template.name}", f"{frame}/{output.template}", _field(path), "refers")
    targets = [_target(klass, t) for t in klass.templates]
    own = _target(klass, template)
    for selection in references.selections(template.base, table):
        if selection.same_parent and references.fitting(selection, own=own, candidates=targets):
            picked = references.pick(selection, own=own, candidates=targets)
            yield Edge(f"{frame}/{template.name}", f"{frame}/{picked.template}", selection.name, "refers")


def _target(klass: Class, template: Template) -> Candidate:
    labels = (template.base.get("metadata") or {}).get("labels") or {}
    class_name = str((template.class_ref or {}).get("name", ""))
    return Candidate(template.name, template.group_kind, labels, klass.name, "", template.name, class_name)


def _detail_sources(template: Template) -> list[str]:
    """The templates that the connection details of one come from."""
    return list(dict.fromkeys(d.from_resource or template.name for d in template.details or ())) or [template.name]


def _keys(klass: Class) -> list[str]:
    """The connection keys that a class is known to deliver."""
    listed = [d.name for t in klass.templates for d in t.details or ()]
    return list(dict.fromkeys([*(klass.contract or klass.connection_keys), *listed]))
