"""What the graph command draws: what the plan says, with no value of a Secret, and pages that work anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from claimsmith.base.values import refs
from claimsmith.cli.app import app
from claimsmith.compose.plan import Plan
from claimsmith.compose.planning import build_plan
from claimsmith.compose.released import Released
from claimsmith.dialects.common.dialect import Identity
from claimsmith.dialects.composite_classes.dialect import COMPOSITE_CLASSES
from claimsmith.project.project import Project
from claimsmith.tools.explain.project import explanations
from claimsmith.tools.graph import Edge, Graph, Node, page, pictures, svg
from claimsmith.tools.graph.page import anchors_of
from claimsmith.tools.graph.project import picture
from tests.e2e.workload_examples import application, config_map, gke_cluster, namespace_object, target
from tests.support.browser import DESK, PHONE, Browser
from tests.support.golden_cases import GOOD, Case
from tests.support.paths import ROOT
from tests.support.samples import catalog_of, claim_data, class_data, expanded
from tests.support.workload_stack import Stack

PROJECT = Project(ROOT)
STACKS = PROJECT.stacks()
CLAIM = "MySQLInstance.database.example.org/default/sql"


def run(*words: str):
    return CliRunner().invoke(app, list(words))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def edges(graph: Graph) -> set[tuple[str, str, str, str]]:
    return {(e.source.rpartition("/")[2], e.target.rpartition("/")[2], e.label, e.kind) for e in graph.edges}


def test_a_stack_is_drawn_as_it_is_planned() -> None:
    graph = picture(PROJECT, "dev").graph
    plan = PROJECT.plan("dev")
    assert {n.id for n in graph.within(CLAIM) if n.kind == "resource"} == {c.address for c in plan.claims[0].children}
    assert edges(graph) == {
        ("sql", "resource-group", "", "makes"),
        ("sql", "my-sql-server", "", "makes"),
        ("sql", "my-sql-server-virtual-network-rule", "", "makes"),
        ("private-mysql-server for MySQLInstance.database.example.org", "sql", "", "makes"),
        ("my-sql-server", "resource-group", "resourceGroupName", "refers"),
        ("my-sql-server-virtual-network-rule", "resource-group", "resourceGroupName", "refers"),
        ("my-sql-server-virtual-network-rule", "my-sql-server", "serverName", "refers"),
        ("my-sql-server-virtual-network-rule", "sample-subnet", "virtualNetworkSubnetId", "refers"),
        ("my-sql-server", "sql", "", "secret"),
    }


@pytest.mark.parametrize("stack", STACKS)
def test_every_child_and_secret_of_a_stack_is_drawn(stack: str) -> None:
    plan = PROJECT.plan(stack)
    graph = pictures.of_stack(plan, PROJECT.table())
    drawn = {n.id for n in graph.nodes}
    assert {c.address for p in plan.walk() for c in p.children} | {r.address for r in plan.resources} <= drawn
    secrets = {f"{s.namespace}/{s.name}" for p in plan.walk() for s in p.connections}
    assert {n.subtitle for n in graph.nodes if n.kind == "secret"} == secrets


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_every_golden_plan_can_be_drawn(case: Case) -> None:
    plan = case.plan()
    graph = pictures.of_stack(plan, case.table)
    assert {c.address for p in plan.walk() for c in p.children} <= {n.id for n in graph.nodes}
    needs = {(c.address, r.resource) for p in plan.walk() for c in p.children for r in refs(c.document)}
    assert {(s, t) for s, t in needs if s != t and t in graph.by_id} <= {(e.source, e.target) for e in graph.edges}
    ElementTree.fromstring(svg(graph))


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_every_secret_is_fed_by_what_the_plan_says(case: Case) -> None:
    plan = case.plan()
    graph = pictures.of_stack(plan, case.table)
    fed = {e.target for e in graph.edges if e.kind == "secret"}
    secrets = {f"{p.address} Secret {s.namespace}/{s.name}" for p in plan.walk() for s in p.connections if s.sources}
    assert secrets <= fed


@pytest.mark.parametrize("stack", STACKS)
def test_tooltips_have_the_urns_that_explain_tells(stack: str) -> None:
    explained = [s.to_dict() for s in explanations(PROJECT, stack)]
    urns = set(re.findall(r'"urn": "([^"]+)"', json.dumps(explained)))
    graph = picture(PROJECT, stack).graph
    drawn = {n.note for n in graph.nodes if n.note.startswith("urn:")}
    assert drawn
    assert drawn <= urns


def test_a_claim_is_drawn_with_its_neighbours_and_nothing_else() -> None:
    graph = picture(PROJECT, "showcase", claim="private").graph
    assert [n.title for n in graph.within(None)] == ["private-mysql-server", "showcase/private", "sample-subnet"]


def test_a_neighbour_within_another_claim_says_so() -> None:
    nodes = (Node("a", "a"), Node("a1", "Group", parent="a"), Node("b", "b"), Node("b1", "Server", parent="b"))
    small = pictures.narrowed(Graph(nodes, (Edge("b1", "a1", "group", "refers"),)), ["b"])
    assert [(n.id, n.parent, n.note) for n in small.nodes] == [("a1", None, "of a"), ("b", None, ""), ("b1", "b", "")]


def test_a_class_is_drawn_before_there_is_a_claim() -> None:
    graph = picture(PROJECT, klass="mysql-on-azure").graph
    assert edges(graph) == {
        ("claim MySQLDatabase.acme.example.org region", "resource-group", "location", "gives"),
        ("claim MySQLDatabase.acme.example.org engineVersion", "my-sql-server", "version", "gives"),
        ("claim MySQLDatabase.acme.example.org storageGB", "my-sql-server", "storageMB", "gives"),
        ("my-sql-server", "resource-group", "resourceGroupName", "refers"),
        ("my-sql-server", "mysql-on-azure secret", "", "secret"),
    }


@pytest.mark.parametrize("klass", sorted({c.name for c in PROJECT.catalog().classes.values()}))
def test_every_class_can_be_drawn(klass: str) -> None:
    ElementTree.fromstring(picture(PROJECT, klass=klass).text(html=False))


def test_a_class_with_a_stack_shows_what_it_serves_there() -> None:
    graph = picture(PROJECT, "showcase", klass="mysql-on-gcp").graph
    assert [n.title for n in graph.within(None) if n.kind == "claim"] == ["showcase/required"]


@pytest.mark.parametrize(
    ("words", "want"),
    [
        pytest.param([], "name one of: dev, local, prod, showcase, today", id="which-stack"),
        pytest.param(["prodd"], "did you mean 'prod'?", id="no-such-stack"),
        pytest.param(["dev", "--claim", "sqll"], "did you mean 'sql'?", id="no-such-claim"),
        pytest.param(["--class", "privat-mysql-server"], "did you mean 'private-mysql-server'?", id="no-such-class"),
        pytest.param(["--class", "nothing at all"], "use one of: ", id="no-class-near"),
    ],
)
def test_refusals(words: list[str], want: str) -> None:
    ran = run("graph", *words)
    assert ran.exit_code == 1
    assert want in ran.output


def test_a_class_and_a_claim_is_a_mistake() -> None:
    assert run("graph", "dev", "--class", "a", "--claim", "b").exit_code == 2


@pytest.mark.parametrize("name", [pytest.param("dev.png", id="another-format"), pytest.param("dev", id="no-ending")])
def test_a_file_of_another_format_is_refused(name: str, tmp_path: Path) -> None:
    ran = run("graph", "dev", "-o", str(tmp_path / name))
    assert (ran.exit_code, "ends in none of .svg, .html" in ran.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "begin"),
    [
        pytest.param([], "<svg ", id="svg-by-default"),
        pytest.param(["--output", "html"], "<!doctype html>", id="html"),
        pytest.param(["-o", "x.html"], "<!doctype html>", id="by-the-name"),
        pytest.param(["-o", "x.svg"], "<svg ", id="by-the-other-name"),
        pytest.param(["-o", "x.html", "--output", "svg"], "<svg ", id="the-flag-wins"),
        pytest.param(["-o", "x.pic", "--output", "svg"], "<svg ", id="any-ending-with-the-flag"),
    ],
)
def test_formats(words: list[str], begin: str, tmp_path: Path) -> None:
    ran = run("graph", "dev", *(str(tmp_path / w) if "." in w else w for w in words))
    assert ran.exit_code == 0, ran.output
    written = [p.read_text(encoding="utf-8") for p in tmp_path.iterdir()]
    assert (*written, ran.stdout)[0].startswith(begin)
    assert (ran.stdout == "") == bool(written)


@pytest.mark.parametrize(
    ("file", "words"),
    [("dev.svg", ["dev"]), ("class.svg", ["--class", "private-mysql-server"])],
    ids=["stack", "class"],
)
def test_the_documented_pictures_are_those_that_are_drawn(golden, file: str, words: list[str]) -> None:
    golden(ROOT / "docs" / "pictures" / file, run("graph", *words).stdout)


def test_a_claim_that_nothing_serves_says_so() -> None:
    catalog = catalog_of([class_data("plain")], [claim_data("sql", classSelector={"matchLabels": {"a": "b"}})])
    plan = build_plan(expanded(catalog), project="p", stack="s", table={})
    (node,) = pictures.of_stack(plan, {}).nodes
    assert (node.title, node.subtitle, node.kind) == ("default/sql", "Database · nothing serves it", "claim")
    assert "no class" in node.note


def test_a_composite_whose_claim_is_gone_is_shown_as_kept() -> None:
    identity = Identity("p", "s", "a.org/v1", "Database", "team", "old", "uid", None, {}, COMPOSITE_CLASSES)
    left = Released(identity, ({"apiVersion": "b.org/v1", "kind": "Bucket", "name": "team-old-x"},))
    graph = pictures.of_stack(Plan("p", "s", (), released=(left,)), {})
    assert [(n.title, n.subtitle, n.state) for n in graph.nodes] == [
        ("team/old", "Database · its claim is gone", "retained"),
        ("Bucket", "team-old-x", "retained"),
    ]


def test_an_application_waits_for_its_cluster() -> None:
    web = application("team", "web", "dev", namespace_object("shop"), config_map("settings"))
    plan = Stack([web], [gke_cluster("dev"), target("team", "dev", "dev")]).plan()
    graph = pictures.of_stack(plan, {})
    (node,) = (n for n in graph.within(None) if n.title == "team/web")
    assert node.subtitle == "KubernetesApplication · to dev"
    assert [n.title for n in graph.within(node.id)] == ["Namespace", "ConfigMap"]
    (edge,) = (e for e in graph.edges if e.source == node.id)
    assert (graph.by_id[edge.target].subtitle, edge.label, edge.kind) == ("GKECluster", "credentials", "secret")


def test_the_same_stack_gives_the_same_bytes() -> None:
    assert run("graph", "showcase", "--output", "html").stdout == run("graph", "showcase", "--output", "html").stdout


def test_anchors_are_names_and_unique() -> None:
    graph = Graph((Node("A/b c", "x"), Node("a-b-c", "y"), Node("…", "z")))
    assert list(anchors_of(graph).values()) == ["a-b-c", "a-b-c-2", "node"]


# in a browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "showcase.html"
    path.write_text(picture(PROJECT, "showcase").text(html=True), encoding="utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("scripts", [False, True], ids=["no-scripts", "scripts"])
def test_a_page_can_be_read(browser: Browser, written: Path, dark: bool, width: int, scripts: bool) -> None:
    opened = browser.open(written, dark=dark, width=width, scripts=scripts)
    assert opened.overflow == 0
    assert "showcase/coolblog" in opened.one("#wordpress-apps-example-org-showcase-coolblog summary").text
    assert opened.requests == [written.as_uri()]
    lightness = sum(int(c) for c in re.findall(r"\d+", opened.colour("body"))[:3])
    assert (lightness < 150) == dark


def test_a_click_on_a_claim_leads_to_its_words(browser: Browser, written: Path) -> None:
    opened = browser.open(written, scripts=False)
    opened.click('[data-node="Wordpress.apps.example.org/showcase/coolblog"] > a .t')
    assert opened.address.endswith("#wordpress-apps-example-org-showcase-coolblog")
    assert opened.in_view == "wordpress-apps-example-org-showcase-coolblog"


def test_words_fit_into_their_boxes(browser: Browser, written: Path) -> None:
    opened = browser.open(written)
    broad = opened.evaluate(
        "[...document.querySelectorAll('figure g[data-node]')].flatMap(g => {"
        "const box = [...g.querySelectorAll('.box')].pop().getBBox();"
        "return [...g.querySelectorAll('.t, .s')].filter(t => t.getBBox().x + t.getBBox().width > box.x + box.width)"
        ".map(t => t.textContent)})"
    )
    assert broad == []


def test_a_picture_stands_alone(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "dev.svg"
    path.write_text(picture(PROJECT, "dev").text(html=False), encoding="utf-8")
    opened = browser.open(path, dark=True)
    assert "MySQLServer" in opened.texts(".t")
    assert opened.requests == [path.as_uri()]


def test_what_a_name_says_is_never_run(browser: Browser) -> None:
    evil = "</style><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    graph = Graph((Node(evil, evil, evil, "claim", note=evil), Node("b", "b")), (Edge(evil, "b", evil, "refers"),))
    opened = browser.open(page(graph, title=evil, lead=evil))
    assert opened.all("img, script") == []
    assert opened.evaluate("document.title") == evil


def test_a_thousand_claims_are_a_page(browser: Browser) -> None:
    nodes = [Node("k", "small", "class", "class")]
    for i in range(1000):
        nodes += [Node(f"c{i}", f"team/db-{i}", "Database", "claim"), Node(f"r{i}", "Server", f"s-{i}", parent=f"c{i}")]
    graph = Graph(tuple(nodes), tuple(Edge("k", f"c{i}") for i in range(1000)))
    opened = browser.open(page(graph, title="many"), scripts=False)
    assert opened.texts("figure .frame .n") == ["×1000"]
    assert len(opened.all("details.claim")) == 1000
