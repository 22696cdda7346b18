"""A run on Dask's own scheduler and workers, in this process, with a stand-in for the engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import claimsmith
from claimsmith.base.errors import EngineError
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.tools.fleet import archive, cluster, worker
from claimsmith.tools.fleet.run import Result, chosen, run
from claimsmith.tools.fleet.schedule import State
from claimsmith.tools.fleet.selection import Wanted
from claimsmith.tools.fleet.stack import Command, Options
from claimsmith.tools.fleet.worker import Order, run_on_worker, topic
from tests.support.fleet_files import engine_program, fleet, named_lock

distributed = pytest.importorskip("distributed")
dask_config = pytest.importorskip("dask.config")
UP = Options(Command.up)
ALL = Wanted(all=True)
URL = "postgres://me@db.example.org/state?table=shop"


@contextmanager
def started(workers: int) -> Iterator[tuple[Any, str]]:
    """A scheduler with workers, and its address."""
    options: dict[str, Any] = {"host": "127.0.0.1", "protocol": "tcp", "processes": False}
    options |= {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        dask_config.set(temporary_directory=folder),
        distributed.LocalCluster(n_workers=workers, threads_per_worker=2, **options) as local,
    ):
        yield local, local.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture(scope="module")
def dask() -> Iterator[str]:
    """The address of a scheduler with two workers."""
    with started(workers=2) as (_, address):
        yield address


class Rig:
    """A project of four stacks, of which `c` needs `b`, and an engine in the place of the real one."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
        self.address = address
        self.project: Project = fleet(root / "project", ("a", "b", "c", "d"), after={"c": ["b"]})
        self.bin = root / "bin"
        self.asked: list[tuple[str, ...]] = []
        self.deployed: dict[str, int] = dict.fromkeys("abcd", 0)
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        monkeypatch.setattr(workspace, "require", lambda _project: None)
        monkeypatch.setattr(workspace, "environment", lambda _project: env)
        monkeypatch.setattr(workspace, "backend", lambda _project: URL)
        monkeypatch.setattr(workspace, "pulumi", self._pulumi)
        monkeypatch.setattr("claimsmith.tools.fleet.run.read_backend", lambda _: (URL, self.deployed))
        self.wants({})

    def _pulumi(self, _project: Project, *words: str, **_: object) -> subprocess.CompletedProcess[str]:
        self.asked.append(words)
        return subprocess.CompletedProcess(words, 0, "", "")

    def wants(self, wanted: dict[str, Any]) -> None:
        engine_program(self.bin, wanted)

    @property
    def calls(self) -> list[str]:
        return (self.bin / "calls.txt").read_text().splitlines()

    def run(self, options: Options = UP, wanted: Wanted = ALL, **more: Any) -> Result:
        selection, last = chosen(self.project, options, wanted)
        return run(self.project, options, selection, parallel=2, last=last, executor=self.address, **more)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dask: str) -> Rig:
    return Rig(tmp_path, monkeypatch, dask)


def states(result: Result) -> dict[str, str]:
    return {o.stack: o.state.value for o in result.outcomes}


def test_a_run_is_what_it_is_here(rig: Rig) -> None:
    rig.wants({"b": {"fails": "up"}})
    seen: dict[str, Mapping[str, int]] = {}
    result = rig.run(steps=lambda name, steps: seen.update({name: steps}))
    assert states(result) == {"a": "done", "b": "failed", "c": "skipped", "d": "done"}
    assert result.exit_code == 1
    assert sorted(rig.calls) == ["up a", "up b", "up d"]
    assert seen == {key: {"create": 1} for key in "abd"}
    assert "this is up of a" in (rig.project.private / "fleet/a.log").read_text()
    problem = str(result.outcomes[1].problem)
    assert problem.startswith("worker tcp://127.0.0.1:")
    assert "the stack 'b' failed: no such database\n  fix: see .claimsmith/fleet/b.log" in problem
    assert worker._runs == {}


def test_a_stack_that_is_missing_is_created_here(rig: Rig) -> None:
    rig.deployed = {"a": 0}
    assert set(states(rig.run(wanted=Wanted(["a", "d"]))).values()) == {"done"}
    assert rig.asked == [("stack", "init", "--stack", "d", "--no-select")]


