from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith import lab
from claimsmith.base import fieldpath
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import CatalogError, ModelError
from claimsmith.base.names import ClassKey, GroupKind
from claimsmith.dialects import definitions as model
from claimsmith.dialects.definitions import Definition
from claimsmith.dialects.definitions import crds as definitions
from claimsmith.kubernetes import crds
from claimsmith.kubernetes import schema as schemas
from claimsmith.kubernetes.client import CRDS, ApiError, Cluster, Resource

# Document 002's own examples, but for the comments.
WORDPRESS = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: ApplicationDefinition
metadata:
  name: wordpresses.apps.example.org
spec:
  crdSpecTemplate:
    group: apps.example.org
    version: v1alpha1
    names:
      kind: Wordpress
      listKind: WordpressList
      plural: wordpresses
      singular: wordpress
    validation:
      openAPIV3Schema:
        properties:
          administratorLogin:
            type: string
          storageSize:
            type: int
          storageType:
            type: string
        type: object
  serviceAccountRef:
    namespace: crossplane-system
    name: wordpresses.apps.example.org
  defaultComposition:
    apiVersion: apiextensions.crossplane.io/v1alpha1
    kind: Composition
    name: local-wordpress
  forceComposition:
    apiVersion: apiextensions.crossplane.io/v1alpha1
    kind: Composition
    name: wordpresses.apps.example.org
"""
MYSQL = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: InfrastructureDefinition
metadata:
  name: mysqlinstances.database.example.org
spec:
  connectionDetails:
  - username
  - password
  - endpoint
  crdSpecTemplate:
    group: database.example.org
    version: v1alpha1
    names:
      kind: MySQLInstance
      listKind: MySQLInstanceList
      plural: mysqlinstances
      singular: mysqlinstance
    validation:
      openAPIV3Schema:
        properties:
          engineVersion:
            type: string
          region:
            type: string
          storageGB:
            type: int
        type: object
"""
PUBLICATION = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: InfrastructurePublication
metadata:
  name: mysqlinstances.database.example.org
spec:
  infrastructureDefinitionReference:
    name: mysqlinstances.database.example.org
"""
COOLBLOG = """\
apiVersion: apps.example.org/v1alpha1
kind: Wordpress
metadata:
  namespace: default
  name: coolblog
spec:
  administratorLogin: admin
  storageSize: 2
  storageType: SSD
  application:
    compositionSelector:
      matchLabels:
        compute: kubernetes
        database: mysql
    compositionRef:
    - name: wordpress-kubernetes-mysql
    composedRefs:
    - apiVersion: database.example.org/v1alpha1
      kind: MySQLInstanceRequirement
      name: coolblog-3jmdf
    - apiVersion: workload.crossplane.io/v1alpha1
      kind: KubernetesApplication
      name: coolblog-3mdm2
"""
SQL = """\
apiVersion: database.example.org/v1alpha1
kind: MySQLInstance
metadata:
  name: sql
spec:
  engineVersion: "5.7"
  storageGB: 10
  region: us-west
  infrastructure:
    compositionSelector:
     matchLabels:
       connectivity: private
    compositionRef:
    - name: private-mysql-server
    composedRefs:
    - apiVersion: azure.crossplane.io/v1alpha3
      kind: ResourceGroup
      name: sql-34jd2
    writeConnectionSecretToRef:
      namespace: crossplane-system
      name: sql
    requirementRef:
      apiVersion: database.example.org/v1alpha1
      kind: MySQLInstanceRequirement
      namespace: default
      name: sql
    reclaimPolicy: Retain
"""
REQUIREMENT = """\
apiVersion: database.example.org/v1alpha1
kind: MySQLInstanceRequirement
metadata:
  namespace: default
  name: sql
spec:
  engineVersion: "5.7"
  storageGB: 10
  region: us-west
  infrastructure:
    resourceRef:
    - apiVersion: database.example.org/v1alpha1
      kind: MySQLInstance
      name: default-sql-dd02m
    compositionSelector:
     matchLabels:
       connectivity: private
    compositionRef:
    - name: private-mysql-server
    writeConnectionSecretToRef:
      name: sql
