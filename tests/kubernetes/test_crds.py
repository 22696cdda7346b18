from __future__ import annotations

import copy
from typing import Any

import pytest

from claimsmith.base.errors import ModelError
from claimsmith.kubernetes import crds

GROUP = "database.azure.crossplane.io"


def permissive(version: str, kind: str = "MySQLServer", **options: Any) -> dict[str, Any]:
    return crds.permissive_crd(f"{GROUP}/{version}", kind, **{"namespaced": False, "managed": True, **options})


def real(*versions: str, stored: str, scope: str = "Cluster", mark: str = "real") -> dict[str, Any]:
    schema = {"type": "object", "description": mark}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"mysqlservers.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"kind": "MySQLServer", "plural": "mysqlservers", "categories": ["crossplane"]},
            "versions": [
                {"name": v, "served": True, "storage": v == stored, "schema": {"openAPIV3Schema": schema}}
                for v in versions
            ],
        },
    }


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        pytest.param("MySQLServer", "mysqlservers", id="plain"),
        pytest.param("Policy", "policies", id="consonant-y"),
        pytest.param("Gateway", "gateways", id="vowel-y"),
        pytest.param("Address", "addresses", id="ss"),
        pytest.param("Index", "indexes", id="x"),
        pytest.param("Patch", "patches", id="ch"),
        pytest.param("Mesh", "meshes", id="sh"),
        pytest.param("Redis", "redis", id="redis-stays-as-in-the-azure-provider"),
        pytest.param("CloudMemorystoreInstanceClass", "cloudmemorystoreinstanceclasses", id="class"),
        pytest.param("VPC", "vpcs", id="letters"),
    ],
)
def test_plural_of(kind: str, want: str) -> None:
    assert crds.plural_of(kind) == want


def test_managed_kind_has_what_providers_give_theirs() -> None:
    crd = permissive("v1beta1")
    version = crd["spec"]["versions"][0]
    assert crd["metadata"]["name"] == f"mysqlservers.{GROUP}"
    assert crd["spec"]["scope"] == "Cluster"
    assert crd["spec"]["names"]["categories"] == ["managed"]
    assert version["subresources"] == {"status": {}}
    assert [c["name"].upper() for c in version["additionalPrinterColumns"]] == [
        "READY",
        "SYNCED",
        "EXTERNAL-NAME",
        "AGE",
    ]
    assert version["schema"]["openAPIV3Schema"]["x-kubernetes-preserve-unknown-fields"] is True


def test_record_keeps_its_status_as_a_plain_field() -> None:
    crd = crds.permissive_crd("database.example.org/v1alpha1", "MySQLInstance", namespaced=True, managed=False)
    assert crd["spec"]["scope"] == "Namespaced"
    assert "categories" not in crd["spec"]["names"]
    assert "subresources" not in crd["spec"]["versions"][0]


def test_given_plural_is_used() -> None:
    assert permissive("v1", plural="mysqlserverz")["metadata"]["name"] == f"mysqlserverz.{GROUP}"


def test_protected_group_is_approved() -> None:
    crd = crds.permissive_crd("x.k8s.io/v1", "Thing", namespaced=True, managed=False)
    assert crd["metadata"]["annotations"]["api-approved.kubernetes.io"].startswith("unapproved")


@pytest.mark.parametrize("api_version", ["v1", "apps/v1", "database.example.org", ""])
def test_kind_without_a_domain_is_refused(api_version: str) -> None:
    with pytest.raises(ModelError) as caught:
        crds.permissive_crd(api_version, "Thing", namespaced=True, managed=False)
    assert caught.value.problems[0].path == "apiVersion"
    assert caught.value.problems[0].fix


def shape(crd: dict[str, Any]) -> list[tuple[str, bool]]:
    return [(v["name"], v["storage"]) for v in crd["spec"]["versions"]]


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param([permissive("v1beta1")], [("v1beta1", True)], id="one"),
        pytest.param(
            [permissive("v1beta1"), permissive("v1alpha3")],
            [("v1alpha3", False), ("v1beta1", True)],
            id="most-stable-is-stored",
        ),
        pytest.param(
            [permissive("v1beta2"), permissive("v1beta10")],
            [("v1beta2", False), ("v1beta10", True)],
            id="versions-are-numbers-not-text",
        ),
        pytest.param(
            [permissive("v1"), permissive("v2beta1")], [("v2beta1", False), ("v1", True)], id="stable-over-newer-beta"
        ),
        pytest.param(
            [real("v1alpha3", "v1beta1", stored="v1alpha3"), permissive("v1")],
            [("v1alpha3", True), ("v1beta1", False), ("v1", False)],
            id="real-storage-version-is-kept",
        ),
    ],
)
def test_merge_versions(given: list[dict[str, Any]], want: list[tuple[str, bool]]) -> None:
    (merged,) = crds.merge_crds(given)
    assert shape(merged) == want
    assert all(v["served"] for v in merged["spec"]["versions"])


@pytest.mark.parametrize("flip", [False, True], ids=["real-later", "real-earlier"])
def test_real_wins_over_permissive(flip: bool) -> None:
    given = [permissive("v1beta1"), real("v1beta1", stored="v1beta1", scope="Namespaced")]
    (merged,) = crds.merge_crds(given[::-1] if flip else given)
    assert merged["spec"]["scope"] == "Namespaced"
    assert merged["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] == "real"
    assert merged["spec"]["names"]["categories"] == ["crossplane", "managed"]
    assert not crds.is_permissive(merged)


def test_later_real_wins_over_earlier_real() -> None:
    (merged,) = crds.merge_crds([real("v1", stored="v1", mark="old"), real("v1", stored="v1", mark="new")])
    assert merged["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] == "new"


def test_merge_is_ordered_and_leaves_its_input_alone() -> None:
    given = [permissive("v1", "Zebra"), permissive("v1beta1"), permissive("v1alpha3"), permissive("v1", "Apple")]
    before = copy.deepcopy(given)
    merged = crds.merge_crds(given)
    assert [c["spec"]["names"]["plural"] for c in merged] == ["apples", "mysqlservers", "zebras"]
    assert given == before
    assert crds.merge_crds(merged) == merged
    assert crds.merge_crds(given[::-1]) == merged


def test_same_kind_in_two_groups_stays_two() -> None:
    other = crds.permissive_crd("database.example.org/v1", "MySQLServer", namespaced=True, managed=False)
    assert len(crds.merge_crds([permissive("v1"), other])) == 2


def test_webhook_conversion_is_dropped() -> None:
    crd = real("v1", stored="v1")
    crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {}}
    assert crds.without_webhook(crd)["spec"]["conversion"] == {"strategy": "None"}
    assert crd["spec"]["conversion"]["strategy"] == "Webhook"
    (merged,) = crds.merge_crds([crd, permissive("v1alpha1")])
    assert "conversion" not in merged["spec"]
