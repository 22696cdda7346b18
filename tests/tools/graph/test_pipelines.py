"""Drawings of compositions whose functions decide what there is."""

from __future__ import annotations

from pathlib import Path

from claimsmith.tools.graph import Graph
from claimsmith.tools.graph.project import picture
from tests.support import piped_project


def edges(graph: Graph) -> set[tuple[str, str, str]]:
    return {(e.source.rpartition("/")[2], e.target.rpartition("/")[2], e.label) for e in graph.edges}


def test_a_field_that_another_resource_fills_in_is_an_arrow(tmp_path: Path) -> None:
    graph = picture(piped_project.project(tmp_path), "dev").graph
    assert {e for e in edges(graph) if e[2]} == {("asubnet", "network", "networkId"), ("asubnet", "network", "zone")}
    assert {n.title for n in graph.nodes if n.kind == "resource"} == {"Network", "Subnet", "Node", "Tag"}


def test_of_a_class_the_steps_are_drawn(tmp_path: Path) -> None:
    graph = picture(piped_project.project(tmp_path), klass="nets").graph
    assert [(n.title, n.subtitle) for n in graph.nodes if n.kind == "resource"] == [
        ("text", "function-go-templating"),
        ("graph", "function-kro"),
        ("tags", "function-kcl"),
        ("order", "function-sequencer"),
    ]
    assert {("text", "graph", "then"), ("graph", "tags", "then"), ("tags", "order", "then")} <= edges(graph)
