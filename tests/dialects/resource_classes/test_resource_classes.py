from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base import labels
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import ComposeError, ModelError, Problem
from claimsmith.base.names import GroupKind
from claimsmith.base.values import copied
from claimsmith.dialects.common.bindable import Bindable
from claimsmith.dialects.common.klass import Class, Side
from claimsmith.dialects.resource_classes import reading as resource_classes
from claimsmith.dialects.resource_classes.dialect import RESOURCE_CLASSES
from claimsmith.patching import patches
from claimsmith.platform import selection
from claimsmith.platform.catalog import Catalog, read_catalog
from claimsmith.platform.selection import Choice, Unbound
from tests.support.bindable_table import BUCKET, CLUSTER, MYSQL, POSTGRES, REDIS, built_in
from tests.support.samples import documents_of, expanded, one_claim

GCP = "cache.gcp.crossplane.io/v1alpha2"
MEMORYSTORE = "CloudMemorystoreInstanceClass"
ANNOTATIONS = "metadata.annotations"

REDIS_IN_TWO_CLOUDS = """\
apiVersion: cache.gcp.crossplane.io/v1alpha2
kind: CloudMemorystoreInstanceClass
metadata:
  name: gcp-dev
  labels:
    engineVersion: "3.2"
    region: us-west
    replicated: "true"
specTemplate:
  tier: STANDARD_HA
  region: us-west2
  memorySizeGb: 1
  redisVersion: REDIS_3_2
---
apiVersion: cache.azure.crossplane.io/v1alpha2
kind: RedisClass
metadata:
  name: azure-dev
  labels:
    engineVersion: "3.2"
    region: us-west
    replicated: "true"
specTemplate:
  resourceGroupName: group-westus-1
  location: West US
  sku:
    name: Basic
    family: C
    capacity: 0
"""

WEIGHTED = """\
apiVersion: cache.gcp.crossplane.io/v1alpha2
kind: CloudMemorystoreInstanceClass
metadata:
  name: really-quite-a-lot-of-memory
  labels:
    stack: gitlab
    region: us-west
    grade: production
specTemplate:
  tier: STANDARD_HA
  region: us-west2
  memorySizeGb: 99999999999999999999999
  redisVersion: REDIS_3_2
---
apiVersion: cache.gcp.crossplane.io/v1alpha2
kind: CloudMemorystoreInstanceClass
metadata:
  name: cheap-redis
  annotations:
    resourceclass.crossplane.io/weight: "10"
  labels:
    stack: gitlab
    region: us-west
    grade: experimental
specTemplate:
  tier: STANDARD_HA
  region: us-west2
  memorySizeGb: 1
  redisVersion: REDIS_3_2
"""


def class_of(
    kind: str = MEMORYSTORE, api_version: str = GCP, *, spec: dict[str, Any] | None = None, **metadata: Any
) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "small", **metadata},
        "specTemplate": {"tier": "BASIC"} if spec is None else spec,
    }


def rds(**for_provider: Any) -> dict[str, Any]:
    return class_of("RDSInstanceClass", "database.aws.crossplane.io/v1beta1", spec={"forProvider": for_provider})


def cloud_sql(**for_provider: Any) -> dict[str, Any]:
    return class_of("CloudSQLInstanceClass", "database.gcp.crossplane.io/v1beta1", spec={"forProvider": for_provider})


def read(data: dict[str, Any], bindable: Bindable | None = None) -> tuple[list[Class], list[Problem]]:
    [document] = documents_of(data)
    return resource_classes.read(document, bindable or built_in())


def one(data: dict[str, Any]) -> Class:
    [found], _ = read(data)
    return found


def filled(klass: Class, **spec: Any) -> tuple[dict[str, Any], list[patches.Outcome]]:
    """What the class makes for a claim with that spec, and what became of its patches."""
    [template] = klass.templates
    made = copied(dict(template.base))
    outcomes = [patches.apply(p, {Side.claim: {"spec": spec}, Side.resource: made}) for p in template.patches]
    return made, outcomes


# What is a class


