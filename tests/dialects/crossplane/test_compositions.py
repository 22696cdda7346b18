"""Crossplane definitions and compositions: how they are read, what a stack reports of them, and what files render."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, ModelError
from claimsmith.base.merge import MergePolicy
from claimsmith.base.names import GroupKind
from claimsmith.dialects.common.klass import Check, Detail, Side
from claimsmith.dialects.crossplane import composition as crossplane_composition
from claimsmith.dialects.crossplane import xrd
from claimsmith.platform.catalog import read_catalog
from tests.support.crossplane_documents import (
    BUCKET,
    PATCH,
    XR,
    composition,
    definition,
    document,
    piped,
    resources,
    step,
)

# Reading


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_resources_mode(version: str) -> None:
    details = [
        {"fromConnectionSecretKey": "endpoint"},
        {"name": "host", "fromConnectionSecretKey": "endpoint"},
        {"name": "port", "value": "5432"},
        {"name": "arn", "fromFieldPath": "status.arn"},
    ]
    checks = [{"type": "MatchCondition", "matchCondition": {"type": "Synced", "status": "True"}}]
    unnamed = {"base": BUCKET, "patches": [PATCH], "connectionDetails": details, "readinessChecks": checks}
    data = composition(version, resources=[unnamed, {"name": "second", "base": BUCKET}])
    klass, warnings = crossplane_composition.read(document(data))
    assert warnings == []
    assert klass.serves == GroupKind("example.org", "XBucket")
    assert [t.name for t in klass.templates] == ["resource-0", "second"]
    first = klass.templates[0]
    assert first.details == (
        Detail("endpoint", "endpoint"),
        Detail("host", "endpoint"),
        Detail("port", "", value="5432"),
        Detail("arn", "", field_path="status.arn"),
    )
    assert first.checks == (Check("MatchCondition", condition=("Synced", "True")),)
    patch = first.patches[0]
    assert (patch.reads, patch.to, patch.origin, patch.target) == (("spec.region",), "spec.region", *SIDES)
    assert patch.at == "spec.resources[0].patches[0]"


SIDES = (Side.claim, Side.resource)


def test_resources_mode_has_merge_options() -> None:
    merged = {**PATCH, "policy": {"mergeOptions": {"keepMapValues": True}}}
    klass, _ = crossplane_composition.read(document(composition(resources=[{"base": BUCKET, "patches": [merged]}])))
    assert klass.templates[0].patches[0].policy is MergePolicy.MergeObjects


def test_the_old_form_is_another_dialect() -> None:
    old = {"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "Composition", "spec": {"from": {}, "to": []}}
    assert not crossplane_composition.is_composition(Document(old, "f"))
    assert crossplane_composition.is_composition(Document(composition("v1alpha1", resources=[]), "f"))


def test_the_digest_tells_steps_apart() -> None:
    one, other = (
        crossplane_composition.read(document(piped(step(**resources({"name": n, "base": BUCKET})))))[0] for n in "ab"
    )
    assert one.digest() != other.digest()


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param(composition(mode="Pipeline"), "spec.pipeline", id="pipeline-without-steps"),
        pytest.param(composition(pipeline=[step(name="a")]), "spec.pipeline", id="steps-without-pipeline"),
        pytest.param(composition(resources=[]), "spec.resources", id="nothing-to-do"),
        pytest.param(piped(step()), "spec.pipeline[0].input", id="step-without-input"),
        pytest.param(
            piped(step(**resources({"name": "a", "base": BUCKET, "connectionDetails": [{"name": "x", "value": "y"}]}))),
            "spec.pipeline[0].input.resources[0].connectionDetails[0].type",
            id="functions-infer-no-types",
        ),
        pytest.param(
            piped(step(**resources({"base": BUCKET}))), "spec.pipeline[0].input.resources[0].name", id="unnamed-in-step"
        ),
        pytest.param(composition(resources=[{"base": BUCKET}], modus="x"), "spec.modus", id="unknown-field"),
        pytest.param(
            composition(resources=[{"base": BUCKET}], environment={"environmentConfigs": [{"type": "Guess"}]}),
            "spec.environment.environmentConfigs[0].type",
            id="unknown-source-of-the-environment",
        ),
    ],
)
def test_refused_compositions(data: dict[str, Any], path: str) -> None:
    with pytest.raises(ModelError) as caught:
        crossplane_composition.read(document(data))
    problem = caught.value.problems[0]
    assert problem.path.startswith(path)
    assert problem.where
    assert problem.fix


def test_paths_that_cannot_be_parsed_are_doubtful() -> None:
    data = composition(resources=[{"base": BUCKET, "patches": [{"fromFieldPath": "a..b"}]}])
    assert [w.path for w in crossplane_composition.read(document(data))[1]] == ["spec.resources[0].patches[0]"]


def test_definitions() -> None:
    more = {
        "claimNames": {"kind": "Bucket", "plural": "buckets"},
        "connectionSecretKeys": ["host"],
        "defaultCompositionRef": {"name": "a"},
        "enforcedCompositionRef": {"name": "b"},
    }
    found = xrd.read(document(definition(**more)))
    assert (found.kind, found.claim) == (GroupKind("example.org", "XBucket"), GroupKind("example.org", "Bucket"))
    assert (found.connection_keys, found.default_composition, found.enforced_composition) == (("host",), "a", "b")
    assert (found.namespaced, found.modern) == (False, False)
    assert found.defaulted(document(XR))["spec"] == {**XR["spec"], "size": 5}


@pytest.mark.parametrize(
    ("scope", "namespaced", "modern"),
    [
        pytest.param({}, True, True, id="left-out"),
        pytest.param({"scope": "Namespaced"}, True, True, id="namespaced"),
        pytest.param({"scope": "Cluster"}, False, True, id="cluster"),
        pytest.param({"scope": "LegacyCluster"}, False, False, id="legacy"),
    ],
)
def test_scopes_of_definitions(scope: dict[str, str], namespaced: bool, modern: bool) -> None:
    found = xrd.read(document(definition("v2", **scope)))
    assert (found.namespaced, found.modern) == (namespaced, modern)


@pytest.mark.parametrize(
    ("version", "where"),
    [pytest.param("v1", "spec", id="in-spec"), pytest.param("v2", "spec.crossplane", id="in-spec-crossplane")],
)
def test_the_update_policy_is_a_default_too(version: str, where: str) -> None:
    found = xrd.read(document(definition(version, defaultCompositionUpdatePolicy="Manual")))
    full = found.defaulted(document({**XR, "spec": {"crossplane": {}}}))
    spec = {"spec": full["spec"], "spec.crossplane": full["spec"]["crossplane"]}[where]
    assert spec["compositionUpdatePolicy"] == "Manual"


def test_the_oldest_form_of_definitions() -> None:
    template = {"group": "example.org", "version": "v1", "names": {"kind": "XBucket", "plural": "xbuckets"}}
    data = {**definition("v1alpha1"), "spec": {"crdSpecTemplate": template}}
    assert list(xrd.read(document(data)).versions) == ["v1"]


FIELDS = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties"


def served(fields: Any) -> dict[str, Any]:
    """A version whose spec has these fields."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    return {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param({**definition(), "metadata": {"name": "other"}}, "metadata.name", id="misnamed"),
        pytest.param(definition(versions=[]), "spec.versions", id="no-version"),
        pytest.param(definition(versions=[{"name": "a"}, {"name": "b"}]), "spec.versions", id="none-referenceable"),
        pytest.param(definition(scope="Galaxy"), "spec.scope", id="unknown-scope"),
        pytest.param(definition(versions=[served({"a": None})]), f"{FIELDS}.a", id="field-without-schema"),
        pytest.param(definition(versions=[served({"a": "string"})]), f"{FIELDS}.a", id="field-that-is-its-type"),
        pytest.param(definition(versions=[served(["a"])]), FIELDS, id="list-of-fields"),
        pytest.param(
            definition(versions=[served({"a": {"items": {"properties": {"b": 3}}}})]),
            f"{FIELDS}.a.items.properties.b",
            id="field-of-an-item",
        ),
        pytest.param(
            definition(versions=[served({"a": {"anyOf": [{"properties": {"b": None}}]}})]),
            f"{FIELDS}.a.anyOf[0].properties.b",
            id="field-in-a-branch",
        ),
    ],
)
def test_refused_definitions(data: dict[str, Any], path: str) -> None:
    with pytest.raises(ModelError) as caught:
        xrd.read(document(data))
    assert caught.value.problems[0].path == path


