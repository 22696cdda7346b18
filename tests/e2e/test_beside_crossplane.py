"""Where a real Crossplane could make something else of the same files: tried on a real API server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lightkube.generic_resource import create_global_resource
from lightkube.types import PatchType

from claimsmith.kubernetes.crds import plural_of
from tests.e2e.rig import Ran, Rig

pytestmark = pytest.mark.e2e

API = "apiextensions.crossplane.io/v1"
CLAIM_LABELS = {"team": "shop", "app.kubernetes.io/name": "shop", "policy.k8s.io/x": "y"}
SECURITY_GROUP = ("ec2.aws.crossplane.io", "v1beta1", "SecurityGroup")
DATABASE = ("database.aws.crossplane.io", "v1beta1", "RDSInstance")
FIELD = "spec.forProvider.ingress"
CLOUD = "simulated-cloud"


def definition(group: str, kind: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": properties}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    version = {"name": "v1", "served": True, "referenceable": True, "schema": schema}
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": API,
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": {"kind": kind, "plural": plural}, "versions": [version], **more},
    }


def composition(group: str, kind: str, *resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": API,
        "kind": "Composition",
        "metadata": {"name": f"{kind.lower()}s"},
        "spec": {
            "compositeTypeRef": {"apiVersion": f"{group}/v1", "kind": kind},
            "resources": list(resources),
            **more,
        },
    }


def patch(source: str, to: str) -> dict[str, Any]:
    return {"type": "FromCompositeFieldPath", "fromFieldPath": source, "toFieldPath": to}


def composite(rig: Rig, kind: str, name: str, **spec: Any) -> dict[str, Any]:
    group = f"{rig.name}.example.org"
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": f"{rig.name}-{name}"}, "spec": spec}


# Composites within composites


def thing(rig: Rig, kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"cloud.{rig.name}.example.org/v1", "kind": kind, "spec": spec}


def nested_platform(rig: Rig) -> list[dict[str, Any]]:
    """A whole of two equal parts, with a name and a field that Crossplane ignores, and a provider's configuration."""
    group = f"{rig.name}.example.org"
    base = {"apiVersion": f"{group}/v1", "kind": "XPart", "metadata": {"name": "fixed"}}
    part = {**base, "spec": {"size": "small", "colour": "red", "disk": {"gb": 1, "speed": "high"}}}
    disk = {"type": "object", "properties": {"gb": {"type": "integer"}}}
    user = thing(rig, "User", forProvider={"gadgetIdSelector": {"matchControllerRef": True}})
    return [
        definition(group, "XWhole", {}, claimNames={"kind": "Whole", "plural": "wholes"}),
        definition(group, "XPart", {"size": {"type": "string"}, "disk": disk}),
        composition(
            group,
            "XWhole",
            {"name": "left", "base": part},
            {"name": "right", "base": part},
            {
                "name": "config",
                "base": thing(rig, "ProviderConfig", source="None"),
                "patches": [patch("metadata.labels", "metadata.labels")],
            },
        ),
        composition(
            group,
            "XPart",
            {"name": "gadget", "base": thing(rig, "Gadget"), "patches": [patch("spec", "spec.all")]},
            {"name": "user", "base": user},
        ),
    ]


def whole(rig: Rig, name: str) -> dict[str, Any]:
    document = composite(rig, "Whole", name)
    return {**document, "metadata": {"name": name, "namespace": rig.name, "labels": CLAIM_LABELS}}


def test_two_claims_of_composites_within_composites(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/whole/composition.yaml", nested_platform(rig))
    rig.write("stacks/dev/claims/wholes.yaml", [whole(rig, "one"), whole(rig, "two")])
    rig.prepare("dev")
    config = {"claimsmith:kubeconfig": str(rig.kubeconfig), "claimsmith:records": True}
    rig.write("stacks/Pulumi.dev.yaml", {"config": config})
    ran = rig.ok(rig.up("dev"))

    group, cloud = f"{rig.name}.example.org", f"cloud.{rig.name}.example.org"
    parts = rig.live((group, "v1", "XPart"))
    assert len(parts) == 4, "a name in a base is ignored: each parent has parts of its own"
    assert rig.steps("dev") == {}

    gadgets, users = rig.live((cloud, "v1", "Gadget")), rig.live((cloud, "v1", "User"))
    resource = create_global_resource(cloud, "v1", "Gadget", "gadgets")
    chosen = []
    for user in users:
        selector = user["spec"]["forProvider"]["gadgetIdSelector"]["matchLabels"]
        [one] = rig.client.list(resource, labels=selector)
        chosen.append(one.metadata.name)
    assert sorted(chosen) == [g["metadata"]["name"] for g in gadgets], "each selects the sibling of its own parent"
    configs = rig.live((cloud, "v1", "ProviderConfig"))
    assert len(configs) == 2, "created, and not waited for"

    [labels] = {tuple(sorted(CLAIM_LABELS.keys() & o["metadata"]["labels"].keys())) for o in configs}
    assert labels == ("team",), "labels of Kubernetes itself are not passed on"

    # What the API server makes of the same composite is what we make of it.
    written = nested_platform(rig)[2]["spec"]["resources"][0]["base"]
    rig.create((group, "v1", "XPart"), {**written, "metadata": {"name": f"{rig.name}-by-hand"}})
    by_hand = next(o for o in rig.live((group, "v1", "XPart")) if o["metadata"]["name"].endswith("-by-hand"))
    rig.delete((group, "v1", "XPart"), by_hand["metadata"]["name"])
    assert [g["spec"]["all"] for g in gadgets] == [by_hand["spec"]] * 4
    assert "XPart has no field spec.colour: it is left out" in ran.text
    assert "XPart has no field spec.disk.speed: it is left out" in ran.text

    shown = rig.ok(rig.claimsmith("status", "dev")).out
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("    ")].count("Gadget") == 4
    claims = json.loads(rig.ok(rig.claimsmith("status", "dev", "--output", "json")).out)["claims"]
    [composite_status] = claims[0]["resources"]
    assert sorted(r["kind"] for r in composite_status["resources"]) == ["ProviderConfig", "XPart", "XPart"]


