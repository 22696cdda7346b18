"""What recovery makes of locks, interrupted operations and leftovers. On the real engine: tests/e2e/test_faults.py."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.errors import DeployError
from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.kubernetes.kubeconfig import credentials
from claimsmith.project import checkpoint
from claimsmith.project.checkpoint import CREATING, INTERRUPTED, HeldObject, Pending
from claimsmith.toolchain import file_backend, leftovers, locks
from claimsmith.tools.recover import Interrupted, recover
from tests.support.malformed_kubeconfigs import block, changed, config, on_one_line

PROVIDER = "urn:pulumi:dev::p::pulumi:providers:kubernetes::cluster::1"
HERE = socket.gethostname()
LATER = "2999-01-01T00:00:00.123456789Z"
THING = ObjectKey(GroupKind("g", "Thing"), "shop", "a")
EARLIER = "2001-01-01T00:00:00Z"


def resource(name: str, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "annotations": {"claimsmith.io/owner": "p/dev/u"}}
    inputs = {"apiVersion": "g/v1", "kind": "Thing", "metadata": metadata}
    return {
        "urn": f"urn:pulumi:dev::p::kubernetes:g/v1:Thing::{name}",
        "custom": True,
        "type": "kubernetes:g/v1:Thing",
        "inputs": inputs,
        "provider": PROVIDER,
        **more,
    }


def state(resources: list[dict[str, Any]], *pending: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    operations = [{"type": word, "resource": r} for word, r in pending]
    return {"version": 3, "deployment": {"resources": resources, "pending_operations": operations}}


def lock(folder: Path, *, pid: int, host: str = HERE, timestamp: str = LATER) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{pid}-{host}.json"
    path.write_text(json.dumps({"pid": pid, "username": "me", "hostname": host, "timestamp": timestamp}))
    return path


def gone() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    return child.pid


@pytest.mark.parametrize(
    ("pid", "host", "timestamp", "stale", "foreign"),
    [
        pytest.param(os.getpid, HERE, LATER, False, False, id="at-work"),
        pytest.param(gone, HERE, LATER, True, False, id="gone"),
        pytest.param(os.getpid, HERE, EARLIER, True, False, id="its-number-is-another-s-now"),
        pytest.param(gone, "elsewhere", LATER, False, True, id="another-machine"),
    ],
)
def test_whose_lock(tmp_path: Path, pid, host: str, timestamp: str, stale: bool, foreign: bool) -> None:
    lock(tmp_path, pid=pid(), host=host, timestamp=timestamp)
    [found] = locks.locks(tmp_path)
    assert (found.stale, found.foreign) == (stale, foreign)


def test_of_a_lock_that_cannot_be_read_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"pid": ')
    [found] = locks.locks(tmp_path)
    assert found.foreign
    assert not found.stale


def refusal(*owners: str) -> str:
    """What the engine prints when it refuses to take a lock of a stack in a bucket."""
    lines = [f"  s3://b/.pulumi/locks/x.json?region=r: created by {owner}" for owner in owners]
    head = f"error: the stack is currently locked by {len(owners)} lock(s). Either wait for the other process(es)"
    return "\n".join([f"{head} to end or delete the lock file with `pulumi cancel`.", *lines])


@pytest.mark.parametrize(
    ("pid", "host", "at_work", "owner"),
    [
        pytest.param(os.getpid, HERE, True, "who is gone", id="at-work"),
        pytest.param(gone, HERE, False, "on a machine of this name, where it does not run", id="not-here"),
        pytest.param(gone, "elsewhere", False, "on another machine", id="another-machine"),
    ],
)
def test_whose_lock_in_a_backend_that_machines_share(pid, host: str, at_work: bool, owner: str) -> None:
    """Its owner is never known to be gone: another machine may have this one's name."""
    [found] = locks.reported(refusal(f"DOMAIN\\me@{host} (pid {pid()}) at {LATER}"))
    assert (found.file, found.user, found.stale, found.foreign) == (None, "DOMAIN\\me", False, not at_work)
    assert at_work or found.owner == owner