@pytest.mark.parametrize(
    ("data", "want"),
    [
        pytest.param(class_of(), True, id="spec-template"),
        pytest.param(class_of("WidgetClass", "example.org/v1"), True, id="a-kind-that-nobody-knows"),
        pytest.param({**class_of(), "specTemplate": None}, True, id="spec-template-with-nothing"),
        pytest.param({"apiVersion": GCP, "kind": MEMORYSTORE, "spec": {}}, True, id="spec-of-a-known-kind"),
        pytest.param({"apiVersion": GCP, "kind": MEMORYSTORE, "specTemplat": {}}, True, id="misspelt-of-a-known-kind"),
        pytest.param({"apiVersion": "example.org/v1", "kind": "WidgetClass", "spec": {}}, False, id="spec-of-another"),
        pytest.param({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}, False, id="storage-class"),
        pytest.param({"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "spec": {}}, False, id="ingress"),
        pytest.param(
            class_of("AggregateResourceClass", "aggregation.crossplane.io/v1alpha1"), False, id="aggregate-class"
        ),
        pytest.param(class_of("ResourceClass", "infrastructure.crossplane.io/v1alpha1"), False, id="a-class-of-001"),
        pytest.param(class_of("Class", "school.example.org/v1"), False, id="nothing-before-class"),
        pytest.param(class_of("CloudMemorystoreInstance"), False, id="managed-resource"),
        pytest.param({"apiVersion": GCP}, False, id="no-kind"),
    ],
)
def test_is_class(data: dict[str, Any], want: bool) -> None:
    [document] = documents_of(data)
    assert resource_classes.is_class(document, built_in()) is want


def test_made_by() -> None:
    [document] = documents_of(class_of())
    assert resource_classes.made_by(document) == (GCP, "CloudMemorystoreInstance")


def test_a_class_makes_its_kind_with_the_template_as_spec() -> None:
    gcp, azure = read_documents(REDIS_IN_TWO_CLOUDS, file="platform.yaml")
    [klass], warnings = resource_classes.read(gcp, built_in())
    [template] = klass.templates
    assert template.base == {
        "apiVersion": GCP,
        "kind": "CloudMemorystoreInstance",
        "spec": {"tier": "STANDARD_HA", "region": "us-west2", "memorySizeGb": 1, "redisVersion": "REDIS_3_2"},
    }
    assert (template.name, template.at, template.class_ref) == ("cloud-memorystore-instance", "specTemplate", None)
    assert (klass.serves, klass.dialect, klass.claim_api_version) == (
        REDIS,
        RESOURCE_CLASSES,
        "cache.crossplane.io/v1alpha1",
    )
    assert klass.reference() == {"apiVersion": GCP, "kind": MEMORYSTORE, "name": "gcp-dev"}
    assert warnings == []
    [other], _ = resource_classes.read(azure, built_in())
    assert other.templates[0].kind == "Redis"


@pytest.mark.parametrize(
    ("data", "claims"),
    [
        pytest.param(class_of(), [REDIS], id="redis"),
        pytest.param(cloud_sql(), [MYSQL, POSTGRES], id="two-kinds-of-claim"),
        pytest.param(cloud_sql(databaseVersion="MYSQL_5_7"), [MYSQL], id="it-says-which-database"),
        pytest.param(cloud_sql(databaseVersion="POSTGRES_9_6"), [POSTGRES], id="it-says-the-other"),
        pytest.param(rds(), [MYSQL, POSTGRES], id="engine-left-open"),
        pytest.param(rds(engine="postgres"), [POSTGRES], id="engine-said"),
        pytest.param(
            class_of("SQLServerClass", "database.azure.crossplane.io/v1beta1"), [MYSQL], id="sql-server-of-003"
        ),
        pytest.param(class_of("BucketClass", "storage.gcp.crossplane.io/v1alpha3"), [BUCKET], id="bucket-of-gcp"),
        pytest.param(class_of("GKEClusterClass", "compute.gcp.crossplane.io/v1beta1"), [CLUSTER], id="cluster"),
        pytest.param(class_of("ResourceGroupClass", "azure.crossplane.io/v1alpha3"), [], id="only-supports"),
    ],
)
def test_the_claims_that_a_class_serves(data: dict[str, Any], claims: list[GroupKind]) -> None:
    classes, warnings = read(data)
    assert [c.serves for c in classes] == claims
    assert warnings == []


def test_a_project_s_table_lets_a_class_serve_its_own_claims() -> None:
    claim = "Widget.factory.example.org"
    known = built_in({"bindable": {claim: {"direct": {"Gadget.factory.example.org": {}}}}})
    classes, warnings = read(class_of("GadgetClass", "factory.example.org/v1"), known)
    assert [str(c.serves) for c in classes] == [claim]
    assert warnings == []


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param(class_of("WidgetClass", "example.org/v1"), "kind", id="nobody-knows-the-kind"),
        pytest.param(rds(engine="oracle-se2"), "kind", id="no-claim-wants-the-engine"),
    ],
)
def test_a_class_that_serves_nothing_is_told_of(data: dict[str, Any], path: str) -> None:
    classes, [warning] = read(data)
    assert classes == []
    assert warning.path == path
    assert warning.fix


