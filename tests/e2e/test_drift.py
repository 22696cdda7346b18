"""`claimsmith drift` on the real engine and a real API server: what was changed by hand is reported, and left alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lightkube.generic_resource import create_global_resource
from lightkube.types import PatchType

from claimsmith.kubernetes.crds import plural_of
from tests.e2e.rig import RESOURCE_GROUP, SERVER, Rig, eventually

pytestmark = pytest.mark.e2e


def change(rig: Rig, kind: tuple[str, str, str], name: str, what: dict[str, Any]) -> None:
    """Change a live object as somebody else would."""
    group, version, word = kind
    resource = create_global_resource(group, version, word, plural_of(word))
    rig.client.patch(resource, name, what, patch_type=PatchType.MERGE, field_manager="somebody")


def state(rig: Rig) -> Any:
    return json.loads(rig.ok(rig.pulumi("stack", "export", "--stack", "dev")).out)["deployment"]["resources"]


def test_drift(deployed: tuple[Rig, str]) -> None:
    rig, namespace = deployed
    before = state(rig)
    quiet = rig.claimsmith("drift", "dev")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out.startswith("no drift: ")

    group = rig.one(RESOURCE_GROUP, claim="sql", namespace=namespace)
    server = rig.one(SERVER, claim="sql", namespace=namespace)
    change(rig, RESOURCE_GROUP, group["metadata"]["name"], {"spec": {"location": "North Pole", "theirs": "x"}})
    rig.delete(SERVER, server["metadata"]["name"])
    eventually(lambda: not rig.live(SERVER, claim="sql", namespace=namespace))
    rig.set_secret(namespace, "sql", {"password": "by-hand"})

    ran = rig.claimsmith("drift", "dev", "--output", "json")
    assert ran.code == 10
    report = json.loads(ran.out)
    [claim] = report["claims"]
    found = {r["child"]: r for r in claim["resources"]}
    assert claim["claim"].endswith(f"/{namespace}/sql")
    assert {child: r["change"] for child, r in found.items()} == {
        "connection": "changed",
        "my-sql-server": "gone",
        "resource-group": "changed",
    }
    [location] = found["resource-group"]["fields"]
    assert (location["path"], location["new"]) == ("spec.location", "North Pole")
    assert location["old"] == group["spec"]["location"]
    assert location["where"]["file"].startswith("components/")
    [password] = found["connection"]["fields"]
    assert password == {"path": "data.password", "old": "(secret)", "new": "(secret)", "where": password["where"]}

    text = rig.claimsmith("drift", "dev")
    assert text.code == 10
    assert f"resource-group: ResourceGroup {group['metadata']['name']} is changed" in text.out
    assert '→ "North Pole"' in text.out
    assert "by-hand" not in "".join(rig.printed)
    assert state(rig) == before

    # As the command prints it.
    [remedy] = [line.partition(": ")[2] for line in text.out.splitlines() if line.startswith("to restore them: ")]
    setting, program, *words = remedy.split()
    assert program == "pulumi"
    rig.ok(rig.pulumi(*words, "--yes", "--skip-preview", env=dict([setting.split("=")])))
    assert rig.claimsmith("drift", "dev").code == 0


def test_a_stack_that_was_never_deployed(rig: Rig) -> None:
    rig.write("stacks/dev/claims/none.yaml", "")
    ran = rig.claimsmith("drift", "dev")
    assert (ran.code, ran.out) == (1, "")
    assert "fix: " in ran.err
    assert "Traceback" not in ran.err