@pytest.mark.parametrize(
    ("output", "count"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("error: a stack named dev already exists", 0, id="not-locked"),
        pytest.param(
            refusal("a@b (pid 1) at 2026-01-01T00:00:00Z", "c@d (pid 2) at 2026-01-01T00:00:00+02:00"), 2, id="two"
        ),
        pytest.param(refusal(*["a@b (pid 1) at 2026-01-01T00:00:00Z"] * 2), 1, id="repeated"),
        pytest.param(refusal("a@b (pid 1) at noon"), 1, id="unknown-time"),
        pytest.param(refusal(), 1, id="unknown-owner"),
    ],
)
def test_locks_that_the_engine_reports(output: str, count: int) -> None:
    found = locks.reported(output)
    assert len(found) == count
    assert all(lock.foreign for lock in found)


@pytest.mark.parametrize(
    ("url", "want"),
    [
        pytest.param("file://./.claimsmith/state", "root/.claimsmith/state", id="in-the-project"),
        pytest.param("file:///a%20b?no_tmp_dir=true", "/a b", id="elsewhere"),
        pytest.param("https://app.pulumi.com/me", None, id="service"),
        pytest.param("s3://bucket", None, id="bucket"),
    ],
)
def test_where_locks_are(url: str, want: str | None) -> None:
    found = locks.folder(url, Path("root"), "p", "dev")
    assert found == (Path(want) / ".pulumi/locks/organization/p/dev" if want else None)


@pytest.mark.parametrize(
    ("file", "content", "found"),
    [
        pytest.param("stacks/p/dev.json.attrs", "", True, id="empty"),
        pytest.param("stacks/p/dev.json.attrs", '{"user.cac', True, id="cut-off"),
        pytest.param("stacks/p/dev.json.attrs", '{"md5":"DPrB"}\n', False, id="whole"),
        pytest.param("stacks/p/dev.json.bak.attrs", "", True, id="of-the-copy"),
        pytest.param("history/p/dev/dev-1.checkpoint.json.attrs", "", True, id="of-the-history"),
        pytest.param("backups/p/dev/dev.1.json.attrs", "", True, id="of-a-backup"),
        pytest.param("stacks/p/dev.json", "", False, id="no-attributes"),
        pytest.param("stacks/p/prod.json.attrs", "", False, id="of-another-stack"),
        pytest.param("stacks/q/dev.json.attrs", "", False, id="of-another-project"),
    ],
)
def test_attributes_that_a_killed_engine_was_writing(tmp_path: Path, file: str, content: str, found: bool) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert file_backend.half_written(tmp_path, "p", "dev") == [path] * found


def test_other_backends_have_no_half_written_attributes() -> None:
    assert file_backend.half_written(file_backend.folder("s3://bucket", Path()), "p", "dev") == []


@pytest.mark.parametrize(
    ("pid", "host", "unlock", "words"),
    [
        pytest.param(os.getpid, HERE, False, "is at work", id="at-work"),
        pytest.param(os.getpid, HERE, True, "is at work", id="at-work-whatever-is-said"),
        pytest.param(gone, "elsewhere", False, "on another machine", id="another-machine"),
    ],
)
def test_a_run_at_work_is_left_alone(tmp_path: Path, pid, host: str, unlock: bool, words: str) -> None:
    lock(tmp_path, pid=pid(), host=host)
    with pytest.raises(DeployError) as caught:
        recover._refuse_running(locks.locks(tmp_path), "dev", unlock=unlock)
    assert words in caught.value.problems[0].what
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("pid", "host", "unlock"),
    [
        pytest.param(gone, HERE, False, id="gone"),
        pytest.param(gone, "elsewhere", True, id="another-machine-and-known-to-be-gone"),
    ],
)
def test_a_lock_without_owner_may_be_freed(tmp_path: Path, pid, host: str, unlock: bool) -> None:
    lock(tmp_path, pid=pid(), host=host)
    recover._refuse_running(locks.locks(tmp_path), "dev", unlock=unlock)


def test_a_finished_creation_is_taken_in_and_the_others_are_cleared() -> None:
    made, other, known = resource("made"), resource("other"), resource("known", id="known")
    before = state([known], (CREATING, made), (CREATING, other), (CREATING, known), ("updating", known))
    after = checkpoint.taken_in(before, {made["urn"]: "made", known["urn"]: "known"})
    assert [r["urn"] for r in after["deployment"]["resources"]] == [known["urn"], made["urn"]]
    taken = after["deployment"]["resources"][1]
    assert (taken["id"], taken["initErrors"], taken["outputs"]) == ("made", [INTERRUPTED], made["inputs"])
    assert [o["type"] for o in after["deployment"]["pending_operations"]] == ["updating"]
    assert len(before["deployment"]["resources"]) == 1, "what was given is not changed"