# What the child gets


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(None, {"tier": "BASIC"}, id="no-secret"),
        pytest.param(
            {"writeConnectionSecretsToNamespace": "infra", "a": 1},
            {"a": 1, "writeConnectionSecretToRef": {"namespace": "infra"}},
            id="namespace",
        ),
        pytest.param(
            {"writeConnectionSecretsToRef": {"namespace": "x", "name": "y"}},
            {"writeConnectionSecretToRef": {"namespace": "x", "name": "y"}},
            id="one-spelling",
        ),
        pytest.param({"forProvider": None}, {"forProvider": {}}, id="for-provider-with-nothing"),
        pytest.param({"reclaimPolicy": "Retain"}, {"reclaimPolicy": "Retain"}, id="reclaim-policy"),
    ],
)
def test_spec(spec: dict[str, Any] | None, want: dict[str, Any]) -> None:
    assert one(class_of(spec=spec)).templates[0].base["spec"] == want


def test_the_document_is_left_as_it_was() -> None:
    [document] = documents_of(rds())
    before = copied(document.data)
    resource_classes.read(document, built_in())
    assert document.data == before


def test_labels_are_for_selection_alone_and_only_some_annotations_reach_the_child() -> None:
    carried = {
        labels.EXTERNAL_NAME_PREFIX: "a-",
        labels.EXTERNAL_NAME_SUFFIX: "-z",
        "aggregation.crossplane.io/connection-secret-prefix": "db-",
        labels.CONTROLLER_OWNED: "spec.x",
        labels.TIMEOUT: "5m",
    }
    klass = one(class_of(labels={"grade": "gold"}, annotations={**carried, selection.IS_DEFAULT: "true", "a": "b"}))
    assert klass.templates[0].base["metadata"] == {"annotations": carried}
    assert klass.labels == {"grade": "gold"}
    assert klass.annotations[selection.IS_DEFAULT] == "true"


def test_the_words_are_those_of_the_binding() -> None:
    assert (resource_classes.IS_DEFAULT, resource_classes.WEIGHT) == (selection.IS_DEFAULT, selection.WEIGHT)


# What the claim fills


@pytest.mark.parametrize(
    ("data", "claim", "want"),
    [
        pytest.param(
            cloud_sql(tier="x"), MYSQL, {"forProvider": {"tier": "x", "databaseVersion": "MYSQL_5_7"}}, id="beta"
        ),
        pytest.param(
            cloud_sql(tier="x"),
            POSTGRES,
            {"forProvider": {"tier": "x", "databaseVersion": "POSTGRES_5_7"}},
            id="the-claim-s-kind-counts",
        ),
        pytest.param(class_of(), REDIS, {"tier": "BASIC", "redisVersion": "REDIS_5_7"}, id="alpha-in-the-spec-itself"),
        pytest.param(
            class_of(api_version="cache.gcp.crossplane.io/v1beta1", spec={}),
            REDIS,
            {"forProvider": {"redisVersion": "REDIS_5_7"}},
            id="beta-without-for-provider",
        ),
        pytest.param(
            class_of(spec={"forProvider": {}}), REDIS, {"forProvider": {"redisVersion": "REDIS_5_7"}}, id="alpha-with"
        ),
        pytest.param(
            rds(), MYSQL, {"forProvider": {"engine": "mysql", "engineVersion": "5.7"}}, id="the-engine-it-calls-for"
        ),
    ],
)
def test_open_fields_are_filled(data: dict[str, Any], claim: GroupKind, want: dict[str, Any]) -> None:
    classes, _ = read(data)
    [klass] = [c for c in classes if c.serves == claim]
    made, outcomes = filled(klass, engineVersion="5.7")
    assert made["spec"] == want
    assert all(o.applied for o in outcomes)


@pytest.mark.parametrize(
    ("version", "contrary"),
    [pytest.param("3.2", False, id="the-same"), pytest.param("4.0", True, id="another")],
)
def test_what_the_class_says_stands(version: str, contrary: bool) -> None:
    made, [outcome] = filled(one(class_of(spec={"redisVersion": "REDIS_3_2"})), engineVersion=version)
    assert made["spec"] == {"redisVersion": "REDIS_3_2"}
    assert (outcome.applied, outcome.contrary) == (False, contrary)