def test_a_composite_of_two_parents_is_refused_and_nothing_is_written(rig: Rig) -> None:
    rig.namespace(rig.name)
    documents = nested_platform(rig)
    resources = documents[2]["spec"].pop("resources")
    step = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": [resources[0]]}
    pipeline = [{"step": "one", "functionRef": {"name": "function-patch-and-transform"}, "input": step}]
    documents[2]["spec"] |= {"mode": "Pipeline", "pipeline": pipeline}
    rig.write("components/whole/composition.yaml", documents)
    rig.write("stacks/dev/claims/one.yaml", whole(rig, "one"))
    rig.prepare("dev")
    bindings = rig.root / "stacks" / "dev" / "bindings.yaml"
    before = bindings.read_text()
    rig.write("stacks/dev/claims/two.yaml", whole(rig, "two"))
    refused = rig.claimsmith("bind", "dev")
    assert refused.code == 1
    assert f"would both compose XPart.{rig.name}.example.org/fixed" in refused.text
    assert bindings.read_text() == before

    # A record that an earlier version wrote is removed by the command that the error names.
    row = before[before.index("- claim: XPart") : before.index("- claim: XWhole")]
    bindings.write_text(before.replace(row, row * 2))
    rig.remove("stacks/dev/claims/two.yaml")
    broken = rig.claimsmith("bind", "dev")
    command = f"claimsmith bind dev --forget XPart.{rig.name}.example.org/fixed"
    assert (broken.code, command in broken.text) == (1, True)
    rig.ok(rig.claimsmith(*command.split()[1:]))
    assert bindings.read_text() == before
    rig.ok(rig.up("dev"))


# A controller that writes inside a list


def network_platform(rig: Rig, **annotations: str) -> list[dict[str, Any]]:
    group = f"{rig.name}.example.org"
    rules = [{"fromPort": 443, "toPort": 443}]
    base = {
        "apiVersion": "ec2.aws.crossplane.io/v1beta1",
        "kind": "SecurityGroup",
        "metadata": {"annotations": annotations},
        "spec": {"forProvider": {"ingress": rules}},
    }
    template = {"name": "group", "base": base, "patches": [patch("spec.text", "spec.forProvider.description")]}
    return [definition(group, "XNet", {"text": {"type": "string"}}), composition(group, "XNet", template)]


def security_group(rig: Rig) -> dict[str, Any]:
    [found] = [o for o in rig.live(SECURITY_GROUP) if o["metadata"]["name"].startswith(f"{rig.name}-net-")]
    return found


def annotated(rig: Rig, **annotations: str) -> None:
    """Write the class anew with annotations on its template."""
    rig.write("components/net/composition.yaml", network_platform(rig, **annotations))
    rig.ok(rig.claimsmith("generate"))
    rig.ok(rig.claimsmith("bind", "dev", "--rebind-class", "xnets"))


def changed(rig: Rig, text: str, **environment: str) -> Ran:
    rig.write("stacks/dev/claims/net.yaml", composite(rig, "XNet", "net", text=text))
    return rig.pulumi("up", "--stack", "dev", "--yes", "--skip-preview", env=environment)


@pytest.fixture
def network(rig: Rig) -> Rig:
    """A security group into whose rules the simulated cloud has written."""
    rig.write("components/net/composition.yaml", network_platform(rig))
    rig.write("stacks/dev/claims/net.yaml", composite(rig, "XNet", "net", text="one"))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    assert security_group(rig)["spec"]["forProvider"]["ingress"][0]["description"] == "simulated cloud"
    return rig


def test_a_conflict_inside_a_list_names_claim_child_field_manager_and_ways_out(network: Rig) -> None:
    drift = network.claimsmith("drift", "dev", "--output", "json")
    assert drift.code == 10
    [claim] = json.loads(drift.out)["claims"]
    [field] = claim["resources"][0]["fields"]
    assert (field["path"], field["managers"]) == (FIELD, CLOUD)
    assert field["where"]["file"] == "components/net/composition.yaml"
    assert f"(now written by {CLOUD})" in network.claimsmith("drift", "dev").out

    refused = changed(network, "two")
    assert refused.code != 0
    name = security_group(network)["metadata"]["name"]
    group = f"{network.name}.example.org"
    assert (
        f"XNet.{group}/{network.name}-net: its child 'group' (SecurityGroup {name}): {FIELD} was changed by {CLOUD!r}"
    ) in refused.text
    assert f"claimsmith.io/controller-owned: {FIELD}" in refused.text
    assert security_group(network)["spec"]["forProvider"]["description"] == "one"


