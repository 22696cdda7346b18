"""The example platform of all documents: the showcase stack, deployed whole, on the live API server."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
import yaml

from tests.e2e.rig import RESOURCE_GROUP, RULE, SERVER, Rig
from tests.support.paths import ROOT

pytestmark = pytest.mark.e2e

REDIS = ("cache.gcp.crossplane.io", "v1alpha2", "CloudMemorystoreInstance")
CLOUD_SQL = ("database.gcp.crossplane.io", "v1beta1", "CloudSQLInstance")
CLUSTER = ("container.gcp.crossplane.io", "v1beta1", "GKECluster")
NODE_POOL = ("container.gcp.crossplane.io", "v1alpha3", "NodePool")
GROUP_MANAGER = ("compute.gcp.example.org", "v1alpha1", "InstanceGroupManager")
AUTOSCALER = ("compute.gcp.example.org", "v1alpha1", "Autoscaler")
COMPOSITE = ("core.crossplane.io", "v1alpha1", "CompositeResource")
AGGREGATE = ("aggregation.crossplane.io", "v1alpha1", "AggregateResource")
DATABASE = ("acme.example.org", "v1alpha1", "MySQLDatabase")
EXTERNAL = "crossplane.io/external-name"


@pytest.fixture
def showcase(rig: Rig) -> Rig:
    """The repository's own platform and its showcase stack."""
    shutil.copytree(ROOT / "components", rig.root / "components", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "stacks" / "showcase", rig.root / "stacks" / "showcase")
    (rig.root / "stacks" / "showcase" / "bindings.yaml").unlink()
    # The tests' cluster has one of the subnets already.
    network = rig.root / "stacks" / "showcase" / "resources" / "network.yaml"
    given = [d for d in yaml.safe_load_all(network.read_text()) if d["metadata"]["name"] != "sample-subnet"]
    network.write_text(yaml.safe_dump_all(given))
    rig.prepare("showcase")
    settings = {"config": {"claimsmith:kubeconfig": str(rig.kubeconfig), "claimsmith:records": "true"}}
    rig.write("stacks/Pulumi.showcase.yaml", settings)
    rig.ok(rig.up("showcase"))
    return rig


def named(objects: list[dict[str, Any]], prefix: str) -> dict[str, Any]:
    (found,) = [o for o in objects if o["metadata"]["name"].startswith(prefix)]
    return found


def test_the_documents_end_to_end(showcase: Rig) -> None:
    rig = showcase

    # 000: the heaviest class that matches, in whichever cloud; a default; the claim fills what a class leaves open
    assert rig.one(REDIS, claim="my-cache", namespace="showcase")["spec"]["classRef"]["name"] == "gcp-dev"
    default = rig.one(REDIS, claim="any-cache", namespace="showcase")
    assert (default["spec"]["classRef"]["name"], default["spec"]["redisVersion"]) == ("gcp-default", "REDIS_3_2")
    assert default["spec"]["claimRef"]["name"] == "any-cache"

    # 001: one resource, several resources, three node pools that join one cluster
    simple = rig.one(CLOUD_SQL, claim="simple", namespace="showcase")
    assert simple["metadata"]["annotations"][EXTERNAL] == "simple-database"
    assert simple["spec"]["forProvider"]["databaseVersion"] == "MYSQL_5_7"
    private = rig.one(RESOURCE_GROUP, claim="private", namespace="showcase")
    assert private["spec"]["location"] == "East US"
    cluster = rig.one(CLUSTER, claim="cluster", namespace="showcase")
    pools = rig.live(NODE_POOL, claim="cluster", namespace="showcase")
    assert [p["spec"]["forProvider"]["clusterRef"]["name"] for p in pools] == [cluster["metadata"]["name"]] * 3

    # 002: published infrastructure, infrastructure authored directly, an application of both
    required = named(rig.live(CLOUD_SQL), "showcase-required-")
    assert required["spec"]["forProvider"]["settings"]["dataDiskSizeGb"] == 20
    assert rig.secret_values("showcase", "required").keys() == {"username", "password", "endpoint"}
    manager = named(rig.live(GROUP_MANAGER), "workers-")
    assert manager["spec"]["forProvider"]["targetSize"] == 3
    scaler = named(rig.live(AUTOSCALER), "workers-")
    assert scaler["spec"]["forProvider"]["targetRef"]["name"] == manager["metadata"]["name"]
    blog = named(rig.live(SERVER), "showcase-coolblog-")
    assert blog["spec"]["forProvider"]["storageProfile"]["storageMB"] == 8192
    assert blog["spec"]["forProvider"]["version"] == "5.7"  # the schema's default
    assert rig.secret_values("showcase", "coolblog-mysql").keys() == {"username", "password", "endpoint"}

    # 003: an aggregate of classes, with the claim's external name on each member
    members = [rig.one(kind, claim="aggregated", namespace="showcase") for kind in (RESOURCE_GROUP, SERVER, RULE)]
    assert {m["metadata"]["annotations"][EXTERNAL] for m in members} == {"very-private-aggregate"}
    assert {m["spec"]["classRef"]["kind"] for m in members} == {
        "ResourceGroupClass",
        "MySQLServerClass",
        "MySQLServerVirtualNetworkRuleClass",
    }
    (aggregate,) = {m["spec"]["aggregateRef"]["name"] for m in members}
    assert rig.secret_values("crossplane-system", aggregate) == rig.secret_values("showcase", "aggregated")