def test_a_patch_points_to_the_field_that_the_class_leaves_open() -> None:
    documents = read_documents(REDIS_IN_TWO_CLOUDS, file="platform.yaml")
    [klass], _ = resource_classes.read(documents[0], built_in())
    [patch] = klass.templates[0].patches
    assert patch.at == "specTemplate.redisVersion"
    assert documents[0].source_of(patch.at).line == 13


def test_patches_have_places_of_their_own() -> None:
    klass = one(class_of("S3BucketClass", "storage.aws.crossplane.io/v1alpha3"))
    places = [p.at for p in klass.templates[0].patches]
    assert len(places) == len(set(places)) == 3


# Choosing among them


def catalog_of(documents: list[Document]) -> Catalog:
    known = built_in()
    classes = [c for d in documents for c in resource_classes.read(d, known)[0]]
    return Catalog(classes={(c.key, c.serves): c for c in classes})


def redis_claim(**spec: Any) -> Any:
    return one_claim(
        {
            "apiVersion": "cache.crossplane.io/v1alpha1",
            "kind": "RedisCluster",
            "metadata": {"namespace": "acme-team", "name": "gitlab-cache"},
            "spec": spec,
        }
    )


def test_a_selector_finds_classes_of_both_clouds() -> None:
    wanted = {"engineVersion": "3.2", "region": "us-west", "replicated": "true"}
    documents = read_documents(REDIS_IN_TWO_CLOUDS, file="platform.yaml")
    choice = selection.choose(redis_claim(classSelector={"matchLabels": wanted}), catalog_of(documents))
    assert isinstance(choice, Choice)
    assert [k.name for k in choice.candidates] == ["azure-dev", "gcp-dev"]


def test_the_heavier_class_wins_and_is_the_cheap_one() -> None:
    documents = read_documents(WEIGHTED, file="platform.yaml")
    wanted = {"matchLabels": {"stack": "gitlab", "region": "us-west"}}
    choice = selection.choose(redis_claim(classSelector=wanted), catalog_of(documents))
    assert isinstance(choice, Choice)
    assert choice.klass.name == "cheap-redis"


def test_the_default_is_that_of_the_claim_s_kind() -> None:
    default = {"annotations": {selection.IS_DEFAULT: "true"}}
    documents = documents_of(class_of(**default), class_of("BucketClass", "storage.gcp.crossplane.io/v1", **default))
    choice = selection.choose(redis_claim(), catalog_of(documents))
    assert isinstance(choice, Choice)
    assert choice.klass.key.group_kind.kind == MEMORYSTORE


@pytest.mark.parametrize(
    ("spec", "path", "mistake"),
    [
        pytest.param({}, "spec", False, id="no-default"),
        pytest.param({"classSelector": {"matchLabels": {"a": "b"}}}, "spec.classSelector", False, id="no-match"),
        pytest.param(
            {
                "classRef": {
                    "apiVersion": "database.gcp.crossplane.io/v1beta1",
                    "kind": "CloudSQLInstanceClass",
                    "name": "small",
                }
            },
            "spec.classRef",
            True,
            id="nonsense",
        ),
    ],
)
def test_unbound(spec: dict[str, Any], path: str, mistake: bool) -> None:
    found = selection.choose(redis_claim(**spec), catalog_of(documents_of(class_of(), cloud_sql())))
    assert isinstance(found, Unbound)
    assert (found.problem.path, found.mistake) == (path, mistake)
    assert found.problem.fix


# Members of aggregates


def test_a_class_is_a_member_whether_or_not_it_serves() -> None:
    [document] = documents_of(class_of("ResourceGroupClass", "azure.crossplane.io/v1alpha3", labels={"a": "b"}))
    found = resource_classes.member(document, built_in())
    assert found.reference() == {
        "apiVersion": "azure.crossplane.io/v1alpha3",
        "kind": "ResourceGroupClass",
        "name": "small",
    }
    assert (found.labels, found.template.kind, found.template.patches) == ({"a": "b"}, "ResourceGroup", ())


# Warnings and refusals


def bound_to(name: str) -> list[Any]:
    """The bindings of a claim that names one of the weighted classes."""
    documents = read_documents(WEIGHTED, file="platform.yaml")
    reference = {key: documents[0].data[key] for key in ("apiVersion", "kind")} | {"name": name}
    wish = {"apiVersion": "cache.crossplane.io/v1alpha1", "kind": "RedisCluster", "spec": {"classRef": reference}}
    claims = documents_of({**wish, "metadata": {"name": "cache", "namespace": "team"}}, file="claims.yaml")
    return expanded(read_catalog(documents, claims, bindable=built_in())).bindings()


