"""What is reported of a native child that its provider refused."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.deploy.native import NativeChild
from claimsmith.deploy.native_failures import failure, watch
from tests.support.ended_programs import REFUSAL, Host, fail_after, official_host, own_host, run_hosted

ADDRESS = ChildAddress(ClaimKey.parse("Database.example.org/default/orders"), "role")


def test_claim_child_and_resource_are_named() -> None:
    problem = failure(ADDRESS, "postgresql:index/role:Role", "default-orders-role")
    assert problem.what == (
        "Database.example.org/default/orders: its child 'role' (postgresql:index/role:Role default-orders-role) "
        "was not deployed"
    )
    assert problem.fix


class Role(pulumi.CustomResource):
    """A resource of a provider's SDK."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions) -> None:
        super().__init__("postgresql:index/role:Role", name, {"login": True}, opts)

    login: pulumi.Output[bool]


def refused_dependent(role: Role) -> None:
    """Another resource, which the engine refuses once the first one has failed."""
    Role("grant", pulumi.ResourceOptions(depends_on=[role]))


def immediate_error(role: Role) -> None:
    fail_after(role.login)


@pytest.mark.parametrize("host", [official_host, own_host])
@pytest.mark.parametrize("end", [refused_dependent, immediate_error])
def test_the_report_does_not_depend_on_when_the_program_ends(
    end: Callable[[Role], None], host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Any] = []
    engine = SimpleNamespace(Log=lambda request: reported.append(request.message))
    monkeypatch.setattr(pulumi.log, "get_engine", lambda: engine)

    def program() -> None:
        component = pulumi.ComponentResource("claimsmith:example.org:Database", "orders")
        role = Role("default-orders-role", pulumi.ResourceOptions(parent=component))
        child = NativeChild("default-orders-role", "role", resource=role)
        context: Any = SimpleNamespace(native={ADDRESS: child}.get)
        plan: Any = SimpleNamespace(walk=lambda: [SimpleNamespace(children=[SimpleNamespace(address=ADDRESS)])])
        watch(context, plan)
        end(role)

    with pytest.raises(RuntimeError, match=REFUSAL):
        run_hosted(program, host, threading.Event(), failing="default-orders-role", refused="grant")
    assert [text for text in reported if "was not deployed" in text] == [
        str(failure(ADDRESS, "postgresql:index/role:Role", "default-orders-role"))
    ]
