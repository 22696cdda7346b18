"""State in a real PostgreSQL server, and in a bucket of a real S3 server: stacks at once, the lock of a killed run, a
restart, a backup, and moves."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from claimsmith import toolchain
from claimsmith.lab import postgresql
from tests.e2e.faults import Run
from tests.e2e.pets import ids
from tests.e2e.rig import Rig, eventually
from tests.e2e.shared_backends import Backend, Bucket, Table
from tests.support import buckets
from tests.support.pets import PETS, pets, pets_class
from tests.support.samples import contents

pytestmark = pytest.mark.e2e
STACKS = ("one", "three", "two")
LOCAL = "file://./.claimsmith/state"
PET = "RandomPet::"
"""What the state of a deployed stack has in it."""


@dataclass
class Shared:
    """A project without a cluster, and where its state is."""

    rig: Rig
    backend: Backend

    @property
    def url(self) -> str:
        return self.backend.url

    def leaked(self) -> bool:
        """Whether the secret of the backend stands in anything that was printed, or in a file of the project."""
        secret = self.backend.secret
        printed = any(secret in text for text in self.rig.printed)
        return printed or any(secret.encode() in content for content in contents(self.rig.root).values())


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    toolchain.require(*toolchain.USES["postgresql"])
    place = tmp_path_factory.mktemp("state-server")
    with postgresql.running(place):
        yield place


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[buckets.Server]:
    toolchain.require(*toolchain.USES["postgresql"])
    with buckets.running(tmp_path_factory.mktemp("s3-server") / "data") as server:
        if not server:
            pytest.skip(buckets.MISSING)
        yield server


@pytest.fixture
def named(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    return f"p{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:8]}"


@pytest.fixture
def table(database: Path, named: str) -> Table:
    return Table(database, f"state_{named}")


@pytest.fixture
def bucket(s3: buckets.Server, named: str) -> Bucket:
    return Bucket(s3, f"state-{named}")


@pytest.fixture
def project(tmp_path: Path, named: str) -> Rig:
    """Three stacks that nothing is deployed of, and whose state is on this machine."""
    rig = Rig(tmp_path / "project", tmp_path / "no-kubeconfig", named)
    rig.settings["KUBECONFIG"] = str(rig.kubeconfig)
    rig.write("components/pets/class.yaml", pets_class())
    for stack in STACKS:
        rig.write(f"stacks/{stack}/claims/mine.yaml", pets())
    rig.ok(rig.claimsmith("generate"))
    for stack in STACKS:
        rig.ok(rig.claimsmith("bind", stack))
    return rig


@pytest.fixture(params=["table", "bucket"], ids=["postgresql", "s3"])
def backend(request: pytest.FixtureRequest) -> Backend:
    found: Backend = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def shared(project: Rig, backend: Backend) -> Iterator[Shared]:
    """The project, moved to the server before anything is deployed."""
    project.settings |= backend.settings
    moved = project.ok(project.claimsmith("backend", "move", backend.url, "--output", "json"))
    assert json.loads(moved.out)["created"] == list(STACKS)
    found = Shared(project, backend)
    yield found
    assert not found.leaked()


def hold(rig: Rig) -> Callable[[], None]:
    """Let every program of the project wait; gives the function that lets them go on."""
    rig.write("waits", "")
    lines = ["import os, time", f"while os.path.exists({str(rig.root / 'waits')!r}):", "    time.sleep(0.05)"]
    program = "from claimsmith.deploy import program\n\nprogram.run()\n"
    rig.write("stacks/__main__.py", "\n".join([*lines, program]))
    return lambda: rig.remove("waits")


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
    release = hold(rig)
    run = Run(rig, "one")
    eventually(shared.backend.locked)
    assert run.kill("engine"), run.text
    run.ended()
    release()
    assert "currently locked" in rig.up("one").text
    ran = rig.claimsmith("up", "one", "two", "--lock-timeout", "1s", "--output", "json")
    assert ran.code == 1, ran.text
    found = {row["stack"]: row for row in json.loads(ran.out)["stacks"]}
    assert {stack: row["state"] for stack, row in found.items()} == {"one": "failed", "two": "done"}
    assert "another run has the stack 'one': the lock of " in found["one"]["problem"]["what"]
    assert "claimsmith recover one --unlock --yes" in found["one"]["problem"]["fix"]
    # Another machine may have this one's name: that nothing runs here does not free the lock.
    refused = rig.claimsmith("recover", "one", "--yes")
    assert (refused.code, "cannot be known here" in refused.text) == (1, True), refused.text
    moved = rig.claimsmith("backend", "move", "local")
    assert (moved.code, "'one' is locked" in moved.text) == (1, True), moved.text
    rig.ok(rig.claimsmith("recover", "one", "--unlock", "--yes"))
    assert not shared.backend.locked()
    assert "nothing to recover" in rig.ok(rig.claimsmith("recover", "one")).text
    rig.ok(rig.up("one"))
    assert len(ids(rig, "one")) == PETS


def test_the_lock_of_a_run_at_work(shared: Shared) -> None:
    rig = shared.rig
    release = hold(rig)
    run = Run(rig, "one")
    try:
        eventually(shared.backend.locked)
        refused = rig.claimsmith("recover", "one", "--unlock", "--yes")
        assert (refused.code, "a run of 'one' is at work" in refused.text) == (1, True), refused.text
        assert shared.backend.locked()
    finally:
        release()
        code = run.ended()
    assert code == 0, run.text
    assert len(ids(rig, "one")) == PETS


def test_the_server_restarts_in_the_middle(shared: Shared) -> None:
    rig = shared.rig
    run = Run(rig, "one", "--parallel", "1")
    eventually(lambda: shared.backend.holds("one", PET) or run.process.poll() is not None)
    shared.backend.kill()
    shared.backend.start()
    # Either the engine connects again, or it reports a checkpoint that it could not write.
    if run.ended():
        rig.ok(rig.claimsmith("recover", "one", "--unlock", "--yes"))
    rig.ok(rig.up("one"))
    assert len(ids(rig, "one")) == PETS
    rig.ok(rig.up("one", "--expect-no-changes"))


def test_a_backup_brings_the_state_back(shared: Shared) -> None:
    rig = shared.rig
    rig.ok(rig.up("one"))
    deployed = ids(rig, "one")
    shared.backend.back_up()
    shared.backend.empty()
    assert "no stack named" in rig.pulumi("preview", "--stack", "one").text
    shared.backend.restore()
    assert ids(rig, "one") == deployed
    rig.ok(rig.up("one", "--expect-no-changes"))


def test_from_a_bucket_to_postgresql_and_back(project: Rig, bucket: Bucket, table: Table) -> None:
    project.settings |= {**bucket.settings, **table.settings}
    project.ok(project.claimsmith("backend", "move", bucket.url))
    project.ok(project.up("one"))
    deployed = ids(project, "one")
    for backend in (table, bucket):
        project.ok(project.claimsmith("backend", "move", backend.url))
        assert backend.holds("one", PET)
        assert ids(project, "one") == deployed
        project.ok(project.up("one", "--expect-no-changes"))
    assert not table.holds("one", PET)


def test_a_server_that_crashes_during_a_move(project: Rig, backend: Backend) -> None:
    for stack in STACKS:
        project.ok(project.pulumi("stack", "init", stack))
        project.ok(project.up(stack))
    deployed = {stack: ids(project, stack) for stack in STACKS}
    before = (project.root / "Pulumi.yaml").read_text()
    project.settings |= backend.settings
    words = [sys.executable, "-m", "claimsmith.cli", "backend", "move", backend.url]
    environment = {**os.environ, **project.settings}
    with subprocess.Popen(words, cwd=project.root, env=environment, stderr=subprocess.PIPE, text=True) as moving:
        eventually(lambda: backend.holds("one", PET) or moving.poll() is not None)
        backend.kill()
        _, errors = moving.communicate()
    if moving.returncode:
        assert "of this attempt" in errors, errors
        assert (project.root / "Pulumi.yaml").read_text() == before
        assert {stack: ids(project, stack) for stack in STACKS} == deployed
    backend.start()
    if moving.returncode:
        again = project.claimsmith("backend", "move", backend.url)
        assert (again.code, "has a stack 'one' already" in again.text) == (1, True), again.text
        there = {"PULUMI_BACKEND_URL": backend.url}
        for stack in STACKS:
            # The import that the crash interrupted may have left its lock, which stops `stack rm`.
            project.pulumi("cancel", "--stack", stack, "--yes", env=there)
            project.pulumi("stack", "rm", stack, "--force", "--yes", "--preserve-config", env=there)
        project.ok(project.claimsmith("backend", "move", backend.url))
    assert {stack: ids(project, stack) for stack in STACKS} == deployed


ADDRESS = "s3://{bucket}?endpoint=http://{place}&use_path_style=true&region=us-east-1"


@pytest.mark.parametrize(
    ("address", "variables", "what", "fix"),
    [
        pytest.param(ADDRESS.replace("}?", "}-no?"), {}, "the bucket does not exist", "create it", id="no-bucket"),
        pytest.param(
            ADDRESS, {"AWS_SECRET_ACCESS_KEY": "wrong"}, "does not belong", "AWS_SECRET_ACCESS_KEY", id="wrong-secret"
        ),
        pytest.param(ADDRESS, {"AWS_ACCESS_KEY_ID": "no"}, "not know the access key", "AWS_PROFILE", id="wrong-key"),
        pytest.param(
            ADDRESS,
            {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
            "no credentials",
            "AWS_PROFILE",
            id="no-credentials",
        ),
        pytest.param(ADDRESS.replace("us-", "eu-"), {}, "region is missing or wrong", "AWS_REGION", id="wrong-region"),
        pytest.param(ADDRESS.replace("region", "regoin"), {}, "does not know", "region=REGION", id="unknown-parameter"),
        pytest.param(ADDRESS.replace("{place}", "127.0.0.1:1"), {}, "not answer", "its address", id="unreachable"),
        pytest.param(ADDRESS.replace("http:", "https:"), {}, "does not encrypt", "endpoint=http:", id="not-encrypted"),
    ],
)
def test_a_bucket_that_cannot_be_used(
    tmp_path: Path, bucket: Bucket, address: str, variables: dict[str, str], what: str, fix: str
) -> None:
    rig = Rig(tmp_path / "project", tmp_path / "no-kubeconfig", "errors")
    rig.settings |= bucket.settings | variables
    rig.write("stacks/one/claims/mine.yaml", pets())
    before = contents(rig.root)
    url = address.format(bucket=bucket.name, place=f"{buckets.HOST}:{bucket.server.port}")
    ran = rig.claimsmith("backend", "move", url)
    assert (ran.code, what in ran.text, fix in ran.text.partition("fix: ")[2]) == (1, True, True), ran.text
    kept = {name: content for name, content in contents(rig.root).items() if not name.startswith(".claimsmith/")}
    assert kept == before
    # A project that names it already is refused in the same words.
    rig.write("Pulumi.yaml", before["Pulumi.yaml"].decode().replace(LOCAL, url))
    ran = rig.claimsmith("up", "--all")
    assert (ran.code, what in ran.text, fix in ran.text.partition("fix: ")[2]) == (1, True, True), ran.text
    assert not any((bucket.server.folder / bucket.name).rglob("*.json"))
    assert not Shared(rig, bucket).leaked()
