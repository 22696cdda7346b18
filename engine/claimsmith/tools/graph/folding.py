"""Large graphs, folded: things that are alike become one that stands for all, and long rows are cut.

Nothing is folded where the picture is small anyhow. A count and the tooltip show what was folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from claimsmith.base.grouping import grouped
from claimsmith.tools.graph.model import Edge, Graph, Node

ALIKE = 3
"""From how many on things that are alike are folded."""
ROW = 12
"""How many nodes a row shows; all others share one node."""
OUTERMOST = 60
"""How many outermost nodes are shown."""
_NAMED = 20


def folded(graph: Graph, *, above: int) -> Graph:
    """The graph, or a smaller one that shows the same if it has more nodes than `above`."""
    if len(graph.nodes) <= above:
        return graph
    return _without_long_rows(_without_repetition(graph))


def _without_repetition(graph: Graph) -> Graph:
    """Outermost nodes with the same parts and the same edges become one."""
    shapes = _Shapes(graph)
    groups = [group for group in grouped(graph.within(None), shapes.of).values() if len(group) >= ALIKE]
    stands: dict[str, Node] = {}
    instead: dict[str, str] = {}
    for group in groups:
        first = group[0]
        titles = [n.title for n in group]
        title = f"{titles[0]} and {len(group) - 1} more"
        stands[first.id] = replace(first, title=title, count=len(group), note=_listed(titles))
        parts = graph.below(first.id)[1:]
        stands |= {i: replace(graph.by_id[i], subtitle="", count=len(group), note="") for i in parts}
        for other in group[1:]:
            instead |= zip(graph.below(other.id), graph.below(first.id), strict=True)
    return _replaced(graph, stands, instead)


def _without_long_rows(graph: Graph) -> Graph:
    """In each row, what is beyond a number of nodes becomes one node."""
    stands: dict[str, Node] = {}
    instead: dict[str, str] = {}
    for parent in (None, *graph.by_id):
        row, limit = graph.within(parent), ROW if parent is not None else OUTERMOST
        if len(row) <= limit or parent in instead:
            continue
        # What has changed is what is looked for: it stays.
        kept = {n.id for n in sorted(row, key=lambda n: (not n.danger, n.state == "same"))[: limit - 1]}
        first, *others = rest = [n for n in row if n.id not in kept]
        count = sum(n.count for n in rest)
        note = _listed([" ".join(filter(None, (n.title, n.subtitle))) for n in rest])
        stands[first.id] = Node(first.id, f"{count} more", "", first.kind, first.state, parent, note=note, count=count)
        instead |= {i: first.id for n in (first, *others) for i in graph.below(n.id) if i != first.id}
    return _replaced(graph, stands, instead)


def _replaced(graph: Graph, stands: Mapping[str, Node], instead: Mapping[str, str]) -> Graph:
    """The graph with other nodes in their places, without those that others stand for."""
    nodes = tuple(stands.get(n.id, n) for n in graph.nodes if n.id not in instead)
    moved = (
        replace(e, source=instead.get(e.source, e.source), target=instead.get(e.target, e.target)) for e in graph.edges
    )
    return Graph(nodes, tuple(dict.fromkeys(e for e in moved if e.source != e.target)))


class _Shapes:
    """What nodes look like, without what distinguishes them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.edges: dict[str, list[Edge]] = {}
        for edge in graph.edges:
            self.edges.setdefault(edge.source, []).append(edge)
            self.edges.setdefault(edge.target, []).append(edge)

    def of(self, node: Node) -> tuple[Any, ...]:
        """The outermost node's shape: itself, its parts, and its edges among them and to others."""
        ids = self.graph.below(node.id)
        place = {i: n for n, i in enumerate(ids)}
        parts = [self.graph.by_id[i] for i in ids[1:]]
        # Only what consists of parts, or hangs on something, is alike: plain neighbours differ by their titles.
        single = (node.id,) if node.kind == "class" else ()
        return (
            (node.kind, node.subtitle, node.state, node.danger, *single),
            tuple((p.kind, p.title, p.state, place.get(p.parent or "")) for p in parts),
            tuple(dict.fromkeys(self._edge(e, place) for i in ids for e in self.edges.get(i, ()))),
        )

    def _edge(self, edge: Edge, place: Mapping[str, int]) -> tuple[Any, ...]:
        return (place.get(edge.source, edge.source), place.get(edge.target, edge.target), edge.kind, edge.label)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return "\n".join((*names[:_NAMED], *([f"… and {more} more"] if more > 0 else [])))