"""

Change = Callable[[Any], None]
TEMPLATE = "spec.crdSpecTemplate"
SCHEMA = f"{TEMPLATE}.validation.openAPIV3Schema"


def put(path: str, value: Any) -> Change:
    return lambda data: fieldpath.put(data, path, copy.deepcopy(value))


def drop(path: str) -> Change:
    return lambda data: fieldpath.delete(data, path)


def document(text: str, *changes: Change) -> Document:
    data = yaml.safe_load(text)
    for change in changes:
        change(data)
    return read_documents(yaml.safe_dump(data, sort_keys=False), file="a.yaml")[0]


def read(text: str, *changes: Change) -> Definition:
    return model.read(document(text, *changes))


def published(*changes: Change) -> Definition:
    return model.publish([read(MYSQL, *changes)], [model.read_publication(document(PUBLICATION))])[0]


def test_an_application_definition() -> None:
    found = read(WORDPRESS)
    assert found.kind_of == found.injected == "application"
    assert found.namespaced
    assert found.api_version == "apps.example.org/v1alpha1"
    assert found.group_kind == GroupKind("apps.example.org", "Wordpress")
    assert (found.plural, found.singular, found.list_kind) == ("wordpresses", "wordpress", "WordpressList")
    assert found.name == "wordpresses.apps.example.org"
    assert found.schema["properties"]["storageSize"] == {"type": "integer"}
    assert found.service_account == ("crossplane-system", "wordpresses.apps.example.org")
    assert found.default_composition == ClassKey(model.COMPOSITION, "local-wordpress")
    assert found.force_composition == ClassKey(model.COMPOSITION, "wordpresses.apps.example.org")
    assert found.requirement is None
    assert found.warnings == ()


def test_an_infrastructure_definition() -> None:
    found = read(MYSQL)
    assert found.kind_of == found.injected == "infrastructure"
    assert not found.namespaced
    assert found.connection_details == ("username", "password", "endpoint")
    assert found.service_account is found.default_composition is found.force_composition is None
    assert not found.published


def test_a_published_definition_has_a_requirement() -> None:
    assert published().requirement == GroupKind("database.example.org", "MySQLInstanceRequirement")


def test_connection_details_of_an_application_are_ignored_with_a_warning() -> None:
    found = read(WORDPRESS, put("spec.connectionDetails", ["a", "a"]))
    assert found.connection_details == ()
    assert [w.path for w in found.warnings] == ["spec.connectionDetails"]


SPEC = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("change", "want"),
    [
        pytest.param(put(SCHEMA, {"properties": {"a": {"type": "string"}}}), SPEC, id="root-without-type"),
        pytest.param(put(SCHEMA, {"properties": {"spec": SPEC}}), SPEC, id="lone-spec"),
        pytest.param(
            put(SCHEMA, {"properties": {"spec": SPEC, "status": {"type": "object"}}}), SPEC, id="whole-resource"
        ),
        pytest.param(
            put(SCHEMA, {"properties": {"spec": {"type": "string"}}}),
            {"type": "object", "properties": {"spec": {"type": "string"}}},
            id="a-field-named-spec",
        ),
        pytest.param(
            drop(f"{TEMPLATE}.validation"),
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            id="no-schema-takes-anything",
        ),
    ],
)
def test_the_schema_is_of_the_spec(change: Change, want: Any) -> None:
    assert read(MYSQL, change).schema == want


def in_versions(*names: str) -> Change:
    def change(data: Any) -> None:
        template = data["spec"]["crdSpecTemplate"]
        template.pop("version", None)
        rules = template.pop("validation")
        template["versions"] = [{"name": n, "served": True, "storage": True, "schema": rules} for n in names]

    return change


@pytest.mark.parametrize(
    ("change", "attribute", "want"),
    [
        pytest.param(in_versions("v1"), "api_version", "database.example.org/v1", id="versions-of-one"),
        pytest.param(drop(f"{TEMPLATE}.names.listKind"), "list_kind", "MySQLInstanceList", id="list-kind"),
        pytest.param(drop(f"{TEMPLATE}.names.singular"), "singular", "mysqlinstance", id="singular"),
        pytest.param(put(f"{TEMPLATE}.scope", "Cluster"), "namespaced", False, id="scope-said"),
        pytest.param(put(f"{TEMPLATE}.names.shortNames", ["db"]), "short_names", ("db",), id="short-names"),
        pytest.param(
            put("spec.defaultComposition", {"name": "cheap"}),
            "default_composition",
            ClassKey(model.COMPOSITION, "cheap"),
            id="composition-by-name",
        ),
        pytest.param(
            put(f"{TEMPLATE}.additionalPrinterColumns", [{"name": "R", "type": "string", "JSONPath": ".spec.region"}]),
            "columns",
            ({"name": "R", "type": "string", "jsonPath": ".spec.region"},),
            id="column-in-its-older-spelling",
        ),
        pytest.param(
            put(f"{SCHEMA}.properties.application", {"type": "string"}), "injected", "infrastructure", id="other"
        ),
    ],
)
def test_read(change: Change, attribute: str, want: Any) -> None:
    assert getattr(read(MYSQL, change), attribute) == want


REFUSED = [
    pytest.param(MYSQL, put("metadata.name", "mysql"), "metadata.name", id="name"),
    pytest.param(MYSQL, drop(f"{TEMPLATE}.version"), f"{TEMPLATE}.version", id="no-version"),
    pytest.param(MYSQL, put(f"{TEMPLATE}.version", "1.0"), f"{TEMPLATE}.version", id="version"),
    pytest.param(MYSQL, in_versions("v1", "v2"), f"{TEMPLATE}.versions", id="two-versions"),
    pytest.param(
        MYSQL, put(f"{TEMPLATE}.versions", [{"name": "v1"}]), f"{TEMPLATE}.versions", id="two-versions-in-two-ways"
    ),
    pytest.param(
        MYSQL, put(f"{TEMPLATE}.scope", "Namespaced"), f"{TEMPLATE}.scope", id="infrastructure-in-a-namespace"
    ),
    pytest.param(WORDPRESS, put(f"{TEMPLATE}.scope", "Cluster"), f"{TEMPLATE}.scope", id="application-in-none"),
    pytest.param(
        WORDPRESS,
        put(f"{SCHEMA}.properties.application", {"type": "string"}),
        f"{SCHEMA}.properties.application",
        id="property-application",
    ),
    pytest.param(
        MYSQL,
        put(f"{SCHEMA}.properties.infrastructure", {"type": "string"}),
        f"{SCHEMA}.properties.infrastructure",
        id="property-infrastructure",
    ),
    pytest.param(
        MYSQL,
        put(SCHEMA, {"properties": {"spec": {"type": "object", "properties": {"infrastructure": {"type": "string"}}}}}),
        f"{SCHEMA}.properties.spec.properties.infrastructure",
        id="property-in-a-full-schema",
    ),
    pytest.param(
        MYSQL, put(f"{SCHEMA}.properties.region.type", "strng"), f"{SCHEMA}.properties.region.type", id="schema-type"
    ),
    pytest.param(MYSQL, put(f"{SCHEMA}.type", "string"), f"{SCHEMA}.type", id="spec-is-no-object"),
    pytest.param(
        MYSQL,
        put(SCHEMA, {"type": "object", "additionalProperties": {"type": "string"}}),
        f"{SCHEMA}.additionalProperties",
        id="spec-is-a-map",
    ),
    pytest.param(MYSQL, put("spec.connectionDetails", ["a", "b", "a"]), "spec.connectionDetails[2]", id="detail-twice"),
    pytest.param(MYSQL, put("spec.connectionDetails", ["a b"]), "spec.connectionDetails[0]", id="detail-is-no-key"),
    pytest.param(MYSQL, put(f"{TEMPLATE}.names.kind", "mySQL"), f"{TEMPLATE}.names.kind", id="kind"),
    pytest.param(
        MYSQL, put(f"{TEMPLATE}.names.kind", "SQLRequirement"), f"{TEMPLATE}.names.kind", id="kind-of-a-requirement"
    ),
    pytest.param(
        MYSQL, put(f"{TEMPLATE}.names.listKind", "MySQLInstance"), f"{TEMPLATE}.names.listKind", id="list-kind"
    ),
    pytest.param(MYSQL, put(f"{TEMPLATE}.names.singular", "MySQL"), f"{TEMPLATE}.names.singular", id="singular"),
    pytest.param(
        MYSQL,
        put("spec.defaultComposition", {"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}),
        "spec.defaultComposition",
        id="default-is-no-composition",
    ),
    pytest.param(MYSQL, put("spec.forceCompositon", {"name": "x"}), "spec.forceCompositon", id="unknown-field"),
    pytest.param(MYSQL, put("spec.serviceAccountRef", {"name": "x"}), "spec.serviceAccountRef.namespace", id="account"),
    pytest.param(
        MYSQL,
        put(f"{TEMPLATE}.additionalPrinterColumns", [{"name": "R", "type": "string"}]),
        f"{TEMPLATE}.additionalPrinterColumns[0]",
        id="column-without-path",
    ),
]


@pytest.mark.parametrize(("text", "change", "path"), REFUSED)
def test_read_refuses(text: str, change: Change, path: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(text, change)
    assert [p.path for p in caught.value.problems] == [path]
    assert caught.value.problems[0].fix
    assert caught.value.problems[0].where


def test_group_and_plural_are_refused_with_the_name() -> None:
    with pytest.raises(ModelError) as caught:
        read(MYSQL, put(f"{TEMPLATE}.group", "database"), put(f"{TEMPLATE}.names.plural", "MySQLs"))
    assert [p.path for p in caught.value.problems] == ["metadata.name", f"{TEMPLATE}.group", f"{TEMPLATE}.names.plural"]


OTHER_KIND = [
    put("metadata.name", "others.database.example.org"),
    put(f"{TEMPLATE}.names", {"kind": "Other", "plural": "others"}),
]
CLASH = [
    put("metadata.name", "mysqlinstancerequirements.database.example.org"),
    put(f"{TEMPLATE}.names", {"kind": "Other", "plural": "mysqlinstancerequirements"}),
]
REFERENCE = "spec.infrastructureDefinitionReference.name"
APPLICATION = [put("metadata.name", "wordpresses.apps.example.org"), put(REFERENCE, "wordpresses.apps.example.org")]
UNKNOWN = [
    put("metadata.name", "mysqlinstance.database.example.org"),
    put(REFERENCE, "mysqlinstance.database.example.org"),
]


def test_publish_keeps_the_order() -> None:
    given = [read(WORDPRESS), read(MYSQL), read(MYSQL, *OTHER_KIND)]
    found = model.publish(given, [model.read_publication(document(PUBLICATION))])
    assert [(d.group_kind.kind, d.published) for d in found] == [
        ("Wordpress", False),
        ("MySQLInstance", True),
        ("Other", False),
    ]


@pytest.mark.parametrize(
    ("more", "publications", "path", "fix"),
    [
        pytest.param([], [UNKNOWN], REFERENCE, "did you mean 'mysqlinstances.database.example.org'?", id="unknown"),
        pytest.param([], [APPLICATION], REFERENCE, "", id="application"),
        pytest.param([], [[], []], "metadata.name", "remove one of the two", id="twice"),
        pytest.param([], [[put("metadata.name", "x")]], "metadata.name", "name it mysqlinstances", id="other-name"),
        pytest.param([[]], [], "metadata.name", "remove one of the two", id="kind-defined-twice"),
        pytest.param(
            [[put("metadata.name", "sqls.database.example.org"), put(f"{TEMPLATE}.names.plural", "sqls")]],
            [],
            "metadata.name",
            "another kind",
            id="kind-defined-twice-by-another-plural",
        ),
        pytest.param([CLASH], [[]], f"{TEMPLATE}.names.plural", "another plural", id="plural-of-a-requirement"),
    ],
)
def test_publish_refuses(more: Any, publications: Any, path: str, fix: str) -> None:
    given = [read(WORDPRESS), read(MYSQL), *(read(MYSQL, *changes) for changes in more)]
    with pytest.raises(CatalogError) as caught:
        model.publish(given, [model.read_publication(document(PUBLICATION, *changes)) for changes in publications])
    assert [p.path for p in caught.value.problems] == [path]
    assert fix in caught.value.problems[0].fix
    assert caught.value.problems[0].fix


def test_a_publication_without_reference_is_refused() -> None:
    with pytest.raises(ModelError) as caught:
        model.read_publication(document(PUBLICATION, put("spec", None)))
    assert [p.path for p in caught.value.problems] == ["spec.infrastructureDefinitionReference"]


def problems(text: str, *changes: Change) -> list[tuple[str, str]]:
    """Path and fix of each problem of an instance of one of the document's definitions."""
    found = document(text, *changes)
    definition = read(WORDPRESS) if text is COOLBLOG else published()
    reported = model.check_instance(definition, found, requirement=text is REQUIREMENT)
    assert all(p.where for p in reported)
    return [(p.path, p.fix) for p in reported]


