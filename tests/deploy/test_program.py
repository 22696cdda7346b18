"""The end of a stack's program: the problems that were collected fail the run, after everything else is registered."""

from __future__ import annotations

import threading
from typing import Any

import pulumi
import pytest

from claimsmith.base.errors import Problem
from claimsmith.deploy.program import fail_on
from tests.support.ended_programs import ContinueOnError, Host, official_host, own_host, run_hosted


@pytest.mark.parametrize("host", [official_host, own_host])
def test_problems_fail_a_run_after_its_outputs_are_registered(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    registered: list[str] = []

    def register_outputs(_: ContinueOnError, request: Any) -> None:
        # An engine that is slow: if the program ends without these outputs, it ends within this time.
        if not ended.wait(2):
            registered.append(request.urn.rpartition("::")[2])

    monkeypatch.setattr(ContinueOnError, "RegisterResourceOutputs", register_outputs)

    def program() -> None:
        component = pulumi.ComponentResource("claimsmith:example.org:Database", "orders")
        component.register_outputs({"phase": component.urn.apply(lambda _: "Bound")})
        component.urn.apply(lambda _: fail_on([Problem("the Secret is missing")]))

    with pytest.raises(pulumi.RunError, match="the Secret is missing"):
        run_hosted(program, host, ended, outputs_first=True)
    assert "orders" in registered
