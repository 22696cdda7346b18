from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import ModelError, Problem
from claimsmith.base.names import GroupKind
from claimsmith.dialects.aggregates import reading as aggregates
from claimsmith.dialects.aggregates.dialect import AGGREGATES
from claimsmith.dialects.common.klass import Class
from claimsmith.dialects.resource_classes import reading as resource_classes
from claimsmith.platform import selection
from claimsmith.platform.catalog import Catalog
from claimsmith.platform.selection import Choice, Unbound
from tests.support.bindable_table import CLUSTER, MYSQL, POSTGRES, REDIS, built_in
from tests.support.samples import documents_of, one_claim

AGGREGATION = "aggregation.crossplane.io/v1alpha1"

PRIVATE_MYSQL = """\
apiVersion: aggregation.crossplane.io/v1alpha1
kind: AggregateResourceClass
metadata:
  name: private-mysql-server
  annotations:
    resourceclass.crossplane.io/is-default-class: "true"
aggregationRule:
  classSelector:
    matchLabels:
      resourceclass.crossplane.io/aggregate-to: private-mysql-server
specTemplate:
  reclaimPolicy: Delete
  writeConnectionSecretsToNamespace: crossplane-system
---
apiVersion: azure.crossplane.io/v1alpha3
kind: ResourceGroupClass
metadata:
  name: private-mysql-server
  labels:
    resourceclass.crossplane.io/aggregate-to: private-mysql-server
specTemplate:
  location: Central US
  providerRef:
    name: example
---
apiVersion: database.azure.crossplane.io/v1beta1
kind: SQLServerClass
metadata:
  name: private-mysql-server
  labels:
    resourceclass.crossplane.io/aggregate-to: private-mysql-server
specTemplate:
  forProvider:
    administratorLogin: my-cool-login
    resourceGroupNameSelector:
      matchAggregate: true
      matchClassRef:
        name: private-mysql-server
    location: Central US
    sslEnforcement: Disabled
    version: "5.6"
    sku:
      tier: GeneralPurpose
      capacity: 2
      family: Gen5
    storageProfile:
      storageMB: 25600
      backupRetentionDays: 7
      geoRedundantBackup: Disabled
  providerRef:
    name: example
  writeConnectionSecretsToNamespace: crossplane-system
---
apiVersion: database.azure.crossplane.io/v1alpha3
kind: MySQLServerVirtualNetworkRuleClass
metadata:
  name: private-mysql-server
  labels:
    resourceclass.crossplane.io/aggregate-to: private-mysql-server
spec:
  serverNameSelector:
    matchAggregate: true
    matchClassRef:
      name: private-mysql-server
  resourceGroupNameSelector:
    matchAggregate: true
    matchClassRef:
      name: private-mysql-server
  properties:
    virtualNetworkSubnetIdRef:
      name: private
  providerRef:
    name: example
"""

SQL_CLAIM = {
    "apiVersion": "database.crossplane.io/v1alpha1",
    "kind": "MySQLInstance",
    "metadata": {
        "namespace": "default",
        "name": "sql",
        "annotations": {"crossplane.io/external-name": "very-private-database"},
    },
    "spec": {"engineVersion": "5.7", "writeConnectionSecretToRef": {"name": "sql"}},
}


