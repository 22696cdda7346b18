"""Requirements: a function runs until it has what it requires."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claimsmith.base.errors import ComposeError
from claimsmith.functions.protocol import (
    Request,
    Requirements,
    Response,
    SchemaSelector,
    Selector,
    Severity,
    State,
)
from claimsmith.functions.requirements import MAX_ROUNDS, Sources, settled

CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n", "labels": {"x": "y"}}}
SCHEMA = {
    "type": "object",
    "x-kubernetes-group-version-kind": [{"group": "example.org", "kind": "Thing", "version": "v1"}],
}
SOURCES = Sources([CONFIG], [{"components": {"schemas": {"org.example.v1.Thing": SCHEMA}}}])


@pytest.mark.parametrize(
    ("selector", "count"),
    [
        pytest.param(Selector("v1", "ConfigMap", name="a"), 1, id="name"),
        pytest.param(Selector("v1", "ConfigMap", name="b"), 0, id="another-name"),
        pytest.param(Selector("v1", "ConfigMap", labels={"x": "y"}), 1, id="labels"),
        pytest.param(Selector("v1", "ConfigMap", labels={"x": "z"}), 0, id="other-labels"),
        pytest.param(Selector("v1", "ConfigMap", labels={}), 1, id="all-of-a-kind"),
        pytest.param(Selector("v1", "ConfigMap", name="a", namespace="m"), 0, id="another-namespace"),
        pytest.param(Selector("v1", "Secret", name="a"), 0, id="another-kind"),
    ],
)
def test_fetch(selector: Selector, count: int) -> None:
    assert len(SOURCES.fetch(selector)) == count


def test_schema() -> None:
    assert SOURCES.schema(SchemaSelector("example.org/v1", "Thing")) == SCHEMA
    assert SOURCES.schema(SchemaSelector("example.org/v2", "Thing")) == {}


def test_a_function_runs_until_its_requirements_settle() -> None:
    calls: list[Request] = []

    def function(request: Request) -> Response:
        calls.append(request)
        wanted = {"one": Selector("v1", "ConfigMap", name="a")}
        if request.required_resources:
            wanted["two"] = Selector("v1", "ConfigMap", labels={"x": "y"})
        return replace(Response.to(request), requirements=Requirements(resources=wanted), context={"calls": len(calls)})

    response = settled(function, Request(State()), SOURCES)
    assert [sorted(r.required_resources or ()) for r in calls] == [[], ["one"], ["one", "two"]]
    assert [dict(r.context) for r in calls] == [{}, {"calls": 1}, {"calls": 2}]
    assert response.context == {"calls": 3}


def test_a_function_that_never_settles_is_refused() -> None:
    calls: list[int] = []

    def function(request: Request) -> Response:
        calls.append(1)
        wanted = {str(len(calls)): Selector("v1", "ConfigMap", name="a")}
        return replace(Response.to(request), requirements=Requirements(resources=wanted))

    with pytest.raises(ComposeError):
        settled(function, Request(State()), SOURCES)
    assert len(calls) == MAX_ROUNDS + 1


def test_a_fatal_result_ends_the_rounds() -> None:
    def function(request: Request) -> Response:
        wanted = Requirements(resources={"a": Selector("v1", "ConfigMap", name="a")})
        return replace(Response.to(request).with_result(Severity.fatal, "no"), requirements=wanted)

    assert settled(function, Request(State()), SOURCES).results[0].message == "no"
