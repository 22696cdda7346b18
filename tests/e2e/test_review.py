"""What a review says of each child is what the real engine's preview says."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
from typing import Any

import pytest
from lightkube.generic_resource import create_global_resource
from lightkube.types import PatchType

from claimsmith.lab import install_crds
from claimsmith.project.project import crds_needed
from tests.e2e.examples import claim, private_mysql, with_reclaim_policy
from tests.e2e.rig import RESOURCE_GROUP, Ran, Rig
from tests.support.paths import ROOT

pytestmark = pytest.mark.e2e

PASSWORD = "correct-horse-battery"
OPS = {"create": "created", "update": "updated", "replace": "replaced", "delete": "deleted"}


def git(rig: Rig, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=rig.root, check=True, capture_output=True)


def given(namespace: str, *, text: str = "one", password: str = PASSWORD, verbs: list[str] | None = None) -> list[Any]:
    metadata = {"namespace": namespace}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, "name": "text"}, "data": {"text": text}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {**metadata, "name": "mine"}, "stringData": {"p": password}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {**metadata, "name": "reader"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs or ["get"]}],
        },
    ]


def kept_class() -> dict[str, Any]:
    return with_reclaim_policy(private_mysql("kept"), "Retain")


@pytest.fixture
def deployed(rig: Rig) -> Rig:
    """Five claims and three given objects, deployed and committed."""
    rig.namespace(rig.name)
    rig.write("components/private/class.yaml", private_mysql())
    rig.write("components/kept/class.yaml", kept_class())
    rig.write("components/other/class.yaml", private_mysql("other"))
    for name in ("one", "two"):
        rig.write(f"stacks/dev/claims/{name}.yaml", claim(rig.name, name=name))
    rig.write("stacks/dev/claims/gone.yaml", claim(rig.name, name="gone", klass="other"))
    rig.write("stacks/dev/claims/kept.yaml", claim(rig.name, name="kept", klass="kept"))
    rig.write("stacks/dev/claims/moves.yaml", claim(rig.name, name="moves", klass="other"))
    rig.write("stacks/dev/resources/given.yaml", given(rig.name))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    commit(rig)
    return rig


def commit(rig: Rig) -> None:
    rig.write(".gitignore", ".claimsmith/\n__pycache__/\n")
    git(rig, "init", "--quiet", ".")
    git(rig, "add", "--all")
    git(rig, "commit", "--quiet", "--message", "base")


def rebind(rig: Rig, *names: str, kind: str = "MySQLInstance.database.example.org") -> None:
    rig.ok(rig.claimsmith("generate"))
    words = [word for name in names for word in ("--rebind", f"{kind}/{rig.name}/{name}")]
    rig.ok(rig.claimsmith("bind", "dev", *words))


def review(rig: Rig, *words: str) -> tuple[Ran, dict[str, Any]]:
    ran = rig.claimsmith("review", "--stack", "dev", "--output", "json", *words)
    return ran, json.loads(ran.out)


def report(found: dict[str, Any]) -> dict[str, Any]:
    (stack,) = found["stacks"]
    return stack


def resources(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the review says of each resource, in the form of the engine's steps."""
    listed = [*report(found)["given"], *(r for c in report(found)["claims"] for r in c["resources"])]
    return {
        r["urn"]: {"op": r["op"], "fields": sorted(normal(f["path"]) for f in r["fields"])}
        for r in listed
        if r["op"] != "settings"
    }


def normal(path: str) -> str:
    return path.replace('["', "[").replace('"]', "]")


def engine(rig: Rig, stack: str = "dev") -> dict[str, dict[str, Any]]:
    """What the engine's preview says of each object, asked for independently."""
    ran = rig.ok(rig.pulumi("preview", "--stack", stack, "--json"))
    found = {}
    for step in json.loads(ran.out)["steps"]:
        objects = step["urn"].split("::")[2].rpartition("$")[2].startswith("kubernetes:")
        if objects and step["op"] in OPS:
            retained = step["op"] == "delete" and (step.get("oldState") or {}).get("retainOnDelete")
            op = "retained" if retained else OPS[step["op"]]
            found[step["urn"]] = {"op": op, "fields": sorted(normal(f) for f in step.get("detailedDiff") or {})}
    return found


