"""What one claim promises, on the real engine and the live API server."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest

from tests.e2e.creating_provider import both_ways
from tests.e2e.examples import claim, private_mysql, with_reclaim_policy
from tests.e2e.rig import RESOURCE_GROUP, RULE, SERVER, Rig

pytestmark = pytest.mark.e2e

KEYS = {"endpoint", "password", "port", "username"}


def kept(rig: Rig, namespace: str) -> dict[str, str]:
    """The live uids of the claim's children."""
    kinds = (RESOURCE_GROUP, SERVER, RULE)
    return {o["kind"]: o["metadata"]["uid"] for kind in kinds for o in rig.live(kind, claim="sql", namespace=namespace)}


@both_ways
def test_three_children_and_a_secret(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    group = rig.one(RESOURCE_GROUP, claim="sql", namespace=namespace)
    server = rig.one(SERVER, claim="sql", namespace=namespace)
    rule = rig.one(RULE, claim="sql", namespace=namespace)
    uid = group["metadata"]["labels"]["resourceclaim.crossplane.io/uid"]

    for child in (group, server, rule):
        assert child["metadata"]["name"].startswith(f"{namespace}-sql-")
        assert child["metadata"]["labels"] == {
            "resourceclaim.crossplane.io/namespace": namespace,
            "resourceclaim.crossplane.io/name": "sql",
            "resourceclaim.crossplane.io/uid": uid,
        }
        assert child["metadata"]["annotations"]["claimsmith.io/owner"] == f"{rig.name}/dev/{uid}"
    composites = {json.dumps(child["spec"]["compositeRef"], sort_keys=True) for child in (group, server, rule)}
    assert len(composites) == 1
    assert len({child["metadata"]["name"] for child in (group, server, rule)}) == 3

    assert group["spec"]["location"] == "West US"
    assert server["spec"]["forProvider"]["storageProfile"]["storageMB"] == 10240
    assert server["spec"]["forProvider"]["version"] == "5.7"
    assert server["spec"]["forProvider"]["resourceGroupNameRef"] == {"name": group["metadata"]["name"]}
    assert rule["spec"]["serverNameRef"] == {"name": server["metadata"]["name"]}
    assert rule["spec"]["resourceGroupNameRef"] == {"name": group["metadata"]["name"]}
    assert "serverNameSelector" not in rule["spec"]

    assert rig.secret_values(namespace, "sql") == rig.secret_values("crossplane-system", uid)
    assert rig.secret_values(namespace, "sql").keys() == KEYS


@both_ways
def test_no_drift_after_the_controllers_have_done_their_work(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    server = rig.one(SERVER, claim="sql", namespace=namespace)
    # What controllers do did happen: late initialisation, a resolved reference, a finalizer, a rewritten field.
    assert server["spec"]["forProvider"]["sslEnforcement"] == "DISABLED"
    assert server["spec"]["forProvider"]["resourceGroupName"]
    assert server["metadata"]["finalizers"]
    assert server["metadata"]["annotations"]["crossplane.io/external-name"]

    assert rig.steps("dev") == {}
    assert "7 unchanged" in rig.ok(rig.up("dev", "--expect-no-changes")).text
    rig.ok(rig.pulumi("refresh", "--stack", "dev", "--yes", "--skip-preview", "--expect-no-changes"))
    rig.ok(rig.pulumi("preview", "--stack", "dev", "--expect-no-changes"))
    assert rig.steps("dev") == {}


def test_changed_claim_changes_exactly_the_patched_fields(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    before = kept(rig, namespace)
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace, storageGB=20))
    assert rig.steps("dev") == {
        f"{namespace}/sql": {"op": "update", "fields": []},
        f"{namespace}/sql/my-sql-server": {"op": "update", "fields": ["spec.forProvider.storageProfile.storageMB"]},
    }
    rig.ok(rig.up("dev"))
    server = rig.one(SERVER, claim="sql", namespace=namespace)
    assert server["spec"]["forProvider"]["storageProfile"]["storageMB"] == 20480
    assert kept(rig, namespace) == before


def test_removed_claim_takes_everything_with_it(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    rig.remove("stacks/dev/claims/sql.yaml")
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    assert kept(rig, namespace) == {}
    assert rig.secret(namespace, "sql") is None


def test_destroy_leaves_nothing(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    rig.ok(rig.destroy("dev"))
    assert kept(rig, namespace) == {}
    assert rig.secret(namespace, "sql") is None


@both_ways
def test_retained_resources_survive_and_are_adopted_with_a_changed_field(rig: Rig) -> None:
    namespace = rig.name
    rig.namespace(namespace)
    rig.write("components/mysql/class.yaml", with_reclaim_policy(private_mysql(), "Retain"))
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    before = kept(rig, namespace)

    rig.remove("stacks/dev/claims/sql.yaml")
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    assert kept(rig, namespace) == before
    assert rig.secret(namespace, "sql") is None

    rig.write("stacks/dev/claims/sql.yaml", claim(namespace, storageGB=40))
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    assert kept(rig, namespace) == before
    assert (
        rig.one(SERVER, claim="sql", namespace=namespace)["spec"]["forProvider"]["storageProfile"]["storageMB"] == 40960
    )
    assert rig.secret_values(namespace, "sql").keys() == KEYS


def test_rebinding_keeps_the_live_objects(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    before = kept(rig, namespace)
    other = private_mysql("other-mysql-server")
    other["spec"]["resources"][1]["base"]["spec"]["forProvider"]["sku"]["capacity"] = 4
    rig.write("components/other-mysql-server/class.yaml", other)
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace, klass="other-mysql-server"))
    rig.ok(rig.claimsmith("generate"))

    refused = rig.pulumi("preview", "--stack", "dev")
    assert refused.code != 0
    assert "its classRef now names" in refused.text

    rig.ok(rig.claimsmith("bind", "dev", "--rebind", f"MySQLInstance.database.example.org/{namespace}/sql"))
    assert rig.steps("dev")[f"{namespace}/sql/my-sql-server"] == {
        "op": "update",
        "fields": ["spec.forProvider.sku.capacity"],
    }
    rig.ok(rig.up("dev"))
    assert kept(rig, namespace) == before
    assert rig.one(SERVER, claim="sql", namespace=namespace)["spec"]["forProvider"]["sku"]["capacity"] == 4


def test_a_dropped_template_takes_only_its_child(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    before = kept(rig, namespace)
    smaller = private_mysql("smaller")
    del smaller["spec"]["resources"][2]
    rig.write("components/smaller/class.yaml", smaller)
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace, klass="smaller"))
    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.claimsmith("bind", "dev", "--rebind", f"MySQLInstance.database.example.org/{namespace}/sql"))
    rig.ok(rig.up("dev"))
    after = kept(rig, namespace)
    assert before.pop("MySQLServerVirtualNetworkRule")
    assert after == before