@pytest.mark.parametrize(
    ("text", "change"),
    [
        pytest.param(COOLBLOG, put("kind", "Wordpress"), id="application"),
        pytest.param(SQL, put("kind", "MySQLInstance"), id="infrastructure"),
        pytest.param(REQUIREMENT, put("kind", "MySQLInstanceRequirement"), id="requirement"),
        pytest.param(COOLBLOG, put("spec", None), id="application-with-nothing"),
        pytest.param(COOLBLOG, drop("metadata.namespace"), id="namespace-by-default"),
        pytest.param(COOLBLOG, put("spec.application.compositionRef", {"name": "x"}), id="reference-as-an-object"),
        pytest.param(COOLBLOG, put("spec.application.compositionRef", []), id="reference-as-an-empty-list"),
        pytest.param(COOLBLOG, put("spec.application.compositionSelector", {}), id="selector-of-all"),
        pytest.param(COOLBLOG, put("spec.application.compositionSelector", None), id="selector-of-nothing"),
        pytest.param(SQL, put("status", {"any": 1}), id="status"),
        pytest.param(REQUIREMENT, drop("spec.infrastructure.resourceRef"), id="dynamic"),
    ],
)
def test_instances(text: str, change: Change) -> None:
    assert problems(text, change) == []


INNER = "spec.infrastructure"
SECRET = f"{INNER}.writeConnectionSecretToRef"
EXPRESSIONS = {"matchExpressions": [{"key": "a", "operator": "In"}]}


