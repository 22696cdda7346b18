from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import ModelError
from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.bindable import read_bindable
from claimsmith.dialects.common.klass import Side
from claimsmith.patching import patches
from tests.support.bindable_table import BUCKET, CLUSTER, MYSQL, POSTGRES, REDIS, built_in
from tests.support.samples import documents_of

CACHE = "Cache.cache.example.org"


# The built-in table


@pytest.mark.parametrize(
    ("claim", "kinds"),
    [
        pytest.param(
            REDIS,
            ["ReplicationGroup.cache.aws", "Redis.cache.azure", "CloudMemorystoreInstance.cache.gcp"],
            id="redis",
        ),
        pytest.param(
            MYSQL,
            [
                "RDSInstance.database.aws",
                "MySQLServer.database.azure",
                "SQLServer.database.azure",
                "CloudSQLInstance.database.gcp",
            ],
            id="mysql",
        ),
        pytest.param(
            POSTGRES,
            ["RDSInstance.database.aws", "PostgreSQLServer.database.azure", "CloudSQLInstance.database.gcp"],
            id="postgresql-has-no-mysql-server",
        ),
        pytest.param(
            CLUSTER,
            [
                "EKSCluster.compute.aws",
                "AKSCluster.compute.azure",
                "GKECluster.compute.gcp",
                "GKECluster.container.gcp",
            ],
            id="kubernetes-in-both-groups-of-gcp",
        ),
        pytest.param(
            BUCKET,
            ["S3Bucket.storage.aws", "Account.storage.azure", "Container.storage.azure", "Bucket.storage.gcp"],
            id="bucket",
        ),
        pytest.param(GroupKind("database.example.org", "MySQLInstance"), [], id="a-user-s-own-kind-has-none"),
    ],
)
def test_direct(claim: GroupKind, kinds: list[str]) -> None:
    assert sorted(built_in().direct(claim)) == [GroupKind.parse(f"{k}.crossplane.io") for k in kinds]


@pytest.mark.parametrize(
    ("kind", "claims"),
    [
        pytest.param("CloudSQLInstance.database.gcp", [MYSQL, POSTGRES], id="two"),
        pytest.param("GKECluster.compute.gcp", [CLUSTER], id="one"),
        pytest.param("ResourceGroup.azure", [], id="supporting"),
        pytest.param("Nothing.azure", [], id="unknown"),
    ],
)
def test_claims_for(kind: str, claims: list[GroupKind]) -> None:
    assert built_in().claims_for(GroupKind.parse(f"{kind}.crossplane.io")) == claims


@pytest.mark.parametrize(
    ("claim", "kind", "want"),
    [
        pytest.param(MYSQL, "MySQLServerVirtualNetworkRule.database.azure", True, id="rule-for-mysql"),
        pytest.param(REDIS, "MySQLServerVirtualNetworkRule.database.azure", False, id="rule-makes-no-sense-for-redis"),
        pytest.param(REDIS, "EKSCluster.compute.aws", False, id="cluster-makes-no-sense-for-redis"),
        pytest.param(CLUSTER, "NodePool.container.gcp", True, id="node-pool"),
        pytest.param(CLUSTER, "GKENodePool.compute.gcp", True, id="node-pool-as-003-calls-it"),
        pytest.param(CLUSTER, "ServiceAccount.iam.gcp", True, id="service-account"),
        pytest.param(MYSQL, "SecurityGroup.network.aws", True, id="security-group"),
        pytest.param(POSTGRES, "DBSubnetGroup.database.aws", True, id="subnet-group"),
        pytest.param(BUCKET, "ResourceGroup.azure", True, id="resource-group-everywhere"),
        pytest.param(MYSQL, "MySQLServer.database.azure", False, id="what-is-direct-does-not-support"),
    ],
)
def test_supports(claim: GroupKind, kind: str, want: bool) -> None:
    assert (GroupKind.parse(f"{kind}.crossplane.io") in built_in().supports(claim)) is want


def test_nothing_supports_a_claim_that_the_table_does_not_know() -> None:
    assert built_in().supports(GroupKind.parse(CACHE)) == frozenset()


def test_clusters_are_exactly_what_kubernetes_claims_bind_to() -> None:
    known = built_in()
    assert known.clusters == frozenset(known.direct(CLUSTER))
    assert known.is_cluster(GroupKind("compute.aws.crossplane.io", "EKSCluster"))
    assert not known.is_cluster(GroupKind("cache.azure.crossplane.io", "Redis"))


def test_nothing_is_both_direct_and_supporting() -> None:
    known = built_in()
    assert not [c for c in known.served if known.supports(c) & set(known.direct(c))]


@pytest.mark.parametrize(
    ("claim", "kind", "spec", "want"),
    [
        pytest.param(MYSQL, "CloudSQLInstance.database.gcp", {"engineVersion": "5.7"}, "MYSQL_5_7", id="cloud-sql"),
        pytest.param(
            POSTGRES, "CloudSQLInstance.database.gcp", {"engineVersion": "11"}, "POSTGRES_11", id="cloud-sql-postgres"
        ),
        pytest.param(MYSQL, "MySQLServer.database.azure", {"engineVersion": "5.7"}, "5.7", id="azure-as-it-is"),
        pytest.param(REDIS, "CloudMemorystoreInstance.cache.gcp", {"engineVersion": "3.2"}, "REDIS_3_2", id="redis"),
        pytest.param(REDIS, "ReplicationGroup.cache.aws", {"engineVersion": "3.2"}, "3.2.10", id="patch-of-a-minor"),
        pytest.param(REDIS, "ReplicationGroup.cache.aws", {"engineVersion": "4.0.9"}, "4.0.9", id="patch-is-kept"),
        pytest.param(CLUSTER, "GKECluster.container.gcp", {"clusterVersion": "1.16"}, "1.16", id="cluster"),
        pytest.param(BUCKET, "S3Bucket.storage.aws", {"predefinedACL": "PublicRead"}, "public-read", id="s3-acl"),
        pytest.param(BUCKET, "Bucket.storage.gcp", {"predefinedACL": "PublicRead"}, "publicRead", id="gcs-acl"),
    ],
)
def test_fields_that_a_claim_fills(claim: GroupKind, kind: str, spec: dict[str, Any], want: str) -> None:
    made: dict[str, Any] = {"spec": {"forProvider": {}}}
    for patch in built_in().direct(claim)[GroupKind.parse(f"{kind}.crossplane.io")]:
        assert patch.fill
        patches.apply(patch, {Side.claim: {"spec": spec}, Side.resource: made})
    assert list(made["spec"]["forProvider"].values()) == [want]


