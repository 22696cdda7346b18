"""Many stacks on the real engine and a real PostgreSQL server: order, a failure, a kill, and going on after it."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.databases import DatabaseRig, database_claim, database_class
from tests.e2e.faults import left_in
from tests.e2e.rig import Ran, eventually

pytestmark = pytest.mark.e2e

TOKEN: dict[str, Any] = {
    "apiVersion": "infrastructure.crossplane.io/v1alpha1",
    "kind": "CompositeResourceClass",
    "metadata": {"name": "token"},
    "spec": {
        "claim": {"apiVersion": "example.org/v1alpha1", "kind": "Token"},
        "resources": [
            {
                "name": "id",
                "base": {"type": "random:RandomId", "properties": {"byteLength": 4}},
                "patches": [{"fromClaimFieldPath": "spec.bytes", "toResourceFieldPath": "properties.byteLength"}],
            }
        ],
    },
}


def token(name: str = "one", **spec: Any) -> dict[str, Any]:
    """A claim that needs no server."""
    reference = {"apiVersion": TOKEN["apiVersion"], "kind": TOKEN["kind"], "name": "token"}
    metadata = {"namespace": "default", "name": name}
    return {
        "apiVersion": "example.org/v1alpha1",
        "kind": "Token",
        "metadata": metadata,
        "spec": {"bytes": 4, "classRef": reference, **spec},
    }


@pytest.fixture
def rig(database_rig: DatabaseRig) -> DatabaseRig:
    """`base` and `top` share nothing but their order; `shop` has a database, and `lone` needs nobody."""
    rig = database_rig
    rig.write("components/token/class.yaml", TOKEN)
    rig.write("components/postgresql/class.yaml", database_class())
    for stack in ("base", "top", "lone"):
        rig.write(f"stacks/{stack}/claims/token.yaml", token())
    rig.write("stacks/shop/claims/database.yaml", database_claim(rig.named()))
    rig.write("stacks/Pulumi.top.yaml", {"config": {"claimsmith:after": ["shop"]}})
    rig.ok(rig.claimsmith("generate"))
    for stack in ("base", "top", "lone"):
        rig.ok(rig.claimsmith("bind", stack))
    rig.prepare("shop")
    return rig


def result(ran: Ran) -> dict[str, dict[str, Any]]:
    return {row["stack"]: row for row in json.loads(ran.out)["stacks"]}


def states(ran: Ran) -> dict[str, str]:
    return {stack: row["state"] for stack, row in result(ran).items()}


def up(rig: DatabaseRig, *words: str) -> Ran:
    return rig.claimsmith("up", *words, "--output", "json")


def port(rig: DatabaseRig, value: object) -> None:
    """Where `shop` looks for its server."""
    path = rig.root / "stacks/Pulumi.shop.yaml"
    data = yaml.safe_load(path.read_text())
    data["config"]["postgresql:port"] = str(value)
    path.write_text(yaml.safe_dump(data))


def test_a_failure_stops_its_dependents_alone_and_resume_goes_on(rig: DatabaseRig) -> None:
    assert rig.server
    port(rig, 1)
    ran = up(rig, "--all", "--parallel", "2")
    assert ran.code == 1, ran.text
    assert states(ran) == {"base": "done", "lone": "done", "shop": "failed", "top": "skipped"}
    assert "connection refused" in result(ran)["shop"]["problem"]["what"]
    assert "not run: it needs 'shop', which is failed" in ran.err
    assert "connection refused" in (rig.root / ".claimsmith/fleet/shop.log").read_text()
    port(rig, rig.server.port)
    ran = up(rig, "--resume")
    assert (ran.code, states(ran)) == (10, {"shop": "done", "top": "done"}), ran.text
    name = rig.databases[0]
    assert rig.oid(name)
    # Plain `pulumi` goes on from there.
    rig.ok(rig.up("shop", "--expect-no-changes"))
    ran = up(rig, "--all")
    assert (ran.code, set(states(ran).values())) == (0, {"done"}), ran.text
    assert rig.password not in "".join(rig.printed)
    assert not list(rig.root.rglob("*.events"))
    # What would be deleted or replaced is refused, and everything else goes on.
    rig.write("stacks/lone/claims/token.yaml", token(bytes=8))
    rig.write("stacks/base/claims/more.yaml", token("more"))
    rig.ok(rig.claimsmith("bind", "base"))
    ran = up(rig, "base", "lone")
    assert (ran.code, states(ran)) == (11, {"base": "done", "lone": "refused"}), ran.text
    assert result(ran)["lone"]["destructive"] == 1
    ran = rig.claimsmith("preview", "lone", "--output", "json")
    assert (ran.code, result(ran)["lone"]["destructive"]) == (11, 1), ran.text
    ran = up(rig, "lone", "--allow-destructive")
    assert (ran.code, states(ran)) == (11, {"lone": "done"}), ran.text
    assert rig.claimsmith("destroy", "--all").code == 1
    ran = rig.claimsmith("destroy", "--all", "--allow-destructive", "--output", "json")
    assert (ran.code, set(states(ran).values())) == (11, {"done"}), ran.text
    assert rig.oid(name) == ""
    listed = json.loads(rig.ok(rig.pulumi("stack", "ls", "--json")).out)
    assert {row["name"]: row.get("resourceCount", 0) for row in listed} == dict.fromkeys(
        ("base", "lone", "shop", "top"), 0
    )


def engines(root: Path) -> list[int]:
    """The processes of the engine in a project."""
    return [int(line.split()[0]) for line in left_in(root) if " up --stack " in f" {line} " and "pulumi" in line]


def start(rig: DatabaseRig) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "claimsmith.cli", "up", "--all", "--parallel", "2"]
    return subprocess.Popen(
        command, cwd=rig.root, env={**os.environ, **rig.settings}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.mark.parametrize("engine", [False, True], ids=["the-scheduler", "the-engines-too"])
def test_resume_after_a_kill(rig: DatabaseRig, engine: bool) -> None:
    with start(rig) as process:
        running = eventually(lambda: engines(rig.root))
        time.sleep(0.5)
        process.kill()
        for pid in running if engine else ():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
    ran = up(rig, "--resume", "--lock-timeout", "1h")
    assert ran.code in (0, 10), ran.text
    assert set(states(ran).values()) == {"done"}
    assert rig.oid(rig.databases[0])
    for stack, number in {"base": 1, "lone": 1, "top": 1, "shop": 3}.items():
        resources = [r for r in rig.state(stack) if r["type"].startswith(("random:", "postgresql:"))]
        assert len(resources) == number
        rig.ok(rig.up(stack, "--expect-no-changes"))
    assert up(rig, "--resume").err.strip() == "nothing to resume: every stack of the last run is done"


def test_ctrl_c_leaves_no_process_and_no_lock(rig: DatabaseRig) -> None:
    with start(rig) as process:
        eventually(lambda: engines(rig.root))
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert left_in(rig.root) == []
    assert not list((rig.root / ".claimsmith/state/.pulumi/locks").rglob("*.json"))
    ran = up(rig, "--resume")
    assert ran.code == 10, ran.text
    assert set(states(ran).values()) == {"done"}


def token_class(name: str, *more: dict[str, Any]) -> dict[str, Any]:
    """A class of tokens under another name, by a label, with more resources."""
    klass = copy.deepcopy(TOKEN)
    klass["metadata"] = {"name": name, "labels": {"current": str(name == "v1").lower()}}
    klass["spec"]["resources"] += more
    return klass


def test_three_waves_and_the_way_back_keep_every_resource(database_rig: DatabaseRig) -> None:
    """60 claims: two waves, the second of them returned, then all of them."""
    rig = database_rig
    rig.write("components/v1/class.yaml", token_class("v1"))
    rig.write("components/v2/class.yaml", token_class("v2", {"name": "pet", "base": {"type": "random:RandomPet"}}))
    stacks = ("eu", "us")
    for stack in stacks:
        claims = [token(f"t{i}", classSelector={"matchLabels": {"current": "true"}}) for i in range(30)]
        for claim in claims:
            del claim["spec"]["classRef"]
        rig.write(f"stacks/{stack}/claims/tokens.yaml", claims)
    rig.ok(rig.claimsmith("generate"))
    for stack in stacks:
        rig.ok(rig.claimsmith("bind", stack))
    assert up(rig, "--all").code == 10

    def tokens() -> dict[str, str]:
        found = (r for stack in stacks for r in rig.state(stack))
        return {r["urn"]: r["id"] for r in found if r["type"].endswith(":RandomId")}

    def pets() -> int:
        return sum(r["type"].endswith(":RandomPet") for stack in stacks for r in rig.state(stack))

    before = tokens()
    assert len(before) == 60
    for words, number, code in (
        (("--wave", "10%"), 6, 10),
        (("--wave", "30%"), 24, 10),
        (("--wave", "18", "--back", "--allow-destructive"), 6, 11),
        ((), 60, 10),
    ):
        rig.ok(rig.claimsmith("rollout", "v1", "--to", "v2", *words))
        ran = up(rig, "--all", *(["--allow-destructive"] if code == 11 else []))
        assert ran.code == code, ran.text
        assert (tokens(), pets()) == (before, number)
    rig.ok(rig.claimsmith("validate"))
    for stack in stacks:
        rig.ok(rig.destroy(stack))
