"""Loops on the real engine: an element is identified by its key, whatever its place in the list."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.examples import claim
from tests.e2e.rig import RESOURCE_GROUP, Rig

pytestmark = pytest.mark.e2e

CLASS = {
    "apiVersion": "infrastructure.crossplane.io/v1alpha1",
    "kind": "CompositeResourceClass",
    "metadata": {"name": "zones"},
    "spec": {
        "claim": {"apiVersion": "database.example.org/v1alpha1", "kind": "MySQLInstance"},
        "resources": [
            {
                "name": "group",
                "forEach": {"each": "zone", "in": "spec.zones", "key": "name"},
                "when": "!has(zone.off)",
                "base": {
                    "apiVersion": "azure.crossplane.io/v1alpha3",
                    "kind": "ResourceGroup",
                    "spec": {"location": "West US", "providerRef": {"name": "example"}},
                },
                "patches": [{"fromClaimFieldPath": "zone.place", "toResourceFieldPath": "spec.location"}],
            }
        ],
    },
}


def asking(namespace: str, *zones: dict[str, Any]) -> dict[str, Any]:
    wanted = claim(namespace, klass="zones")
    wanted["spec"] = {"classRef": wanted["spec"]["classRef"], "zones": list(zones)}
    return wanted


def places(rig: Rig) -> dict[str, str]:
    """The uids of the live objects, by their locations."""
    found = rig.live(RESOURCE_GROUP, claim="sql", namespace=rig.name)
    return {o["spec"]["location"]: o["metadata"]["uid"] for o in found}


def test_an_element_added_in_the_middle_and_one_removed_change_only_themselves(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/zones/class.yaml", CLASS)
    first, last = {"name": "a", "place": "Place A"}, {"name": "c", "place": "Place C"}
    rig.write("stacks/dev/claims/sql.yaml", asking(rig.name, first, last))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    before = places(rig)
    assert set(before) == {"Place A", "Place C"}

    added, skipped = {"name": "b", "place": "Place B"}, {"name": "d", "place": "Place D", "off": True}
    rig.write("stacks/dev/claims/sql.yaml", asking(rig.name, added, last, skipped))
    steps = {urn.rpartition("/")[2]: step for urn, step in rig.steps("dev").items()}
    assert steps.get("group-c", {"op": "same"})["op"] == "same"
    rig.ok(rig.up("dev"))
    after = places(rig)
    assert set(after) == {"Place B", "Place C"}
    assert after["Place C"] == before["Place C"]
    rig.ok(rig.up("dev", "--expect-no-changes"))
