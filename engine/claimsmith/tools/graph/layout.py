"""Where everything goes: frames around what is within them, and lines between them.

Each frame's inside is placed in layers by itself; a line between two frames counts, at each level, as one between what
they are in. Outermost nodes that nothing joins are parts of their own, and are put in rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from claimsmith.base.grouping import grouped, joined
from claimsmith.tools.graph import layers, text
from claimsmith.tools.graph.layers import Box, Placed
from claimsmith.tools.graph.model import Edge, Graph, Node

TITLE, SUBTITLE, LABEL = 13.0, 11.0, 10.5
HEADER, PAD, MARGIN, SIGN = 46.0, 14.0, 12.0, 34.0
_NARROWEST, _BROADEST, _BROADEST_FRAME = 132.0, 300.0, 340.0
_LABEL_ROOM = 132.0
_ASPECT = 1.5

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """A node with its place."""

    node: Node
    x: float
    y: float
    width: float
    height: float
    depth: int
    leaf: bool

    @property
    def port(self) -> float:
        """The height at which lines meet it."""
        return self.y + (self.height if self.leaf else HEADER) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """Edges from one node to another with their way: points at which it is level."""

    edges: tuple[Edge, ...]
    points: tuple[Point, ...]
    label: str = ""


@dataclass(slots=True)
class Layout:
    """A picture's frames, outer ones first, and lines."""

    width: float = 0.0
    height: float = 0.0
    frames: list[Frame] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


def arrange(graph: Graph) -> Layout:
    """The whole graph as one picture, its parts in rows."""
    parts = [_Part(graph, ids) for ids in components(graph)]
    area = sum((p.width + MARGIN * 2) * (p.height + MARGIN * 2) for p in parts)
    across = max((area * _ASPECT) ** 0.5, *(p.width for p in parts), 0.0)
    whole = Layout()
    x = y = deepest = 0.0
    for part in parts:
        if x and x + part.width > across:
            x, y, deepest = 0.0, y + deepest + MARGIN * 2, 0.0
        part.write(whole, x + MARGIN, y + MARGIN)
        x, deepest = x + part.width + MARGIN * 2, max(deepest, part.height)
        whole.width = max(whole.width, x)
    whole.height = y + deepest + MARGIN * 2
    return whole


def components(graph: Graph) -> list[tuple[str, ...]]:
    """The outermost nodes in groups that edges join, in the order of the nodes."""
    top = {n.id: graph.above(n.id)[-1] for n in graph.nodes}
    pairs = [(top[e.source], top[e.target]) for e in graph.edges]
    return [tuple(group) for group in joined((n.id for n in graph.within(None)), pairs)]


def part_of(graph: Graph, outermost: Iterable[str]) -> Graph:
    """The graph of some outermost nodes and all within them."""
    ids = {i for o in outermost for i in graph.below(o)}
    nodes = tuple(n for n in graph.nodes if n.id in ids)
    return Graph(nodes, tuple(e for e in graph.edges if e.source in ids and e.target in ids))


