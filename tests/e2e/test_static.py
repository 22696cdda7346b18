"""Claims for what is there already, and resources that a stack gives as they are, on the live API server."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
import yaml

from tests.e2e.creating_provider import both_ways
from tests.e2e.examples import claim
from tests.e2e.rig import RESOURCE_GROUP, SERVER, Rig, eventually
from tests.support.paths import ROOT

pytestmark = pytest.mark.e2e

AGGREGATE = ("aggregation.crossplane.io", "v1alpha1", "AggregateResource")
COMPOSITE = ("core.crossplane.io", "v1alpha1", "CompositeResource")
CLOUD_SQL = ("database.gcp.crossplane.io", "v1beta1", "CloudSQLInstance")


def instance(name: str, namespace: str = "crossplane-system") -> dict[str, Any]:
    return {
        "apiVersion": "database.gcp.crossplane.io/v1beta1",
        "kind": "CloudSQLInstance",
        "metadata": {"name": name},
        "spec": {
            "forProvider": {"region": "us-west2", "databaseVersion": "MYSQL_5_7"},
            "writeConnectionSecretToRef": {"namespace": namespace, "name": name},
        },
    }


def static_claim(rig: Rig, resource: str, name: str = "sql") -> dict[str, Any]:
    wanted = claim(rig.name, name=name)
    del wanted["spec"]["classRef"]
    reference = {"apiVersion": "database.gcp.crossplane.io/v1beta1", "kind": "CloudSQLInstance", "name": resource}
    wanted["spec"]["resourceRef"] = reference
    return wanted


@pytest.fixture
def platform(rig: Rig) -> Rig:
    rig.namespace(rig.name)
    klass = yaml.safe_load((ROOT / "components" / "cloud-sql" / "class.yaml").read_text())
    rig.write("components/cloud-sql/class.yaml", klass)
    return rig


def test_an_existing_resource_is_read_and_held_but_never_owned(platform: Rig) -> None:
    rig = platform
    rig.write("stacks/dev/claims/sql.yaml", static_claim(rig, f"{rig.name}-db"))
    rig.prepare("dev")
    missing = rig.up("dev")
    assert missing.code != 0
    assert "which does not exist" in missing.text
    assert "stacks/dev/claims/sql.yaml:" in missing.text

    rig.create(CLOUD_SQL, instance(f"{rig.name}-db"))
    eventually(lambda: rig.secret("crossplane-system", f"{rig.name}-db"))
    before = next(o for o in rig.live(CLOUD_SQL) if o["metadata"]["name"] == f"{rig.name}-db")
    rig.ok(rig.up("dev"))
    held = next(o for o in rig.live(CLOUD_SQL) if o["metadata"]["name"] == f"{rig.name}-db")
    assert held["metadata"]["uid"] == before["metadata"]["uid"]
    assert held["spec"]["claimRef"]["name"] == "sql"
    assert rig.secret_values(rig.name, "sql") == rig.secret_values("crossplane-system", f"{rig.name}-db")
    assert rig.steps("dev") == {}

    rig.write("stacks/other/claims/sql.yaml", static_claim(rig, f"{rig.name}-db", "second"))
    rig.prepare("other")
    refused = rig.up("other")
    assert refused.code != 0
    assert "holds" in refused.text

    rig.ok(rig.destroy("dev"))
    left = next(o for o in rig.live(CLOUD_SQL) if o["metadata"]["name"] == f"{rig.name}-db")
    assert left["metadata"]["uid"] == before["metadata"]["uid"]
    assert "claimRef" not in left["spec"]
    assert left["spec"]["forProvider"]["region"] == "us-west2"
    assert rig.secret(rig.name, "sql") is None
    rig.delete(CLOUD_SQL, f"{rig.name}-db")


def test_given_resources_are_deployed_as_written_and_can_be_claimed(platform: Rig) -> None:
    rig = platform
    given = instance(f"{rig.name}-given")
    rig.write("stacks/dev/resources/db.yaml", given)
    rig.write("stacks/dev/claims/sql.yaml", static_claim(rig, f"{rig.name}-given"))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    live = next(o for o in rig.live(CLOUD_SQL) if o["metadata"]["name"] == f"{rig.name}-given")
    assert live["spec"]["forProvider"]["databaseVersion"] == "MYSQL_5_7"
    assert live["spec"]["claimRef"]["name"] == "sql"
    rig.ok(rig.up("dev", "--expect-no-changes"))
    rig.ok(rig.destroy("dev"))
    # What was there before its claim outlives it.
    assert [o for o in rig.live(CLOUD_SQL) if o["metadata"]["name"] == f"{rig.name}-given"]
    rig.delete(CLOUD_SQL, f"{rig.name}-given")


@both_ways
def test_what_somebody_else_created_is_not_given(platform: Rig) -> None:
    rig = platform
    rig.write("stacks/dev/resources/db.yaml", instance(f"{rig.name}-theirs"))
    rig.write("stacks/dev/claims/.keep", "")
    rig.prepare("dev")
    rig.create(CLOUD_SQL, instance(f"{rig.name}-theirs"))
    for ran in (rig.pulumi("preview", "--stack", "dev"), rig.up("dev")):
        assert ran.code != 0
        assert "which already exists and was not created by claimsmith" in ran.text
    rig.ok(rig.destroy("dev"))
    assert [o for o in rig.live(CLOUD_SQL) if o["metadata"]["name"] == f"{rig.name}-theirs"]
    rig.delete(CLOUD_SQL, f"{rig.name}-theirs")


def test_a_composite_of_the_same_stack_can_be_required(rig: Rig) -> None:
    shutil.copytree(ROOT / "components" / "mysql-database", rig.root / "components" / "mysql-database")
    rig.namespace(rig.name)
    api = "acme.example.org/v1alpha1"
    place = {"namespace": "crossplane-system", "name": f"{rig.name}-own"}
    infrastructure = {"writeConnectionSecretToRef": place, "compositionRef": {"name": "mysql-on-gcp"}}
    database = {
        "apiVersion": api,
        "kind": "MySQLDatabase",
        "metadata": {"name": f"{rig.name}-own"},
        "spec": {"region": "us-west", "infrastructure": infrastructure},
    }
    wish = {
        "resourceRef": {"apiVersion": api, "kind": "MySQLDatabase", "name": f"{rig.name}-own"},
        "writeConnectionSecretToRef": {"name": "own"},
    }
    requirement = {
        "apiVersion": api,
        "kind": "MySQLDatabaseRequirement",
        "metadata": {"name": "own", "namespace": rig.name},
        "spec": {"region": "us-west", "infrastructure": wish},
    }
    rig.write("stacks/dev/claims/all.yaml", [requirement, database])
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    assert rig.secret_values(rig.name, "own") == rig.secret_values("crossplane-system", f"{rig.name}-own")
    assert rig.secret_values(rig.name, "own").keys() == {"username", "password", "endpoint"}
    rig.ok(rig.up("dev", "--expect-no-changes"))


def member(rig: Rig, kind: tuple[str, str, str], name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": f"{rig.name}-{name}", "labels": {"of": rig.name}}
    return {"apiVersion": f"{kind[0]}/{kind[1]}", "kind": kind[2], "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("kind", "parent"),
    [pytest.param(AGGREGATE, "aggregateRef", id="aggregate"), pytest.param(COMPOSITE, "compositeRef", id="composite")],
)
def test_a_static_composite_binds_its_members_once_it_is_claimed(
    rig: Rig, kind: tuple[str, str, str], parent: str
) -> None:
    shutil.copytree(
        ROOT / "components" / "private-mysql-aggregate", rig.root / "components" / "private-mysql-aggregate"
    )
    rig.namespace(rig.name)
    selector = {"resourceSelector": {"matchLabels": {"of": rig.name}}}
    whole = member(rig, kind, "whole", {"aggregationRule": selector} if kind is AGGREGATE else selector)
    whole["metadata"]["annotations"] = {"mysqlinstance.database.crossplane.io/v1alpha1": "bindable"}
    reference = {**{k: whole[k] for k in ("apiVersion", "kind")}, "name": whole["metadata"]["name"]}
    wanted = {
        "apiVersion": "database.crossplane.io/v1alpha1",
        "kind": "MySQLInstance",
        "metadata": {"namespace": rig.name, "name": "sql"},
        "spec": {"resourceRef": reference, "writeConnectionSecretToRef": {"name": "sql"}},
    }
    rig.write("stacks/dev/claims/sql.yaml", wanted)
    rig.prepare("dev")
    rig.create(kind, whole)
    rig.create(RESOURCE_GROUP, member(rig, RESOURCE_GROUP, "group", {"location": "West US"}))
    taken = member(rig, RESOURCE_GROUP, "taken", {"location": "West US", parent: {"kind": "Other", "name": "other"}})
    rig.create(RESOURCE_GROUP, taken)
    alone = rig.up("dev")
    assert alone.code != 0
    assert "none of whose members can serve MySQLInstance.database.crossplane.io" in alone.text
    assert "MySQLServer.database.azure.crossplane.io" in alone.text

    place = {"namespace": "crossplane-system", "name": f"{rig.name}-db"}
    server = member(rig, SERVER, "db", {"forProvider": {"version": "5.7"}, "writeConnectionSecretToRef": place})
    server["metadata"]["annotations"] = {"aggregation.crossplane.io/connection-secret-prefix": "db-"}
    rig.create(SERVER, server)
    eventually(lambda: rig.secret("crossplane-system", f"{rig.name}-db"))

    def live() -> dict[str, dict[str, Any]]:
        found = [*rig.live(SERVER), *rig.live(RESOURCE_GROUP), *rig.live(kind)]
        own = {o["metadata"]["name"]: o for o in found if (o["metadata"].get("labels") or {}).get("of") == rig.name}
        return {name.removeprefix(f"{rig.name}-"): o for name, o in own.items()}

    before = live()
    bound = rig.ok(rig.up("dev"))
    assert f"{rig.name}-taken" in bound.text
    assert "belongs to Other other; it is left out" in " ".join(bound.text.split())
    during = live()
    uid = before["whole"]["metadata"]["uid"]
    assert all(during[n]["spec"][parent] == {**reference, "uid": uid} for n in ("db", "group"))
    assert during["taken"]["spec"][parent]["name"] == "other"
    assert during["whole"]["spec"]["claimRef"]["name"] == "sql"
    entries = during["whole"]["status"]["aggregatedResources" if kind is AGGREGATE else "resources"]
    assert {(t["name"].removeprefix(f"{rig.name}-"), t["bindingPhase"]) for t in entries} == {
        ("db", "Bound"),
        ("group", "Bound"),
    }
    assert not any("claimRef" in during[n]["spec"] for n in ("db", "group"))
    source = rig.secret_values("crossplane-system", f"{rig.name}-db")
    assert rig.secret_values(rig.name, "sql") == {f"db-{key}": value for key, value in source.items()}
    rig.ok(rig.up("dev", "--expect-no-changes"))

    rig.ok(rig.destroy("dev"))
    after = live()
    assert {n: o["metadata"]["uid"] for n, o in after.items()} == {n: o["metadata"]["uid"] for n, o in before.items()}
    assert not any(parent in after[n]["spec"] for n in ("db", "group"))
    assert "claimRef" not in after["whole"]["spec"]
    assert not after["whole"].get("status")
    assert rig.secret(rig.name, "sql") is None
    for what, names in ((SERVER, ["db"]), (RESOURCE_GROUP, ["group", "taken"]), (kind, ["whole"])):
        for name in names:
            rig.delete(what, f"{rig.name}-{name}")


def test_a_given_aggregate_binds_members_that_the_stack_gives(rig: Rig) -> None:
    shutil.copytree(
        ROOT / "components" / "private-mysql-aggregate", rig.root / "components" / "private-mysql-aggregate"
    )
    rig.namespace(rig.name)
    selector = {"resourceSelector": {"matchExpressions": [{"key": "of", "operator": "In", "values": [rig.name]}]}}
    whole = member(rig, AGGREGATE, "whole", {"aggregationRule": selector})
    whole["metadata"]["annotations"] = {"mysqlinstance.database.crossplane.io/v1alpha1": "bindable"}
    place = {"namespace": "crossplane-system", "name": f"{rig.name}-db"}
    spec = {"forProvider": {"version": "5.7"}, "reclaimPolicy": "Delete", "writeConnectionSecretToRef": place}
    rig.write("stacks/dev/resources/all.yaml", [whole, member(rig, SERVER, "db", spec)])
    reference = {**{k: whole[k] for k in ("apiVersion", "kind")}, "name": whole["metadata"]["name"]}
    wanted = {
        "apiVersion": "database.crossplane.io/v1alpha1",
        "kind": "MySQLInstance",
        "metadata": {"namespace": rig.name, "name": "sql"},
        "spec": {"resourceRef": reference, "writeConnectionSecretToRef": {"name": "sql"}},
    }
    rig.write("stacks/dev/claims/sql.yaml", wanted)
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    [server] = [o for o in rig.live(SERVER) if o["metadata"]["name"] == f"{rig.name}-db"]
    assert server["spec"]["aggregateRef"]["name"] == f"{rig.name}-whole"
    assert rig.secret_values(rig.name, "sql") == rig.secret_values("crossplane-system", f"{rig.name}-db")
    rig.ok(rig.up("dev", "--expect-no-changes"))
    rig.remove("stacks/dev/claims/sql.yaml")
    rig.write("stacks/dev/claims/.keep", "")
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    [server] = [o for o in rig.live(SERVER) if o["metadata"]["name"] == f"{rig.name}-db"]
    assert "aggregateRef" not in server["spec"]
    assert rig.secret(rig.name, "sql") is None
