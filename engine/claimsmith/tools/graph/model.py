"""The parts of a picture: nodes, some of them within others, and edges between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from claimsmith.base.grouping import grouped
from claimsmith.base.printable import visible

Kind = Literal["claim", "class", "resource", "secret", "field"]
State = Literal["same", "created", "updated", "replaced", "deleted", "retained"]
EdgeKind = Literal["makes", "refers", "secret", "gives"]


@dataclass(frozen=True, slots=True)
class Node:
    """One thing. With a `parent` it is drawn within that one.

    Where many things are alike they are folded to one: outermost nodes that differ in their titles alone, nodes within
    others that differ in their subtitles alone. So an outermost node's title says which one it is and its subtitle what
    it is; for those within it is the other way round.
    """

    id: str
    title: str
    subtitle: str = ""
    kind: Kind = "resource"
    state: State = "same"
    parent: str | None = None
    href: str | None = None
    """Where a click leads: a place in the page, or an address with http or https. Others are left out."""
    note: str = ""
    """More lines for the tooltip, each visible."""
    count: int = 1
    """How many things it stands for."""
    danger: bool = False
    """Whether it stands out: something would be lost."""

    def __post_init__(self) -> None:
        # Here, before texts are measured, cut and compared: an escape is wider than what it stands for.
        for name in ("title", "subtitle"):
            object.__setattr__(self, name, visible(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow. An edge from a node to one drawn within it is left out: the frame shows it."""

    source: str
    target: str
    label: str = ""
    kind: EdgeKind = "makes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", visible(self.label))


@dataclass(frozen=True)
class Graph:
    """Nodes and edges, in the order in which they are wanted from top to bottom."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        if len(self.by_id) != len(self.nodes):
            raise ValueError("two nodes have one id")
        for node in self.nodes:
            if node.parent is not None and node.parent not in self.by_id:
                raise ValueError(f"{node.id!r} is within {node.parent!r}, which is not there")
        for edge in self.edges:
            if edge.source not in self.by_id or edge.target not in self.by_id:
                raise ValueError(f"an edge from {edge.source!r} to {edge.target!r}, and one of them is not there")
        if any(self.outermost(n.id) is None for n in self.nodes):
            raise ValueError("nodes are within each other in a circle")

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """Each node under its id."""
        return {n.id: n for n in self.nodes}

    @cached_property
    def _within(self) -> Mapping[str | None, tuple[Node, ...]]:
        found = grouped(self.nodes, lambda node: node.parent)
        return {parent: tuple(nodes) for parent, nodes in found.items()}

    def within(self, parent: str | None) -> tuple[Node, ...]:
        """The nodes drawn within one, or the outermost."""
        return self._within.get(parent, ())

    def above(self, node: str) -> list[str]:
        """A node and all that it is within, innermost first; cut where that runs in a circle."""
        way: list[str] = []
        at: str | None = node
        while at is not None and at not in way:
            way.append(at)
            at = self.by_id[at].parent
        return way

    def outermost(self, node: str) -> str | None:
        """The outermost node that one is in; None in a circle."""
        last = self.above(node)[-1]
        return last if self.by_id[last].parent is None else None

    def below(self, node: str) -> list[str]:
        """A node and all within it, in order."""
        return [node, *(i for inner in self.within(node) for i in self.below(inner.id))]
