"""What reference fields point to, by the conventions of providers' definitions."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.kubernetes.reference_fields import is_reference, reference_fields
from tests.support.provider_crds import SELECTOR, provider_crd, reference, references

AWS = "aws.upbound.io"
GCP = "compute.gcp.upbound.io"
MODERN = "ec2.aws.m.upbound.io"
EKS = reference("clusterId", "Cluster in eks")
DEFINED = [
    provider_crd("VPC", f"ec2.{AWS}"),
    provider_crd("Key", f"kms.{AWS}"),
    provider_crd("Role", f"iam.{AWS}"),
    provider_crd("Cluster", f"eks.{AWS}"),
    provider_crd("Cluster", f"rds.{AWS}"),
    provider_crd("VPC", MODERN),
    provider_crd("Network", GCP),
    provider_crd("Thing", f"other.{AWS}", managed=False),
]
NESTED = {"config": {"type": "array", "items": {"type": "object", "properties": reference("vpcId")}}}


@pytest.mark.parametrize(
    ("group", "fields", "want"),
    [
        pytest.param(f"ec2.{AWS}", reference("vpcId"), {"vpcId": f"VPC.ec2.{AWS}"}, id="by-name"),
        pytest.param(f"s3.{AWS}", reference("kmsKeyArn"), {"kmsKeyArn": f"Key.kms.{AWS}"}, id="service-and-kind"),
        pytest.param(f"s3.{AWS}", reference("role"), {"role": f"Role.iam.{AWS}"}, id="without-suffix"),
        pytest.param(f"s3.{AWS}", NESTED, {"vpcId": f"VPC.ec2.{AWS}"}, id="within-a-list"),
        pytest.param(
            f"s3.{AWS}", reference("target", "Role in iam"), {"target": f"Role.iam.{AWS}"}, id="by-description"
        ),
        pytest.param(
            f"s3.{AWS}", EKS, {"clusterId": f"Cluster.eks.{AWS}"}, id="described-first"
        ),
        pytest.param(
            f"rds.{AWS}", reference("clusterName"), {"clusterName": f"Cluster.rds.{AWS}"}, id="own-service-first"
        ),
        pytest.param(MODERN, reference("vpcId"), {"vpcId": f"VPC.{MODERN}"}, id="namespaced"),
        pytest.param(GCP, reference("network"), {"network": f"Network.{GCP}"}, id="gcp"),
        pytest.param(f"s3.{AWS}", reference("clusterId"), {}, id="two-kinds-fit"),
        pytest.param(f"s3.{AWS}", reference("networkId"), {}, id="another-provider"),
        pytest.param(f"s3.{AWS}", reference("thingId"), {}, id="not-managed"),
        pytest.param(f"s3.{AWS}", reference("subnetId", "Subnet in ec2"), {}, id="not-defined"),
        pytest.param(f"s3.{AWS}", references("vpcId"), {}, id="a-list"),
        pytest.param(f"s3.{AWS}", {"vpcIdSelector": SELECTOR}, {}, id="no-reference-beside-it"),
        pytest.param(f"s3.{AWS}", {"podSelector": {"type": "object"}, "podRef": {}}, {}, id="another-selector"),
    ],
)  # fmt: skip
def test_targets(group: str, fields: dict[str, Any], want: dict[str, str]) -> None:
    found = reference_fields([*DEFINED, provider_crd("Owner", group, **fields)])
    owned = next((v for k, v in found.items() if k.kind == "Owner"), {})
    assert {name: str(target) for name, (target,) in owned.items()} == want


def test_a_definition_without_a_schema() -> None:
    crd = provider_crd("Owner", f"s3.{AWS}")
    crd["spec"]["versions"] = [{"name": "v1"}, {"name": "v2", "schema": None}]
    assert reference_fields([crd]) == {}


@pytest.mark.parametrize(
    ("name", "want"), [("vpcIdRef", True), ("vpcIdRefs", True), ("vpcIdSelector", True), ("vpcId", False)]
)
def test_names_of_reference_fields(name: str, want: bool) -> None:
    assert is_reference(name) is want
