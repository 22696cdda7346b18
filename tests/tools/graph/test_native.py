"""Native children in graphs of stacks and classes."""

from __future__ import annotations

from pathlib import Path

from claimsmith.tools.graph import Graph, pictures
from claimsmith.tools.graph.project import picture
from tests.support.native_plans import native_claim, native_class, native_plan, native_project
from tests.support.samples import one_class, table


def edges(graph: Graph) -> set[tuple[str, str, str, str]]:
    return {(e.source.rpartition("/")[2], e.target.rpartition("/")[2], e.label, e.kind) for e in graph.edges}


def test_a_stack_shows_native_children_and_their_siblings() -> None:
    graph = pictures.of_stack(native_plan(writeConnectionSecretToRef={"name": "s"}), table())
    assert {("role", "password", "password", "refers"), ("database", "role", "owner", "refers")} <= edges(graph)
    role = next(n for n in graph.nodes if n.id.endswith("/role"))
    assert (role.title, role.subtitle) == ("Role", "default-orders-role")
    assert role.note.endswith("$postgresql:index/role:Role::default-orders-role")
    feeding = {e.source.rpartition("/")[2] for e in graph.edges if e.kind == "secret"}
    assert feeding == {"database", "role", "password"}


def test_a_class_shows_what_its_templates_take_from_each_other() -> None:
    graph = pictures.of_class(one_class(native_class()), table())
    found = edges(graph)
    assert {("role", "password", "password", "refers"), ("database", "role", "owner", "refers")} <= found
    assert {e.source.rpartition("/")[2] for e in graph.edges if e.kind == "secret"} == {"database", "role", "password"}


def test_the_command_draws_a_stack_without_a_cluster(tmp_path: Path) -> None:
    graph = picture(native_project(tmp_path), "dev").graph
    assert {c.address for c in native_claim().children} <= {n.id for n in graph.nodes}


def test_an_existing_resource_is_read_and_not_created() -> None:
    graph = pictures.of_stack(native_plan(resourceRef={"type": "postgresql:Database", "id": "old"}), table())
    [child] = [n for n in graph.nodes if n.id.endswith("/orders/database")]
    assert child.subtitle == "default-orders-database · exists, only read"