def test_a_definition_of_another_kind() -> None:
    with pytest.raises(ModelError):
        xrd.read(document(definition())).defaulted(document({**XR, "kind": "Other"}))


# In a stack


PLATFORM = [
    document(definition(claimNames={"kind": "Bucket", "plural": "buckets"})),
    document(composition(resources=[{"base": BUCKET}])),
]


def test_a_platform_may_hold_crossplane_documents() -> None:
    catalog = read_catalog(PLATFORM)
    assert [c.name for c in catalog.crossplane.compositions.values()] == ["buckets"]
    assert sorted(str(c.serves) for c in catalog.classes.values()) == ["Bucket.example.org", "XBucket.example.org"]


@pytest.mark.parametrize("kind", ["XBucket", "Bucket"])
def test_a_kind_that_nothing_defines_is_told_so(kind: str) -> None:
    claim = {**XR, "kind": kind, "metadata": {"name": "my"}}
    alone = [PLATFORM[1]]
    if kind == "XBucket":
        with pytest.raises(CatalogError) as caught:
            read_catalog(alone, [document(claim)])
        assert "nothing defines it" in caught.value.problems[0].what
    else:
        assert read_catalog(alone, [document(claim)]).claims, "any kind may be claimed, and stays unbound"


@pytest.mark.parametrize("index", [0, 1])
def test_names_stand_once(index: int) -> None:
    twin = document(PLATFORM[index].data)
    with pytest.raises(CatalogError) as caught:
        read_catalog([*PLATFORM, twin])
    assert "occurs twice" in caught.value.problems[0].what


@pytest.mark.parametrize("metadata", [3.5, "text", [], {"name": 1}, None])
def test_an_environment_of_a_stack_without_a_name_is_refused(metadata: Any) -> None:
    data = {"apiVersion": "apiextensions.crossplane.io/v1beta1", "kind": "EnvironmentConfig", "metadata": metadata}
    with pytest.raises(CatalogError, match="the EnvironmentConfig has no name"):
        read_catalog([], [document(data)])