def test_a_list_is_handed_over_to_its_controller(network: Rig) -> None:
    annotated(network, **{"claimsmith.io/controller-owned": FIELD})
    ran = network.ok(changed(network, "two"))
    assert "was changed by" not in ran.text
    live = security_group(network)["spec"]["forProvider"]
    assert (live["description"], live["ingress"][0]["description"]) == ("two", "simulated cloud")
    assert network.claimsmith("drift", "dev").code == 0
    assert network.settled("dev") == {}


def test_a_list_is_taken_back_once(network: Rig) -> None:
    network.ok(changed(network, "two", PULUMI_K8S_ENABLE_PATCH_FORCE="true"))
    assert security_group(network)["spec"]["forProvider"]["description"] == "two"


def test_a_list_is_taken_back_with_each_change(network: Rig) -> None:
    annotated(network, **{"pulumi.com/patchForce": "true"})
    for text in ("two", "three"):
        network.ok(changed(network, text))
        assert security_group(network)["spec"]["forProvider"]["description"] == text


# A connection detail whose field is absent


def database_platform(rig: Rig) -> list[dict[str, Any]]:
    group = f"{rig.name}.example.org"
    details = [
        {"name": "username", "fromConnectionSecretKey": "username"},
        {"name": "address", "type": "FromFieldPath", "fromFieldPath": "status.atProvider.endpoint.address"},
        {"name": "zone", "type": "FromFieldPath", "fromFieldPath": "status.atProvider.zone"},
    ]
    secret = {"namespace": rig.name, "name": "rds"}
    base = {
        "apiVersion": "database.aws.crossplane.io/v1beta1",
        "kind": "RDSInstance",
        "spec": {"forProvider": {}, "writeConnectionSecretToRef": secret},
    }
    return [
        definition(group, "XBase", {}, claimNames={"kind": "Base", "plural": "bases"}),
        composition(
            group,
            "XBase",
            {"name": "rds", "base": base, "connectionDetails": details},
            writeConnectionSecretsToNamespace=rig.name,
        ),
    ]


def with_zone(rig: Rig, zone: str | None) -> None:
    """Let the database tell a zone, or nothing any more."""
    [found] = [
        o for o in rig.live(DATABASE) if o["metadata"]["labels"].get("crossplane.io/claim-namespace") == rig.name
    ]
    group, version, kind = DATABASE
    resource = create_global_resource(group, version, kind, plural_of(kind))
    status = {"status": {"atProvider": {"zone": zone}}}
    rig.client.patch(resource.Status, found["metadata"]["name"], status, patch_type=PatchType.MERGE)


def claimed(rig: Rig, platform: list[dict[str, Any]]) -> Ran:
    """What the first `up` of a claim says that asks for a Secret."""
    rig.namespace(rig.name)
    rig.write("components/base/composition.yaml", platform)
    claim = {
        "apiVersion": f"{rig.name}.example.org/v1",
        "kind": "Base",
        "metadata": {"name": "orders", "namespace": rig.name},
        "spec": {"writeConnectionSecretToRef": {"name": "orders"}},
    }
    rig.write("stacks/dev/claims/orders.yaml", claim)
    rig.prepare("dev")
    return rig.ok(rig.up("dev"))


def test_a_secret_whose_details_are_all_absent_does_not_drift(rig: Rig) -> None:
    platform = database_platform(rig)
    [rds] = platform[1]["spec"]["resources"]
    rds["connectionDetails"] = [d for d in rds["connectionDetails"] if d["name"] != "username"]
    ran = claimed(rig, platform)
    assert "has no status.atProvider.zone for the detail 'zone'" in ran.text
    assert rig.steps("dev") == {}
    rig.ok(rig.claimsmith("drift", "dev"))
    rig.ok(rig.pulumi("refresh", "--stack", "dev", "--yes", "--skip-preview", "--expect-no-changes"))


def test_a_detail_whose_field_is_absent_is_left_out(rig: Rig) -> None:
    ran = claimed(rig, database_platform(rig))
    assert "'rds' (RDSInstance) has no status.atProvider.endpoint.address for the detail 'address'" in ran.text
    assert sorted(rig.secret_values(rig.name, "orders")) == ["username"]
    assert rig.steps("dev") == {}

    with_zone(rig, "b")
    rig.ok(rig.up("dev"))
    assert rig.secret_values(rig.name, "orders")["zone"] == "b"
    with_zone(rig, None)
    ran = rig.ok(rig.up("dev"))
    assert "has no status.atProvider.zone for the detail 'zone': it stays as it was" in ran.text
    assert rig.secret_values(rig.name, "orders")["zone"] == "b"