# Extending it


def _entry(kind: str = "Redis.cache.azure.crossplane.io", claim: str = CACHE, **direct: Any) -> dict[str, Any]:
    return {"bindable": {claim: {"direct": {kind: direct}}}}


def test_a_project_adds_claim_kinds_and_they_get_what_supports_all() -> None:
    known = built_in({"bindable": {CACHE: {"direct": {"Valkey.cache.example.org": None}, "supports": ["A.b.c"]}}})
    claim = GroupKind.parse(CACHE)
    assert list(known.direct(claim)) == [GroupKind.parse("Valkey.cache.example.org")]
    assert {GroupKind.parse("A.b.c"), GroupKind.parse("ResourceGroup.azure.crossplane.io")} <= known.supports(claim)


def test_a_project_adds_kinds_to_a_built_in_claim() -> None:
    known = built_in(_entry("Valkey.cache.example.org", str(REDIS)))
    assert known.claims_for(GroupKind.parse("Valkey.cache.example.org")) == [REDIS]
    assert known.claims_for(GroupKind.parse("Redis.cache.azure.crossplane.io")) == [REDIS]


def test_a_project_says_anew_what_fills_a_field_and_the_others_stay() -> None:
    kind = "Bucket.storage.gcp.crossplane.io"
    field = {"from": "spec.title", "to": "spec.forProvider.nameFormat"}
    known = built_in(_entry(kind, str(BUCKET), fields=[field]))
    found = {p.to: p.reads for p in known.direct(BUCKET)[GroupKind.parse(kind)]}
    assert found == {
        "spec.forProvider.predefinedAcl": ("spec.predefinedACL",),
        "spec.forProvider.nameFormat": ("spec.title",),
    }


def test_a_value_replaces_a_patch() -> None:
    kind = "Redis.cache.example.org"
    known = read_bindable(
        documents_of(
            _entry(kind, fields=[{"from": "spec.size", "to": "spec.size"}], only={"spec.tier": "gold*"}),
            _entry(kind, fields=[{"value": 3, "to": "spec.size"}]),
        )
    )
    terms = known.terms(GroupKind.parse(CACHE), GroupKind.parse(kind))
    assert terms is not None
    assert (terms.patches, terms.values, terms.only) == ((), {"spec.size": 3}, {"spec.tier": "gold*"})


def test_no_documents_are_a_table_too() -> None:
    assert read_bindable([]).direct(MYSQL) == {}


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param({"bindables": {}}, "bindables", id="misspelt"),
        pytest.param({"clusters": ["GKECluster"]}, "clusters[0]", id="no-group"),
        pytest.param({"supports": ["container.gcp/GKECluster"]}, "supports[0]", id="not-kind-dot-group"),
        pytest.param(_entry("Redis"), f"bindable[{CACHE}].direct.Redis", id="kind-without-group"),
        pytest.param(_entry(claim="Cache"), "bindable.Cache", id="claim-without-group"),
        pytest.param(
            _entry(fields=[{"from": "spec.a", "to": "metadata.name"}]),
            f"bindable[{CACHE}].direct[Redis.cache.azure.crossplane.io].fields[0].to",
            id="not-in-the-spec",
        ),
        pytest.param(
            _entry(fields=[{"from": "spec.a", "to": "spec.b[*].c"}]),
            f"bindable[{CACHE}].direct[Redis.cache.azure.crossplane.io].fields[0].to",
            id="several-fields",
        ),
        pytest.param(
            _entry(fields=[{"from": "spec[a", "to": "spec.b"}]),
            f"bindable[{CACHE}].direct[Redis.cache.azure.crossplane.io].fields[0].from",
            id="path-that-cannot-be-read",
        ),
        pytest.param(
            _entry(fields=[{"to": "spec.b"}]),
            f"bindable[{CACHE}].direct[Redis.cache.azure.crossplane.io].fields[0]",
            id="filled-with-nothing",
        ),
        pytest.param(
            _entry(fields=[{"from": "spec.a", "value": 1, "to": "spec.b"}]),
            f"bindable[{CACHE}].direct[Redis.cache.azure.crossplane.io].fields[0]",
            id="filled-twice",
        ),
        pytest.param(
            _entry(fields=[{"value": 1, "to": "spec.b", "transforms": [{"math": {"multiply": 2}}]}]),
            f"bindable[{CACHE}].direct[Redis.cache.azure.crossplane.io].fields[0]",
            id="value-with-transforms",
        ),
        pytest.param(
            _entry(only={"status.tier": "x"}),
            f"bindable[{CACHE}].direct[Redis.cache.azure.crossplane.io].only[status.tier]",
            id="only-what-the-class-says",
        ),
    ],
)
def test_refusals(data: dict[str, Any], path: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_bindable(documents_of(data, file="own.yaml"))
    [problem] = caught.value.problems
    assert problem.path == path
    assert problem.where is not None
    assert problem.fix
