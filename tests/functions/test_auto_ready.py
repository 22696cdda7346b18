"""function-auto-ready: verdicts on what exists."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import auto_ready
from claimsmith.functions.protocol import Ready, Request, Resource, State
from tests.support.function_calls import call


def verdict(existing: dict[str, Any] | None, given: Ready = Ready.unspecified) -> Ready:
    observed = State(resources={"a": Resource(existing)} if existing else {})
    response = auto_ready.run(Request(observed, State(resources={"a": Resource({}, ready=given)})))
    return response.desired.resources["a"].ready


def conditions(**status: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": kind, "status": value} for kind, value in status.items()]}}


READY = conditions(Ready="True")


@pytest.mark.parametrize(
    ("existing", "given", "want"),
    [
        pytest.param(None, Ready.unspecified, Ready.unspecified, id="absent"),
        pytest.param(READY, Ready.unspecified, Ready.true, id="ready"),
        pytest.param(conditions(Ready="False"), Ready.unspecified, Ready.unspecified, id="not-ready"),
        pytest.param(
            {"status": {"conditions": [{"type": "Ready", "status": True}]}},
            Ready.unspecified,
            Ready.unspecified,
            id="a-status-that-is-no-text",
        ),
        pytest.param(READY, Ready.false, Ready.false, id="an-earlier-verdict-stays"),
        pytest.param({"apiVersion": "v1", "kind": "ConfigMap"}, Ready.unspecified, Ready.true, id="healthy"),
    ],
)
def test_verdicts(existing: dict[str, Any] | None, given: Ready, want: Ready) -> None:
    assert verdict(existing, given) is want


HEAD = {"apiVersion": "autoready.fn.crossplane.io/v1beta1", "kind": "Input"}


@pytest.mark.parametrize("more", [{"ttl": "1m30s"}, {"celHealthCheckCustomization": {"v1/Pod": "false"}}])
def test_an_input_changes_nothing(more: dict[str, Any]) -> None:
    response = call(auto_ready, "function-auto-ready", {**HEAD, **more}, observed={"a": READY}, desired={"a": {}})
    assert response.desired.resources["a"].ready is Ready.true


@pytest.mark.parametrize(
    ("more", "path"), [({"ttl": "soon"}, "input.ttl"), ({"tll": "1m"}, "input.tll")], ids=["no duration", "unknown"]
)
def test_refused(more: dict[str, Any], path: str) -> None:
    with pytest.raises(EngineError) as caught:
        call(auto_ready, "function-auto-ready", {**HEAD, **more})
    [problem] = caught.value.problems
    assert problem.path.endswith(path)
    assert problem.where
