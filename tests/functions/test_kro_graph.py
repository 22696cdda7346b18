"""A `ResourceGraph` as data: expressions, names, needs."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import kro_graph
from claimsmith.functions.kro_graph import Graph, NodeKind, chains_of
from tests.support.function_calls import place

THING = {"apiVersion": "v1", "kind": "Thing", "metadata": {}}


def read(*resources: dict[str, Any], **more: Any) -> Graph:
    data = {
        "apiVersion": "kro.fn.crossplane.io/v1alpha1",
        "kind": "ResourceGraph",
        "resources": list(resources),
        **more,
    }
    return kro_graph.read(place("function-kro", data))


def thing(id_: str, spec: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": id_, "template": {**THING, "spec": spec or {}}, **more}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("${schema.spec.a}", "schema.spec.a"),
        ("my-${schema.spec.a}", '"my-" + (schema.spec.a)'),
        ("${schema.spec.a}-${schema.spec.b}", '(schema.spec.a) + "-" + (schema.spec.b)'),
        ('${{"a": schema.spec.a}}', '{"a": schema.spec.a}'),
        ('${"}" + schema.spec.a}', '"}" + schema.spec.a'),
        ('say "${schema.spec.a}"', '"say \\"" + (schema.spec.a) + "\\""'),
        ("$ {not} an expression", None),
        ("${never ends", None),
    ],
)
def test_expressions(text: str, code: str | None) -> None:
    [node] = read(thing("a", {"field": text})).nodes
    assert [c.text for c in node.fields.values()] == ([code] if code else [])


@pytest.mark.parametrize(
    ("text", "chains", "calls"),
    [
        ("vpc.status.id", [("vpc", "status", "id")], set()),
        ("vpc.status.?id.orValue('a.b')", [("vpc", "status", "id")], set()),
        ("subnets.map(s, s.id)", [("subnets",), ("s",), ("s", "id")], set()),
        ("size(a) + size(b.c)", [("a",), ("b", "c")], {"size"}),
        ("'vpc.status' + \"x\"", [], set()),
        ("a['b'].c", [("a",)], set()),
    ],
)
def test_what_an_expression_reads(text: str, chains: list[tuple[str, ...]], calls: set[str]) -> None:
    assert chains_of(text) == (chains, calls)


def test_nodes_come_in_the_order_of_their_needs() -> None:
    graph = read(thing("b", {"x": "${a.status.id}"}), thing("a"), thing("c", includeWhen=["${b.status.ok == true}"]))
    assert [node.id for node in graph.nodes] == ["a", "b", "c"]


def test_kinds_of_nodes() -> None:
    selector = {"selector": {"matchLabels": {"a": "b"}}}
    graph = read(
        thing("one"),
        thing("many", forEach=[{"zone": "${schema.spec.zones}"}]),
        {"id": "there", "externalRef": {**THING, "metadata": {"name": "x"}}},
        {"id": "those", "externalRef": {**THING, "metadata": selector}},
    )
    assert [node.kind for node in graph.nodes] == list(NodeKind)


@pytest.mark.parametrize(
    ("resources", "more", "path"),
    [
        ([thing("Upper")], {}, "resources[0].id"),
        ([thing("schema")], {}, "resources[0].id"),
        ([thing("a"), thing("a")], {}, "resources[0].id"),
        ([{"id": "a"}], {}, "resources[0]"),
        ([{**thing("a"), "externalRef": THING}], {}, "resources[0]"),
        ([{"id": "a", "externalRef": THING, "forEach": [{"b": "${[1]}"}]}], {}, "resources[0].forEach"),
        ([{"id": "a", "template": {"kind": "X", "metadata": {}}}], {}, "resources[0].template"),
        ([{"id": "a", "template": {"apiVersion": "v1", "kind": "X"}}], {}, "resources[0].template"),
        ([thing("a", {"x": "${b.c}"}), thing("b", {"x": "${a.c}"})], {}, "resources"),
        ([thing("bucket"), thing("b", {"x": "${buckett.c}"})], {}, "resources[1].template.spec.x"),
        ([thing("a", {"x": "${a1(${b})}"})], {}, "resources[0].template.spec.x"),
        ([thing("a", {"x": "-${omit()}"})], {}, "resources[0].template.spec.x"),
        ([thing("a", readyWhen=["true"])], {}, "resources[0].readyWhen[0]"),
        ([thing("a", includeWhen=["a-${schema.spec.x}"])], {}, "resources[0].includeWhen[0]"),
        ([thing("a", forEach=[{"a": "${[1]}"}])], {}, "resources[0].forEach"),
        ([thing("a", forEach=[{f"i{n}": "${[1]}"} for n in range(11)])], {}, "resources[0].forEach"),
        ([thing("a", forEach=[{"b": "${[1]}", "c": "${[2]}"}])], {}, "resources[0].forEach[0]"),
        ([thing("a")], {"status": {"x": "plain"}}, "status.x"),
        ([thing("a")], {"status": {"x": "${schema.spec.a}"}}, "status.x"),
        ([{"id": "a", "template": {**THING, "metadata": {"labels": {"kro.run/x": "1"}}}}], {}, "metadata.labels"),
        ([{**thing("a"), "redyWhen": []}], {}, "resources[0].redyWhen"),
    ],
)
def test_refused(resources: list[dict[str, Any]], more: dict[str, Any], path: str) -> None:
    with pytest.raises(EngineError) as caught:
        read(*resources, **more)
    problem = caught.value.problems[0]
    assert problem.path.endswith(path)
    assert problem.where
    assert problem.fix
