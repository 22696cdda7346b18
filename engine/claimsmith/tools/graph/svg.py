"""A layout as SVG text, for an HTML page or a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from claimsmith.tools.graph import folding, layout, text
from claimsmith.tools.graph import style as look
from claimsmith.tools.graph.layout import (
    HEADER,
    PAD,
    SIGN,
    SUBTITLE,
    TITLE,
    Frame,
    Layout,
    Line,
    Point,
    badge_width,
    stacked,
)
from claimsmith.tools.graph.model import Graph, Node
from claimsmith.tools.graph.text import escape
from claimsmith.tools.graph.text import number as n

FOLD_ABOVE = 48
"""How many nodes a picture has before what is alike is folded."""


def svg(graph: Graph, *, title: str = "", fold_above: int = FOLD_ABOVE) -> str:
    """The graph as one picture that needs nothing else: in a page, or as a file."""
    small = folding.folded(graph, above=fold_above)
    return _document(layout.arrange(small), title or summary(graph), styled=True)


def svg_parts(graph: Graph, *, fold_above: int = FOLD_ABOVE) -> tuple[str, ...]:
    """A picture for each part that nothing joins to the others, for a page that has `style()` once."""
    small = folding.folded(graph, above=fold_above)
    parts = [layout.part_of(small, ids) for ids in layout.components(small)]
    return tuple(_document(layout.arrange(part), summary(part), styled=False) for part in parts)


def style() -> str:
    """The style sheet of `svg_parts`."""
    return look.css()


def _document(picture: Layout, title: str, *, styled: bool) -> str:
    width, height = n(max(picture.width, 40)), n(max(picture.height, 40))
    # What is read out as one image has no links in it.
    role = "group" if any(text.safe_href(f.node.href) for f in picture.frames) else "img"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cs-graph {look.size(picture.width)}" role="{role}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    )
    rules = [f"<style>{look.css()}</style>"] if styled else []
    frames = [part for f in picture.frames if not f.leaf for part in _node(f)]
    leaves = [part for f in picture.frames if f.leaf for part in _node(f)]
    lines = [part for line in picture.lines for part in _line(line)]
    labels = [part for line in picture.lines for part in _label(line)]
    return "\n".join([head, f"<title>{escape(title)}</title>", *rules, *frames, *lines, *leaves, *labels, "</svg>", ""])


def summary(graph: Graph) -> str:
    """How many there are of each kind, in words."""
    words = {"claim": "claims", "class": "classes", "field": "fields", "resource": "resources", "secret": "Secrets"}
    counts = {k: sum(x.count for x in graph.nodes if x.kind == k) for k in words}
    parts = [
        f"{c} {words[k] if c != 1 else words[k].removesuffix('es' if k == 'class' else 's')}"
        for k, c in counts.items()
        if c
    ]
    return ", ".join(parts) or "nothing to draw"


def _node(frame: Frame) -> Iterator[str]:
    node = frame.node
    what = "leaf" if frame.leaf else "frame deep" if frame.depth % 2 else "frame"
    radius, head = (8, frame.height) if frame.leaf else (12, HEADER)
    marked = f" marked {node.state}" if node.state != "same" else ""
    marked += " danger" if node.danger else ""
    place = f'transform="translate({n(frame.x)} {n(frame.y)})"'
    yield f'<g class="{what} {node.kind}{marked}" data-node="{escape(node.id)}" {place}>'
    href = text.safe_href(node.href)
    if href:
        yield f'<a href="{escape(href)}">'
    yield f"<title>{escape(_tooltip(node))}</title>"
    for offset in (8, 4) if stacked(node) else ():
        yield _box(offset / 2, offset, frame.width - offset, frame.height, radius)
    yield _box(0, 0, frame.width, frame.height, radius)
    yield from _text_lines(node, frame.width, head)
    yield from _badge(node, frame.width, head)
    if href:
        yield "</a>"
    yield "</g>"


def _box(x: float, y: float, width: float, height: float, radius: int) -> str:
    return f'<rect class="box" x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" rx="{radius}"/>'


def _text_lines(node: Node, width: float, head: float) -> Iterator[str]:
    room = width - SIGN - PAD + 2 - badge_width(node)
    yield f'<path class="sign" transform="translate(11 {n(head / 2 - 7)})" d="{look.SIGNS[node.kind]}"/>'
    lines = [("t", text.shortened(node.title, TITLE, room, bold=True))]
    if node.subtitle:
        lines.append(("s", text.shortened(node.subtitle, SUBTITLE, room, mono=True)))
    first = head / 2 + (5 if len(lines) == 1 else -3)
    for (name, words), level in zip(lines, (first, first + 16), strict=False):
        yield f'<text class="{name}" x="{n(SIGN)}" y="{n(level)}">{escape(words)}</text>'


def _badge(node: Node, width: float, head: float) -> Iterator[str]:
    at = head / 2
    if node.state != "same":
        yield f'<circle class="mark" cx="{n(width - 19)}" cy="{n(at)}" r="8.5"/>'
        mark = look.DANGER if node.danger else look.MARKS[node.state]
        yield f'<text class="m" x="{n(width - 19)}" y="{n(at + 4.5)}">{mark}</text>'
    elif stacked(node):
        words, room = f"×{node.count}", badge_width(node) - 4
        yield f'<rect class="count" x="{n(width - room - 9)}" y="{n(at - 9)}" width="{n(room)}" height="18" rx="9"/>'
        yield f'<text class="n" x="{n(width - room / 2 - 9)}" y="{n(at + 4)}">{words}</text>'


def _tooltip(node: Node) -> str:
    state = [f"danger: {node.state}" if node.danger else node.state] if node.state != "same" else []
    return "\n".join(filter(None, [node.title, node.subtitle, *state, node.note]))


def _line(line: Line) -> Iterator[str]:
    title = "\n".join(dict.fromkeys(e.label or e.kind for e in line.edges))
    yield f'<g class="edge {line.edges[0].kind}"><title>{escape(title)}</title>'
    yield f'<path class="line" d="{_way(line.points)}"/>'
    yield f'<path class="head" d="{_head(line.points)}"/></g>'


def _label(line: Line) -> Iterator[str]:
    if line.label:
        x, y = _middle(line.points[0], line.points[1])
        yield f'<text class="l" x="{n(x)}" y="{n(y + 3.5)}">{escape(line.label)}</text>'


def _way(points: Sequence[Point]) -> str:
    """Curves from point to point, level at each."""
    parts = [f"M{n(points[0][0])} {n(points[0][1])}"]
    for number, ((x, y), (to_x, to_y)) in enumerate(pairwise(points)):
        if number % 2:
            parts.append(f"L{n(to_x)} {n(to_y)}")
        elif _back(points):
            out = max(x, to_x) + 36
            parts.append(f"C{n(out)} {n(y)} {n(out)} {n(to_y)} {n(to_x)} {n(to_y)}")
        else:
            half = (x + to_x) / 2
            parts.append(f"C{n(half)} {n(y)} {n(half)} {n(to_y)} {n(to_x)} {n(to_y)}")
    return "".join(parts)


def _back(points: Sequence[Point]) -> bool:
    """Whether a line comes back to the side that it left from."""
    return len(points) == 2 and abs(points[0][0] - points[1][0]) < layout.PAD * 2


def _head(points: Sequence[Point]) -> str:
    (x, _), (to_x, to_y) = points[-2], points[-1]
    tail = to_x + (6 if _back(points) or to_x < x else -6)
    return f"M{n(to_x)} {n(to_y)}L{n(tail)} {n(to_y - 3.5)}L{n(tail)} {n(to_y + 3.5)}z"


def _middle(start: Point, end: Point) -> Point:
    back = 27 if _back((start, end)) else 0
    return (start[0] + end[0]) / 2 + back, (start[1] + end[1]) / 2