def change_class(klass: dict[str, Any]) -> dict[str, Any]:
    """Other values, a field more and one less, a list, a template more that refers to another, and one less."""
    changed = copy.deepcopy(klass)
    group, server, _rule = changed["spec"]["resources"]
    group["base"]["spec"]["tags"] = {"team": "one", "stage": "dev"}
    server["base"]["spec"]["forProvider"]["sku"] = {"tier": "GeneralPurpose", "capacity": 2, "family": "Gen5"}
    server["base"]["spec"]["forProvider"]["zones"] = ["1", "2"]
    server["patches"][2]["transforms"][0]["math"]["multiply"] = 2048
    firewall = {
        "base": {
            "apiVersion": "database.azure.crossplane.io/v1alpha3",
            "kind": "MySQLServerFirewallRule",
            "spec": {
                "forProvider": {"serverNameSelector": {"matchComposite": True}},
                "reclaimPolicy": "Delete",
            },
        }
    }
    changed["spec"]["resources"] = [group, server, firewall]
    return changed


def test_the_review_of_what_is_deployed_says_nothing(deployed: Rig) -> None:
    ran, found = review(deployed, "--preview")
    assert ran.code == 0
    assert resources(found) == engine(deployed) == {}
    assert report(found)["preview"]["differences"] == []
    assert report(found)["preview"]["agreeing"] > 20


def test_each_child_is_reported_as_the_engine_reports_it(deployed: Rig) -> None:
    rig = deployed
    rig.write("components/private/class.yaml", change_class(private_mysql()))
    install_crds(rig.kubeconfig, crds_needed(rig.root))
    rig.write("stacks/dev/claims/two.yaml", claim(rig.name, name="two", storageGB=30))
    rig.remove("stacks/dev/claims/gone.yaml")
    rig.remove("stacks/dev/claims/kept.yaml")
    rig.write("stacks/dev/claims/new.yaml", claim(rig.name, name="new"))
    rig.write("stacks/dev/claims/moves.yaml", claim(rig.name, name="moves", klass="kept"))
    rig.write("stacks/dev/resources/given.yaml", given(rig.name, text="two", password="new", verbs=["get", "list"]))
    rebind(rig, "one", "two", "moves")
    ran, found = review(rig, "--preview")
    assert ran.code == 11, ran.text
    ours, its = resources(found), engine(rig)
    assert {r["op"] for r in ours.values()} == {"created", "updated", "replaced", "deleted", "retained"}
    # A replacement is reported by what replaces.
    assert {u: r["op"] for u, r in ours.items()} == {u: r["op"] for u, r in its.items()}
    updated = [u for u, r in ours.items() if r["op"] == "updated"]
    assert len(updated) > 5
    assert {u: ours[u]["fields"] for u in updated} == {u: its[u]["fields"] for u in updated}
    preview = report(found)["preview"]
    assert preview["differences"] == []
    assert preview["ops"] == {
        op: n for op in ("created", "updated", "replaced", "deleted", "retained")
        if (n := sum(r["op"] == op for r in its.values()))
    }  # fmt: skip
    rules = {w["rule"] for w in report(found)["warnings"]}
    assert rules >= {"binding-moves", "rights-widened"}
    assert PASSWORD not in ran.text


def test_another_api_version_is_another_urn_of_one_object(deployed: Rig) -> None:
    rig = deployed
    klass = private_mysql()
    klass["spec"]["resources"][0]["base"]["apiVersion"] = "azure.crossplane.io/v1beta1"
    # A template under a new name is known to the engine by the old one, and its object keeps its name.
    klass["spec"]["resources"][2] |= {"name": "renamed", "previousName": "my-sql-server-virtual-network-rule"}
    rig.write("components/private/class.yaml", klass)
    install_crds(rig.kubeconfig, crds_needed(rig.root))
    rebind(rig, "one", "two")
    ran, found = review(rig)
    assert ran.code == 11, ran.text
    assert {r["op"] for r in resources(found).values()} == {"created", "deleted"}
    loudest = report(found)["warnings"][0]
    assert (loudest["rule"], loudest["level"]) == ("identity-lost", "danger")
    # The engine would do just that; its program refuses before it comes to it.
    refused, _ = review(rig, "--preview")
    assert refused.code == 1, refused.text
    assert "the engine would create it again, then delete it with the old one" in refused.text


