"""What the SDKs tell of tags and physical names."""

from __future__ import annotations

import pytest

from claimsmith.compose.native_types import NAMES, native_types
from claimsmith.project.sdks import index_of
from claimsmith.providers.tokens import Token

TYPES = native_types(index_of)


@pytest.mark.parametrize(
    ("token", "tags"),
    [
        pytest.param("postgresql:Role", "", id="no-tags"),
        pytest.param("random:RandomPassword", "", id="none-either"),
        pytest.param("nobody:Knows", "", id="sdk-not-installed"),
        pytest.param("random:Unknown", "", id="unknown-type"),
        pytest.param("aws:s3:Bucket", "tags", id="aws-bucket", marks=pytest.mark.sdks),
        pytest.param("aws:iam:Policy", "tags", id="aws-policy", marks=pytest.mark.sdks),
        pytest.param("gcp:storage:Bucket", "labels", id="gcp-labels", marks=pytest.mark.sdks),
        pytest.param("azure-native:storage:StorageAccount", "tags", id="azure", marks=pytest.mark.sdks),
    ],
)
def test_tags(token: str, tags: str) -> None:
    assert TYPES.tags(full(token)) == tags


@pytest.mark.parametrize(
    ("token", "name"),
    [
        pytest.param("postgresql:Role", "name", id="name"),
        pytest.param("random:RandomPassword", "", id="none"),
        pytest.param("postgresql:Extension", "", id="name-of-something-else"),
        pytest.param("nobody:Knows", "", id="sdk-not-installed"),
        pytest.param("random:Unknown", "", id="unknown-type"),
        pytest.param("aws:s3:Bucket", "bucket", id="aws-bucket", marks=pytest.mark.sdks),
        pytest.param("aws:rds:Instance", "identifier", id="aws-instance", marks=pytest.mark.sdks),
        pytest.param("aws:iam:User", "name", id="aws-user", marks=pytest.mark.sdks),
        pytest.param("aws:ec2:Vpc", "", id="aws-without-a-name", marks=pytest.mark.sdks),
        pytest.param("gcp:storage:Bucket", "name", id="gcp", marks=pytest.mark.sdks),
        pytest.param("gcp:organizations:Project", "projectId", id="gcp-project", marks=pytest.mark.sdks),
        pytest.param("azure-native:resources:ResourceGroup", "resourceGroupName", id="azure", marks=pytest.mark.sdks),
        pytest.param("azure-native:storage:StorageAccount", "accountName", id="azure-storage", marks=pytest.mark.sdks),
    ],
)
def test_names(token: str, name: str) -> None:
    assert TYPES.name(full(token)) == name


@pytest.mark.sdks
def test_every_exception_is_a_property_of_its_type() -> None:
    """One that the SDK renames or removes would be ignored without a word."""
    for token, name in NAMES.items():
        assert name == "" or TYPES.name(full(token)) == name, token


def full(token: str) -> str:
    """The engine's token, where the SDK that declares it is installed."""
    if token.startswith(("aws", "gcp", "azure")):
        pytest.importorskip(f"pulumi_{token.partition(':')[0].replace('-', '_')}")
    return Token.parse(token).full