def aggregate(name: str = "cool", /, *, labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """An aggregate class that selects by a label of its own name, or by the labels given."""
    wanted = {f"in/{name}": "yes"} if labels is None else labels
    return {
        "apiVersion": AGGREGATION,
        "kind": "AggregateResourceClass",
        "metadata": {"name": name},
        "aggregationRule": {"classSelector": {"matchLabels": wanted}},
        **more,
    }


def part(kind: str, name: str = "a", *aggregates: str, spec: dict[str, Any] | None = None) -> dict[str, Any]:
    """A class of that `Kind.group`, taken up by the aggregates named."""
    parsed = GroupKind.parse(kind)
    return {
        "apiVersion": f"{parsed.group}.crossplane.io/v1beta1",
        "kind": f"{parsed.kind}Class",
        "metadata": {"name": name, "labels": {f"in/{a}": "yes" for a in aggregates or ("cool",)}},
        "specTemplate": spec or {"forProvider": {}},
    }


GKE, POOL = "GKECluster.compute.gcp", "GKENodePool.compute.gcp"
SQL, NET = "CloudSQLInstance.database.gcp", "Network.compute.gcp"


def read_all(documents: list[Document]) -> tuple[list[Class], list[Problem]]:
    """The aggregates' classes among the documents, and warnings about them."""
    known = built_in()
    members = [resource_classes.member(d, known) for d in documents if resource_classes.is_class(d, known)]
    found = [aggregates.read(d, members, known) for d in documents if GroupKind.of(d.data) == aggregates.KIND]
    return [c for classes, _ in found for c in classes], [w for _, warnings in found for w in warnings]


def read(*data: dict[str, Any]) -> tuple[list[Class], list[Problem]]:
    return read_all(documents_of(*data))


def names(klass: Class) -> list[str]:
    return [t.name for t in klass.templates]


def catalog_of(documents: list[Document]) -> Catalog:
    known = built_in()
    specific = [c for d in documents if resource_classes.is_class(d, known) for c in resource_classes.read(d, known)[0]]
    return Catalog(classes={(c.key, c.serves): c for c in [*specific, *read_all(documents)[0]]})


# The document's own examples


def test_private_mysql() -> None:
    documents = read_documents(PRIVATE_MYSQL, file="platform.yaml")
    [klass], warnings = read_all(documents)
    assert warnings == []
    assert (klass.serves, klass.dialect, klass.secret_namespace) == (MYSQL, AGGREGATES, "crossplane-system")
    assert klass.reference() == {
        "apiVersion": AGGREGATION,
        "kind": "AggregateResourceClass",
        "name": "private-mysql-server",
    }
    assert {t.name: t.class_ref for t in klass.templates} == {
        "resource-group": {
            "apiVersion": "azure.crossplane.io/v1alpha3",
            "kind": "ResourceGroupClass",
            "name": "private-mysql-server",
        },
        "my-sql-server-virtual-network-rule": {
            "apiVersion": "database.azure.crossplane.io/v1alpha3",
            "kind": "MySQLServerVirtualNetworkRuleClass",
            "name": "private-mysql-server",
        },
        "sql-server": {
            "apiVersion": "database.azure.crossplane.io/v1beta1",
            "kind": "SQLServerClass",
            "name": "private-mysql-server",
        },
    }
    assert [(t.at, t.document) for t in klass.templates] == [
        ("specTemplate", documents[1]),
        ("spec", documents[3]),
        ("specTemplate", documents[2]),
    ]
    server = klass.templates[2].base["spec"]
    assert server["writeConnectionSecretToRef"] == {"namespace": "crossplane-system"}
    assert server["forProvider"]["version"] == "5.6"
    assert [p.to for p in klass.templates[2].patches] == ["spec.forProvider.version"]


def test_private_mysql_is_the_default_of_a_claim_that_names_no_class() -> None:
    choice = selection.choose(one_claim(SQL_CLAIM), catalog_of(read_documents(PRIVATE_MYSQL, file="platform.yaml")))
    assert isinstance(choice, Choice)
    assert (str(choice.klass.key), choice.reason) == (
        "AggregateResourceClass.aggregation.crossplane.io/private-mysql-server",
        "default class",
    )


def test_private_mysql_is_no_default_for_postgresql() -> None:
    claim = one_claim({**SQL_CLAIM, "kind": "PostgreSQLInstance"})
    found = selection.choose(claim, catalog_of(read_documents(PRIVATE_MYSQL, file="platform.yaml")))
    assert isinstance(found, Unbound)


def test_one_cluster_class_is_shared_by_two_aggregates_with_node_pools_of_their_own() -> None:
    classes, warnings = read(
        aggregate("small"),
        aggregate("large"),
        part(GKE, "control-plane", "small", "large"),
        part(POOL, "one", "small"),
        part(POOL, "two", "large"),
        part(POOL, "three", "large"),
    )
    assert warnings == []
    assert {c.name: names(c) for c in classes} == {
        "small": ["gke-cluster", "gke-node-pool"],
        "large": ["gke-cluster", "gke-node-pool-three", "gke-node-pool-two"],
    }
    assert {c.serves for c in classes} == {CLUSTER}


def test_the_subnetwork_service_accounts_and_node_pools_of_the_references_example() -> None:
    account = "ServiceAccount.iam.gcp"
    [klass], _ = read(
        aggregate(),
        *(part(POOL, n) for n in "ab"),
        *(part(account, n) for n in "ab"),
        part(GKE),
        part("Subnetwork.compute.gcp"),
    )
    assert names(klass) == [
        "gke-cluster",
        "gke-node-pool-a",
        "gke-node-pool-b",
        "subnetwork",
        "service-account-a",
        "service-account-b",
    ]


def test_only_what_makes_sense_for_the_claim_is_made_and_the_rest_is_told() -> None:
    classes, warnings = read(
        aggregate(), part("CloudMemorystoreInstance.cache.gcp"), part("EKSCluster.compute.aws"), part(NET)
    )
    assert {c.serves: names(c) for c in classes} == {
        CLUSTER: ["eks-cluster", "network"],
        REDIS: ["cloud-memorystore-instance", "network"],
    }
    assert [w.path for w in warnings] == ["aggregationRule.classSelector"] * 2
    assert all(w.fix for w in warnings)
    assert "EKSClusterClass.compute.aws.crossplane.io/a" in warnings[0].what


# Members


@pytest.mark.parametrize(
    ("parts", "want"),
    [
        pytest.param([part(SQL), part(NET)], ["network", "cloud-sql-instance"], id="in-the-order-of-keys"),
        pytest.param([part(NET), part(SQL)], ["network", "cloud-sql-instance"], id="not-of-the-file"),
        pytest.param([part(SQL), part(NET, "b", "other")], ["cloud-sql-instance"], id="not-labelled"),
        pytest.param(
            [part(SQL), part(NET, "b"), part(NET, "a")],
            ["network-a", "network-b", "cloud-sql-instance"],
            id="two-of-a-kind-have-their-classes-names",
        ),
        pytest.param(
            [part(SQL), part(NET, "v1.2"), part(NET, "v1-2")],
            ["network-v1-2", "network-v1-2-2", "cloud-sql-instance"],
            id="names-that-would-be-the-same",
        ),
        pytest.param(
            [part(GKE), part(POOL, "x"), part("GKENodePool.container.gcp", "y")],
            ["gke-cluster", "gke-node-pool-x", "gke-node-pool-y"],
            id="one-word-in-two-groups",
        ),
    ],
)
def test_members(parts: list[dict[str, Any]], want: list[str]) -> None:
    classes, _ = read(aggregate(), *parts)
    assert names(classes[0]) == want


def test_a_class_is_taken_up_once() -> None:
    [one, two] = documents_of(aggregate(), part(GKE))
    known = built_in()
    found = resource_classes.member(two, known)
    [klass], _ = aggregates.read(one, [found, found], known)
    assert names(klass) == ["gke-cluster"]


def test_another_member_changes_no_other_template() -> None:
    data = [aggregate(), part(GKE), part(POOL, "a"), part(POOL, "b")]
    [before], _ = read(*data)
    [after], _ = read(*data, part(POOL, "aa"))
    assert [t for t in after.templates if t.name != "gke-node-pool-aa"] == list(before.templates)
    assert before.digest() != after.digest()


def test_each_kind_of_claim_has_the_members_that_fit_it() -> None:
    mysql = part(SQL, "my", spec={"forProvider": {"databaseVersion": "MYSQL_5_7"}})
    postgres = part(SQL, "pg", spec={"forProvider": {"databaseVersion": "POSTGRES_11"}})
    classes, warnings = read(aggregate(), mysql, postgres)
    assert {c.serves: [t.class_ref["name"] for t in c.templates if t.class_ref] for c in classes} == {
        MYSQL: ["my"],
        POSTGRES: ["pg"],
    }
    assert len(warnings) == 2


def test_expressions_select_too() -> None:
    rule = {"classSelector": {"matchExpressions": [{"key": "in/cool", "operator": "Exists"}]}}
    [klass], warnings = read({**aggregate(), "aggregationRule": rule}, part(GKE), part(POOL, "x", "other"))
    assert names(klass) == ["gke-cluster"]
    assert warnings == []


@pytest.mark.parametrize(
    ("template", "namespace", "policy"),
    [
        pytest.param({}, None, "Delete", id="nothing"),
        pytest.param({"specTemplate": None}, None, "Delete", id="empty"),
        pytest.param(
            {"specTemplate": {"writeConnectionSecretsToNamespace": "infra", "reclaimPolicy": "Retain"}},
            "infra",
            "Retain",
            id="both",
        ),
    ],
)
def test_spec_template(template: dict[str, Any], namespace: str | None, policy: str) -> None:
    [klass], _ = read(aggregate(**template), part(GKE))
    assert (klass.secret_namespace, klass.retain) == (namespace, policy == "Retain")
    assert "reclaimPolicy" not in klass.templates[0].base["spec"]


# Warnings and refusals


@pytest.mark.parametrize(
    ("data", "made"),
    [
        pytest.param([aggregate(labels={}), part(GKE)], 1, id="empty-selector-takes-every-class"),
        pytest.param([aggregate(aggregationRule={"classSelector": None}), part(GKE)], 1, id="selector-with-nothing"),
        pytest.param([aggregate(), part(POOL)], 0, id="no-member-that-a-claim-binds-to"),
        pytest.param([aggregate(), part(GKE, "x", "other")], 0, id="no-member-at-all"),
        pytest.param([aggregate(), part("Widget.example")], 0, id="a-member-that-nobody-knows"),
    ],
)
def test_warnings(data: list[dict[str, Any]], made: int) -> None:
    classes, [warning] = read(*data)
    assert len(classes) == made
    assert warning.path == "aggregationRule.classSelector"
    assert warning.where is not None
    assert warning.fix


def test_a_class_that_serves_nothing_is_no_candidate_by_name_either() -> None:
    documents = documents_of(aggregate(), part(POOL))
    reference = {"apiVersion": AGGREGATION, "kind": "AggregateResourceClass", "name": "cool"}
    claim = one_claim({**SQL_CLAIM, "spec": {"classRef": reference}})
    assert isinstance(selection.choose(claim, catalog_of(documents)), Unbound)


def test_a_default_label_is_warned_of() -> None:
    metadata = {"name": "cool", "labels": {selection.IS_DEFAULT: "true"}}
    _, [warning] = read(aggregate(metadata=metadata), part(GKE))
    assert warning.path == f"metadata.labels[{selection.IS_DEFAULT}]"


@pytest.mark.parametrize(
    ("more", "path"),
    [
        pytest.param({"metadata": {"name": "cool", "namespace": "x"}}, "metadata.namespace", id="namespace"),
        pytest.param(
            {"metadata": {"name": "cool", "annotations": {selection.WEIGHT: "x"}}},
            f"metadata.annotations[{selection.WEIGHT}]",
            id="weight",
        ),
        pytest.param({"aggregationRule": {}}, "aggregationRule.classSelector", id="no-selector"),
        pytest.param({"aggregateRule": {}}, "aggregateRule", id="the-document-s-slip-is-no-alias"),
        pytest.param({"spec": {}}, "spec", id="spec"),
        pytest.param({"specTemplate": {"reclaimPolicy": "Keep"}}, "specTemplate.reclaimPolicy", id="policy"),
        pytest.param(
            {"specTemplate": {"writeConnectionSecretsToNamespace": "A B"}},
            "specTemplate.writeConnectionSecretsToNamespace",
            id="no-namespace",
        ),
        pytest.param({"specTemplate": {"forProvider": {}}}, "specTemplate.forProvider", id="template-of-a-member"),
    ],
)
def test_refusals(more: dict[str, Any], path: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(aggregate(**more))
    [problem] = caught.value.problems
    assert problem.path == path
    assert problem.where is not None
    assert problem.fix


def test_the_slip_gets_a_suggestion() -> None:
    data = aggregate()
    data["aggregateRule"] = data.pop("aggregationRule")
    with pytest.raises(ModelError) as caught:
        read(data)
    assert "aggregationRule" in " ".join(p.fix for p in caught.value.problems)