def test_values_that_flow_between_children_are_reported_alike(rig: Rig) -> None:
    """Crossplane: one child is composed from another's status, which is known only after apply."""
    for name in ("components/postgres", "stacks/today"):
        shutil.copytree(ROOT / name, rig.root / name, ignore=shutil.ignore_patterns("__pycache__", "bindings.yaml"))
    rig.prepare("today")
    rig.ok(rig.up("today"))
    commit(rig)
    composition = rig.root / "components" / "postgres" / "composition.yaml"
    text = composition.read_text(encoding="utf-8")
    text = text.replace('version: "11"', 'version: "12"').replace("engine: postgres", "engine: postgresql")
    composition.write_text(text.replace("sslEnforcement: Enabled", "tags: {team: one}"), encoding="utf-8")
    rig.ok(rig.claimsmith("generate"))
    (composite,) = re.findall(r"claim: (XPostgres\S+)", (rig.root / "stacks/today/bindings.yaml").read_text())
    rig.ok(rig.claimsmith("bind", "today", "--rebind", composite))
    ran = rig.claimsmith("review", "--stack", "today", "--output", "json", "--preview")
    found = json.loads(ran.out)
    assert report(found)["preview"]["problems"] == []
    assert report(found)["preview"]["differences"] == []
    ours, its = resources(found), engine(rig, "today")
    assert {u: r["op"] for u, r in ours.items()} == {u: r["op"] for u, r in its.items()}
    assert {r["op"] for r in ours.values()} == {"updated", "replaced"}


def test_where_the_engine_says_something_else_it_says_why(deployed: Rig) -> None:
    rig = deployed
    # Deployed, and not committed; then put back.
    rig.write("stacks/dev/claims/one.yaml", claim(rig.name, name="one", storageGB=50))
    rig.ok(rig.up("dev"))
    rig.write("stacks/dev/claims/one.yaml", claim(rig.name, name="one"))
    ran, found = review(rig, "--preview")
    assert resources(found) == {}
    (difference,) = report(found)["preview"]["differences"]
    assert (difference["ours"], difference["engine"]) == ("same", "updated")
    assert "the deployed resource differs from the base" in difference["why"]
    assert "storageMB" in difference["why"]
    assert ran.code == 10
    # Changed by hand, by somebody whose field it is now: the engine refuses to fight.
    rig.ok(rig.up("dev"))
    name = rig.one(RESOURCE_GROUP, claim="two", namespace=rig.name)["metadata"]["name"]
    group = create_global_resource(*RESOURCE_GROUP, "resourcegroups")
    rig.client.patch(group, name, {"spec": {"location": "Elsewhere"}}, patch_type=PatchType.MERGE)
    rig.ok(rig.pulumi("refresh", "--stack", "dev", "--yes", "--skip-preview"))
    ran, found = review(rig, "--preview")
    assert ran.code == 1
    problems = [p["what"] for p in report(found)["preview"]["problems"]]
    assert any("conflict" in what.lower() and "spec.location" in what for what in problems), problems


def test_what_is_deployed_and_not_in_the_base_is_reported(deployed: Rig) -> None:
    """A change that was deployed before it was merged: the engine has nothing to do, for these reasons."""
    rig = deployed
    rig.write("stacks/dev/claims/one.yaml", claim(rig.name, name="one", storageGB=50))
    rig.write("stacks/dev/claims/early.yaml", claim(rig.name, name="early"))
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    ran, found = review(rig, "--preview")
    preview = report(found)["preview"]
    reasons = {(d["ours"], d["engine"], d["why"].partition(", at")[0]) for d in preview["differences"]}
    assert reasons == {
        ("created", "same", "it is deployed already, though the base does not have it"),
        ("updated", "same", "the deployed resource differs from the base"),
    }
    assert preview["ops"] == {}
    assert ran.code == 10


def test_a_preview_that_fails_is_reported(deployed: Rig) -> None:
    rig = deployed
    rig.write("stacks/Pulumi.dev.yaml", {"config": {"claimsmith:kubeconfig": "nowhere"}})
    ran, found = review(rig, "--preview")
    assert ran.code == 1
    (problem,) = report(found)["preview"]["problems"]
    assert "claimsmith:kubeconfig is neither" in problem["what"]
    assert "nowhere" not in problem["what"], "the setting may be a secret"
