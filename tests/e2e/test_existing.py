"""Objects that are there before the engine creates them: somebody else's are refused, ours are taken over.

Each on the provider as it is, whose create merges into an existing object, and behind the stand-in for a newer one,
whose create is refused (`creating_provider.py`).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from claimsmith import lab
from tests.e2e.creating_provider import CREATES, both_ways
from tests.e2e.examples import claim, private_mysql
from tests.e2e.faults import Estate, Run
from tests.e2e.rig import RESOURCE_GROUP, SERVER, Rig, eventually

pytestmark = pytest.mark.e2e

NEVER_READY = "simulated-cloud.claimsmith.io/never-ready"
NO_CHECKPOINTS = {"PULUMI_EXPERIMENTAL": "true", "PULUMI_SKIP_CHECKPOINTS": "true"}


def prepared(rig: Rig, **annotations: str) -> dict[str, str]:
    """One claim, ready to be deployed, with annotations on its first template; gives the children's names by kind."""
    rig.namespace(rig.name)
    klass = private_mysql()
    klass["spec"]["resources"][0]["base"]["metadata"] = {"annotations": annotations}
    rig.write("components/mysql/class.yaml", klass)
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    rendered = json.loads(rig.ok(rig.claimsmith("render", "dev", "--output", "json")).out)["items"]
    return {d["kind"]: d["metadata"]["name"] for d in rendered}


def group(name: str, **metadata: Any) -> dict[str, Any]:
    """A resource group that somebody else created."""
    head = {"apiVersion": "azure.crossplane.io/v1alpha3", "kind": "ResourceGroup"}
    return {**head, "metadata": {"name": name, **metadata}, "spec": {"note": "theirs"}}


def live(rig: Rig, kind: tuple[str, str, str], name: str) -> dict[str, Any]:
    return next(o for o in rig.live(kind) if o["metadata"]["name"] == name)


@both_ways
def test_a_child_that_a_live_composite_controls_is_refused(rig: Rig) -> None:
    names = prepared(rig)
    controller = {"apiVersion": "example.org/v1", "kind": "XGroup", "name": "live", "uid": "1", "controller": True}
    rig.create(RESOURCE_GROUP, group(names["ResourceGroup"], ownerReferences=[controller]))
    for ran in (rig.pulumi("preview", "--stack", "dev"), rig.up("dev")):
        assert ran.code != 0
        assert "its child 'resource-group' is ResourceGroup" in ran.text
        assert "which already exists and is controlled by XGroup live" in ran.text
        assert "stacks/dev/claims/sql.yaml:" in ran.text
        assert "claimsmith.io/adopt" in ran.text
    managers = {f["manager"] for f in live(rig, RESOURCE_GROUP, names["ResourceGroup"])["metadata"]["managedFields"]}
    assert not any(m.startswith(("claimsmith-", "pulumi-kubernetes")) for m in managers)
    assert [o for o in rig.live(SERVER) if o["metadata"]["name"] == names["MySQLServer"]] == []
    rig.delete(RESOURCE_GROUP, names["ResourceGroup"])


@both_ways
def test_a_child_is_adopted_where_its_template_says_so(rig: Rig) -> None:
    names = prepared(rig, **{"claimsmith.io/adopt": "true"})
    rig.create(RESOURCE_GROUP, group(names["ResourceGroup"]))
    before = live(rig, RESOURCE_GROUP, names["ResourceGroup"])["metadata"]["uid"]
    rig.ok(rig.pulumi("preview", "--stack", "dev"))
    up = rig.ok(rig.up("dev"))
    assert "imported" in up.text
    after = live(rig, RESOURCE_GROUP, names["ResourceGroup"])
    assert after["metadata"]["uid"] == before
    assert after["metadata"]["annotations"]["claimsmith.io/owner"].startswith(f"{rig.name}/dev/")
    assert (after["spec"]["note"], after["spec"]["location"]) == ("theirs", "West US")
    rig.ok(rig.up("dev", "--expect-no-changes"))
    rig.ok(rig.destroy("dev"))
    assert [o for o in rig.live(RESOURCE_GROUP) if o["metadata"]["name"] == names["ResourceGroup"]] == []


