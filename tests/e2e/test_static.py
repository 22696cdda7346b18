"""Claims for what is there already, and resources that a stack gives as they are, on the live API server."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.e2e.examples import claim
from tests.e2e.rig import Rig, eventually

pytestmark = pytest.mark.e2e

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
    assert "which is not there" in missing.text
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


def test_what_somebody_else_made_is_not_given(platform: Rig) -> None:
    rig = platform
    rig.write("stacks/dev/resources/db.yaml", instance(f"{rig.name}-theirs"))
    rig.write("stacks/dev/claims/.keep", "")
    rig.prepare("dev")
    rig.create(CLOUD_SQL, instance(f"{rig.name}-theirs"))
    for ran in (rig.pulumi("preview", "--stack", "dev"), rig.up("dev")):
        assert ran.code != 0
        assert "which is there already and was not made by claimsmith" in ran.text
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
