from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base import topological
from claimsmith.base.errors import ReferenceError_
from claimsmith.base.names import GroupKind
from claimsmith.compose import references
from claimsmith.compose.references import Candidate, Selection
from tests.support.samples import documents_of, table

NETWORK, POOL = GroupKind("net", "Network"), GroupKind("net", "Pool")
TABLE = {POOL: {"network": (NETWORK,), "owner": (POOL,)}}


def pool(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "net/v1", "kind": "Pool", "spec": fields}


def replaced(**fields: Any) -> dict[str, Any]:
    return references.replace_selectors(pool(**fields), TABLE, lambda s: {"name": f"<{s}>"})["spec"]


SAME, ANY = "<Network.net of the same parent>", "<Network.net>"


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        pytest.param({"networkSelector": {"matchComposite": True}}, {"networkRef": {"name": SAME}}, id="composite"),
        pytest.param(
            {"networkSelector": {"matchControllerRef": True}}, {"networkRef": {"name": SAME}}, id="controller-ref"
        ),
        pytest.param({"networkSelector": {"matchAggregate": True}}, {"networkRef": {"name": SAME}}, id="aggregate"),
        pytest.param({"networkSelector": {"matchComposite": False}}, {"networkRef": {"name": ANY}}, id="not-the-same"),
        pytest.param(
            {"networkSelector": {"matchLabels": {"a": "b"}}},
            {"networkRef": {"name": "<Network.net with a=b>"}},
            id="labels-only",
        ),
        pytest.param({"networkSelector": {}}, {"networkRef": {"name": ANY}}, id="anything"),
        pytest.param(
            {"networkSelector": {"matchComposite": True}, "networkRef": {"name": "x"}},
            {"networkRef": {"name": "x"}},
            id="reference-wins",
        ),
        pytest.param({"networkSelector": {"matchComposite": True}, "network": "x"}, {"network": "x"}, id="value-wins"),
        pytest.param(
            {"networkSelector": {"matchComposite": True}, "network": "x", "networkRef": {"name": "y"}},
            {"network": "x", "networkRef": {"name": "y"}},
            id="value-and-reference",
        ),
        pytest.param(
            {"networkSelector": {"matchComposite": True}, "network": None},
            {"networkRef": {"name": SAME}, "network": None},
            id="null-is-no-value",
        ),
        pytest.param(
            {"deep": [{"networkSelector": {"matchComposite": True}}]},
            {"deep": [{"networkRef": {"name": SAME}}]},
            id="inside-a-list",
        ),
        pytest.param(
            {"podSelector": {"matchLabels": {"a": "b"}}}, {"podSelector": {"matchLabels": {"a": "b"}}}, id="a-pods"
        ),
        pytest.param({"networkSelector": "text"}, {"networkSelector": "text"}, id="not-a-mapping"),
        pytest.param(
            {"a": 1, "networkSelector": {"matchComposite": True}, "b": 2},
            {"a": 1, "networkRef": {"name": SAME}, "b": 2},
            id="order-is-kept",
        ),
    ],
)
def test_replace_selectors(fields: dict[str, Any], want: dict[str, Any]) -> None:
    assert replaced(**fields) == want
    assert list(replaced(**fields)) == list(want)


@pytest.mark.parametrize(
    ("fields", "path", "word"),
    [
        pytest.param(
            {"forProvider": {"netwrkSelector": {"matchComposite": True}}},
            "spec.forProvider.netwrkSelector",
            "networkSelector",
            id="misspelt",
        ),
        pytest.param(
            {"thingSelector": {"matchComposite": True}}, "spec.thingSelector", "references.yaml", id="unknown"
        ),
        pytest.param(
            {"networkSelector": {"matchComposit": True}}, "spec.networkSelector", "matchComposite", id="bad-word"
        ),
        pytest.param(
            {"networkSelector": {"matchLabels": ["a"]}},
            "spec.networkSelector",
            "matchLabels",
            id="labels-that-are-a-list",
        ),
        pytest.param(
            {"networkSelector": {"matchClassRef": "a"}},
            "spec.networkSelector",
            "matchClassRef",
            id="class-that-is-a-text",
        ),
    ],
)
def test_selectors_that_are_not_understood(fields: dict[str, Any], path: str, word: str) -> None:
    with pytest.raises(ReferenceError_) as caught:
        replaced(**fields)
    [problem] = caught.value.problems
    assert problem.path == path
    assert word in problem.fix


# Picking

OWN = Candidate("claim/pool", POOL, {}, "one", template="pool")


def target(address: str, parent: str = "one", kind: GroupKind = NETWORK, **labels: str) -> Candidate:
    return Candidate(address, kind, labels, parent, template=address.rpartition("/")[2])


def picked(*candidates: Candidate, same_parent: bool = True, recorded: str = "", **labels: str) -> str:
    selection = Selection(("spec", "networkSelector"), "network", (NETWORK,), same_parent, labels)
    return references.pick(selection, own=OWN, candidates=candidates, recorded=recorded).address


@pytest.mark.parametrize(
    ("candidates", "options", "want"),
    [
        pytest.param([target("a", "two"), target("b")], {}, "b", id="of-the-same-parent"),
        pytest.param([target("a", kind=POOL), target("b")], {}, "b", id="of-the-kind"),
        pytest.param([target("a"), target("b", x="y")], {"x": "y"}, "b", id="with-the-labels"),
        pytest.param([target("a", "two", x="y"), target("b")], {"same_parent": False, "x": "y"}, "a", id="of-anyone"),
        pytest.param([target("claim/pool"), target("b")], {}, "b", id="never-itself"),
    ],
)
def test_pick(candidates: list[Candidate], options: dict[str, Any], want: str) -> None:
    assert picked(*candidates, **options) == want