@pytest.mark.parametrize(
    ("text", "change", "path", "fix"),
    [
        pytest.param(
            COOLBLOG,
            put("apiVersion", "example.org/v1alpha1"),
            "apiVersion",
            "did you mean apiVersion: apps.example.org/v1alpha1?",
            id="the-document's-own-group",
        ),
        pytest.param(SQL, put("apiVersion", "database.example.org/v1"), "apiVersion", "v1alpha1", id="version"),
        pytest.param(COOLBLOG, put("kind", "Drupal"), "kind", "write kind: Wordpress", id="kind"),
        pytest.param(COOLBLOG, put("spec.storageSize", "2"), "spec.storageSize", "without quotes", id="type"),
        pytest.param(COOLBLOG, put("spec.storageSise", 2), "spec.storageSise", "'storageSize'", id="unknown-field"),
        pytest.param(
            COOLBLOG,
            put("spec.application.compositeSelector", {}),
            "spec.application.compositeSelector",
            "'compositionSelector'",
            id="composite-selector",
        ),
        pytest.param(
            COOLBLOG,
            put("spec.application.compositeRef", []),
            "spec.application.compositeRef",
            "'compositionRef'",
            id="composite-ref",
        ),
        pytest.param(
            COOLBLOG,
            put("spec.compositionSelector", {}),
            "spec.compositionSelector",
            "'spec.application.compositionSelector'",
            id="selector-beside-the-object",
        ),
        pytest.param(
            COOLBLOG, put("spec.infrastructure", {}), "spec.infrastructure", "'application'", id="other-object"
        ),
        pytest.param(
            COOLBLOG,
            put("spec.application.compositionRef", [{"name": "a"}, {"name": "b"}]),
            "spec.application.compositionRef",
            "at most 1",
            id="list-of-two",
        ),
        pytest.param(
            COOLBLOG,
            put("spec.application.compositionRef", [{"nam": "a", "name": "a"}]),
            "spec.application.compositionRef[0].nam",
            "'name'",
            id="in-a-list-of-one",
        ),
        pytest.param(
            COOLBLOG,
            put("spec.application.compositionRef", {"name": "a", "kind": "ResourceClass"}),
            "spec.application.compositionRef.kind",
            "'Composition'",
            id="reference-to-a-class",
        ),
        pytest.param(
            COOLBLOG,
            put("spec.application.compositionRef", {"name": "a", "apiVersion": "v1"}),
            "spec.application.compositionRef",
            "apiextensions.crossplane.io",
            id="reference-to-another-group",
        ),
        pytest.param(
            COOLBLOG,
            put("spec.application.reclaimPolicy", "Retain"),
            "spec.application.reclaimPolicy",
            "remove it",
            id="applications-have-no-policy",
        ),
        pytest.param(
            COOLBLOG,
            put("spec.application.compositionSelector", EXPRESSIONS),
            "spec.application.compositionSelector",
            "selectors",
            id="selector-without-values",
        ),
        pytest.param(SQL, put("metadata.namespace", "default"), "metadata.namespace", "Requirement", id="namespace"),
        pytest.param(SQL, drop("metadata.name"), "metadata.name", "add name:", id="no-name"),
        pytest.param(SQL, put("metadata.lables", {}), "metadata.lables", "'labels'", id="metadata"),
        pytest.param(SQL, drop(SECRET), SECRET, "with namespace and name", id="composite-without-secret"),
        pytest.param(SQL, drop(INNER), SECRET, "with namespace and name", id="composite-without-anything"),
        pytest.param(SQL, drop(f"{SECRET}.namespace"), f"{SECRET}.namespace", "add namespace:", id="secret-nowhere"),
        pytest.param(SQL, put(f"{INNER}.reclaimPolicy", "Release"), f"{INNER}.reclaimPolicy", "'Retain'", id="policy"),
        pytest.param(
            SQL,
            put(f"{INNER}.requirementRef.kind", "Pod"),
            f"{INNER}.requirementRef",
            "name a My",
            id="requirement-kind",
        ),
        pytest.param(REQUIREMENT, drop(SECRET), SECRET, "with name", id="requirement-without-secret"),
        pytest.param(
            REQUIREMENT, put(f"{SECRET}.namespace", "x"), f"{SECRET}.namespace", "remove it", id="own-namespace"
        ),
        pytest.param(
            REQUIREMENT,
            put(f"{INNER}.resourceRef[0].kind", "CloudSQLInstance"),
            f"{INNER}.resourceRef[0]",
            "name a MySQLInstance of database.example.org/v1alpha1",
            id="resource-of-another-kind",
        ),
        pytest.param(
            REQUIREMENT,
            put(f"{INNER}.resourceRef", {"name": "x"}),
            f"{INNER}.resourceRef.apiVersion",
            "add",
            id="bare-ref",
        ),
        pytest.param(
            REQUIREMENT, put(f"{INNER}.reclaimPolicy", "Delete"), f"{INNER}.reclaimPolicy", "", id="no-policy"
        ),
    ],
)
def test_instances_refused(text: str, change: Change, path: str, fix: str) -> None:
    reported = problems(text, change)
    assert path in [p for p, _ in reported]
    assert fix in dict(reported)[path]
    assert all(p.startswith(path.rpartition(".")[0]) for p, _ in reported)
    assert dict(reported)[path]


