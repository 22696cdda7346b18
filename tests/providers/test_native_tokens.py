"""Type tokens of native resources: short and full ones, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import ModelError
from claimsmith.base.names import GroupKind
from claimsmith.providers import tokens
from claimsmith.providers.tokens import Token


@pytest.mark.parametrize(
    ("text", "full", "short", "kind"),
    [
        pytest.param(
            "random:RandomPassword",
            "random:index/randomPassword:RandomPassword",
            "random:RandomPassword",
            GroupKind("random:index", "RandomPassword"),
            id="no-module",
        ),
        pytest.param(
            "random:index/randomPassword:RandomPassword",
            "random:index/randomPassword:RandomPassword",
            "random:RandomPassword",
            GroupKind("random:index", "RandomPassword"),
            id="full-without-module",
        ),
        pytest.param(
            "aws:s3:Bucket", "aws:s3/bucket:Bucket", "aws:s3:Bucket", GroupKind("aws:s3", "Bucket"), id="short"
        ),
        pytest.param(
            "aws:s3/bucket:Bucket", "aws:s3/bucket:Bucket", "aws:s3:Bucket", GroupKind("aws:s3", "Bucket"), id="full"
        ),
        pytest.param(
            "azure-native:storage/v20230101:StorageAccount",
            "azure-native:storage/v20230101:StorageAccount",
            "azure-native:storage/v20230101:StorageAccount",
            GroupKind("azure-native:storage/v20230101", "StorageAccount"),
            id="a-version-behind-the-module-is-no-name",
        ),
        pytest.param(
            "kubernetes:helm.sh/v3:Release",
            "kubernetes:helm.sh/v3:Release",
            "kubernetes:helm.sh/v3:Release",
            GroupKind("kubernetes:helm.sh/v3", "Release"),
            id="a-group-with-a-dot",
        ),
    ],
)
def test_tokens(text: str, full: str, short: str, kind: GroupKind) -> None:
    token = Token.parse(text)
    assert (token.full, token.short, GroupKind.of({"type": text})) == (full, short, kind)
    assert tokens.resource_type({"type": text}) == full
    assert Token.parse(full) == Token.parse(short) == token


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("Bucket", id="no-package"),
        pytest.param("aws:s3:bucket", id="lower-case-name"),
        pytest.param("aws:s3:Bucket:More", id="too-many-parts"),
        pytest.param("aws::Bucket", id="empty-module"),
        pytest.param("aws:s3:Bucket\nevil", id="a-second-line"),
        pytest.param("aws:s3:Bucket${x}", id="an-interpolation"),
        pytest.param("../aws:s3:Bucket", id="a-path"),
    ],
)
def test_what_is_no_token(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        Token.parse(text)
    assert all(p.fix for p in caught.value.problems)


@pytest.mark.parametrize(
    ("document", "want"),
    [
        pytest.param({"type": "aws:s3:Bucket"}, True, id="type-alone"),
        pytest.param({"type": "Opaque", "apiVersion": "v1", "kind": "Secret"}, False, id="a-secret-has-a-type-too"),
        pytest.param({"apiVersion": "v1", "kind": "ConfigMap"}, False, id="kubernetes"),
        pytest.param({"type": 3}, False, id="a-number"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_is_native(document: dict[str, Any], want: bool) -> None:
    assert tokens.is_native(document) is want


def test_names_for_the_engine_have_no_slash() -> None:
    assert tokens.child_name("default", "orders", "role") == "default-orders-role"
    assert tokens.child_name("", "orders", "network/rule") == "orders-network-rule"
