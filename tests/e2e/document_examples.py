"""The examples of the design documents in tests/documents, and what they become."""

from __future__ import annotations

import pytest

from claimsmith.compose.plan import Plan
from tests.e2e.rig import Rig
from tests.support.paths import ROOT

DOCUMENTS = ROOT / "tests" / "documents"
DATABASE = {"endpoint", "password", "port", "username"}
EXAMPLES = [
    pytest.param("000", ["CloudMemorystoreInstance", "CloudMemorystoreInstance"], {}, id="000"),
    pytest.param(
        "001",
        [
            "CloudSQLInstance",
            "GKECluster",
            "MySQLServer",
            "MySQLServerVirtualNetworkRule",
            "NodePool",
            "NodePool",
            "NodePool",
            "ResourceGroup",
        ],
        {"sql": DATABASE, "sql-private": DATABASE},
        id="001",
    ),
    pytest.param(
        "002",
        ["MySQLServer", "MySQLServerVirtualNetworkRule", "ResourceGroup"],
        {"sql": {"endpoint", "password", "username"}},
        id="002",
    ),
    pytest.param("003", ["MySQLServerVirtualNetworkRule", "ResourceGroup", "SQLServer"], {"sql": DATABASE}, id="003"),
]
"""Document, what is created for its claims, and the keys of their Secrets."""


def delete_given(rig: Rig, plan: Plan) -> None:
    """Delete what was given, which outlives its stack; the tests' cluster is to be as it was."""
    for given in plan.resources:
        if given.options.retain:
            group, version = given.document["apiVersion"].split("/")
            rig.delete((group, version, given.key.group_kind.kind), given.key.name)