def test_all_problems_of_an_instance_are_told_at_once() -> None:
    reported = problems(SQL, put("metadata.namespace", "a"), put("spec.storageGB", "many"), drop(SECRET))
    assert [path for path, _ in reported] == ["metadata.namespace", "spec.storageGB", SECRET]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(COOLBLOG, ("Wordpress", False), id="application"),
        pytest.param(SQL, ("MySQLInstance", False), id="infrastructure"),
        pytest.param(REQUIREMENT, ("MySQLInstance", True), id="requirement"),
    ],
)
def test_find(text: str, want: tuple[str, bool]) -> None:
    found = model.find([read(WORDPRESS), published()], GroupKind.of(document(text).data))
    assert found is not None
    assert (found[0].group_kind.kind, found[1]) == want


@pytest.mark.parametrize(
    ("text", "change", "fix"),
    [
        pytest.param(COOLBLOG, put("apiVersion", "example.org/v1"), "apps.example.org/v1alpha1", id="group"),
        pytest.param(
            REQUIREMENT, put("kind", "MySQLInstanceRequirement"), "InfrastructurePublication", id="unpublished"
        ),
    ],
)
def test_strangers_are_told_what_they_may_have_meant(text: str, change: Change, fix: str) -> None:
    given, found = [read(WORDPRESS), read(MYSQL)], document(text, change)
    assert model.find(given, GroupKind.of(found.data)) is None
    problem = model.undefined_kind(given, found)
    assert problem is not None
    assert fix in problem.fix