def test_each_interrupted_operation_counts_once() -> None:
    found = checkpoint.pending(state([resource("b")], *[(CREATING, resource("a"))] * 2, (CREATING, resource("b"))))
    assert [(p.name, p.in_state, p.object_id) for p in found] == [("a", False, "a"), ("b", True, "b")]


@pytest.mark.parametrize(
    ("interrupted", "step"),
    [
        pytest.param({}, "clear it", id="not-created"),
        pytest.param({"created": True}, "take it into the state", id="created"),
        pytest.param({"foreign": "belongs to x"}, "clear it", id="somebody-else-s"),
    ],
)
def test_steps_for_creations(interrupted: dict[str, Any], step: str) -> None:
    pending = Pending("urn::a", CREATING, resource("a"), in_state=False)
    assert Interrupted(pending, **interrupted).step.step == step


@pytest.mark.parametrize(
    ("word", "in_state", "step"),
    [
        pytest.param(CREATING, True, "clear it", id="made-since"),
        pytest.param("updating", True, "refresh it", id="update"),
        pytest.param("deleting", True, "refresh it", id="delete"),
    ],
)
def test_steps_for_others(word: str, in_state: bool, step: str) -> None:
    assert Interrupted(Pending("urn::a", word, resource("a"), in_state)).step.step == step


def test_kubeconfigs_and_objects_of_a_state() -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"the config"'}
    provider = {
        "urn": PROVIDER.rpartition("::")[0],
        "id": "1",
        "custom": True,
        "type": "pulumi:providers:kubernetes",
        "inputs": {"kubeconfig": secret, "context": "c"},
    }
    found = state([provider, resource("a", id="a")])
    assert checkpoint.kubeconfigs(found) == {PROVIDER: ("the config", "c")}
    assert list(checkpoint.objects(found)) == [(PROVIDER, GroupKind("g", "Thing"), "a")]


@pytest.mark.parametrize(
    ("more", "want"),
    [
        pytest.param(
            {},
            [HeldObject("cluster", THING, resource("a")["urn"], "p/dev/u", api_version="g/v1")],
            id="its-own",
        ),
        pytest.param({"external": True}, [], id="only-read"),
        pytest.param({"type": "kubernetes:g/v1:ThingPatch"}, [], id="only-patched"),
        pytest.param({"delete": True}, [], id="to-be-deleted"),
        pytest.param({"custom": False}, [], id="no-object"),
    ],
)
def test_what_a_state_holds_as_its_own(more: dict[str, Any], want: list[HeldObject]) -> None:
    assert list(checkpoint.held(state([resource("a", id="shop/a", **more)]))) == want


def test_half_written_files_of_runs_that_are_gone(tmp_path: Path) -> None:
    left = tmp_path / "stacks" / "dev" / f".bindings.yaml.{gone()}.partial"
    left.parent.mkdir(parents=True)
    left.touch()
    (left.parent / f".bindings.yaml.{os.getpid()}.partial").touch()
    assert leftovers.half_written(tmp_path) == [left]


