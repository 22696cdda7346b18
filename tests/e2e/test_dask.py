"""Many stacks on a real Dask cluster whose workers share nothing but the state in a real PostgreSQL server."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith import toolchain
from claimsmith.lab import postgresql
from tests.e2e.faults import left_in
from tests.e2e.pets import ids, state_in
from tests.e2e.rig import Ran, Rig, eventually
from tests.support import dask_cluster
from tests.support.dask_cluster import Dask
from tests.support.pets import PETS, pets, pets_class

pytestmark = pytest.mark.e2e
STACKS = ("one", "three", "two")
LOCAL = "file://./.claimsmith/state"
PASSPHRASE = "not-the-one-of-the-project"
# The stack `one` is held in the middle of its `up`, until the test lets it go.
PROGRAM = """\
import asyncio
import os
import pathlib

import pulumi

from claimsmith.deploy import program

gate = pathlib.Path(os.environ["GATE"])


async def held() -> str:
    gate.with_suffix(".reached").touch()
    while not gate.exists():
        await asyncio.sleep(0.05)
    return "open"


program.run()
if pulumi.get_stack() == "one":
    pulumi.export("gate", pulumi.Output.from_input(held()))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    toolchain.require(*toolchain.USES["postgresql"])
    place = tmp_path_factory.mktemp("state-server")
    with postgresql.running(place):
        yield place


