"""Generated components on the real engine: none that is stale runs."""

from __future__ import annotations

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