def test_a_plugin_whose_engine_is_gone(tmp_path: Path) -> None:
    """The parent ends, its child plays the plugin and is found; another project's is not."""
    plugin = tmp_path / "pulumi-resource-fake"
    plugin.write_text("#!/bin/sh\necho ready\nread line\n")
    plugin.chmod(0o755)
    # One write each, so that the two lines cannot run into each other.
    inner = (
        f"import os, subprocess; p = subprocess.Popen(['{plugin}'], cwd='{tmp_path}', stdin=0); "
        "os.write(1, b'%d\\n' % p.pid)"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", inner], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        said = sorted(parent.stdout.readline().strip() for _ in range(2))
        parent.wait()
        found = leftovers.processes(tmp_path)
        elsewhere = leftovers.processes(tmp_path / "other")
    assert said == [str(p.process.pid) for p in found] + ["ready"]
    assert [p.program for p in found] == ["pulumi-resource-fake"]
    assert elsewhere == []


def test_a_lock_tells_its_owner() -> None:
    since = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(hours=3)
    assert str(locks.Lock(Path("x"), 7, "me", "here", since)) == (
        "the lock of me@here (process 7, since 2026-01-02 03:00:00Z)"
    )


def copies(folder: Path) -> list[str]:
    return [p.name for p in leftovers.kubeconfigs(folder, lambda: ["[malformed", on_one_line(config())])]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        pytest.param("kubeconfig2839472031", block(config()), True, id="copy"),
        pytest.param("kubeconfig2839472031", changed(preferences={}, kind=None), True, id="written-by-another-client"),
        pytest.param("kubeconfig2839472031", block(config(token="other")), False, id="of-another-user"),
        pytest.param("kubeconfig2839472031", changed(clusters=[]), False, id="of-another-cluster"),
        pytest.param("kubeconfig2839472031", "", False, id="empty"),
        pytest.param("kubeconfig2839472031", "[malformed", False, id="malformed"),
        pytest.param("kubeconfig1", block(config()), False, id="name-that-a-person-gives"),
        pytest.param("kubeconfig2839472031.yaml", block(config()), False, id="name-with-an-ending"),
    ],
)
def test_copies_of_the_kubeconfig_are_told_by_name_and_content(
    tmp_path: Path, name: str, text: str, found: bool
) -> None:
    (tmp_path / name).write_text(text)
    os.utime(tmp_path / name, (1, 1))
    assert copies(tmp_path) == [name] * found


def test_a_link_is_no_copy(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text(block(config()))
    (tmp_path / "kubeconfig2839472031").symlink_to(tmp_path / "mine")
    assert copies(tmp_path) == []


@pytest.mark.parametrize(
    ("temporary", "want"),
    [
        pytest.param("mine", ["kubeconfig11111111"], id="its-folder"),
        pytest.param("mine/../mine", ["kubeconfig11111111"], id="its-folder-by-another-way"),
        pytest.param("others", ["kubeconfig11111111", "kubeconfig22222222"], id="another-folder"),
    ],
)
def test_the_copy_of_a_provider_that_runs_is_left_alone(tmp_path: Path, temporary: str, want: list[str]) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, when in (("kubeconfig11111111", 1), ("kubeconfig22222222", 2**33)):
        (folder / name).write_text(block(config()))
        os.utime(folder / name, (when, when))
    command = ["/plugins/pulumi-resource-kubernetes", "-c", "import sys; print(flush=True); sys.stdin.read()"]
    environment = {**os.environ, "TMPDIR": str(tmp_path / temporary)}
    with subprocess.Popen(
        command, executable=sys.executable, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as provider:
        assert provider.stdout
        provider.stdout.readline()
        assert copies(folder) == want, "it began after the first one was written"
        assert provider.stdin
        provider.stdin.close()


def test_what_is_malformed_has_no_credentials() -> None:
    assert credentials("users: [1]\nclusters: x\n") == frozenset()


def test_only_a_provider_knows_of_an_interrupted_native_creation() -> None:
    native = {**resource("a"), "type": "postgresql:index/role:Role", "inputs": {"name": "a", "apiVersion": "g/v1"}}
    pending = Pending("urn::a", CREATING, native, in_state=False)
    assert (pending.native, pending.object_id) == (True, "")
    step = Interrupted(pending).step
    assert "only its provider knows" in step.found
    assert "claimsmith.io/import" in step.step


@pytest.mark.parametrize(
    ("type_", "custom"),
    [
        pytest.param("claimsmith:database.example.org:Database", False, id="a-component"),
        pytest.param("pulumi:providers:kubernetes", True, id="a-provider"),
    ],
)
def test_what_is_only_in_the_state_has_nothing_to_take_over(type_: str, *, custom: bool) -> None:
    pending = Pending("urn::a", CREATING, {**resource("a"), "type": type_, "custom": custom}, in_state=False)
    step = Interrupted(pending).step
    assert step.found.endswith("and is nowhere but in the state")
    assert step.step == "clear it"


def test_objects_of_a_cluster_are_those_of_its_provider() -> None:
    native = {**resource("a"), "type": "postgresql:index/role:Thing", "id": "a"}
    found = state([{**resource("b"), "id": "shop/b"}, native])
    assert [place for _, _, place in checkpoint.objects(found)] == ["shop/b"]
    assert [held.key.name for held in checkpoint.held(found)] == ["b"]
