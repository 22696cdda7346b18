"""Pictures: every node once, within its frame, beside the others; safe to put into a page; the same bytes twice."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claimsmith.tools.graph import Edge, Graph, Node, folding, layout, style, svg, svg_parts, text
from claimsmith.tools.graph.layers import Box, place

SVG = "{http://www.w3.org/2000/svg}"
CLAIM = Node("c", "default/sql", "MySQLInstance", "claim")
GROUP = Node("g", "ResourceGroup", "sql-1", parent="c")
SERVER = Node("s", "MySQLServer", "sql-2", parent="c")
SECRET = Node("x", "Secret", "default/sql", "secret", parent="c")
NETWORK = Node("n", "Subnet", "shared")
ONE = Graph(
    (CLAIM, GROUP, SERVER, SECRET, NETWORK),
    (
        Edge("c", "g"),
        Edge("s", "g", "resourceGroupName", "refers"),
        Edge("s", "x", "", "secret"),
        Edge("s", "n", "subnetId", "refers"),
    ),
)


def boxes(*ids: str) -> list[Box]:
    return [Box(i, 100, 40, 20) for i in ids]


def claims(count: int, *, state: dict[int, str] | None = None) -> Graph:
    nodes: list[Node] = []
    edges: list[Edge] = []
    for i in range(count):
        nodes += [
            Node(f"c{i}", f"default/db-{i}", "MySQLInstance · small", "claim"),
            Node(f"g{i}", "ResourceGroup", f"db-{i}-1", parent=f"c{i}"),
            Node(f"s{i}", "MySQLServer", f"db-{i}-2", state=(state or {}).get(i, "same"), parent=f"c{i}"),
        ]
        edges.append(Edge(f"s{i}", f"g{i}", "resourceGroupName", "refers"))
    return Graph(tuple(nodes), tuple(edges))


def parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def shown(picture: str) -> dict[str, ElementTree.Element]:
    return {g.attrib["data-node"]: g for g in parsed(picture).iter(f"{SVG}g") if "data-node" in g.attrib}


@pytest.mark.parametrize(
    ("nodes", "edges", "want"),
    [
        pytest.param("abc", ["ab", "bc"], ["a", "b", "c"], id="a-chain-is-a-row"),
        pytest.param("abc", [], ["abc"], id="what-nothing-joins-is-a-column"),
        pytest.param("abc", ["ab", "ac"], ["a", "bc"], id="two-after-one"),
        pytest.param("abc", ["ab", "bc", "ac"], ["a", "b", "c"], id="a-long-edge-moves-nothing"),
        pytest.param("abc", ["ab", "bc", "ca"], ["a", "b", "c"], id="a-circle-is-cut"),
        pytest.param("ab", ["ab", "ba"], ["a", "b"], id="to-and-fro"),
        pytest.param("ab", ["aa"], ["ab"], id="an-edge-to-itself"),
        pytest.param("abcd", ["ab", "bc", "dc"], ["a", "bd", "c"], id="a-source-stands-beside-its-target"),
    ],
)
def test_layers(nodes: str, edges: list[str], want: list[str]) -> None:
    placed = place(boxes(*nodes), [(e[0], e[1]) for e in edges])
    columns: dict[float, list[str]] = {}
    for name, box in placed.boxes.items():
        columns.setdefault(box.x, []).append(name)
    assert ["".join(sorted(c)) for _, c in sorted(columns.items())] == want


def test_layers_are_ordered_so_that_edges_do_not_cross() -> None:
    placed = place(boxes("a", "b", "x", "y"), [("a", "y"), ("b", "x")])
    assert (placed.boxes["a"].y < placed.boxes["b"].y) == (placed.boxes["y"].y < placed.boxes["x"].y)


def test_a_box_stands_level_with_its_only_neighbour() -> None:
    placed = place(boxes("a", "b"), [("a", "b")])
    assert placed.boxes["a"].y == placed.boxes["b"].y


def test_a_long_edge_passes_beside_the_boxes_between() -> None:
    placed = place(boxes("a", "b", "c"), [("a", "b"), ("b", "c"), ("a", "c")])
    (lane,) = placed.ways["a", "c"]
    between = placed.boxes["b"]
    level = lane.y + lane.port
    assert not between.y <= level <= between.y + between.height


graphs = st.integers(1, 14).flatmap(
    lambda size: st.builds(
        lambda parents, ends: Graph(
            tuple(Node(str(i), f"t{i}", parent=str(p) if p is not None else None) for i, p in enumerate(parents)),
            tuple(Edge(str(a), str(b), "to", "refers") for a, b in ends),
        ),
        st.tuples(*(st.none() | st.integers(0, i - 1) if i else st.none() for i in range(size))),
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=20),
    )
)


@given(graphs)
def test_frames_hold_what_is_within_them_and_nothing_overlaps(graph: Graph) -> None:
    picture = layout.arrange(graph)
    frames = {f.node.id: f for f in picture.frames}
    assert sorted(frames) == sorted(graph.by_id)
    for frame in frames.values():
        assert 0 <= frame.x <= frame.x + frame.width <= picture.width
        assert 0 <= frame.y <= frame.y + frame.height <= picture.height
        for inner in (frames[n.id] for n in graph.within(frame.node.id)):
            assert frame.x < inner.x < inner.x + inner.width < frame.x + frame.width
            assert frame.y < inner.y < inner.y + inner.height < frame.y + frame.height
    for parent in (None, *graph.by_id):
        for a, b in combinations([frames[n.id] for n in graph.within(parent)], 2):
            apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
            assert apart


@given(graphs)
def test_a_picture_is_the_same_twice_and_well_formed(graph: Graph) -> None:
    picture = svg(graph)
    assert picture == svg(Graph(graph.nodes, graph.edges))
    assert sorted(shown(picture)) == sorted(graph.by_id)


def test_a_picture_shows_each_node_with_its_words() -> None:
    found = shown(svg(ONE))
    assert {i: [t.text for t in g.iter(f"{SVG}text")] for i, g in found.items()} == {
        n.id: [n.title, n.subtitle] for n in ONE.nodes
    }
    assert found["x"].attrib["class"] == "leaf secret"


def test_what_a_frame_says_is_not_drawn_again() -> None:
    edges = [g for g in parsed(svg(ONE)).iter(f"{SVG}g") if g.attrib.get("class", "").startswith("edge")]
    assert sorted(e.attrib["class"] for e in edges) == ["edge refers", "edge refers", "edge secret"]


def test_parts_that_nothing_joins_are_pictures_of_their_own() -> None:
    pictures = svg_parts(Graph((*ONE.nodes, Node("alone", "Alone"))))
    assert [sorted(shown(p)) for p in pictures] == [["c", "g", "s", "x"], ["n"], ["alone"]]
    assert all("<style" not in p for p in pictures)
    assert "prefers-color-scheme: dark" in style()


@pytest.mark.parametrize(
    ("state", "mark"),
    [("created", "+"), ("updated", "~"), ("replaced", "±"), ("deleted", "−"), ("retained", "=")],
)
def test_a_state_is_told_by_a_sign_and_in_words(state: str, mark: str) -> None:
    node = shown(svg(Graph((Node("a", "Thing", state=state),))))["a"]  # type: ignore[arg-type]
    assert [t.text for t in node.iter(f"{SVG}text")] == ["Thing", mark]
    assert state in (node.find(f"{SVG}title").text or "")


@pytest.mark.parametrize(
    ("href", "want"),
    [
        pytest.param("#claim-1", "#claim-1", id="place-in-the-page"),
        pytest.param("docs/guides/graph.md", "docs/guides/graph.md", id="beside"),
        pytest.param("https://example.org/?a=1&b=2", "https://example.org/?a=1&b=2", id="address"),
        pytest.param("javascript:alert(1)", None, id="script"),
        pytest.param("JavaScript:alert(1)", None, id="script-in-capitals"),
        pytest.param(" javascript:alert(1)", None, id="script-behind-a-space"),
        pytest.param("java\tscript:alert(1)", None, id="script-with-a-tab"),
        pytest.param("data:text/html,<script>", None, id="data"),
        pytest.param("http://[", None, id="no-address"),
        pytest.param("", None, id="empty"),
    ],
)
def test_links(href: str, want: str | None) -> None:
    link = shown(svg(Graph((Node("a", "Thing", href=href),))))["a"].find(f"{SVG}a")
    assert (link.attrib["href"] if link is not None else None) == want


@pytest.mark.parametrize(("href", "role"), [(None, "img"), ("#a", "group"), ("javascript:x", "img")])
def test_links_are_read_out(href: str | None, role: str) -> None:
    assert parsed(svg(Graph((Node("a", "Thing", href=href),)))).attrib["role"] == role


@pytest.mark.parametrize(
    "word", ["<script>alert(1)</script>", "\"><b onclick='x'>", "]]>", "&amp;", "a\0b\x1b", "\ud800"]
)
def test_words_stay_words(word: str) -> None:
    picture = svg(Graph((Node(word, word, word, href="#" + word, note=word), Node("b", "b")), (Edge(word, "b", word),)))
    clean = text.escape(word)
    assert clean in picture
    assert {e.tag.removeprefix(SVG) for e in parsed(picture).iter()} <= {
        "svg", "title", "style", "g", "a", "rect", "path", "text", "circle",
    }  # fmt: skip


def test_nothing_comes_from_outside() -> None:
    picture = svg(ONE)
    assert "url(" not in picture
    assert "@import" not in picture
    assert picture.count("http") == 1  # the namespace


@pytest.mark.parametrize(
    ("words", "room", "want"),
    [
        pytest.param("short", 200, "short", id="fits"),
        pytest.param("a-name-that-is-much-too-long-to-fit", 130, "a-name-that-…o-fit", id="keeps-both-ends"),
        pytest.param("wide", 1, "…", id="no-room"),
        pytest.param("数据库数据库数据库", 60, "数据…库", id="broad-letters"),
    ],
)
def test_shortened(words: str, room: float, want: str) -> None:
    assert text.shortened(words, 13, room) == want


# folding


def test_a_small_graph_is_not_folded() -> None:
    assert folding.folded(claims(5), above=15) == claims(5)


def test_claims_that_are_alike_become_one() -> None:
    small = folding.folded(claims(100), above=20)
    assert [(n.id, n.count) for n in small.nodes] == [("c0", 100), ("g0", 100), ("s0", 100)]
    assert small.by_id["c0"].title == "default/db-0 and 99 more"
    assert "default/db-19\n… and 80 more" in small.by_id["c0"].note
    assert small.edges == (Edge("s0", "g0", "resourceGroupName", "refers"),)
    assert "×100" in svg(claims(100), fold_above=20)


def test_a_claim_that_changes_stays_by_itself() -> None:
    small = folding.folded(claims(100, state={42: "replaced"}), above=20)
    assert {n.id: n.count for n in small.nodes if n.kind == "claim"} == {"c0": 99, "c42": 1}


def test_claims_of_different_classes_stay_apart() -> None:
    classes = tuple(Node(k, k, "ResourceClass", "class") for k in ("small", "large", "unused"))
    graph = claims(40)
    served = tuple(Edge("small" if i % 2 else "large", f"c{i}") for i in range(40))
    small = folding.folded(Graph((*classes, *graph.nodes), (*graph.edges, *served)), above=20)
    assert {n.id: n.count for n in small.within(None)} == {"small": 1, "large": 1, "unused": 1, "c0": 20, "c1": 20}
    assert Edge("large", "c0") in small.edges


@pytest.mark.parametrize(
    ("parent", "count", "limit"), [(None, 200, folding.OUTERMOST), ("p", 50, folding.ROW)], ids=["outermost", "within"]
)
def test_long_rows_are_cut_and_what_changes_stays(parent: str | None, count: int, limit: int) -> None:
    top = (Node("p", "p"),) if parent else ()
    row = tuple(
        Node(f"n{i}", f"kind-{i}", f"kind-{i}", state="deleted" if i == count - 1 else "same", parent=parent)
        for i in range(count)
    )
    small = folding.folded(Graph((*top, *row), (Edge("n0", f"n{count - 2}"),)), above=20)
    found = small.within(parent)
    assert len(found) == limit
    assert f"n{count - 1}" in {n.id for n in found}
    (more,) = (n for n in found if n.count > 1)
    assert more.title == f"{count - limit + 1} more"
    assert small.edges == (Edge("n0", more.id),)


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        pytest.param([Node("a", "a"), Node("a", "b")], [], id="one-id-twice"),
        pytest.param([Node("a", "a", parent="b")], [], id="parent-missing"),
        pytest.param([Node("a", "a", parent="b"), Node("b", "b", parent="a")], [], id="within-each-other"),
        pytest.param([Node("a", "a")], [Edge("a", "b")], id="edge-to-nothing"),
    ],
)
def test_graphs_that_are_none(nodes: list[Node], edges: list[Edge]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Graph(tuple(nodes), tuple(edges))


def test_nothing_to_draw() -> None:
    assert (parsed(svg(Graph(()))).find(f"{SVG}title").text) == "nothing to draw"
