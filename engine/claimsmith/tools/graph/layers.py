"""Boxes in layers from left to right, so that edges point to the right and cross little.

The four steps of Sugiyama's method, each in its plainest form: cut circles, give each box a layer, order each layer by
the places of its neighbours, then move boxes up and down towards them. A long edge gets a place in each layer that it
passes, so that it runs between boxes and not behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

GAP = 14.0
"""Between boxes of a layer."""
LANE = 40.0
"""Between layers, at least."""
_SWEEPS = 6

OUTSIDE = ""
Pair = tuple[str, str]


@dataclass(slots=True)
class Box:
    """A rectangle to be placed; `port` is how far below its top an edge meets it."""

    id: str
    width: float
    height: float
    port: float
    x: float = 0.0
    y: float = 0.0
    lane: bool = False
    """Whether it is only the place where an edge passes."""


@dataclass(slots=True)
class Placed:
    """Where boxes came to stand, how large it all is, and where each long edge passes."""

    boxes: dict[str, Box]
    width: float
    height: float
    ways: dict[Pair, list[Box]] = field(default_factory=dict)


def place(
    boxes: Sequence[Box],
    edges: Iterable[Pair],
    *,
    labels: Mapping[Pair, float] | None = None,
    leaving: Iterable[str] = (),
    entering: Iterable[str] = (),
) -> Placed:
    """The boxes with their places.

    `labels` says how much room an edge's words need. From the boxes `leaving` an edge goes out to the right, to those
    `entering` one comes from the left: their ways stand under the box and `OUTSIDE`.
    """
    if not boxes:
        return Placed({}, 0, 0)
    forward = _without_circles([b.id for b in boxes], dict.fromkeys((a, b) for a, b in edges if a != b))
    layer_of = _layers([b.id for b in boxes], forward)
    layers: list[list[Box]] = [[] for _ in range(max(layer_of.values()) + 1)]
    for box in boxes:
        layers[layer_of[box.id]].append(box)
    links, ways = _with_lanes(layers, layer_of, forward)
    for end in dict.fromkeys(leaving):
        ways[end, OUTSIDE] = _passage(layers, links, end, range(layer_of[end] + 1, len(layers)))
    for end in dict.fromkeys(entering):
        ways[OUTSIDE, end] = _passage(layers, links, end, range(layer_of[end] - 1, -1, -1))
    _order(layers, links)
    width = _across(layers, _rooms(layer_of, labels or {}))
    _up_and_down(layers, links)
    height = max(b.y + b.height for layer in layers for b in layer)
    return Placed({b.id: b for b in boxes}, width, height, ways)


def _without_circles(ids: Sequence[str], edges: Mapping[Pair, None]) -> list[Pair]:
    """The edges, those that close a circle turned round."""
    after: dict[str, list[str]] = {i: [] for i in ids}
    for source, target in edges:
        after[source].append(target)
    state: dict[str, int] = {}
    turned: set[Pair] = set()
    for start in ids:
        stack = [(start, iter(after[start]))] if start not in state else []
        state.setdefault(start, 1)
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[node] = 2
                stack.pop()
            elif state.get(following) == 1:
                turned.add((node, following))
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(after[following])))
    return list(dict.fromkeys((b, a) if (a, b) in turned else (a, b) for a, b in edges))


def _layers(ids: Sequence[str], edges: Sequence[Pair]) -> dict[str, int]:
    """Each box as far left as what comes before it allows; one with nothing before it beside what comes after."""
    before: dict[str, list[str]] = {i: [] for i in ids}
    after: dict[str, list[str]] = {i: [] for i in ids}
    for source, target in edges:
        before[target].append(source)
        after[source].append(target)
    waiting = {i: len(before[i]) for i in ids}
    ready = [i for i in ids if not waiting[i]]
    layer = dict.fromkeys(ids, 0)
    for node in ready:
        for target in after[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    for node in ids:
        if not before[node] and after[node]:
            layer[node] = min(layer[t] for t in after[node]) - 1
    return layer


def _with_lanes(
    layers: list[list[Box]], layer_of: Mapping[str, int], edges: Sequence[Pair]
) -> tuple[list[Pair], dict[Pair, list[Box]]]:
    """Links between neighbouring layers, with a lane in each layer that a longer edge passes."""
    links: list[Pair] = []
    ways: dict[Pair, list[Box]] = {}
    for number, (source, target) in enumerate(edges):
        lanes = [Box(f"\0{number}/{at}", 0, 12, 6, lane=True) for at in range(layer_of[source] + 1, layer_of[target])]
        for at, lane in enumerate(lanes, layer_of[source] + 1):
            layers[at].append(lane)
        stops = [source, *(lane.id for lane in lanes), target]
        links += pairwise(stops)
        if lanes:
            ways[source, target] = lanes
            ways[target, source] = lanes[::-1]
    return links, ways


def _passage(layers: list[list[Box]], links: list[Pair], box: str, through: range) -> list[Box]:
    """Lanes for an edge between a box and the outside, in each layer on its way, from the box outwards."""
    lanes = [Box(f"\0{box}/{through.step}/{at}", 0, 12, 6, lane=True) for at in through]
    for at, lane in zip(through, lanes, strict=True):
        layers[at].append(lane)
    stops = [box, *(lane.id for lane in lanes)]
    links += [(a, b) if through.step > 0 else (b, a) for a, b in pairwise(stops)]
    return lanes


def _order(layers: list[list[Box]], links: Sequence[Pair]) -> None:
    """Order each layer by the mean place of its neighbours, to and fro; the order with the fewest crossings stays."""
    near = _neighbours(links)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, links)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        there = [*range(len(layers))] if sweep % 2 == 0 else [*range(len(layers))][::-1]
        for beside, row in pairwise(there):
            layers[row] = _ordered(layers[row], layers[beside], near)
        crossed = _crossings(layers, links)
        if crossed < fewest:
            best, fewest = [list(layer) for layer in layers], crossed
    layers[:] = best


def _ordered(row: Sequence[Box], beside: Sequence[Box], near: Mapping[str, Sequence[str]]) -> list[Box]:
    """A row by the mean place of its neighbours in the row beside it; a box without one stays about where it is."""
    at = {b.id: i for i, b in enumerate(beside)}
    scale = len(beside) / len(row)
    places = {
        b.id: _mean([at[n] for n in near.get(b.id, ()) if n in at], number * scale) for number, b in enumerate(row)
    }
    return sorted(row, key=lambda b: places[b.id])


def _crossings(layers: Sequence[Sequence[Box]], links: Sequence[Pair]) -> int:
    row_of = {b.id: (row, i) for row, layer in enumerate(layers) for i, b in enumerate(layer)}
    by_row: dict[int, list[tuple[int, int]]] = {}
    for source, target in links:
        row, at = row_of[source]
        by_row.setdefault(row, []).append((at, row_of[target][1]))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0
        for pairs in by_row.values()
        for i, a in enumerate(pairs)
        for b in pairs[i + 1 :]
    )


def _rooms(layer_of: Mapping[str, int], labels: Mapping[Pair, float]) -> dict[int, float]:
    """How much room the words behind each layer need."""
    rooms: dict[int, float] = {}
    for (source, target), room in labels.items():
        first = min(layer_of[source], layer_of.get(target, layer_of[source]))
        rooms[first] = max(rooms.get(first, 0), room)
    return rooms


def _across(layers: Sequence[Sequence[Box]], rooms: Mapping[int, float]) -> float:
    """Set the x of each layer and box, and return the total width."""
    x = right = 0.0
    for number, layer in enumerate(layers):
        broadest = max(b.width for b in layer)
        for box in layer:
            box.x = x
            if box.lane:
                box.width = broadest
        right = x + broadest
        x = right + max(LANE, rooms.get(number, 0) + 28)
    return right


def _up_and_down(layers: Sequence[Sequence[Box]], links: Sequence[Pair]) -> None:
    """Move boxes towards their neighbours, keeping their order and distance."""
    near = _neighbours(links)
    boxes = {b.id: b for layer in layers for b in layer}
    for layer in layers:
        _settle(layer, [0.0] * len(layer))
    for passing in (layers[1:], layers[-2::-1], layers[1:], layers[::-1]):
        for layer in passing:
            wishes = [
                _mean([boxes[n].y + boxes[n].port for n in near.get(b.id, ())], b.y + b.port) - b.port for b in layer
            ]
            _settle(layer, wishes)
    top = min(b.y for b in boxes.values())
    for box in boxes.values():
        box.y -= top


def _settle(layer: Sequence[Box], wishes: Sequence[float]) -> None:
    """Place a layer's boxes as near to their wishes as their order and distance allow, in the least squares.

    Boxes that would overlap are pooled to a block, which goes to the mean of what they wish.
    """
    blocks: list[tuple[float, int]] = []
    offsets = [0.0]
    for above, below in pairwise(layer):
        offsets.append(offsets[-1] + above.height + (GAP / 2 if above.lane and below.lane else GAP))
    for wish, offset in zip(wishes, offsets, strict=True):
        total, count = wish - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            other = blocks.pop()
            total, count = total + other[0], count + other[1]
        blocks.append((total, count))
    starts = [total / count for total, count in blocks for _ in range(count)]
    for box, start, offset in zip(layer, starts, offsets, strict=True):
        box.y = start + offset


def _neighbours(links: Iterable[Pair]) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {}
    for source, target in links:
        near.setdefault(source, []).append(target)
        near.setdefault(target, []).append(source)
    return near


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
