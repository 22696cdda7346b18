"""Claims for databases that exist: the real engine reads them from a real PostgreSQL server, and never owns them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.databases import GROUP, KIND, STACK, DatabaseRig, database_class, psql, template

pytestmark = pytest.mark.e2e

TYPE = "postgresql:index/database:Database"


@pytest.fixture
def existing(database_rig: DatabaseRig) -> tuple[DatabaseRig, str]:
    """A platform, and a database that nothing of it created."""
    rig = database_rig
    name = rig.named("legacy")
    rig.admin(f'CREATE DATABASE "{name}" CONNECTION LIMIT 7')
    rig.admin("CREATE TABLE items (id int); INSERT INTO items VALUES (42)", database=name)
    rig.write("components/postgresql/class.yaml", database_class())
    return rig, name


def reference(name: str, type_: str = "postgresql:Database") -> dict[str, Any]:
    return {"resourceRef": {"type": type_, "id": name}}


def facts(rig: DatabaseRig, name: str) -> str:
    """What an update or a new creation of a database would change."""
    return rig.admin(f"SELECT oid, datdba, datconnlimit FROM pg_database WHERE datname = '{name}'")


def steps_of(rig: DatabaseRig, name: str) -> list[str]:
    """What a preview would do with a resource."""
    ran = rig.ok(rig.pulumi("preview", "--stack", STACK, "--json"))
    return [s["op"] for s in json.loads(ran.out)["steps"] if s["urn"].endswith(f"::{name}")]


@pytest.mark.parametrize("type_", ["postgresql:Database", TYPE], ids=["short", "full"])
def test_an_existing_database_is_read_and_never_owned(existing: tuple[DatabaseRig, str], type_: str) -> None:
    rig, name = existing
    before = facts(rig, name)
    claim = rig.named("orders")
    rig.claim(claim, **reference(name, type_))
    rig.prepare()
    assert steps_of(rig, f"default-{claim}-database") == ["read"]
    rig.ok(rig.up(STACK))

    details = json.loads(rig.connection(claim, "json"))
    assert details["database"] == name
    assert {"username", "password"}.isdisjoint(details), "no resource of the claim has them"
    address = f"postgresql://{rig.server.user}@{details['host']}:{details['port']}/{details['database']}"  # type: ignore[union-attr]
    assert rig.ok(psql(address, "SELECT id FROM items", password=rig.password)).out == "42\n"

    assert f"default-{claim}-database" in rig.ok(rig.claimsmith("status", STACK)).out
    [state] = [r for r in rig.state(STACK) if r["urn"].endswith(f"::default-{claim}-database")]
    assert (state["id"], state["external"]) == (name, True)
    rig.ok(rig.up(STACK, "--expect-no-changes"))
    rig.claim(claim, connections=99, **reference(name, type_))
    rig.ok(rig.up(STACK))
    assert facts(rig, name) == before

    rig.unclaim(claim)
    rig.ok(rig.up(STACK))
    assert facts(rig, name) == before
    assert not [r for r in rig.state(STACK) if "$" in r["urn"]]


def test_an_id_that_does_not_exist_is_reported_with_its_claim(existing: tuple[DatabaseRig, str]) -> None:
    rig, name = existing
    claim, other = rig.named("orders"), rig.named("others")
    rig.claim(claim, **reference(name))
    rig.claim(other, **reference("no-such-database"))
    rig.prepare()
    refused = rig.up(STACK)
    assert refused.code != 0
    message = f"(default-{other}-database):\n    error: resource 'no-such-database' does not exist"
    assert message in refused.text
    assert "Traceback" not in refused.text

    ran = rig.up(STACK, "--continue-on-error")
    assert ran.code != 0
    assert message in ran.text
    assert f"{KIND}.{GROUP}/default/{other}: its child 'database' ({TYPE} default-{other}-database)" in ran.text
    assert "could not be read" in ran.text
    # Nothing is published of it, and the other claim is served.
    assert json.loads(rig.connection(claim, "json"))["database"] == name
    assert rig.claimsmith("connection", STACK, f"default/{other}").code != 0


def test_destroying_the_stack_leaves_it(existing: tuple[DatabaseRig, str]) -> None:
    rig, name = existing
    before = facts(rig, name)
    rig.claim(rig.named("orders"), **reference(name))
    rig.prepare()
    rig.ok(rig.up(STACK))
    rig.ok(rig.pulumi("destroy", "--stack", STACK, "--yes", "--skip-preview"))
    assert facts(rig, name) == before


def test_what_a_claim_created_goes_only_if_its_new_claim_reads_another(existing: tuple[DatabaseRig, str]) -> None:
    rig, name = existing
    before = facts(rig, name)
    claim = rig.named("orders")
    klass = database_class()
    klass["spec"]["resources"] = [template(klass, "database")]
    database = template(klass, "database")
    database["base"]["properties"].pop("owner", None)
    database["connectionDetails"] = [{"name": "database", "fromFieldPath": "outputs.name"}]
    rig.write("components/postgresql/class.yaml", klass)
    rig.claim(claim)
    rig.prepare()
    rig.ok(rig.up(STACK))
    created = rig.oid(claim)

    rig.claim(claim, **reference(claim))
    assert "resources of its own" in rig.up(STACK).text
    rig.ok(rig.claimsmith("bind", STACK, "--rebind", f"{KIND}.{GROUP}/default/{claim}"))
    rig.ok(rig.up(STACK))
    assert rig.oid(claim) == created, "it has the id that is read now"

    rig.claim(claim, **reference(name))
    rig.ok(rig.claimsmith("bind", STACK, "--rebind", f"{KIND}.{GROUP}/default/{claim}"))
    rig.ok(rig.up(STACK))
    assert (rig.oid(claim), facts(rig, name)) == (created, before)