def test_rotated_password_updates_the_secret_in_place(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    before = rig.secret(namespace, "sql")
    source = rig.one(SERVER, claim="sql", namespace=namespace)["spec"]["writeConnectionSecretToRef"]
    rig.set_secret(source["namespace"], source["name"], {"password": "rotated-and-new"})
    assert rig.steps("dev")[f"{namespace}/sql/connection"]["op"] == "update"
    rig.ok(rig.up("dev"))
    after = rig.secret(namespace, "sql")
    assert rig.secret_values(namespace, "sql")["password"] == "rotated-and-new"
    assert after.metadata.uid == before.metadata.uid


def test_missing_source_secret_is_named_and_harms_nothing(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    other = claim(namespace, name="other")
    rig.write("stacks/dev/claims/other.yaml", other)
    rig.ok(rig.claimsmith("bind", "dev"))
    before = rig.secret_values(namespace, "sql")
    source = rig.one(SERVER, claim="sql", namespace=namespace)["spec"]["writeConnectionSecretToRef"]
    rig.delete_secret(source["namespace"], source["name"])

    ran = rig.up("dev")
    assert ran.code != 0
    assert f"MySQLInstance.database.example.org/{namespace}/sql" in ran.text
    assert "'my-sql-server' (MySQLServer)" in ran.text
    assert f"{source['namespace']}/{source['name']}" in ran.text
    assert "Traceback" not in ran.text
    assert rig.secret_values(namespace, "sql") == before
    assert rig.secret_values(namespace, "other").keys() == KEYS
    assert len(json.loads(rig.ok(rig.claimsmith("status", "dev", "--output", "json")).out)["claims"]) == 2

    rig.ok(rig.pulumi("refresh", "--stack", "dev", "--yes", "--skip-preview"))
    rig.ok(rig.destroy("dev"))
    assert kept(rig, namespace) == {}


def test_source_secret_that_never_came_makes_no_secret(rig: Rig) -> None:
    namespace = rig.name
    rig.namespace(namespace)
    silent = private_mysql()
    annotations = silent["spec"]["resources"][1]["base"]["metadata"]["annotations"]
    annotations["simulated-cloud.claimsmith.io/no-secret"] = "true"
    rig.write("components/silent/class.yaml", silent)
    rig.write("components/good/class.yaml", private_mysql("good"))
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace))
    rig.write("stacks/dev/claims/well.yaml", claim(namespace, name="well", klass="good"))
    rig.prepare("dev")
    ran = rig.up("dev", "--continue-on-error")
    assert ran.code != 0
    assert "is missing" in ran.text
    assert "Traceback" not in ran.text
    assert rig.secret(namespace, "sql") is None
    assert len(kept(rig, namespace)) == 3
    assert rig.secret_values(namespace, "well").keys() == KEYS


