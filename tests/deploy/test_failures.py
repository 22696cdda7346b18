"""What is said of a child that does not become ready."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, TypeAlias

import pulumi
import pytest
from pulumi.runtime import mocks, settings, stack
from pulumi.runtime.proto import resource_pb2

from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.deploy.failures import unready, watch
from claimsmith.deploy.kubernetes_object import KubernetesObject
from claimsmith.kubernetes.client import Cluster
from claimsmith.lab import language_host
from tests.support.mocked import Monitor, Recorder

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


class ContinueOnError(Monitor):
    """An engine that reports the failure of one child, goes on, and refuses another child."""

    def RegisterResource(self, request: Any) -> Any:
        if request.name == "default-sql/rule":
            raise RuntimeError("resource monitor shut down")
        answer = super().RegisterResource(request)
        if request.name == "default-sql/my-sql-server":
            answer.result = resource_pb2.Result.FAIL
        return answer


def refused_dependent(server: KubernetesObject) -> None:
    """Another child, which the engine refuses once the first one has failed."""
    KubernetesObject("default-sql/rule", DOCUMENT, pulumi.ResourceOptions(depends_on=[server]))


def immediate_error(server: KubernetesObject) -> None:
    """A registration that fails as soon as the failed child's outputs are there, as its dependents do in SDK 3.255."""

    async def fail() -> None:
        await server.metadata.future()
        raise RuntimeError("resource monitor shut down")

    registration: pulumi.Input[Any] = settings._get_rpc_manager().do_rpc("register resource", fail)()
    pulumi.Output.from_input(registration)


def official_host(loop: asyncio.AbstractEventLoop, pool: ThreadPoolExecutor) -> None:
    """The end of a program in pulumi-language-python-exec: it awaits threads, and leaves tasks alone."""
    pool.shutdown(wait=True)
    language_host.cancel_tasks(loop)


def own_host(loop: asyncio.AbstractEventLoop, pool: ThreadPoolExecutor) -> None:
    """The end of a program in our own host."""
    language_host.cancel_tasks(loop)
    pool.shutdown(wait=True)


Host: TypeAlias = Callable[[asyncio.AbstractEventLoop, ThreadPoolExecutor], None]


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
        context: Any = SimpleNamespace(cluster=cluster, registered={ADDRESS: server}.get)
        plan: Any = SimpleNamespace(walk=lambda: [SimpleNamespace(children=[SimpleNamespace(address=ADDRESS)])])
        watch(context, plan)
        end(server)

    # In a thread of its own, the SDK has no context of other tests, such as a root resource of another event loop.
    with ThreadPoolExecutor(1) as main, pytest.raises(RuntimeError, match="resource monitor shut down"):
        main.submit(hosted, program, host, cluster.program_ended).result()
    # What is left of a failed run complains when it is collected, and that must not be in the middle of a parse.
    gc.collect()
    assert [report.partition("\n")[0].rpartition(": ")[2] for report in reported] == ["Ready is False (Creating)"]
    assert [r.getMessage() for r in caplog.records if r.name == "concurrent.futures"] == []


def hosted(program: Callable[[], None], host: Host, ended: threading.Event) -> None:
    # Mocks need an event loop in each thread, and leave open those that they open.
    loops: list[asyncio.AbstractEventLoop] = []
    pool = ThreadPoolExecutor(4, initializer=lambda: loops.append(new_loop()))
    loops.append(loop := new_loop())
    loop.set_default_executor(pool)
    recorder = Recorder()
    mocks.set_mocks(recorder, project="p", stack="dev", preview=False, monitor=ContinueOnError(recorder))
    try:
        loop.run_until_complete(stack.run_pulumi_func(program))
    finally:
        ended.set()
        host(loop, pool)
        for opened in loops:
            opened.close()


def new_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop
