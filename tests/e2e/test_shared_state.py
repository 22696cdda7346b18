"""State in a real PostgreSQL server: stacks at once, the lock of a killed run, a restart, a backup, and moves."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from claimsmith import toolchain
from claimsmith.lab import postgresql
from tests.e2e.faults import Run
from tests.e2e.rig import Rig, eventually

pytestmark = pytest.mark.e2e
STACKS = ("one", "three", "two")
PETS = 8
LOCAL = "file://./.claimsmith/state"


@dataclass
class Shared:
    """A project without a cluster, and a server for its state alone: the tests restart it."""

    rig: Rig
    folder: Path
    server: postgresql.Server

    @property
    def table(self) -> str:
        return f"state_{self.rig.name}"

    @property
    def url(self) -> str:
        place = f"{self.server.user}@{self.server.host}:{self.server.port}/postgres"
        return f"postgres://{place}?sslmode=disable&table={self.table}"

    def sql(self, statement: str) -> str:
        words = ["psql", "--no-psqlrc", "--tuples-only", "--no-align", "--quiet", "--set", "ON_ERROR_STOP=1"]
        return self._client(words, stdin=statement).strip()

    def dump(self) -> str:
        """A backup of the state, as an administrator makes it."""
        return self._client(["pg_dump", "-t", self.table])

    def _client(self, words: list[str], stdin: str = "") -> str:
        program = [str(postgresql.programs() / words[0]), *words[1:]]
        place = ["-h", self.server.host, "-p", str(self.server.port), "-U", self.server.user, "-d", "postgres"]
        ran = subprocess.run([*program, *place], env=self.rig.environment, input=stdin, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def restart(self) -> None:
        postgresql.down(self.folder)
        self.server = postgresql.up(self.folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    toolchain.require(*toolchain.USES["postgresql"])
    place = tmp_path_factory.mktemp("state-server")
    with postgresql.running(place):
        yield place


@pytest.fixture
def shared(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Shared:
    """Three stacks, moved to the server before anything is deployed."""
    name = f"p{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:8]}"
    rig = Rig(tmp_path / "project", tmp_path / "no-kubeconfig", name)
    found = Shared(rig, folder, postgresql.status(folder))
    rig.settings |= {"KUBECONFIG": str(rig.kubeconfig), "PGPASSWORD": found.server.password_file.read_text().strip()}
    rig.write("components/pets/class.yaml", pets_class())
    for stack in STACKS:
        rig.write(f"stacks/{stack}/claims/mine.yaml", pets())
    rig.ok(rig.claimsmith("generate"))
    for stack in STACKS:
        rig.ok(rig.claimsmith("bind", stack))
    moved = rig.ok(rig.claimsmith("backend", "move", found.url, "--output", "json"))
    assert json.loads(moved.out)["created"] == list(STACKS)
    return found


def pets_class() -> dict[str, Any]:
    return {
        "apiVersion": "infrastructure.crossplane.io/v1alpha1",
        "kind": "CompositeResourceClass",
        "metadata": {"name": "pets"},
        "spec": {
            "claim": {"apiVersion": "example.org/v1alpha1", "kind": "Pets"},
            "resources": [
                {"name": f"pet-{n}", "base": {"type": "random:RandomPet", "properties": {"length": 2}}}
                for n in range(PETS)
            ],
        },
    }


def pets() -> dict[str, Any]:
    reference = {**{key: pets_class()[key] for key in ("apiVersion", "kind")}, "name": "pets"}
    metadata = {"namespace": "default", "name": "mine"}
    return {"apiVersion": "example.org/v1alpha1", "kind": "Pets", "metadata": metadata, "spec": {"classRef": reference}}


def ids(rig: Rig, stack: str) -> dict[str, str]:
    """The pets in a stack's state."""
    return {r["urn"]: r["id"] for r in rig.state(stack) if r["type"] == "random:index/randomPet:RandomPet"}