@both_ways
def test_a_secret_of_somebody_else_is_refused(rig: Rig) -> None:
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import Secret

    namespace = rig.name
    rig.namespace(namespace)
    theirs = Secret(metadata=ObjectMeta(name="sql", namespace=namespace), stringData={"mine": "do not touch"})
    rig.client.create(theirs)
    before = rig.secret(namespace, "sql").metadata.resourceVersion
    rig.write("components/mysql/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace))
    rig.prepare("dev")
    for ran in (rig.pulumi("preview", "--stack", "dev"), rig.up("dev")):
        assert ran.code != 0
        assert "which already exists and was not created by claimsmith" in ran.text
        assert "stacks/dev/claims/sql.yaml:" in ran.text
    assert rig.secret(namespace, "sql").metadata.resourceVersion == before
    assert kept(rig, namespace) == {}


def test_the_same_claim_in_two_stacks_is_refused(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    before = (kept(rig, namespace), rig.secret(namespace, "sql").metadata.resourceVersion)
    rig.write("stacks/test/claims/sql.yaml", claim(namespace))
    rig.prepare("test")
    ran = rig.up("test")
    assert ran.code != 0
    assert f"belongs to {rig.name}/dev/" in ran.text
    assert (kept(rig, namespace), rig.secret(namespace, "sql").metadata.resourceVersion) == before


def test_two_stacks_serve_one_claim_by_different_classes(new_rig: Callable[..., Rig]) -> None:
    rig = new_rig()
    for stack in ("dev", "prod"):
        rig.namespace(f"{rig.name}-{stack}")
    large = copy.deepcopy(private_mysql("large"))
    large["spec"]["resources"][1]["base"]["spec"]["forProvider"]["sku"]["tier"] = "GeneralPurpose"
    rig.write("components/small/class.yaml", private_mysql("small"))
    rig.write("components/large/class.yaml", large)
    rig.write("stacks/dev/claims/sql.yaml", claim(f"{rig.name}-dev", klass="small"))
    rig.write("stacks/prod/claims/sql.yaml", claim(f"{rig.name}-prod", klass="large"))
    rig.prepare("dev", "prod")
    rig.ok(rig.up("dev"))
    rig.ok(rig.up("prod"))
    tiers = {
        stack: rig.one(SERVER, claim="sql", namespace=f"{rig.name}-{stack}")["spec"]["forProvider"]["sku"]["tier"]
        for stack in ("dev", "prod")
    }
    assert tiers == {"dev": "Basic", "prod": "GeneralPurpose"}


def test_status_shows_claims_and_keys_but_no_values(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    (shown,) = json.loads(rig.ok(rig.claimsmith("status", "dev", "--output", "json")).out)["claims"]
    assert shown["claim"] == f"MySQLInstance.database.example.org/{namespace}/sql"
    assert shown["phase"] == "Bound"
    assert [r["kind"] for r in shown["resources"]] == ["ResourceGroup", "MySQLServer", "MySQLServerVirtualNetworkRule"]
    assert set(shown["connectionSecret"]["keys"]) == KEYS
    table = rig.ok(rig.claimsmith("status", "dev")).out
    assert all(word in table for word in ("private-mysql-server", "Bound", "endpoint, password, port, username"))


@both_ways
def test_a_composite_is_released_and_taken_up_again(rig: Rig) -> None:
    composites = ("core.crossplane.io", "v1alpha1", "CompositeResource")
    namespace = rig.name
    rig.namespace(namespace)
    rig.write("components/mysql/class.yaml", with_reclaim_policy(private_mysql(), "Retain"))
    rig.write("stacks/dev/claims/sql.yaml", claim(namespace))
    rig.prepare("dev")
    settings = {"claimsmith:kubeconfig": str(rig.kubeconfig), "claimsmith:records": "true"}
    rig.write("stacks/Pulumi.dev.yaml", {"config": settings})
    rig.ok(rig.up("dev"))
    before = rig.one(composites, claim="sql", namespace=namespace)
    assert before["status"]["bindingPhase"] == "Bound"

    rig.remove("stacks/dev/claims/sql.yaml")
    assert "released" in rig.ok(rig.claimsmith("bind", "dev")).out
    rig.ok(rig.up("dev"))
    left = rig.one(composites, claim="sql", namespace=namespace)
    assert (left["metadata"]["uid"], left["status"]["bindingPhase"]) == (before["metadata"]["uid"], "Released")
    assert "claimRef" not in left["spec"]
    rig.ok(rig.up("dev", "--expect-no-changes"))

    rig.write("stacks/dev/claims/sql.yaml", claim(namespace))
    assert "taken up again" in rig.ok(rig.claimsmith("bind", "dev")).out
    rig.ok(rig.up("dev"))
    again = rig.one(composites, claim="sql", namespace=namespace)
    assert (again["metadata"]["uid"], again["status"]["bindingPhase"]) == (before["metadata"]["uid"], "Bound")


def test_a_wiped_or_other_cluster_is_noticed(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    before = kept(rig, namespace)
    path = rig.root / ".claimsmith" / "clusters.json"
    known = json.loads(path.read_text())
    path.write_text(json.dumps({"dev": "the-one-before"}))
    for ran in (rig.pulumi("preview", "--stack", "dev"), rig.up("dev")):
        assert ran.code != 0
        assert "was deployed to the cluster the-one-before" in ran.text
    assert kept(rig, namespace) == before
    path.write_text(json.dumps(known))
    rig.ok(rig.up("dev", "--expect-no-changes"))


def test_a_field_that_nothing_reads_is_a_warning_or_refused(rig: Rig) -> None:
    """The README's claim with a slip in it: the preview names the field that was meant."""
    rig.namespace(rig.name)
    rig.write("components/private-mysql-server/class.yaml", private_mysql())
    misspelt = claim(rig.name)
    misspelt["spec"]["storageGb"] = misspelt["spec"].pop("storageGB")
    rig.write("stacks/dev/claims/sql.yaml", misspelt)
    rig.prepare("dev")
    previewed = rig.ok(rig.pulumi("preview", "--stack", "dev"))
    assert "no class reads spec.storageGb" in previewed.text
    assert "did you mean 'storageGB'?" in previewed.text

    rig.ok(rig.pulumi("config", "set", "claimsmith:strict", "true", "--stack", "dev"))
    refused = rig.pulumi("preview", "--stack", "dev")
    assert refused.code != 0
    assert "did you mean 'storageGB'?" in refused.text
    assert "Traceback" not in refused.text
