"""Requests and responses as messages of the protocol."""

from __future__ import annotations

from typing import Any

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as v1

from claimsmith.base.errors import ComposeError
from claimsmith.functions import answers, messages
from claimsmith.functions.protocol import (
    Condition,
    Ready,
    Request,
    Requirements,
    Resource,
    Result,
    SchemaSelector,
    Selector,
    Severity,
    State,
    Target,
)

DOCUMENT = {
    "apiVersion": "v1",
    "kind": "Thing",
    "spec": {"n": 3, "half": 0.5, "no": None, "yes": True, "l": [1, "a", {}]},
}


def test_a_request() -> None:
    request = Request(
        State(Resource(DOCUMENT, {"user": b"\xff"}, Ready.true), {"a": Resource(DOCUMENT)}),
        input={"k": "v"},
        context={"c": 1},
        extra_resources={"e": [Resource(DOCUMENT)]},
        required_resources={"r": []},
        required_schemas={"s": {"type": "object"}, "none": {}},
        credentials={"c": {"password": b"p"}},
    )
    message = messages.encoded(request, v1)
    assert message.observed.composite.connection_details["user"] == b"\xff"
    assert message.observed.composite.ready == v1.READY_TRUE
    assert message.observed.resources["a"].resource["spec"]["n"] == 3
    assert "no" in message.observed.resources["a"].resource["spec"]
    assert message.input["k"] == "v"
    assert message.context["c"] == 1
    assert message.extra_resources["e"].items[0].resource["kind"] == "Thing"
    assert list(message.required_resources) == ["r"]
    assert message.required_schemas["s"].openapi_v3["type"] == "object"
    assert not message.required_schemas["none"].HasField("openapi_v3")
    assert message.credentials["c"].credential_data.data["password"] == b"p"
    assert v1.CAPABILITY_REQUIRED_SCHEMAS in message.meta.capabilities


def test_documents_come_back_as_they_went() -> None:
    request = Request(State(Resource(DOCUMENT)), State(resources={"a": Resource(DOCUMENT, {"x": b"y"}, Ready.false)}))
    message = v1.RunFunctionResponse(desired=messages.encoded(request, v1).desired)
    assert messages.decoded(message).desired.resources == request.desired.resources


def test_a_response() -> None:
    message = v1.RunFunctionResponse(
        results=[v1.Result(severity=v1.SEVERITY_NORMAL, message="m", reason="r", target=v1.TARGET_COMPOSITE_AND_CLAIM)],
        conditions=[v1.Condition(type="T", status=v1.STATUS_CONDITION_FALSE, reason="R", message="M")],
    )
    message.requirements.resources["n"].CopyFrom(v1.ResourceSelector(api_version="v1", kind="K", match_name="x"))
    message.requirements.extra_resources["l"].CopyFrom(
        v1.ResourceSelector(api_version="v1", kind="K", match_labels=v1.MatchLabels(labels={"a": "b"}), namespace="ns")
    )
    message.requirements.schemas["s"].CopyFrom(v1.SchemaSelector(api_version="v1", kind="K"))
    response = messages.decoded(message)
    assert response.results == (Result(Severity.normal, "m", "r", Target.composite_and_claim),)
    assert response.conditions == (Condition("T", "False", "R", "M"),)
    assert response.requirements == Requirements(
        {"l": Selector("v1", "K", labels={"a": "b"}, namespace="ns")},
        {"n": Selector("v1", "K", name="x")},
        {"s": SchemaSelector("v1", "K")},
    )


def desiring(name: str = "a", **document: Any) -> v1.RunFunctionResponse:
    message = v1.RunFunctionResponse()
    message.desired.resources[name].resource.update(document)
    return message


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


def unready() -> v1.RunFunctionResponse:
    message = desiring(apiVersion="v1", kind="K")
    message.desired.resources["a"].ready = 9
    return message


@pytest.mark.parametrize(
    ("message", "what"),
    [
        (desiring(kind="K"), "has no apiVersion"),
        (desiring(apiVersion="v1", kind=3), "has no kind"),
        (desiring(apiVersion="v1", kind="K", metadata="m"), "metadata that is no object"),
        (desiring("", apiVersion="v1", kind="K"), "as a name"),
        (desiring("a\rb", apiVersion="v1", kind="K"), "as a name"),
        (desiring("x" * 2000, apiVersion="v1", kind="K"), "as a name"),
        (desiring(apiVersion="v1", kind="K", n=float("nan")), "not finite"),
        (desiring(apiVersion="v1", kind="K", n=nested(150)), "nests more than 100 levels"),
        (unready(), "unknown readiness 9"),
        (v1.RunFunctionResponse(results=[v1.Result(message="m")]), "unknown severity 0"),
        (v1.RunFunctionResponse(conditions=[v1.Condition(type="T")]), "without type or status"),
    ],
)
def test_refused(message: v1.RunFunctionResponse, what: str) -> None:
    with pytest.raises(ComposeError) as caught:
        answers.check(messages.decoded(message), Request(State()))
    assert what in caught.value.problems[0].what
    assert caught.value.problems[0].fix


def test_too_many_resources() -> None:
    message = v1.RunFunctionResponse()
    for index in range(10_001):
        message.desired.resources[str(index)].SetInParent()
    with pytest.raises(ComposeError):
        messages.decoded(message)


def test_a_value_that_no_message_can_hold() -> None:
    with pytest.raises(ComposeError):
        messages.encoded(Request(State(Resource({"a": object()}))), v1)