def test_stacks_at_once_then_home_and_back(shared: Shared) -> None:
    rig = shared.rig
    ran = rig.claimsmith("up", "--all", "--parallel", "3", "--output", "json")
    assert ran.code == 10, ran.text
    deployed = {stack: ids(rig, stack) for stack in STACKS}
    assert [len(found) for found in deployed.values()] == [PETS] * len(STACKS)
    for url in ("local", shared.url):
        rig.ok(rig.claimsmith("backend", "move", url))
        assert {stack: ids(rig, stack) for stack in STACKS} == deployed
        ran = rig.claimsmith("up", "--all", "--parallel", "3")
        assert ran.code == 0, ran.text


def test_a_backend_that_has_one_of_the_stacks_is_refused_whole(shared: Shared) -> None:
    rig = shared.rig
    rig.ok(rig.up("two"))
    deployed = ids(rig, "two")
    before = (rig.root / "Pulumi.yaml").read_text()
    # Another state of the same stack is there already: on this machine, from before.
    rig.write("Pulumi.yaml", before.replace(shared.url, LOCAL))
    rig.ok(rig.pulumi("stack", "init", "two"))
    rig.ok(rig.up("two"))
    rig.write("Pulumi.yaml", before)
    refused = rig.claimsmith("backend", "move", "local")
    assert (refused.code, "the backend has a stack 'two' already" in refused.text) == (1, True), refused.text
    assert (rig.root / "Pulumi.yaml").read_text() == before
    assert ids(rig, "two") == deployed
    listed = rig.ok(rig.pulumi("stack", "ls", "--json", env={"PULUMI_BACKEND_URL": LOCAL})).out
    assert [row["name"] for row in json.loads(listed)] == ["two"]


def test_the_lock_of_a_killed_run(shared: Shared) -> None:
    rig = shared.rig
    run = Run(rig, "one", "--parallel", "1")
    eventually(lambda: shared.sql(f"SELECT count(*) FROM {shared.table} WHERE key LIKE '%locks%'") != "0")
    assert run.kill("engine"), run.text
    run.ended()
    assert "currently locked" in rig.up("one").text
    ran = rig.claimsmith("up", "one", "two", "--lock-timeout", "1s", "--output", "json")
    assert ran.code == 1, ran.text
    found = {row["stack"]: row for row in json.loads(ran.out)["stacks"]}
    assert {stack: row["state"] for stack, row in found.items()} == {"one": "failed", "two": "done"}
    assert "pulumi cancel" in found["one"]["problem"]["fix"]
    rig.ok(rig.pulumi("cancel", "--stack", "one", "--yes"))
    rig.ok(rig.claimsmith("recover", "one", "--yes"))
    rig.ok(rig.up("one"))
    assert len(ids(rig, "one")) == PETS


def test_the_server_restarts_in_the_middle(shared: Shared) -> None:
    rig = shared.rig
    run = Run(rig, "one", "--parallel", "1")
    recorded = f"SELECT count(*) FROM {shared.table} WHERE data::text LIKE '%RandomPet::%'"
    eventually(lambda: shared.sql(recorded) != "0" or run.process.poll() is not None)
    shared.restart()
    # Either the engine connects again, or it reports a checkpoint that it could not write.
    if run.ended():
        rig.pulumi("cancel", "--stack", "one", "--yes")
        rig.ok(rig.claimsmith("recover", "one", "--yes"))
    rig.ok(rig.up("one"))
    assert len(ids(rig, "one")) == PETS
    rig.ok(rig.up("one", "--expect-no-changes"))


def test_a_backup_brings_the_state_back(shared: Shared) -> None:
    rig = shared.rig
    rig.ok(rig.up("one"))
    deployed, backup = ids(rig, "one"), shared.dump()
    shared.sql(f"DROP TABLE {shared.table}")
    assert "no stack named" in rig.pulumi("preview", "--stack", "one").text
    # The engine has created an empty one.
    shared.sql(f"DROP TABLE {shared.table}")
    shared.sql(backup)
    assert ids(rig, "one") == deployed
    rig.ok(rig.up("one", "--expect-no-changes"))
