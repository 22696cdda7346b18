"""What the SDKs tell of tags."""

from __future__ import annotations

import pytest

from claimsmith.compose.native_types import native_types
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
    full = Token.parse(token).full
    if token.startswith(("aws", "gcp", "azure")):
        pytest.importorskip(f"pulumi_{token.partition(':')[0].replace('-', '_')}")
    assert TYPES.tags(full) == tags