class _Part:
    """One group of joined nodes: measured from the inside out, then written from the outside in."""

    def __init__(self, graph: Graph, outermost: Sequence[str]) -> None:
        self.graph = part_of(graph, outermost)
        self.placed: dict[str | None, Placed] = {}
        self.lifted = self._lift()
        self.crossing = self._cross()
        self.measure(None)
        self.width, self.height = self.placed[None].width, self.placed[None].height

    def _lift(self) -> dict[str | None, list[tuple[str, str]]]:
        """By frame, which of the nodes right within it are joined."""
        found: dict[str | None, list[tuple[str, str]]] = {}
        for edge in self.graph.edges:
            joint = _joint(self.graph, edge)
            if joint:
                common, source, target = joint
                found.setdefault(common, []).append((source, target))
        return found

    def _cross(self) -> dict[str | None, tuple[list[str], list[str]]]:
        """By frame, what is right within it and has lines to the outside: those that leave, and those that come."""
        found: dict[str | None, tuple[list[str], list[str]]] = {}
        for edge in self.graph.edges:
            joint = _joint(self.graph, edge)
            for end, node in enumerate((edge.source, edge.target) if joint else ()):
                for frame, inner in _frames_left(self.graph.above(node), joint[0] if joint else None):
                    found.setdefault(frame, ([], []))[end].append(inner)
        return found

    def measure(self, parent: str | None) -> None:
        """Place what is within a node."""
        boxes = [self.box(n) for n in self.graph.within(parent)]
        pairs = self.lifted.get(parent, [])
        labels = self._label_rooms(parent)
        leaving, entering = self.crossing.get(parent, ([], []))
        self.placed[parent] = layers.place(boxes, pairs, labels=labels, leaving=leaving, entering=entering)

    def _label_rooms(self, parent: str | None) -> dict[tuple[str, str], float]:
        """How much room the words at lines need that begin right within a frame."""
        rooms: dict[tuple[str, str], float] = {}
        inner = {n.id for n in self.graph.within(parent)}
        for edge in self.graph.edges:
            joint = _joint(self.graph, edge)
            if joint and _is_labelled(edge) and edge.source in inner:
                pair = (edge.source, joint[2] if joint[0] == parent else layers.OUTSIDE)
                rooms[pair] = max(rooms.get(pair, 0), min(text.width(edge.label, LABEL), _LABEL_ROOM))
        return rooms

    def box(self, node: Node) -> Box:
        """The size of a node, with what is within it."""
        if not self.graph.within(node.id):
            return _leaf(node)
        self.measure(node.id)
        inside = self.placed[node.id]
        room = min(_text_width(node), _BROADEST_FRAME)
        return Box(node.id, max(inside.width + PAD * 2, room), inside.height + HEADER + PAD, HEADER / 2)

    def write(self, layout: Layout, x: float, y: float) -> None:
        """Add frames and lines to a picture, at a place in it."""
        origin: dict[str | None, Point] = {None: (x, y)}
        frames: dict[str, Frame] = {}
        todo: list[tuple[str | None, int]] = [(None, 0)]
        for parent, depth in todo:
            left, top = origin[parent]
            for node in self.graph.within(parent):
                box = self.placed[parent].boxes[node.id]
                inner = bool(self.graph.within(node.id))
                frame = Frame(node, left + box.x, top + box.y, box.width, box.height, depth, not inner)
                frames[node.id] = frame
                if inner:
                    origin[node.id] = (frame.x + PAD, frame.y + HEADER)
                    todo.append((node.id, depth + 1))
        layout.frames += frames.values()
        layout.lines += self._lines(frames, origin)

    def _lines(self, frames: dict[str, Frame], origin: dict[str | None, Point]) -> list[Line]:
        drawn = [e for e in self.graph.edges if _joint(self.graph, e)]
        bundles = grouped(drawn, lambda e: (e.source, e.target, e.kind))
        ends = [(frames[source], frames[target]) for source, target, _ in bundles]
        ways = [self._way(e[0], origin, *pair) for e, pair in zip(bundles.values(), ends, strict=True)]
        ports = _ports(ends, ways)
        return [
            Line(tuple(edges), (start, *way, end), _label(edges))
            for edges, way, (start, end) in zip(bundles.values(), ways, ports, strict=True)
        ]

    def _way(self, edge: Edge, origin: dict[str | None, Point], source: Frame, target: Frame) -> list[Point]:
        """The points that a line passes between its ends."""
        joint = _joint(self.graph, edge)
        assert joint  # only edges that have one become lines
        common, *pair = joint
        stops = [(common, (pair[0], pair[1]))]
        if target.x < source.x:
            return [p for frame, ends in stops for p in self._passing(frame, ends, origin[frame])][::-1]
        out = _frames_left(self.graph.above(edge.source), common)
        into = _frames_left(self.graph.above(edge.target), common)
        before = [(frame, (inner, layers.OUTSIDE)) for frame, inner in out]
        behind = [(frame, (layers.OUTSIDE, inner)) for frame, inner in reversed(into)]
        stops = [*before, *stops, *behind]
        return [p for frame, ends in stops for p in self._passing(frame, ends, origin[frame])]

    def _passing(self, frame: str | None, pair: tuple[str, str], origin: Point) -> list[Point]:
        """Where a line passes the layers of a frame's inside, from left to right."""
        lanes = sorted(self.placed[frame].ways.get(pair, ()), key=lambda lane: lane.x)
        left, top = origin
        return [(left + x, top + b.y + b.port) for b in lanes for x in (b.x, b.x + b.width)]


