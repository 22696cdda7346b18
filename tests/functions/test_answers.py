"""What a function answered is checked, whichever function it is."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import ComposeError
from claimsmith.functions import answers
from claimsmith.functions.protocol import Condition, Request, Requirements, Resource, Response, Selector, State

THING = {"apiVersion": "v1", "kind": "Thing"}


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


def desiring(name: str = "a", **document: Any) -> Response:
    return Response(State(resources={name: Resource({**THING, **document})}))


def named(name: str) -> Response:
    return Response(State(), requirements=Requirements(resources={name: Selector("v1", "Thing")}))


@pytest.mark.parametrize(
    ("response", "what"),
    [
        pytest.param(desiring(kind=None), "has no kind", id="no-kind"),
        pytest.param(desiring(apiVersion=3), "has no apiVersion", id="no-apiVersion"),
        pytest.param(desiring(metadata=[]), "metadata that is no object", id="metadata"),
        pytest.param(desiring("a\x1b[31m"), "as a name", id="control-characters"),
        pytest.param(desiring("x" * 2000), "as a name", id="long-name"),
        pytest.param(desiring(n=[float("inf")]), "not finite", id="infinite"),
        pytest.param(desiring(n=nested(150)), "nests more than 100 levels", id="depth"),
        pytest.param(desiring(n=[0] * 1_000_001), "more than 1000000 values", id="values"),
        pytest.param(
            Response(State(resources={str(n): Resource(THING) for n in range(10_001)})), "10001 desired", id="resources"
        ),
        pytest.param(Response(State(Resource({"status": float("nan")}))), "the composite has a number", id="composite"),
        pytest.param(Response(State(Resource(details={"a\n": b""}))), "as a name", id="detail"),
        pytest.param(Response(State(), {"k": nested(150)}), "the context nests", id="context"),
        pytest.param(Response(State(), conditions=(Condition("", "True", "R"),)), "as a name", id="condition"),
        pytest.param(named("\x00"), "as a name", id="requirement"),
        pytest.param(
            Response(State(), requirements=Requirements({str(n): Selector("v1", "K") for n in range(1001)})),
            "1001 requirements",
            id="requirements",
        ),
    ],
)
def test_refused(response: Response, what: str) -> None:
    with pytest.raises(ComposeError) as caught:
        answers.check(response, Request(State()))
    assert caught.value.problems[0].what.startswith("the function's answer is refused: ")
    assert what in caught.value.problems[0].what
    assert caught.value.problems[0].fix


def test_accepted() -> None:
    answers.check(desiring(metadata={"name": "a"}, n=nested(90), f=0.5), Request(State()))


def test_what_was_only_passed_on_is_not_the_functions() -> None:
    before = State(resources={"a": Resource({"kind": None})})
    answers.check(Response(before), Request(State(), before))
