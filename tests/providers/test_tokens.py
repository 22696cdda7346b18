"""Type tokens and URNs without the engine: they are the identity of what is deployed, and never change."""

from __future__ import annotations

import pytest

from claimsmith.base.names import GroupKind
from claimsmith.providers import tokens


def test_the_type_of_a_component_comes_from_the_claim_alone() -> None:
    kind = GroupKind("database.example.org", "MySQLInstance")
    assert tokens.component_type(kind) == "claimsmith:database.example.org:MySQLInstance"


@pytest.mark.parametrize(
    ("api_version", "kind", "want"),
    [
        pytest.param("v1", "Secret", "kubernetes:core/v1:Secret", id="the-core-group-has-a-name"),
        pytest.param("apps/v1", "Deployment", "kubernetes:apps/v1:Deployment", id="group-of-kubernetes"),
        pytest.param("x.example.org/v1beta1", "Thing", "kubernetes:x.example.org/v1beta1:Thing", id="custom-resource"),
    ],
)
def test_the_type_of_a_resource(api_version: str, kind: str, want: str) -> None:
    assert tokens.resource_type({"apiVersion": api_version, "kind": kind}) == want


@pytest.mark.parametrize(
    "parents",
    [
        pytest.param([], id="at-the-top"),
        pytest.param(["claimsmith:example.org:Site"], id="within-a-claim"),
        pytest.param(["claimsmith:example.org:Site", "claimsmith:example.org:Store"], id="within-a-composite-of-it"),
    ],
)
def test_a_urn_joins_the_types_of_parents_and_resource(parents: list[str]) -> None:
    types = [*parents, "kubernetes:core/v1:Secret"]
    want = f"urn:pulumi:dev::shop::{'$'.join(types)}::default-sql/secret"
    assert tokens.urn("shop", "dev", types, "default-sql/secret") == want