def _joint(graph: Graph, edge: Edge) -> tuple[str | None, str, str] | None:
    """Where an edge's two ways outwards meet, and what stands right within there; None where one is in the other."""
    source, target = graph.above(edge.source), graph.above(edge.target)
    if edge.source in target or edge.target in source:
        return None
    common = next((i for i in source if i in target), None)
    return common, _below(source, common), _below(target, common)


def _frames_left(way: Sequence[str], common: str | None) -> list[tuple[str, str]]:
    """The frames that a way outwards leaves before it comes to a common one, each with what is left within it."""
    inside = way if common is None else way[: way.index(common)]
    return [(frame, inner) for inner, frame in pairwise(inside)]


def _below(way: Sequence[str], common: str | None) -> str:
    return way[way.index(common) - 1] if common is not None else way[-1]


def _ports(pairs: Sequence[tuple[Frame, Frame]], ways: Sequence[Sequence[Point]]) -> list[tuple[Point, Point]]:
    """The two ends of each line, those at one side of a frame apart from each other, in the order of where they go."""
    sides: dict[tuple[str, bool], list[tuple[float, int, int]]] = {}
    for number, ((source, target), way) in enumerate(zip(pairs, ways, strict=True)):
        out, into = _sides(source, target)
        sides.setdefault((source.node.id, out), []).append((way[0][1] if way else target.port, number, 0))
        sides.setdefault((target.node.id, into), []).append((way[-1][1] if way else source.port, number, 1))
    frames = {f.node.id: f for pair in pairs for f in pair}
    ends: list[list[Point]] = [[(0, 0), (0, 0)] for _ in pairs]
    for (node, right), met in sides.items():
        frame = frames[node]
        apart = min(11.0, ((frame.height if frame.leaf else HEADER) - 16) / len(met))
        for place, (_, number, end) in enumerate(sorted(met)):
            level = frame.port + (place - (len(met) - 1) / 2) * apart
            ends[number][end] = (frame.x + frame.width if right else frame.x, level)
    return [(a, b) for a, b in ends]


def _sides(source: Frame, target: Frame) -> tuple[bool, bool]:
    """Whether a line leaves its source on the right, and whether it comes to its target on the right."""
    if source.x + source.width <= target.x:
        return True, False
    if target.x + target.width <= source.x:
        return False, True
    return True, True


def _leaf(node: Node) -> Box:
    height = 44.0 if node.subtitle else 34.0
    return Box(node.id, min(max(_text_width(node), _NARROWEST), _BROADEST), height, height / 2)


def _text_width(node: Node) -> float:
    """How much room a node's words would like."""
    longest = max(text.width(node.title, TITLE, bold=True), text.width(node.subtitle, SUBTITLE, mono=True))
    return longest + SIGN + PAD + badge_width(node)


def badge_width(node: Node) -> float:
    """How much room a node's badge needs: the sign of its state, or how many it stands for."""
    if node.state != "same":
        return 26
    return text.width(f"×{node.count}", SUBTITLE, bold=True) + 16 if stacked(node) else 0


def stacked(node: Node) -> bool:
    """Whether a node is shown as a stack of several: what is within one says nothing of it again."""
    return node.count > 1 and node.parent is None


def _label(edges: Sequence[Edge]) -> str:
    labels = list(dict.fromkeys(e.label for e in edges if _is_labelled(e)))
    more = f" +{len(labels) - 1}" if len(labels) > 1 else ""
    return text.shortened(labels[0], LABEL, _LABEL_ROOM) + more if labels else ""


def _is_labelled(edge: Edge) -> bool:
    """Whether an edge has words in the picture: where values go is in the tooltip, as there are too many of them."""
    return bool(edge.label) and edge.kind != "gives"
