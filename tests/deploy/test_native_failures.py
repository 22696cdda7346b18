"""What is reported of a native child that its provider refused."""

from __future__ import annotations

from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.deploy.native_failures import failure


def test_claim_child_and_resource_are_named() -> None:
    address = ChildAddress(ClaimKey.parse("Database.example.org/default/orders"), "role")
    problem = failure(address, "postgresql:index/role:Role", "default-orders-role")
    assert problem.what == (
        "Database.example.org/default/orders: its child 'role' (postgresql:index/role:Role default-orders-role) "
        "was not deployed"
    )
    assert problem.fix