def test_others_are_no_strangers() -> None:
    assert model.undefined_kind([read(WORDPRESS)], document(PUBLICATION)) is None


def test_defaults_reach_the_instance() -> None:
    definition = read(MYSQL, put(f"{SCHEMA}.properties.region.default", "us-east"))
    data = document(SQL, drop("spec.region"), put("spec.engineVersion", None)).data
    spec = model.defaulted(definition, data, requirement=False)["spec"]
    assert spec["region"] == "us-east"
    assert "engineVersion" not in spec
    assert "region" not in data["spec"]


# Custom resource definitions


def version_of(crd: Any) -> Any:
    return crd["spec"]["versions"][0]


def test_the_definition_of_an_application() -> None:
    (crd,) = definitions.crds_of(read(WORDPRESS))
    assert crd["metadata"] == {"name": "wordpresses.apps.example.org"}
    assert crd["spec"]["scope"] == "Namespaced"
    assert "subresources" not in version_of(crd)
    spec = version_of(crd)["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert list(spec["properties"]) == ["administratorLogin", "storageSize", "storageType", "application"]
    assert list(spec["properties"]["application"]["properties"]) == [
        "compositionSelector",
        "compositionRef",
        "composedRefs",
    ]
    assert "required" not in spec


def test_the_definitions_of_published_infrastructure() -> None:
    own, twin = definitions.crds_of(published())
    assert [c["spec"]["scope"] for c in (own, twin)] == ["Cluster", "Namespaced"]
    assert twin["spec"]["names"] == {
        "kind": "MySQLInstanceRequirement",
        "listKind": "MySQLInstanceRequirementList",
        "plural": "mysqlinstancerequirements",
        "singular": "mysqlinstancerequirement",
        "categories": ["requirement"],
    }
    fields = [list(version_of(c)["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]) for c in (own, twin)]
    assert fields[0] == fields[1] == ["engineVersion", "region", "storageGB", "infrastructure"]


def every_crd() -> list[Any]:
    claim = definitions.claim_crd(
        "cache.example.org/v1alpha1", "RedisCluster", schema={"properties": {"n": {"type": "int"}}}
    )
    return [
        *definitions.crds_of(read(WORDPRESS)),
        *definitions.crds_of(published()),
        claim,
        definitions.claim_crd("cache.example.org/v1alpha1", "Bucket"),
        *definitions.record_crds(),
    ]


def test_no_definition_has_anchors_or_a_status_of_its_own() -> None:
    text = yaml.safe_dump_all(every_crd())
    assert "&id" not in text
    assert "subresources" not in text


def test_records() -> None:
    found = {c["spec"]["names"]["kind"]: c["spec"]["scope"] for c in definitions.record_crds()}
    assert found == {
        "CompositeResource": "Cluster",
        "AggregateResource": "Cluster",
        "WorkloadTarget": "Namespaced",
        "KubernetesApplication": "Namespaced",
        "KubernetesApplicationResource": "Namespaced",
    }
    assert all(crds.is_permissive(c) for c in definitions.record_crds())


SPEC_AT = "spec.versions[0].schema.openAPIV3Schema.properties.spec"
STATUS_AT = "spec.versions[0].schema.openAPIV3Schema.properties.status"
PRESERVE = "x-kubernetes-preserve-unknown-fields"


def test_our_own_claim_definitions_are_sound() -> None:
    for crd in (definitions.claim_crd("a.example.org/v1", "Claim", schema=SPEC), definitions.claim_crd("a.b/v1", "C")):
        assert definitions.check_claim_crd(crd) == []
    assert definitions.check_claim_crd(crds.permissive_crd("a.b/v1", "C", namespaced=True, managed=False)) == []


@pytest.mark.parametrize(
    ("change", "want"),
    [
        pytest.param(put("spec.scope", "Cluster"), ["not in a namespace"], id="scope"),
        pytest.param(
            drop(f"{SPEC_AT}.properties.writeConnectionSecretToRef"),
            ["spec.writeConnectionSecretToRef.name"],
            id="secret",
        ),
        pytest.param(drop(f"{SPEC_AT}.properties.classRef.properties.kind"), ["spec.classRef.kind"], id="class-ref"),
        pytest.param(
            drop(f"{SPEC_AT}.properties.resourceRef.properties.name"), ["spec.resourceRef.name"], id="resource-ref"
        ),
        pytest.param(
            put(STATUS_AT, {"type": "object"}),
            ["status.bindingPhase", "status.conditions"],
            id="status-that-keeps-nothing",
        ),
    ],
)
def test_claim_definitions_refused(change: Change, want: list[str]) -> None:
    crd = definitions.claim_crd("a.example.org/v1", "Claim", schema=SPEC)
    change(crd)
    given = document(yaml.safe_dump(crd))
    reported = definitions.check_claim_crd(given.data, document=given)
    assert len(reported) == len(want)
    assert all(w in p.what for p, w in zip(reported, want, strict=True))
    assert all(p.where and p.fix for p in reported)


def resource(crd: Any) -> Resource:
    spec = crd["spec"]
    return Resource(f"{spec['group']}/{version_of(crd)['name']}", spec["names"]["plural"])


def told_by(client: Cluster, crd: Any, data: Any) -> str:
    try:
        path = resource(crd).path(namespace=data["metadata"].get("namespace", ""))
        client.request("POST", path, data, fieldValidation="Strict", dryRun="All")
    except ApiError as error:
        return error.message
    return "accepted"


@pytest.mark.e2e
def test_a_real_api_server_serves_them(tmp_path: Path) -> None:
    installed = every_crd()
    own = {c["spec"]["names"]["kind"]: c for c in installed}
    wordpress, mysql = read(WORDPRESS), published()
    cases = [(wordpress, COOLBLOG, "storageSize"), (mysql, SQL, "storageGB"), (mysql, REQUIREMENT, "storageGB")]
    with (
        lab.running(tmp_path, crds=installed, simulate=False) as plane,
        Cluster.of_file(plane.kubeconfig, manager="test") as client,
    ):
        found = [client.get(CRDS, c["metadata"]["name"]) or {} for c in installed]
        assert all(crds.is_established(c) for c in found)
        conditions = [c for f in found for c in f["status"]["conditions"]]
        assert not [c for c in conditions if c["type"] == "NonStructuralSchema"]
        for definition, text, field in cases:
            good, bad, unknown, lacking = (
                document(text),
                document(text, put(f"spec.{field}", "many")),
                document(text, put("spec.regoin", "x")),
                document(text, drop(f"spec.{definition.injected}")),
            )
            required = text is REQUIREMENT
            crd = own[good.data["kind"]]
            for case in (good, bad, unknown, lacking):
                ours = model.check_instance(definition, case, requirement=required)
                theirs = told_by(client, crd, case.data)
                assert (ours == []) == (theirs == "accepted"), (ours, theirs)
        # What `kubectl explain` reads.
        schemas_of = client.request("GET", "/openapi/v3/apis/database.example.org/v1alpha1")["components"]["schemas"]
        described = schemas_of["org.example.database.v1alpha1.MySQLInstance"]["properties"]["spec"]
        assert described["description"]
        assert all("description" in p for p in described["properties"]["infrastructure"]["properties"].values())
        # A record keeps its status, since it is written whole.
        record = {
            **{"apiVersion": "core.crossplane.io/v1alpha1", "kind": "CompositeResource", "metadata": {"name": "x"}},
            **{"spec": {"any": [1]}, "status": {"bindingPhase": "Bound"}},
        }
        kept = client.create(resource(own["CompositeResource"]), record)
        assert (kept["spec"], kept["status"]) == (record["spec"], record["status"])
    assert schemas.crd_schema(own["CompositeResource"], "v1alpha1") is None