def test_what_a_destroyed_stack_left_behind_is_taken_over(rig: Rig) -> None:
    """A provided resource is retained: the next stack says whose it was, and one command lets it take that over."""
    prepared(rig)
    name = f"{rig.name}-network"
    for stack in ("dev", "next"):
        rig.write(f"stacks/{stack}/resources/group.yaml", group(name))
    rig.write("stacks/next/claims/sql.yaml", claim(rig.name, name="other"))
    rig.prepare("next")
    rig.ok(rig.up("dev"))
    before = live(rig, RESOURCE_GROUP, name)["metadata"]["uid"]

    ran = rig.up("next")
    assert "left it behind" not in ran.text
    assert f"belongs to {rig.name}/dev/given" in ran.text

    rig.ok(rig.destroy("dev"))
    ran = rig.up("next")
    assert f"belongs to {rig.name}/dev/given: the stack dev was destroyed and left it behind" in ran.text
    command = "up --stack next --config claimsmith:takeover=dev"
    assert f"PULUMI_K8S_ENABLE_PATCH_FORCE=true pulumi {command}" in ran.text
    rig.ok(rig.pulumi(*command.split(), "--yes", env={"PULUMI_K8S_ENABLE_PATCH_FORCE": "true"}))
    after = live(rig, RESOURCE_GROUP, name)["metadata"]
    assert (after["uid"], after["annotations"]["claimsmith.io/owner"]) == (before, f"{rig.name}/next/given")
    assert rig.settled("next") == {}
    rig.ok(rig.destroy("next"))
    rig.delete(RESOURCE_GROUP, name)


@both_ways
def test_what_a_killed_run_created_without_checkpoints_is_taken_over(rig: Rig, control_plane: lab.Status) -> None:
    """The state knows nothing of that run: `recover` lists what it created, and the next run imports it."""
    estate = Estate(rig, Path(control_plane.kubeconfig).parents[2], random.Random(1))
    estate.prepare(2, seconds=3600)
    run = Run(rig, "dev", env=NO_CHECKPOINTS)
    created = eventually(lambda: len(found := rig.live(RESOURCE_GROUP, namespace=rig.name)) == 2 and found)
    assert run.kill("engine")
    run.ended()
    rig.ok(rig.claimsmith("recover", "dev", "--yes"))
    estate.hurry()
    up = rig.ok(rig.up("dev"))
    assert "imported" in up.text
    estate.check_whole()
    kept = {o["metadata"]["uid"] for o in rig.live(RESOURCE_GROUP, namespace=rig.name)}
    assert kept == {o["metadata"]["uid"] for o in created}
    rig.ok(rig.up("dev", "--expect-no-changes"))


@pytest.mark.parametrize("kubeconfig", [CREATES], indirect=True)
def test_what_appears_after_the_check_is_refused_by_a_newer_provider(rig: Rig) -> None:
    """Before 4.29 it would be merged into: between the check and the create nobody looks."""
    names = prepared(rig, **{NEVER_READY: "true"})
    run = Run(rig, "dev")
    eventually(lambda: rig.live(RESOURCE_GROUP, namespace=rig.name))
    head = {"apiVersion": "database.azure.crossplane.io/v1beta1", "kind": "MySQLServer"}
    rig.create(SERVER, {**head, "metadata": {"name": names["MySQLServer"]}, "spec": {"theirs": True}})
    # Only now does what the server waits for become ready.
    rig.patch(RESOURCE_GROUP, names["ResourceGroup"], {"metadata": {"annotations": {NEVER_READY: None}}})
    assert run.ended() != 0
    assert "already exists" in run.text
    theirs = live(rig, SERVER, names["MySQLServer"])
    assert theirs["spec"]["theirs"] is True
    assert "claimsmith.io/owner" not in (theirs["metadata"].get("annotations") or {})
    rig.delete(SERVER, names["MySQLServer"])
