"""The touched claims of an environment as a graph: what each is made of, what becomes of it, what refers to what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from claimsmith.drawing import Edge, Graph, Node
from claimsmith.review.changes import Change, ClaimChange, Op, StackReview
from claimsmith.review.groups import Group, class_words

State = Literal["same", "created", "updated", "replaced", "deleted", "retained"]

_STATES: dict[Op, State] = {
    Op.created: "created",
    Op.updated: "updated",
    Op.replaced: "replaced",
    Op.deleted: "deleted",
    Op.retained: "retained",
    Op.settings: "updated",
    Op.same: "same",
}
_CLAIMS: dict[Change, State] = {
    Change.added: "created",
    Change.removed: "deleted",
    Change.rebound: "updated",
    Change.changed: "updated",
}
_SECRET = "Secret"


def picture(stack: StackReview, groups: list[Group], link: Callable[[Group], str]) -> Graph:
    """One node for each group of claims to which the same happens, and one for each thing that the stack gives."""
    nodes: dict[str, Node] = {}
    wanted: list[tuple[str, str]] = []
    for group in groups:
        for node, refers in _claim(group, link(group)):
            # One object that is deleted and created is made anew, whatever the engine calls it.
            twice = node.id in nodes and node.parent is not None
            nodes[node.id] = replace(node, state="replaced") if twice else node
            wanted += [(node.id, to) for to in refers]
    for resource in stack.given:
        node = Node(resource.address, resource.name, resource.kind, "resource", _STATES[resource.op])
        nodes.setdefault(node.id, node)
    edges = [
        Edge(source, to, kind="secret" if nodes[source].kind == "secret" else "refers")
        for source, to in wanted
        if to in nodes and to != source
    ]
    return Graph(tuple(nodes.values()), tuple(dict.fromkeys(edges)))


def _claim(group: Group, href: str) -> Iterator[tuple[Node, tuple[str, ...]]]:
    claim = group.sample
    more = len(group.claims) - 1
    title = f"{claim.short} and {more} more" if more else claim.short
    state = _CLAIMS[claim.change]
    yield Node(claim.claim, title, class_words(claim), "claim", state, href=href, count=len(group.claims)), ()
    yield from _parts(claim, many=bool(more))


def _parts(claim: ClaimChange, *, many: bool) -> Iterator[tuple[Node, tuple[str, ...]]]:
    for resource in claim.resources:
        kind: Literal["secret", "resource"] = "secret" if resource.kind == _SECRET else "resource"
        name = resource.part if many else resource.name
        state = _STATES[resource.op]
        yield Node(resource.address, resource.kind, name, kind, state, parent=claim.claim), resource.refers
    for kept in claim.kept:
        kind = "secret" if kept.kind == _SECRET else "resource"
        name = kept.part if many else kept.name
        yield Node(kept.address, kept.kind, name, kind, "same", parent=claim.claim), kept.refers