@pytest.fixture
def rig(server: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Rig:
    """Three stacks that the backend does not have yet."""
    name = f"p{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:8]}"
    rig = Rig(tmp_path / "project", tmp_path / "no-kubeconfig", name)
    url, password = state_in(server, name)
    rig.settings |= {
        "KUBECONFIG": str(rig.kubeconfig),
        "PGPASSWORD": password,
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "GATE": str(tmp_path / "gate"),
    }
    rig.write("Pulumi.yaml", (rig.root / "Pulumi.yaml").read_text().replace(LOCAL, url))
    rig.write("stacks/__main__.py", PROGRAM)
    rig.write("components/pets/class.yaml", pets_class())
    for stack in STACKS:
        rig.write(f"stacks/{stack}/claims/mine.yaml", pets())
    rig.ok(rig.claimsmith("generate"))
    for stack in STACKS:
        rig.ok(rig.claimsmith("bind", stack))
    return rig


@pytest.fixture
def dask(rig: Rig, tmp_path: Path) -> Iterator[Dask]:
    with dask_cluster.running(tmp_path / "dask", {**os.environ, **rig.settings}) as dask:
        yield dask


@pytest.fixture
def gate(rig: Rig) -> Path:
    """The file that lets the stack `one` go on."""
    return Path(rig.settings["GATE"])


class Run:
    """A `claimsmith up` in the background."""

    def __init__(self, rig: Rig, *words: str) -> None:
        self._out, self._err = rig.root.parent / "run.out", rig.root.parent / "run.err"
        command = [sys.executable, "-m", "claimsmith.cli", "up", *words, "--parallel", "2", "--output", "json"]
        env = {**os.environ, **rig.settings}
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(command, cwd=rig.root, env=env, stdout=out, stderr=err)

    def ended(self) -> Ran:
        with self.process:
            try:
                code = self.process.wait()
            except BaseException:
                self.process.kill()
                raise
        return Ran(code, self._out.read_text(), self._err.read_text())

    def held(self, rig: Rig, gate: Path) -> dict[str, str]:
        """The pets of `one`, once its engine is held with all of them in its state."""

        def all_of_them() -> dict[str, str]:
            assert self.process.poll() is None, self._err.read_text()
            found = ids(rig, "one") if gate.with_suffix(".reached").exists() else {}
            return found if len(found) == PETS else {}

        found: dict[str, str] = eventually(all_of_them)
        return found


def states(ran: Ran) -> dict[str, str]:
    return {row["stack"]: row["state"] for row in json.loads(ran.out)["stacks"]}


def whole(rig: Rig) -> None:
    """Every stack has all of its pets, each once, and the engine finds nothing to do."""
    for stack in STACKS:
        resources = [r for r in rig.state(stack) if r["type"] == "random:index/randomPet:RandomPet"]
        assert len(resources) == len({r["urn"] for r in resources}) == PETS
        rig.ok(rig.up(stack, "--expect-no-changes"))


def runs_one(dask: Dask) -> dask_cluster.Worker:
    """The worker that runs the stack `one`."""
    (found,) = [w for w in dask.workers if any(" up --stack one " in line for line in left_in(w.folder))]
    return found


@pytest.mark.parametrize("all_of_it", [False, True], ids=["the-worker", "the-engine-too"])
def test_the_stack_of_a_killed_worker_runs_again_elsewhere(rig: Rig, dask: Dask, gate: Path, all_of_it: bool) -> None:
    dask.add(), dask.add()
    run = Run(rig, "--all", "--executor", dask.executor)
    before = run.held(rig, gate)
    killed = runs_one(dask)
    (kept,) = [w for w in dask.workers if w is not killed]
    killed.kill(all_of_it=all_of_it)
    # An engine that outlives its worker ends by itself: the gate is closed still.
    eventually(lambda: left_in(killed.folder) == [])
    gate.touch()
    ran = run.ended()
    assert (ran.code, states(ran)) == (10, dict.fromkeys(STACKS, "done")), ran.text
    assert ids(rig, "one") == before
    assert "run again: the worker tcp://127.0.0.1:" in (rig.root / ".claimsmith/fleet/one.log").read_text()
    whole(rig)
    assert kept.projects() == []
    eventually(lambda: left_in(kept.folder / "files") == [])
    # Nothing of a passphrase or a password went through Dask or into a log.
    output = ran.text + "".join(p.read_text(errors="replace") for p in dask.folder.rglob("log"))
    assert PASSPHRASE not in output
    assert rig.settings["PGPASSWORD"] not in output


def test_ctrl_c_is_waited_for_and_resume_goes_on(rig: Rig, dask: Dask, gate: Path) -> None:
    worker = dask.add(threads=2)
    run = Run(rig, "--all", "--executor", dask.executor)
    before = run.held(rig, gate)
    run.process.send_signal(signal.SIGINT)
    ran = run.ended()
    assert (ran.code, states(ran)["one"]) == (130, "stopped"), ran.text
    assert worker.projects() == []
    # A plugin ends a moment after its engine.
    eventually(lambda: left_in(worker.folder / "files") == [])
    gate.touch()
    ran = rig.claimsmith("up", "--resume", "--executor", dask.executor, "--output", "json")
    assert (ran.code, set(states(ran).values())) == (10, {"done"}), ran.text
    assert ids(rig, "one") == before
    whole(rig)


@pytest.mark.parametrize("victim", ["scheduler", "caller"])
def test_engines_end_with_scheduler_and_caller(rig: Rig, dask: Dask, gate: Path, victim: str) -> None:
    worker = dask.add(threads=2)
    run = Run(rig, "--all", "--executor", dask.executor)
    before = run.held(rig, gate)
    (dask.scheduler if victim == "scheduler" else run.process).kill()
    ran = run.ended()
    if victim == "scheduler":
        assert (ran.code, states(ran)["one"]) == (1, "failed"), ran.text
        assert f"the scheduler {dask.executor} was lost while the stack 'one' ran" in ran.err
    eventually(lambda: left_in(worker.folder / "files") == [])
    gate.touch()
    ran = rig.claimsmith("up", "--resume", "--output", "json")
    assert (ran.code, set(states(ran).values())) == (10, {"done"}), ran.text
    assert ids(rig, "one") == before
    whole(rig)


def test_workers_that_do_not_fit_are_refused(rig: Rig, dask: Dask, gate: Path, tmp_path: Path) -> None:
    gate.touch()
    up = ("up", "two", "--executor", dask.executor)
    assert "has no workers" in rig.claimsmith(*up).err
    other = tmp_path / "other" / "claimsmith"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text('__version__ = "0.0.1"\n')
    installed = other.parent / "claimsmith-0.0.1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: claimsmith\nVersion: 0.0.1\n")
    old = dask.add(env={"PYTHONPATH": str(other.parent)})
    ran = rig.claimsmith(*up)
    assert ran.code == 1
    assert "the worker tcp://127.0.0.1:" in ran.err
    assert "has claimsmith 0.0.1, and this is claimsmith" in ran.err
    assert not (rig.root / ".claimsmith/fleet/up.json").exists()
    old.kill(all_of_it=False)
    poor = dask.add(env={"PULUMI_CONFIG_PASSPHRASE": ""})
    ran = rig.claimsmith(*up)
    assert ran.code == 1
    assert "worker tcp://127.0.0.1:" in ran.err
    assert "passphrase" in ran.err
    poor.kill(all_of_it=False)
    dask.scheduler.kill()
    dask.scheduler.wait()
    assert "cannot be reached" in rig.claimsmith(*up).err
