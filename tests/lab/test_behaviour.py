"""What the simulated cloud does to an object: references, defaults, status and connection secret."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from claimsmith.lab import behaviour
from claimsmith.lab.behaviour import Target
from claimsmith.lab.kinds import Profile, load_profiles
from tests.support.managed_objects import AZURE, thing

OPEN: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
STRICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "forProvider": {
                    "type": "object",
                    "properties": {"sslEnforcement": {"type": "string", "enum": ["Enabled", "Disabled"]}},
                },
                "tags": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        }
    },
}
NOW = "2026-01-01T00:00:00Z"


def nowhere(_field: str, _ref: Any) -> Target:
    return Target()


def known(*names: str) -> behaviour.Find:
    return lambda _field, ref: Target(f"ext-{ref['name']}" if ref["name"] in names else "", required=True)


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({"groupRef": {"name": "a"}}, {"group": "ext-a"}, id="reference"),
        pytest.param({"groupRef": {"name": "a"}, "group": "mine"}, {"group": "mine"}, id="value-wins"),
        pytest.param(
            {"groupRef": {"name": "a", "policy": {"resolve": "Always"}}, "group": "old"},
            {"group": "ext-a"},
            id="resolve-always",
        ),
        pytest.param({"subnetIdRefs": [{"name": "a"}, {"name": "b"}]}, {"subnetIds": ["ext-a", "ext-b"]}, id="list"),
        pytest.param({"groupRef": {"name": "a", "policy": None}}, {"group": "ext-a"}, id="null-policy"),
        pytest.param({"groupRef": {"name": "gone"}}, {}, id="target-missing"),
        pytest.param({"groupSelector": {"matchLabels": {}}}, {}, id="selector-is-not-ours"),
        *(
            pytest.param({f"{name}Ref": {"name": "a"}}, {}, id=f"leaves-{name}Ref")
            for name in ("provider", "providerConfig", "composite", "claim", "class", "resource", "aggregate")
        ),
        pytest.param({"writeConnectionSecretToRef": {"name": "a"}}, {}, id="leaves-writeConnectionSecretToRef"),
        pytest.param({"passwordSecretRef": {"name": "a", "key": "k"}}, {}, id="leaves-secret-keys"),
    ],
)
def test_references(spec: dict[str, Any], want: dict[str, Any]) -> None:
    seen = thing(reclaimPolicy="Delete", deep=[{"er": spec}])
    made, _, _ = behaviour.desired(seen, Profile(), known("a", "b"), OPEN)
    assert made["spec"] == {"reclaimPolicy": "Delete", "deep": [{"er": {**spec, **want}}]}


def test_required_reference_is_waited_for_an_optional_one_is_not() -> None:
    spec: Any = {"aRef": {"name": "x"}, "bRef": {"name": "y", "policy": {"resolution": "Optional"}}}
    _, missing, unresolved = behaviour.desired(thing(**spec), Profile(), known(), OPEN)
    assert missing == ["a refers to 'x', which does not exist yet"]
    assert unresolved


MYSQL = load_profiles().of(AZURE, "MySQLServer")


@pytest.mark.parametrize(
    ("spec", "schema", "want"),
    [
        pytest.param({}, OPEN, {"deletionPolicy": "Delete"}, id="generic-default"),
        pytest.param({"reclaimPolicy": "Retain"}, OPEN, {"reclaimPolicy": "Retain"}, id="policy-is-kept"),
        pytest.param(
            {"forProvider": {}},
            OPEN,
            {"deletionPolicy": "Delete", "forProvider": {"minimalTlsVersion": "TLSEnforcementDisabled"}},
            id="late-initialises-where-the-field-around-is-given",
        ),
        pytest.param(
            {"forProvider": {"minimalTlsVersion": "TLS1_2"}},
            OPEN,
            {"deletionPolicy": "Delete", "forProvider": {"minimalTlsVersion": "TLS1_2"}},
            id="what-we-set-is-kept",
        ),
        pytest.param(
            {"forProvider": {"sslEnforcement": "Disabled", "minimalTlsVersion": "x"}},
            OPEN,
            {"deletionPolicy": "Delete", "forProvider": {"sslEnforcement": "DISABLED", "minimalTlsVersion": "x"}},
            id="rewrites",
        ),
        pytest.param(
            {"forProvider": {"sslEnforcement": "Disabled"}},
            STRICT,
            {"forProvider": {"sslEnforcement": "Disabled"}},
            id="writes-nothing-that-the-schema-refuses-or-drops",
        ),
    ],
)
def test_late_initialisation_and_rewrites(spec: Any, schema: Any, want: Any) -> None:
    made, _, _ = behaviour.desired(thing(**spec), MYSQL, nowhere, schema)
    assert made["spec"] == want


GROUP = load_profiles().of("ec2.aws.crossplane.io", "SecurityGroup")
RULE_TEXT = "simulated cloud"


@pytest.mark.parametrize(
    ("rules", "want"),
    [
        pytest.param(
            [{"fromPort": 80}, {"fromPort": 443, "description": "ours"}],
            [{"fromPort": 80, "description": RULE_TEXT}, {"fromPort": 443, "description": "ours"}],
            id="in-each-item-that-leaves-it-out",
        ),
        pytest.param([], [], id="empty-list"),
        pytest.param("none", "none", id="no-list"),
        pytest.param(["text"], ["text"], id="no-objects"),
    ],
)
def test_late_initialisation_inside_a_list(rules: Any, want: Any) -> None:
    made, _, _ = behaviour.desired(thing(forProvider={"ingress": rules}), GROUP, nowhere, OPEN)
    assert made["spec"]["forProvider"] == {"ingress": want}
    assert behaviour.desired(made, GROUP, nowhere, OPEN)[0] == made


def test_desired_is_steady_and_leaves_its_input_alone() -> None:
    seen = thing(forProvider={"sslEnforcement": "Disabled", "storageProfile": {}, "groupRef": {"name": "a"}})
    before = copy.deepcopy(seen)
    once, _, _ = behaviour.desired(seen, MYSQL, known("a"), OPEN)
    assert seen == before
    assert behaviour.desired(once, MYSQL, known("a"), OPEN)[0] == once
    assert behaviour.without_finalizer(once)["metadata"]["finalizers"] == []


@pytest.mark.parametrize(
    ("profile", "given", "want"),
    [
        pytest.param(Profile(), None, "db", id="own-name"),
        pytest.param(Profile(), "mine", "mine", id="ours-is-kept"),
        pytest.param(Profile(assigned="vpc-{hash}"), "mine", r"vpc-[0-9a-f]{12}", id="cloud-assigns"),
    ],
)
def test_external_name(profile: Profile, given: str | None, want: str) -> None:
    seen = thing()
    seen["metadata"]["annotations"] = {behaviour.EXTERNAL_NAME: given}
    made, _, _ = behaviour.desired(seen, profile, nowhere, OPEN)
    assert re.fullmatch(want, behaviour.external_name(made))


@pytest.mark.parametrize(
    ("items", "want"),
    [
        pytest.param({"type": "object", "properties": {"b": {"type": "string"}}}, True, id="known"),
        pytest.param({"type": "object", "properties": {}}, False, id="dropped"),
        pytest.param({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, True, id="open"),
    ],
)
def test_allows_inside_a_list(items: Any, want: bool) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": items}}}
    assert behaviour.allows(schema, "a[*].b", "x") is want


@pytest.mark.parametrize(
    ("path", "value", "want"),
    [
        pytest.param("spec.forProvider.sslEnforcement", "Enabled", True, id="in-enum"),
        pytest.param("spec.forProvider.sslEnforcement", "DISABLED", False, id="not-in-enum"),
        pytest.param("spec.forProvider.other", 1, False, id="pruned"),
        pytest.param("spec.tags.any", "x", True, id="map"),
    ],
)
def test_allows(path: str, value: Any, want: bool) -> None:
    assert behaviour.allows(STRICT, path, value) is want


@pytest.mark.parametrize(
    ("annotation", "value", "want"),
    [
        pytest.param(behaviour.NEVER_READY, "true", None, id="never"),
        pytest.param(behaviour.NEVER_READY, "false", 0.3, id="never-false"),
        pytest.param(behaviour.READY_AFTER, "2s", 2.0, id="seconds"),
        pytest.param(behaviour.READY_AFTER, "500ms", 0.5, id="milliseconds"),
        pytest.param(behaviour.READY_AFTER, "soon", 0.3, id="nonsense"),
    ],
)
def test_ready_after(annotation: str, value: str, want: float | None) -> None:
    seen = thing()
    seen["metadata"]["annotations"] = {annotation: value}
    assert behaviour.ready_after(seen, 0.3) == want


def test_status_reflects_the_spec_and_keeps_time_and_strangers() -> None:
    seen = thing(forProvider={"version": "5.6", "storageProfile": {"storageMB": 10}})
    seen["status"] = {"bindingPhase": "Bound", "conditions": [{"type": "Other", "status": "True"}]}
    first = behaviour.status(seen, MYSQL, phase="Available", now=NOW)
    assert first["atProvider"]["storageMB"] == 10
    assert first["bindingPhase"] == "Bound"
    assert [(c["type"], c["status"]) for c in first["conditions"]] == [
        ("Other", "True"),
        ("Ready", "True"),
        ("Synced", "True"),
    ]
    assert all("simulated cloud" in c["message"] for c in first["conditions"][1:])
    seen["status"] = first
    assert behaviour.is_ready(seen)
    assert behaviour.status(seen, MYSQL, phase="Available", now="later") == first
    seen["spec"]["forProvider"]["storageProfile"]["storageMB"] = 20
    again = behaviour.status(seen, MYSQL, phase="Available", now="later")
    assert again["atProvider"]["storageMB"] == 20
    assert again["conditions"] == first["conditions"]


def test_problem_shows_in_synced() -> None:
    status = behaviour.status(thing(), MYSQL, phase="Creating", problem="no network", now=NOW)
    assert [(c["type"], c["status"], c["reason"]) for c in status["conditions"]] == [
        ("Ready", "False", "Creating"),
        ("Synced", "False", "ReconcileError"),
    ]
    assert "atProvider" not in status


CLUSTER = {"endpoint": "https://x", "kubeconfig": "k", "clusterCA": "c"}


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        pytest.param("MySQLServer", {"endpoint", "port", "username", "password"}, id="database"),
        pytest.param("Redis", {"endpoint", "port", "password"}, id="cache"),
        pytest.param("GKECluster", {"endpoint", "kubeconfig", "clusterCA", "username", "password"}, id="cluster"),
        pytest.param("Anything", {"endpoint"}, id="others"),
    ],
)
def test_connection_details(kind: str, want: set[str]) -> None:
    profile = load_profiles().of(AZURE, kind)
    seen = thing(kind, forProvider={"administratorLogin": "me"})
    details = behaviour.connection_details(seen, profile, password="p", cluster=CLUSTER)
    assert set(details) == want
    assert details.get("username", "me") == "me"


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"writeConnectionSecretToRef": {"namespace": "n", "name": "s"}}, ("n", "s"), id="singular"),
        pytest.param({"writeConnectionSecretsToRef": {"namespace": "n", "name": "s"}}, ("n", "s"), id="plural"),
        pytest.param({"writeConnectionSecretToRef": {"name": "s"}}, ("", "s"), id="no-namespace"),
    ],
)
def test_secret_target(spec: Any, want: Any) -> None:
    assert behaviour.secret_target(thing(**spec)) == want


def test_secret_of_another_is_refused() -> None:
    seen = thing()
    own = behaviour.secret(seen, ("n", "s"), {"a": "b"}, None)
    assert behaviour.refusal(seen, own) == ""
    assert "belongs to MySQLServer db" in behaviour.refusal(thing(name="other"), own)
    assert "not a connection secret" in behaviour.refusal(seen, {**own, "type": "Opaque"})
    assert behaviour.secret(seen, ("n", "s"), {"a": "b"}, own) == own


def test_same_kind_of_two_clouds_has_two_profiles() -> None:
    profiles = load_profiles()
    assert profiles.of("network.aws.crossplane.io", "Subnet").assigned
    assert not profiles.of("network.azure.crossplane.io", "Subnet").assigned
