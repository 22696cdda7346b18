"""Pipelines at deployment: what is read of the cluster, and what stays though a pipeline does not make it now."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.compose.expand import expand
from claimsmith.compose.plan import Plan
from claimsmith.compose.planning import build_plan
from claimsmith.deploy.deployed import Held
from claimsmith.deploy.pipelines import LiveObjects, as_input, needs_state, unseen_parts
from claimsmith.kubernetes.client import Cluster
from claimsmith.kubernetes.scope import Scopes
from claimsmith.platform.catalog import read_catalog
from claimsmith.project.checkpoint import HeldObject
from tests.support import samples
from tests.support.crossplane_documents import XR, definition, document, piped, step

TEMPLATE = """
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: a}
"""


class Stub(Cluster):
    """A cluster with one object and its Secret."""

    def __init__(self) -> None:
        super().__init__("")

    def read(self, _: str, kind: str, name: str, *__: Any) -> dict[str, Any] | None:
        spec = {"writeConnectionSecretToRef": {"namespace": "n", "name": "s"}}
        return {"kind": kind, "metadata": {"name": name}, "spec": spec} if kind == "Bucket" else None

    def secret_data(self, namespace: str, name: str) -> dict[str, Any] | None:
        return {"key": base64.b64encode(f"{namespace}/{name}".encode()).decode()}


def plan() -> Plan:
    text = step("function-go-templating", source="Inline", inline={"template": TEMPLATE})
    composite = document({**XR, "spec": {"size": 1}})
    catalog = read_catalog([document(definition()), document(piped(text))], [composite])
    expansion = expand(catalog, [], project="p", stack="dev", scopes=Scopes({}))
    return build_plan(expansion, project="p", stack="dev", table=samples.table())


def test_live_objects_connect_once_and_late() -> None:
    calls: list[int] = []

    def connect() -> Cluster:
        calls.append(1)
        return Stub()

    live = LiveObjects(connect)
    assert calls == []
    found = live.read({"apiVersion": "v1", "kind": "Bucket", "metadata": {"name": "b"}})
    assert found is not None
    assert live.details(found) == {"key": b"n/s"}
    assert live.read({"apiVersion": "v1", "kind": "Other", "metadata": {"name": "b"}}) is None
    assert live.details({"metadata": {"name": "b"}}) == {}
    assert calls == [1]


@pytest.mark.parametrize(
    ("part", "owner", "stays"),
    [
        pytest.param("b", "", True, id="made-before"),
        pytest.param("a", "", False, id="made-now"),
        pytest.param("", "", False, id="no-part-of-a-composition"),
        pytest.param("b", "p/dev/other", False, id="of-another-composite"),
    ],
)
def test_what_stays(part: str, owner: str, stays: bool) -> None:
    made = plan()
    [claim] = made.claims
    key = ObjectKey(GroupKind("", "ConfigMap"), "n", "x")
    held = Held((HeldObject("cluster", key, "urn", owner or claim.identity.owner, part, "v1"),))
    assert needs_state(made)
    assert (claim.identity.owner in unseen_parts(made, held)) is stays


def test_a_live_object_as_input() -> None:
    live = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "n", "uid": "1", "managedFields": [], "labels": {"a": "b"}},
        "data": {"k": "v"},
        "status": {"phase": "Bound"},
    }
    assert as_input(live) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "n", "labels": {"a": "b"}},
        "data": {"k": "v"},
    }
