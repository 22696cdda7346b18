"""Names of things: what they print as, and that copies of them stay themselves."""

from __future__ import annotations

import copy
import pickle

import pytest

from claimsmith.base.names import ChildAddress, ClaimKey, ClassKey, GroupKind, group_of, kebab

CLAIM = ClaimKey(GroupKind("example.org", "Database"), "team", "sql")


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        pytest.param("MySQLServer", "my-sql-server", id="acronym-inside"),
        pytest.param("GKECluster", "gke-cluster", id="acronym-first"),
        pytest.param("NodePool", "node-pool", id="two-words"),
        pytest.param("Redis", "redis", id="one-word"),
        pytest.param("S3Bucket", "s3-bucket", id="digit"),
        pytest.param("VPC", "vpc", id="letters"),
    ],
)
def test_kebab(kind: str, want: str) -> None:
    assert kebab(kind) == want


@pytest.mark.parametrize(
    ("api_version", "want"),
    [
        pytest.param("v1", "", id="core"),
        pytest.param("apps/v1", "apps", id="group"),
        pytest.param("database.example.org/v1alpha1", "database.example.org", id="dotted-group"),
    ],
)
def test_group_of(api_version: str, want: str) -> None:
    assert group_of(api_version) == want


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("MySQLInstance.database.example.org/default/sql", id="with-group"),
        pytest.param("Secret/default/sql", id="core"),
        pytest.param("A.b/ns/name.with.dots", id="dotted-name"),
    ],
)
def test_claim_key_and_back(text: str) -> None:
    assert str(ClaimKey.parse(text)) == text


def test_class_key_and_back() -> None:
    key = ClassKey(GroupKind("infrastructure.crossplane.io", "ResourceClass"), "small")
    assert str(key) == "ResourceClass.infrastructure.crossplane.io/small"
    assert ClassKey.parse(str(key)) == key


@pytest.mark.parametrize("template", ["server", "with/slash"])
def test_child_address(template: str) -> None:
    address = ChildAddress(CLAIM, template)
    assert address == f"Database.example.org/team/sql/{template}"
    assert (address.claim, address.template) == (CLAIM, template)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))], ids=["copy", "pickle"])
def test_copies_keep_their_parts(copied) -> None:
    address = copied(ChildAddress(CLAIM, "server"))
    assert (address.claim, address.template) == (CLAIM, "server")