def test_pick_among_several_is_stable() -> None:
    candidates = [target(f"claim/t{i}") for i in range(10)]
    assert picked(*candidates) == picked(*reversed(candidates))
    others = [target(f"other/t{i}") for i in range(10)]
    assert picked(*others).rpartition("/")[2] == picked(*candidates).rpartition("/")[2]


STABLE, OTHER, THIRD = "z/a", "z/b", "z/c"
"""What the stable choice prefers for the pool, the first the most."""


def test_the_stable_choice_across_claims() -> None:
    assert picked(target(THIRD), target(OTHER), target(STABLE), same_parent=False) == STABLE
    assert picked(target(THIRD), target(OTHER), same_parent=False) == OTHER


@pytest.mark.parametrize(
    ("candidates", "recorded", "same_parent", "want"),
    [
        pytest.param([target(OTHER, x="y"), target(THIRD, x="y")], THIRD, False, THIRD, id="kept"),
        pytest.param(
            [target(STABLE, x="y"), target(OTHER, x="y"), target(THIRD, x="y")],
            THIRD,
            False,
            THIRD,
            id="another-candidate-appears",
        ),
        pytest.param([target(STABLE, x="y"), target(OTHER, x="y")], "", False, STABLE, id="dropped"),
        pytest.param([target(STABLE, x="y"), target(THIRD, x="y")], OTHER, False, STABLE, id="gone"),
        pytest.param([target(STABLE, x="y"), target(OTHER, x="z")], OTHER, False, STABLE, id="labels-changed"),
        pytest.param(
            [target(STABLE, x="y"), target(OTHER, kind=POOL, x="y")], OTHER, False, STABLE, id="of-another-kind"
        ),
        pytest.param([target(STABLE, x="y"), target("claim/pool", x="y")], "claim/pool", False, STABLE, id="itself"),
        pytest.param([target("one/net", x="y"), target("one/b", x="y")], "one/b", True, "one/net", id="siblings"),
    ],
)
def test_a_recorded_pick(candidates: list[Candidate], recorded: str, same_parent: bool, want: str) -> None:
    assert picked(*candidates, same_parent=same_parent, recorded=recorded, x="y") == want


def test_pick_of_nothing() -> None:
    with pytest.raises(ReferenceError_) as caught:
        picked(target("a", "two"))
    [problem] = caught.value.problems
    assert problem.path == "spec.networkSelector"
    assert "spec.networkRef" in problem.fix


# Order


def needs(**edges: str) -> dict[str, list[tuple[str, str]]]:
    return {item: [(need, f"path.{need}") for need in text.split()] for item, text in edges.items()}


@pytest.mark.parametrize(
    ("items", "edges", "want"),
    [
        pytest.param("abc", {}, "abc", id="as-given"),
        pytest.param("cba", {}, "cba", id="as-given-backwards"),
        pytest.param("abc", {"a": "c"}, "bca", id="after-what-it-needs"),
        pytest.param("abcd", {"a": "b c d"}, "bcda", id="after-all-of-them"),
        pytest.param("abc", {"a": "elsewhere"}, "abc", id="what-is-not-here-does-not-count"),
        pytest.param("abcd", {"b": "d", "a": "d"}, "cdab", id="no-more-moved-than-must-be"),
        pytest.param("ab", {"a": "b b"}, "ba", id="needed-twice"),
        pytest.param("", {}, "", id="nothing"),
    ],
)
def test_ordered(items: str, edges: dict[str, str], want: str) -> None:
    assert "".join(topological.ordered(list(items), needs(**edges))) == want


@pytest.mark.parametrize(
    ("items", "edges", "words"),
    [
        pytest.param("ab", {"a": "b", "b": "a"}, ["a needs b (path.b)", "b needs a (path.a)"], id="two"),
        pytest.param("a", {"a": "a"}, ["a needs a (path.a)"], id="itself"),
        pytest.param("xabc", {"a": "b x", "b": "c", "c": "a"}, ["a needs b", "b needs c", "c needs a"], id="three"),
    ],
)
def test_circles_are_named(items: str, edges: dict[str, str], words: list[str]) -> None:
    with pytest.raises(ReferenceError_) as caught:
        topological.ordered(list(items), needs(**edges))
    [problem] = caught.value.problems
    assert all(word in problem.what for word in words)
    assert problem.fix


def test_a_long_chain_is_ordered() -> None:
    items = [str(i) for i in range(5000)]
    chain = {str(i): [(str(i + 1), "p")] for i in range(4999)}
    assert topological.ordered(items, chain) == items[::-1]


# The table


def test_a_project_extends_the_built_in_table() -> None:
    own = documents_of({"references": {"NodePool.container.gcp.crossplane.io": {"zone": "Zone.example.org"}}})
    fields = table(*own)[GroupKind("container.gcp.crossplane.io", "NodePool")]
    assert fields["zone"] == (GroupKind("example.org", "Zone"),)
    assert fields["cluster"] == (GroupKind("container.gcp.crossplane.io", "GKECluster"),)
