"""function-auto-ready: verdicts on what exists."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.functions import auto_ready
from claimsmith.functions.protocol import Ready, Request, Resource, State


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
        pytest.param(READY, Ready.false, Ready.false, id="an-earlier-verdict-stays"),
        pytest.param({"apiVersion": "v1", "kind": "ConfigMap"}, Ready.unspecified, Ready.true, id="healthy"),
    ],
)
def test_verdicts(existing: dict[str, Any] | None, given: Ready, want: Ready) -> None:
    assert verdict(existing, given) is want