def test_records_tell_the_story(showcase: Rig) -> None:
    rig = showcase
    composite = named(rig.live(COMPOSITE), "showcase-private-")
    assert composite["status"]["bindingPhase"] == "Bound"
    assert [r["kind"] for r in composite["status"]["resources"]] == [
        "ResourceGroup",
        "MySQLServer",
        "MySQLServerVirtualNetworkRule",
    ]
    assert composite["spec"]["claimRef"]["name"] == "private"
    aggregate = named(rig.live(AGGREGATE), "showcase-aggregated-")
    assert len(aggregate["status"]["aggregatedResources"]) == 3
    database = named(rig.live(DATABASE), "showcase-required-")
    assert database["spec"]["infrastructure"]["requirementRef"]["name"] == "required"
    assert database["spec"]["infrastructure"]["composedRefs"][0]["kind"] == "CloudSQLInstance"


def test_composites_are_components_within_components_and_nothing_drifts(showcase: Rig) -> None:
    rig = showcase
    state = json.loads(rig.ok(rig.pulumi("stack", "export", "--stack", "showcase")).out)
    urns = [r["urn"] for r in state["deployment"]["resources"]]
    chain = "$".join(
        (
            "claimsmith:apps.example.org:Wordpress",
            "claimsmith:acme.example.org:MySQLDatabaseRequirement",
            "claimsmith:acme.example.org:MySQLDatabase",
            "kubernetes:database.azure.crossplane.io/v1beta1:MySQLServer",
        )
    )
    assert [u for u in urns if f"::{chain}::" in u]
    assert rig.steps("showcase") == {}
    rig.ok(rig.pulumi("refresh", "--stack", "showcase", "--yes", "--skip-preview", "--expect-no-changes"))
    assert rig.steps("showcase") == {}

    # An update of a requirement reaches what its composite is composed of, in one run.
    path = rig.root / "stacks" / "showcase" / "claims" / "databases.yaml"
    path.write_text(path.read_text().replace("storageGB: 20", "storageGB: 30"))
    steps = rig.steps("showcase")
    changed = {name: s["fields"] for name, s in steps.items() if "Ref" not in str(s["fields"])}
    assert changed["showcase/required/my-sql-database/cloud-sql-instance"] == [
        "spec.forProvider.settings.dataDiskSizeGb"
    ]
    rig.ok(rig.up("showcase"))
    assert named(rig.live(CLOUD_SQL), "showcase-required-")["spec"]["forProvider"]["settings"]["dataDiskSizeGb"] == 30

    rig.ok(rig.destroy("showcase"))
    left = [o for kind in (REDIS, CLOUD_SQL, SERVER, NODE_POOL, COMPOSITE, DATABASE) for o in rig.live(kind)]
    assert [o["metadata"]["name"] for o in left if "showcase" in o["metadata"]["name"]] == []
