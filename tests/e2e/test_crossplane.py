"""Crossplane compositions on the real engine: one run from a claim to children that read the status of each other."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from lightkube.resources.core_v1 import ConfigMap

from tests.e2e.rig import Rig
from tests.support.paths import ROOT

pytestmark = pytest.mark.e2e

API = "apiextensions.crossplane.io/v1"
NETWORK = ("compute.gcp.crossplane.io", "v1beta1", "Network")
SERVER = ("database.azure.crossplane.io", "v1beta1", "PostgreSQLServer")


def patch(source: str, to: str, **more: Any) -> dict[str, Any]:
    return {"type": "FromCompositeFieldPath", "fromFieldPath": source, "toFieldPath": to, **more}


def to_composite(source: str, to: str) -> dict[str, Any]:
    return {"type": "ToCompositeFieldPath", "fromFieldPath": source, "toFieldPath": to}


def resources(namespace: str) -> list[dict[str, Any]]:
    """A server in a network, listed the other way round, and what an application gets from them."""
    fmt = {"type": "string", "string": {"type": "Format", "fmt": "%s-server"}}
    upper = {"type": "string", "string": {"type": "Convert", "convert": "ToUpper"}}
    host = {"fromFieldPath": "status.address"}
    port = {"fromFieldPath": "spec.port"}
    return [
        {
            "name": "settings",
            "base": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace}, "data": {}},
            "patches": [
                {
                    "type": "CombineFromComposite",
                    "combine": {"variables": [host, port], "strategy": "string", "string": {"fmt": "%s:%d"}},
                    "toFieldPath": "data.url",
                },
                {"type": "FromEnvironmentFieldPath", "fromFieldPath": "network", "toFieldPath": "data.network"},
                patch("metadata.name", "metadata.name"),
            ],
            "readinessChecks": [{"type": "None"}],
        },
        {
            "name": "server",
            "base": {
                "apiVersion": "database.azure.crossplane.io/v1beta1",
                "kind": "PostgreSQLServer",
                "spec": {
                    "forProvider": {"tags": {"team": "platform"}},
                    "writeConnectionSecretToRef": {"namespace": namespace},
                },
            },
            "patches": [
                patch("status.network", "spec.forProvider.tags.network", policy={"fromFieldPath": "Required"}),
                patch("status.zone", "spec.forProvider.tags.zone"),
                patch("spec.tags", "spec.forProvider.tags", policy={"toFieldPath": "MergeObjects"}),
                patch("metadata.uid", "spec.writeConnectionSecretToRef.name", transforms=[fmt]),
                to_composite("status.atProvider.endpoint", "status.address"),
            ],
            "connectionDetails": [
                {"type": "FromConnectionSecretKey", "name": "user", "fromConnectionSecretKey": "username"},
                {"type": "FromConnectionSecretKey", "name": "password", "fromConnectionSecretKey": "password"},
                {"type": "FromFieldPath", "name": "host", "fromFieldPath": "status.atProvider.endpoint"},
                {"type": "FromValue", "name": "driver", "value": "postgres"},
                {"type": "FromValue", "name": "hidden", "value": "not among the definition's keys"},
            ],
        },
        {
            "name": "network",
            "base": {"apiVersion": "compute.gcp.crossplane.io/v1beta1", "kind": "Network", "spec": {"forProvider": {}}},
            "patches": [
                {**to_composite("status.atProvider.id", "status.network"), "transforms": [upper]},
                to_composite("metadata.labels.zone", "status.zone"),
                {"type": "ToEnvironmentFieldPath", "fromFieldPath": "metadata.name", "toFieldPath": "network"},
            ],
            "readinessChecks": [
                {"type": "MatchString", "fieldPath": "status.atProvider.state", "matchString": "available"},
                {"type": "MatchCondition", "matchCondition": {"type": "Synced", "status": "True"}},
            ],
        },
    ]


def platform(rig: Rig) -> list[dict[str, Any]]:
    group = f"{rig.name}.example.org"
    spec = {
        "type": "object",
        "properties": {
            "port": {"type": "integer", "default": 5432},
            "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "referenceable": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }
    definition = {
        "apiVersion": API,
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"xdatabases.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "XDatabase", "plural": "xdatabases"},
            "claimNames": {"kind": "Database", "plural": "databases"},
            "connectionSecretKeys": ["user", "password", "host", "driver"],
            "versions": [version],
        },
    }
    step = {
        "step": "compose",
        "functionRef": {"name": "function-patch-and-transform"},
        "input": {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": resources(rig.name)},
    }
    # What reads the environment comes after what writes it.
    step["input"]["resources"].append(step["input"]["resources"].pop(0))
    composition = {
        "apiVersion": API,
        "kind": "Composition",
        "metadata": {"name": "databases"},
        "spec": {
            "compositeTypeRef": {"apiVersion": f"{group}/v1", "kind": "XDatabase"},
            "writeConnectionSecretsToNamespace": rig.name,
            "mode": "Pipeline",
            "pipeline": [step, {"step": "ready", "functionRef": {"name": "function-auto-ready"}}],
        },
    }
    return [definition, composition]


def claim(rig: Rig, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{rig.name}.example.org/v1",
        "kind": "Database",
        "metadata": {"name": "orders", "namespace": rig.name},
        "spec": {"writeConnectionSecretToRef": {"name": "orders"}, **spec},
    }


def one(rig: Rig, kind: tuple[str, str, str]) -> dict[str, Any]:
    [found] = [o for o in rig.live(kind) if o["metadata"]["labels"].get("crossplane.io/claim-namespace") == rig.name]
    return found


def test_values_flow_from_status_to_status_in_one_run(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/database/composition.yaml", platform(rig))
    rig.write("stacks/dev/claims/orders.yaml", claim(rig, tags={"app": "orders", "team": "mine"}))
    rig.prepare("dev")
    rig.write(
        "stacks/Pulumi.dev.yaml", {"config": {"claimsmith:kubeconfig": str(rig.kubeconfig), "claimsmith:records": True}}
    )
    rig.ok(rig.up("dev"))

    network, server = one(rig, NETWORK), one(rig, SERVER)
    tags = server["spec"]["forProvider"]["tags"]
    assert tags["network"] == network["status"]["atProvider"]["id"].upper()
    assert (tags["app"], tags["team"]) == ("orders", "platform"), "what the base says stands"
    composite = server["metadata"]["labels"]["crossplane.io/composite"]
    settings = rig.client.get(ConfigMap, composite, namespace=rig.name)
    endpoint = server["status"]["atProvider"]["endpoint"]
    assert settings.data == {"url": f"{endpoint}:5432", "network": network["metadata"]["name"]}

    values = rig.secret_values(rig.name, "orders")
    assert sorted(values) == ["driver", "host", "password", "user"]
    assert (values["host"], values["driver"]) == (endpoint, "postgres")
    group = f"{rig.name}.example.org"
    record = rig.one((group, "v1", "XDatabase"))
    own = record["spec"]["writeConnectionSecretToRef"]
    assert rig.secret_values(own["namespace"], own["name"]) == values, "the composite's own Secret"
    assert {r["kind"] for r in record["spec"]["resourceRefs"]} == {"Network", "PostgreSQLServer", "ConfigMap"}
    assert rig.one((group, "v1", "Database"))["spec"]["resourceRef"]["name"] == composite

    assert rig.steps("dev") == {}, "nothing is left to do"
    state = rig.ok(rig.pulumi("stack", "export", "--stack", "dev")).out
    assert values["password"] not in state
    assert all(values["password"] not in text for text in rig.printed)


def test_what_a_child_says_later_is_followed_without_a_refresh(rig: Rig) -> None:
    rig.namespace(rig.name)
    rig.write("components/database/composition.yaml", platform(rig))
    rig.write("stacks/dev/claims/orders.yaml", claim(rig))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    assert "zone" not in one(rig, SERVER)["spec"]["forProvider"]["tags"], "nobody says it yet"
    assert rig.steps("dev") == {}
    rig.patch(NETWORK, one(rig, NETWORK)["metadata"]["name"], {"metadata": {"labels": {"zone": "b"}}})
    [(child, step)] = rig.steps("dev").items()
    assert child.endswith("/server")
    assert step == {"op": "update", "fields": ["spec.forProvider.tags.zone"]}
    rig.ok(rig.up("dev"))
    assert one(rig, SERVER)["spec"]["forProvider"]["tags"]["zone"] == "b"


def test_what_is_required_of_a_status_is_named(rig: Rig) -> None:
    rig.namespace(rig.name)
    documents = platform(rig)
    templates = documents[1]["spec"]["pipeline"][0]["input"]["resources"]
    network = next(r for r in templates if r["name"] == "network")
    # Nothing writes it, and so nothing waits for it: the environment is read as it is.
    network["patches"][0]["toFieldPath"] = "status.other"
    rig.write("components/database/composition.yaml", documents)
    rig.write("stacks/dev/claims/orders.yaml", claim(rig))
    ran = rig.claimsmith("bind", "dev")
    assert ran.code == 1
    assert "the claim has no status.network, which the class requires" in ran.text


def test_the_example_platform(rig: Rig) -> None:
    """The repository's own composition, claimed by its stack `today`."""
    shutil.copytree(ROOT / "components", rig.root / "components", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "stacks" / "today", rig.root / "stacks" / "today")
    (rig.root / "stacks" / "today" / "bindings.yaml").unlink()
    rig.prepare("today")
    rig.ok(rig.up("today"))
    values = rig.secret_values("today", "ledger")
    assert sorted(values) == ["host", "password", "username"]
    settings = rig.client.get(ConfigMap, "ledger", namespace="today").data
    assert settings["url"].startswith(f"postgres://{values['host']}/ledger-")
    assert rig.steps("today") == {}