def test_a_stack_that_cannot_be_created_fails_alone(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def pulumi(_project: Project, *words: str, **_: object) -> subprocess.CompletedProcess[str]:
        refused = words[:4] == ("stack", "init", "--stack", "b")
        return subprocess.CompletedProcess(words, int(refused), "", "error: no right to create it\n" if refused else "")

    monkeypatch.setattr(workspace, "pulumi", pulumi)
    rig.deployed = {"a": 0}
    result = rig.run()
    assert states(result) == {"a": "done", "b": "failed", "c": "skipped", "d": "done"}
    assert "the stack 'b' cannot be created: no right to create it" in str(result.outcomes[1].problem)


def test_a_run_whose_last_worker_is_gone_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_ALONE", 0.0)
    monkeypatch.setattr(cluster, "_LOOK", 0.1)
    with started(workers=1) as (local, address):
        rig = Rig(tmp_path, monkeypatch, address)
        rig.wants({"a": {"seconds": 600}, "b": {"seconds": 600}})

        def leave() -> None:
            while not (rig.bin / "a.began").exists() or not (rig.bin / "b.began").exists():
                time.sleep(0.02)
            local.scale(0)

        thread = threading.Thread(target=leave)
        thread.start()
        result = rig.run()
        thread.join()
    assert states(result) == {"a": "failed", "b": "failed", "c": "stopped", "d": "stopped"}
    assert f"{address} has no workers any more, and the stack 'a' has not ended" in str(result.outcomes[0].problem)
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("address", "what"),
    [
        pytest.param("dask://", "is not the address of a scheduler", id="no-host"),
        pytest.param("ray://host:1", "is not the address of a scheduler", id="another-scheme"),
        pytest.param("dask://me:secret@host:1", "is not the address of a scheduler", id="credentials"),
        pytest.param("dask://host:many", "is not the address of a scheduler", id="no-port"),
        pytest.param("dask://127.0.0.1:1", "cannot be reached", id="nobody-there"),
    ],
)
def test_refused_addresses(rig: Rig, monkeypatch: pytest.MonkeyPatch, address: str, what: str) -> None:
    monkeypatch.setattr(cluster, "_TIMEOUT", "0.5s")
    rig.address = address
    with pytest.raises(EngineError) as error:
        rig.run()
    assert what in str(error.value)
    assert "fix:" in str(error.value)
    assert not (rig.project.private / "fleet" / "up.json").exists()


def test_the_extra_is_named(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EngineError, match=r"pip install 'claimsmith\[dask\]'"):
        rig.run()


def test_state_in_a_folder_is_refused(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claimsmith.tools.fleet.run.read_backend", lambda _: ("file:///state", {}))
    with pytest.raises(EngineError, match="claimsmith backend move 'postgres://"):
        rig.run()
    assert (rig.calls, (rig.project.private / "fleet" / "up.json").exists()) == ([], False)


@pytest.mark.parametrize(
    ("found", "what"),
    [
        pytest.param({}, "has no workers", id="none"),
        pytest.param({"tcp://w:1": None}, "the worker tcp://w:1 has no claimsmith", id="without-claimsmith"),
        pytest.param({"tcp://w:1": "0.0.1"}, "has claimsmith 0.0.1, and this is claimsmith", id="an-older-one"),
    ],
)
def test_workers_of_another_version_are_refused(found: dict[str, Any], what: str) -> None:
    class Client:
        def get_versions(self, packages: list[str]) -> dict[str, Any]:
            return {"workers": {name: {"packages": {packages[0]: version}} for name, version in found.items()}}

    with pytest.raises(EngineError) as error:
        cluster._refuse_unlike(Client(), "dask://host:1")
    assert what in str(error.value)


def test_ctrl_c_is_passed_on_and_waited_for(rig: Rig) -> None:
    rig.wants({"a": {"seconds": 600}, "b": {"seconds": 600}})

    def interrupt() -> None:
        while not all((rig.bin / f"{name}.began").exists() for name in ("a", "b")):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = rig.run()
    thread.join()
    assert states(result) == dict.fromkeys("abcd", "stopped")
    assert (result.interrupted, result.exit_code) == (True, 130)


def job(rig: Rig, *, earlier: int = 0, **changed: Any) -> worker.Delivery:
    """The job of a stack, as a worker does it."""
    name = f"{rig.project.root.parent.name}-{time.monotonic_ns()}"
    settings = {"run": name, "version": claimsmith.__version__, "options": UP, "backend": URL}
    order = Order(**{**settings, "deployed": {"a": 0}, "recovered": frozenset(), **changed})
    with distributed.Client(rig.address.replace("dask", "tcp"), set_as_default=False) as client:
        for number in range(earlier):
            client.log_event(topic(name, "a"), {"stack": "a", "began": str(number), "worker": f"tcp://w:{number}"})
        files = archive.pack(rig.project)
        found: worker.Delivery = client.submit(run_on_worker, "a", files, order=order, pure=False).result()
        client.run(worker.forget, name)
        return found


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        pytest.param({"earlier": 3}, "3 workers died while they ran the stack 'a': tcp://w:0, tcp://w:1", id="deadly"),
        pytest.param({"version": "0.0.1"}, "and this is claimsmith 0.0.1", id="joined-with-another-version"),
        pytest.param({"backend": "s3://state"}, f"its state is in {URL}, and that of the run in s3", id="backend"),
    ],
)
def test_refused_jobs(rig: Rig, changed: dict[str, Any], what: str) -> None:
    outcome = job(rig, **changed).outcome
    assert (outcome.state, rig.calls) == (State.failed, [])
    assert what in str(outcome.problem)


