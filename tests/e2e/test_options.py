"""What claims and classes may ask of the engine: protection, adoption, retention of a whole composite, definitions."""

from __future__ import annotations

from typing import Any

import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import Secret

from claimsmith.kubernetes.crds import merge_crds, permissive_crd
from claimsmith.lab import install_crds
from tests.e2e.creating_provider import both_ways
from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import RESOURCE_GROUP, Rig

pytestmark = pytest.mark.e2e


def test_what_is_protected_is_not_deleted(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/mysql/class.yaml", private_mysql())
    wanted = claim(rig.name)
    wanted["metadata"]["annotations"] = {"claimsmith.io/protect": "true"}
    rig.write("stacks/dev/claims/sql.yaml", wanted)
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    before = rig.one(RESOURCE_GROUP, claim="sql", namespace=rig.name)
    rig.remove("stacks/dev/claims/sql.yaml")
    rig.ok(rig.claimsmith("bind", "dev"))
    refused = rig.up("dev")
    assert refused.code != 0
    assert "protected" in refused.text
    assert rig.one(RESOURCE_GROUP, claim="sql", namespace=rig.name)["metadata"]["uid"] == before["metadata"]["uid"]

    del wanted["metadata"]["annotations"]
    rig.write("stacks/dev/claims/sql.yaml", wanted)
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))


@both_ways
@pytest.mark.parametrize("type_", ["connection.crossplane.io/v1alpha1", "Opaque"])
def test_a_secret_is_taken_over_on_request(rig: Rig, type_: str) -> None:
    rig.namespace(rig.name)
    theirs = Secret(metadata=ObjectMeta(name="sql", namespace=rig.name), type=type_)
    rig.client.create(theirs)
    before = rig.secret(rig.name, "sql").metadata.uid
    rig.write("components/mysql/class.yaml", private_mysql())
    wanted = claim(rig.name)
    wanted["metadata"]["annotations"] = {"claimsmith.io/adopt": "true"}
    rig.write("stacks/dev/claims/sql.yaml", wanted)
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    assert rig.secret(rig.name, "sql").metadata.uid == before
    assert "password" in rig.secret_values(rig.name, "sql")
    assert rig.steps("dev") == {}


def test_another_api_version_keeps_the_object(rig: Rig) -> None:
    """Without the annotation the engine would delete what it knows under the old one: the same object."""
    rig.namespace(rig.name)
    klass = private_mysql()
    base = klass["spec"]["resources"][0]["base"]
    newer = "azure.crossplane.io/v1beta1"
    crds = [permissive_crd(v, base["kind"], namespaced=False, managed=True) for v in (base["apiVersion"], newer)]
    install_crds(rig.kubeconfig, merge_crds(crds))
    rig.write("components/mysql/class.yaml", klass)
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    before = rig.one(RESOURCE_GROUP, claim="sql", namespace=rig.name)["metadata"]["uid"]

    older, base["apiVersion"] = base["apiVersion"], newer
    rig.write("components/mysql/class.yaml", klass)
    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.claimsmith("bind", "dev", "--rebind-class", klass["metadata"]["name"]))
    refused = rig.up("dev")
    assert refused.code != 0
    assert "the engine would create it again, then delete it with the old one" in refused.text

    base.setdefault("metadata", {})["annotations"] = {"claimsmith.io/previous-api-version": older}
    rig.write("components/mysql/class.yaml", klass)
    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.claimsmith("bind", "dev", "--rebind-class", klass["metadata"]["name"]))
    assert {step["op"] for step in rig.steps("dev").values()} <= {"update"}
    rig.ok(rig.up("dev"))
    assert rig.one(RESOURCE_GROUP, claim="sql", namespace=rig.name)["metadata"]["uid"] == before
    assert rig.settled("dev") == {}


def place(rig: Rig) -> list[dict[str, Any]]:
    api = "apiextensions.crossplane.io/v1alpha1"
    names = {"kind": "Place", "listKind": "PlaceList", "plural": "places", "singular": "place"}
    template = {"group": f"{rig.name}.example.org", "version": "v1alpha1", "names": names}
    base = {"apiVersion": "azure.crossplane.io/v1alpha3", "kind": "ResourceGroup", "spec": {"reclaimPolicy": "Delete"}}
    source = {"apiVersion": f"{rig.name}.example.org/v1alpha1", "kind": "Place"}
    return [
        {
            "apiVersion": api,
            "kind": "InfrastructureDefinition",
            "metadata": {"name": f"places.{rig.name}.example.org"},
            "spec": {"crdSpecTemplate": template},
        },
        {
            "apiVersion": api,
            "kind": "Composition",
            "metadata": {"name": "place"},
            "spec": {"from": source, "to": [{"base": base}]},
        },
    ]


def test_the_policy_of_a_composite_rules_all_that_it_composes(rig: Rig) -> None:
    rig.write("components/place/definition.yaml", place(rig))
    infrastructure = {"compositionRef": {"name": "place"}, "reclaimPolicy": "Retain"}
    instance = {
        "apiVersion": f"{rig.name}.example.org/v1alpha1",
        "kind": "Place",
        "metadata": {"name": rig.name},
        "spec": {"infrastructure": infrastructure},
    }
    rig.write("stacks/dev/claims/place.yaml", instance)
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    rig.remove("stacks/dev/claims/place.yaml")
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    (kept,) = [o for o in rig.live(RESOURCE_GROUP) if o["metadata"]["name"].startswith(f"{rig.name}-")]
    rig.delete(RESOURCE_GROUP, kept["metadata"]["name"])


@both_ways
def test_definitions_that_a_stack_brings_survive_it(rig: Rig) -> None:
    group = f"{rig.name}.example.org"
    crd = permissive_crd(f"{group}/v1", "Gadget", namespaced=False, managed=False)
    gadget = {"apiVersion": f"{group}/v1", "kind": "Gadget", "metadata": {"name": "one"}, "spec": {"size": 1}}
    rig.write("components/mysql/class.yaml", private_mysql())
    rig.write("stacks/dev/resources/gadgets.yaml", [gadget, crd])
    rig.write("stacks/dev/claims/.keep", "")
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    assert [o["spec"]["size"] for o in rig.live((group, "v1", "Gadget"))] == [1]
    rig.ok(rig.destroy("dev"))
    assert rig.live((group, "v1", "Gadget")) == []
    assert rig.client.get(CustomResourceDefinition, f"gadgets.{group}").metadata.name
    rig.client.delete(CustomResourceDefinition, f"gadgets.{group}")
