"""What is said of a child that does not become ready."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.deploy.failures import unready

ADDRESS = ChildAddress(ClaimKey.parse("MySQLInstance.database.example.org/default/sql"), "my-sql-server")
DOCUMENT = {
    "kind": "MySQLServer",
    "metadata": {"name": "default-sql-x", "annotations": {"claimsmith.io/timeout": "4s"}},
}


def live(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "default-sql-x"}, "status": {"conditions": list(conditions)}}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(live(), "it has no Ready condition", id="no-condition"),
        pytest.param({"metadata": {"name": "default-sql-x"}}, "it has no Ready condition", id="no-status"),
        pytest.param(live({"type": "Ready", "status": "False"}), "Ready is False", id="not-ready"),
        pytest.param(
            live({"type": "Synced", "status": "True"}, {"type": "Ready", "status": "False", "reason": "Creating"}),
            "Ready is False (Creating)",
            id="reason",
        ),
        pytest.param(
            live({"type": "Ready", "status": "Unknown", "reason": "Broken", "message": "no such size"}),
            "Ready is Unknown (Broken: no such size)",
            id="message",
        ),
    ],
)
def test_claim_child_time_and_reason_are_named(found: dict[str, Any], words: str) -> None:
    problem = unready(ADDRESS, DOCUMENT, found)
    assert problem is not None
    assert problem.what == (
        "MySQLInstance.database.example.org/default/sql: its child 'my-sql-server' (MySQLServer default-sql-x) "
        f"did not become ready within 4s: {words}"
    )
    assert "kubectl describe mysqlserver default-sql-x" in problem.fix


def test_of_what_is_ready_nothing_is_said() -> None:
    assert unready(ADDRESS, DOCUMENT, live({"type": "Ready", "status": "True"})) is None


def test_without_a_timeout_of_its_own_the_usual_one_is_named() -> None:
    problem = unready(ADDRESS, {**DOCUMENT, "metadata": {"name": "default-sql-x"}}, live())
    assert problem is not None
    assert "within 30m" in problem.what