def test_a_number_of_more_than_64_bits_is_warned_of_and_refused_when_bound() -> None:
    documents = read_documents(WEIGHTED, file="platform.yaml")
    [klass], [warning] = resource_classes.read(documents[0], built_in())
    assert klass.templates[0].base["spec"]["memorySizeGb"] == 99999999999999999999999
    assert (str(warning.where), warning.path) == ("platform.yaml:12:3", "specTemplate.memorySizeGb")
    with pytest.raises(ComposeError) as caught:
        bound_to(klass.name)
    [problem] = caught.value.problems
    assert (problem.where, problem.path) == (warning.where, "spec.memorySizeGb")
    assert problem.fix


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(2**63 - 1, [], id="largest"),
        pytest.param(2**63, [("spec", "a", 0)], id="one-more"),
        pytest.param(-(2**63), [], id="smallest"),
        pytest.param(-(2**63) - 1, [("spec", "a", 0)], id="one-less"),
        pytest.param(1e30, [], id="float"),
        pytest.param(True, [], id="truth-value"),
    ],
)
def test_oversized(value: Any, want: list[Any]) -> None:
    assert resource_classes.oversized({"spec": {"a": [value]}}) == want


def test_what_fits_is_not_refused() -> None:
    assert [b.klass.name for b in bound_to("cheap-redis")] == ["cheap-redis"]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param(
            class_of(labels={selection.IS_DEFAULT: "true"}),
            f"metadata.labels[{selection.IS_DEFAULT}]",
            id="default-label",
        ),
        pytest.param(
            {k: v for k, v in class_of().items() if k != "specTemplate"} | {"spec": {"tier": "BASIC"}},
            "spec",
            id="spec-for-spec-template",
        ),
    ],
)
def test_warnings(data: dict[str, Any], path: str) -> None:
    [klass], [warning] = read(data)
    assert warning.path == path
    assert warning.fix
    assert klass.templates[0].base["spec"] == {"tier": "BASIC"}


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param(class_of(namespace="infra"), "metadata.namespace", id="namespace"),
        pytest.param(
            class_of(annotations={selection.WEIGHT: "heavy"}),
            f"{ANNOTATIONS}[{selection.WEIGHT}]",
            id="weight-is-no-number",
        ),
        pytest.param(
            class_of(annotations={selection.WEIGHT: "1.5"}),
            f"{ANNOTATIONS}[{selection.WEIGHT}]",
            id="weight-is-a-fraction",
        ),
        pytest.param({**class_of(), "spec": {}}, "spec", id="spec-and-spec-template"),
        pytest.param(
            {"apiVersion": "a.b/v1", "kind": "WidgetClass", "metadata": {"name": "w"}, "spec": {}},
            "specTemplate",
            id="spec-of-an-unknown-kind",
        ),
        pytest.param({**class_of(), "specTemplat": {}}, "specTemplat", id="unknown-field"),
        pytest.param(class_of(spec={"forProvider": "x"}), "specTemplate.forProvider", id="for-provider-is-a-text"),
        pytest.param(
            class_of(spec={"writeConnectionSecretsToNamespace": "Not A Name"}),
            "specTemplate.writeConnectionSecretsToNamespace",
            id="no-namespace",
        ),
        pytest.param(
            class_of(spec={"writeConnectionSecretsToNamespace": ["a"]}),
            "specTemplate.writeConnectionSecretsToNamespace",
            id="namespace-is-a-list",
        ),
        pytest.param(
            class_of(spec={"writeConnectionSecretsToNamespace": "a", "writeConnectionSecretToRef": {"name": "b"}}),
            "specTemplate.writeConnectionSecretsToNamespace",
            id="two-places-for-the-secret",
        ),
    ],
)
def test_refusals(data: dict[str, Any], path: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(data)
    [problem] = caught.value.problems
    assert problem.path == path
    assert problem.where is not None
    assert problem.fix


def test_all_that_is_wrong_with_the_metadata_is_told_at_once() -> None:
    with pytest.raises(ModelError) as caught:
        read(class_of(namespace="infra", annotations={selection.WEIGHT: "x"}))
    assert len(caught.value.problems) == 2


def test_a_misspelt_spec_template_gets_a_suggestion() -> None:
    with pytest.raises(ModelError) as caught:
        read({"apiVersion": GCP, "kind": MEMORYSTORE, "metadata": {"name": "x"}, "specTemplat": {}})
    assert "specTemplate" in caught.value.problems[0].fix