def test_a_worker_without_a_passphrase_is_refused(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULUMI_CONFIG_PASSPHRASE", raising=False)
    monkeypatch.delenv("PULUMI_CONFIG_PASSPHRASE_FILE", raising=False)
    path = rig.project.root / "stacks/Pulumi.a.yaml"
    path.write_text(path.read_text() + "encryptionsalt: v1:abc\n")
    outcome = job(rig).outcome
    assert "it has no passphrase for the stack 'a'" in str(outcome.problem)
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "any")
    assert job(rig).outcome.state is State.done


def test_a_job_that_runs_again_recovers_first(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    repaired: list[str] = []
    monkeypatch.setattr("claimsmith.tools.recover.repair", lambda _project, name: repaired.append(name))
    found = job(rig, earlier=1)
    assert (found.outcome.state, repaired, found.died) == (State.done, ["a"], ("tcp://w:0",))


@pytest.mark.parametrize(
    ("answers", "want", "freed"),
    [
        pytest.param([named_lock(os.getpid())] * 3 + [""], State.done, False, id="at-work-is-waited-for"),
        pytest.param([named_lock(2**22 + 1)], State.done, True, id="ended"),
        pytest.param([named_lock(2**22 + 1, "lost-machine")] * 99, State.failed, False, id="on-a-lost-machine"),
    ],
)
def test_the_lock_of_an_engine_whose_worker_died(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, answers: list[str], want: State, freed: bool
) -> None:
    left = iter(answers)

    def pulumi(_project: Project, *words: str, **_: object) -> subprocess.CompletedProcess[str]:
        rig.asked.append(words)
        return subprocess.CompletedProcess(words, 0, "", next(left) if words[0] == "stack" else "")

    monkeypatch.setattr(workspace, "pulumi", pulumi)
    monkeypatch.setattr("claimsmith.tools.recover.repair", lambda _project, _name: None)
    monkeypatch.setattr("claimsmith.tools.fleet.stack._LOOK", 0.5)
    outcome = job(rig, earlier=1).outcome
    assert (outcome.state, ("cancel", "--stack", "a", "--yes") in rig.asked) == (want, freed), outcome.problem


def test_an_engine_that_nobody_waits_for_ends(rig: Rig) -> None:
    rig.wants({"a": {"seconds": 600}})
    order = Order("left", claimsmith.__version__, UP, URL, {"a": 0}, frozenset())
    with distributed.Client(rig.address.replace("dask", "tcp"), set_as_default=False) as client:
        future = client.submit(run_on_worker, "a", archive.pack(rig.project), order=order, pure=False)
        while not (rig.bin / "a.began").exists():
            time.sleep(0.02)
        assert worker._runs["left"].folder
        del future
    with suppress(KeyError):
        while worker._runs["left"]:
            time.sleep(0.02)


@pytest.mark.parametrize(
    ("url", "want"),
    [
        ("postgres://me:secret@db/state?table=a", "postgres://me@db/state?table=a"),
        ("postgres://me@db/state", "postgres://me@db/state"),
        ("s3://bucket?region=eu", "s3://bucket?region=eu"),
    ],
)
def test_no_credentials_of_a_backend_are_sent(url: str, want: str) -> None:
    assert worker.without_credentials(url) == want
