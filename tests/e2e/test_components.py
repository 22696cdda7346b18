"""Generated components on the real engine: none that is stale runs, and each shows the claim that it serves."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import RESOURCE_GROUP, Ran, Rig

pytestmark = pytest.mark.e2e


def refused(rig: Rig) -> list[Ran]:
    """What the engine's commands say, none of which may go through."""
    ran = [rig.pulumi("preview", "--stack", "dev"), rig.up("dev")]
    assert all(r.code != 0 and "run: claimsmith generate" in r.text for r in ran), [r.text for r in ran]
    return ran


def protection(rig: Rig) -> set[bool]:
    """Whether the engine's state says of the claim's resources that they are protected."""
    resources = rig.state("dev")
    return {bool(r.get("protect")) for r in resources if r["type"].startswith("kubernetes:azure")}


def test_a_class_that_protects_is_not_deployed_before_it_is_generated(rig: Rig) -> None:
    rig.namespace(rig.name)
    klass = private_mysql()
    rig.write("components/mysql/class.yaml", klass)
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    assert protection(rig) == {False}

    klass["metadata"]["annotations"] = {"claimsmith.io/protect": "true"}
    rig.write("components/mysql/class.yaml", klass)
    refused(rig)
    assert protection(rig) == {False}

    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.up("dev"))
    assert protection(rig) == {True}

    del klass["metadata"]["annotations"]
    rig.write("components/mysql/class.yaml", klass)
    refused(rig)
    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.up("dev"))
    assert protection(rig) == {False}


def test_a_changed_reference_table_is_not_deployed_before_it_is_generated(rig: Rig) -> None:
    rig.namespace(rig.name)
    klass = private_mysql()
    server = klass["spec"]["resources"][1]["base"]
    server["spec"]["forProvider"]["peerSelector"] = {"matchComposite": True}
    kind = "MySQLServer.database.azure.crossplane.io"
    rule = "MySQLServerVirtualNetworkRule.database.azure.crossplane.io"
    del klass["spec"]["resources"][2]["base"]["spec"]["serverNameSelector"]
    rig.write("components/mysql/class.yaml", klass)
    rig.write("components/references.yaml", {"references": {kind: {"peer": "ResourceGroup.azure.crossplane.io"}}})
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    rig.write("components/references.yaml", {"references": {kind: {"peer": rule}}})
    refused(rig)
    assert rig.live(RESOURCE_GROUP, claim="sql", namespace=rig.name) == []
    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.pulumi("preview", "--stack", "dev"))


# What a component shows


def component(rig: Rig) -> dict[str, Any]:
    """The claim's component as the engine keeps it."""
    (found,) = [r for r in rig.state("dev") if r["type"] == "claimsmith:database.example.org:MySQLInstance"]
    return found


def changes(text: str) -> dict[str, str]:
    """The fields that a detailed preview says would change, with what they were and would be."""
    return dict(re.findall(r"^\s*~ (\w+)\s*: (.+ => .+)$", text, re.MULTILINE))


def test_a_preview_shows_the_claim_and_the_class(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/mysql/class.yaml", private_mysql())
    rig.write("components/other/class.yaml", private_mysql("other"))
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    kind = "CompositeResourceClass.infrastructure.crossplane.io"
    assert component(rig)["inputs"] == {"class": f"{kind}/private-mysql-server", "spec": claim(rig.name)["spec"]}
    before = {r["urn"] for r in rig.state("dev")}

    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name, storageGB=20))
    shown = changes(rig.ok(rig.pulumi("preview", "--stack", "dev", "--diff")).out)
    assert shown["storageGB"] == "10 => 20"

    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name, klass="other"))
    rig.ok(rig.claimsmith("bind", "dev", "--rebind", f"MySQLInstance.database.example.org/{rig.name}/sql"))
    shown = changes(rig.ok(rig.pulumi("preview", "--stack", "dev", "--diff")).out)
    assert shown["class"] == f'"{kind}/private-mysql-server" => "{kind}/other"'
    rig.ok(rig.up("dev"))
    assert {r["urn"] for r in rig.state("dev")} == before


def test_state_without_inputs_is_brought_up_to_date_in_place(rig: Rig) -> None:
    """Components of earlier versions had none."""
    rig.namespace(rig.name)
    rig.write("components/mysql/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    uid = rig.one(RESOURCE_GROUP, claim="sql", namespace=rig.name)["metadata"]["uid"]
    exported = json.loads(rig.ok(rig.pulumi("stack", "export", "--stack", "dev")).out)
    for resource in exported["deployment"]["resources"]:
        resource["inputs"] = {} if resource["type"].startswith("claimsmith:") else resource.get("inputs", {})
    rig.write("exported.json", json.dumps(exported))
    rig.ok(rig.pulumi("stack", "import", "--stack", "dev", "--file", "exported.json"))

    assert rig.steps("dev") == {f"{rig.name}/sql": {"op": "update", "fields": []}}
    rig.ok(rig.up("dev"))
    assert component(rig)["inputs"]["spec"]["storageGB"] == 10
    assert rig.one(RESOURCE_GROUP, claim="sql", namespace=rig.name)["metadata"]["uid"] == uid
    assert rig.steps("dev") == {}
