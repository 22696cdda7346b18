from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import CatalogError
from claimsmith.base.names import GroupKind
from claimsmith.kubernetes.crds import permissive_crd
from claimsmith.platform.catalog import read_catalog
from tests.support.samples import catalog_of, claim_data, class_data, documents_of

DATABASE = GroupKind("database.example.org", "Database")
PUBLICATION = {
    "apiVersion": "apiextensions.crossplane.io/v1alpha1",
    "kind": "InfrastructurePublication",
    "spec": {"infrastructureDefinitionReference": {"name": "x"}},
}
CRD = permissive_crd("y.example.org/v1", "X", namespaced=False, managed=False, plural="x")
UNREADABLE = {
    "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": None}}}}
}


def versioned(**version: Any) -> dict[str, Any]:
    return {**CRD, "spec": {**CRD["spec"], "versions": [{"name": "v1", "served": True, "storage": True, **version}]}}


def shared(**spec: Any) -> dict[str, Any]:
    return {**CRD, "spec": {**CRD["spec"], "versions": [{"name": "v1", "served": True, "storage": True}], **spec}}


def test_classes_and_claims_are_found_by_their_keys() -> None:
    catalog = catalog_of([class_data("a"), class_data("b")], [claim_data("x"), claim_data("x", namespace="other")])
    assert sorted(str(c.key) for c in catalog.classes.values()) == [
        "CompositeResourceClass.infrastructure.crossplane.io/a",
        "CompositeResourceClass.infrastructure.crossplane.io/b",
    ]
    assert sorted(map(str, catalog.claims)) == [
        "Database.database.example.org/default/x",
        "Database.database.example.org/other/x",
    ]


def test_serving_is_by_kind_and_in_the_order_of_names() -> None:
    catalog = catalog_of([class_data("b"), class_data("c", kind="Cache"), class_data("a")])
    assert [c.name for c in catalog.serving(DATABASE)] == ["a", "b"]


def test_crds_are_kept() -> None:
    assert [d.data["metadata"]["name"] for d in catalog_of([CRD]).crds] == ["x.y.example.org"]


def test_nothing_is_a_catalog_too() -> None:
    assert not read_catalog([], []).classes


@pytest.mark.parametrize(
    ("classes", "claims", "file", "path", "word"),
    [
        pytest.param(
            [class_data("a"), class_data("a")], [], "platform.yaml", "metadata.name", "twice", id="class-twice"
        ),
        pytest.param([], [claim_data("x")] * 2, "claims.yaml", "metadata.name", "twice", id="claim-twice"),
        pytest.param(
            [{**PUBLICATION, "metadata": []}], [], "platform.yaml", "metadata", "", id="publication-without-metadata"
        ),
        pytest.param([{"kind": "X"}], [], "platform.yaml", "apiVersion", "no apiVersion", id="no-api-version"),
        pytest.param(
            [versioned(schema=UNREADABLE)],
            [],
            "platform.yaml",
            "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a",
            "'a' has no schema",
            id="definition-with-a-field-without-schema",
        ),
        pytest.param(
            [shared(validation=UNREADABLE)],
            [],
            "platform.yaml",
            "spec.validation.openAPIV3Schema.properties.spec.properties.a",
            "'a' has no schema",
            id="old-definition-with-a-field-without-schema",
        ),
        pytest.param([], [{"apiVersion": "a/v1"}], "claims.yaml", "kind", "no kind", id="no-kind"),
        pytest.param(
            [{"apiVersion": "a/v1", "kind": 5}], [], "platform.yaml", "kind", "no kind", id="kind-is-a-number"
        ),
        pytest.param(
            [{**class_data(), "kind": "CompositResourceClass"}], [], "platform.yaml", "kind", "no kind", id="misspelt"
        ),
        pytest.param([claim_data("x")], [], "platform.yaml", "kind", "no kind", id="claim-among-classes"),
    ],
)
def test_refusals(classes: list, claims: list, file: str, path: str, word: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of(classes, claims)
    [problem] = caught.value.problems
    assert (problem.where.file, problem.path) == (file, path)
    assert word in problem.what
    assert problem.fix


def test_a_misspelt_kind_gets_a_suggestion() -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of([{**class_data(), "kind": "CompositResourceClass"}])
    assert "CompositeResourceClass" in caught.value.problems[0].fix


def test_the_second_of_two_is_blamed_and_the_first_named() -> None:
    documents = documents_of(class_data("a"), class_data("b"), class_data("a"))
    with pytest.raises(CatalogError) as caught:
        read_catalog(documents)
    [problem] = caught.value.problems
    assert problem.where == documents[2].source_of("metadata.name")
    assert str(documents[0].source_of("metadata.name")) in problem.what


def test_problems_of_all_documents_are_told_in_the_order_of_the_files() -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of([class_data("Bad"), class_data("Worse")], [claim_data("NO")])
    assert [p.where.file for p in caught.value.problems] == ["claims.yaml", "platform.yaml", "platform.yaml"]
