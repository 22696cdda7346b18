"""What is said of a child that does not become ready."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.deploy.failures import unready, watch
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.kubernetes.client import Cluster
from tests.support.ended_programs import REFUSAL, Host, fail_after, official_host, own_host, run_hosted

ADDRESS = ChildAddress(ClaimKey.parse("MySQLInstance.database.example.org/default/sql"), "my-sql-server")
DOCUMENT = {
    "apiVersion": "database.azure.crossplane.io/v1beta1",
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


# The report does not depend on what else ends the program, or when.


class LateAnswer(Cluster):
    """A cluster that answers once the program has ended."""

    def __init__(self) -> None:
        super().__init__("")
        self.program_ended = threading.Event()

    def read(self, *_: Any) -> dict[str, Any] | None:
        assert self.program_ended.wait(300), "the program did not end"
        return live({"type": "Ready", "status": "False", "reason": "Creating"})


def refused_dependent(server: KubernetesObject) -> None:
    """Another child, which the engine refuses once the first one has failed."""
    KubernetesObject("default-sql/rule", DOCUMENT, pulumi.ResourceOptions(depends_on=[server]))


def immediate_error(server: KubernetesObject) -> None:
    fail_after(server.metadata)


@pytest.mark.parametrize("host", [official_host, own_host])
@pytest.mark.parametrize("end", [refused_dependent, immediate_error])
def test_the_report_does_not_depend_on_when_the_program_ends(
    end: Callable[[KubernetesObject], None],
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = LateAnswer()
    reported: list[str] = []
    monkeypatch.setattr(pulumi.log, "error", reported.append)

    def program() -> None:
        server = KubernetesObject("default-sql/my-sql-server", DOCUMENT, pulumi.ResourceOptions())
        context: Any = SimpleNamespace(cluster=cluster, registered={ADDRESS: server}.get, native={}.get)
        plan: Any = SimpleNamespace(walk=lambda: [SimpleNamespace(children=[SimpleNamespace(address=ADDRESS)])])
        watch(context, plan)
        end(server)

    with pytest.raises(RuntimeError, match=REFUSAL):
        run_hosted(
            program, host, cluster.program_ended, failing="default-sql/my-sql-server", refused="default-sql/rule"
        )
    assert [report.partition("\n")[0].rpartition(": ")[2] for report in reported] == ["Ready is False (Creating)"]
    assert [r.getMessage() for r in caplog.records if r.name == "concurrent.futures"] == []
