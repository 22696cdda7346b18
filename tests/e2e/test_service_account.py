"""Children created as a service account: what its RBAC forbids fails, and says so."""

from __future__ import annotations

from typing import Any

import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.models.rbac_v1 import PolicyRule, RoleRef, Subject
from lightkube.resources.core_v1 import ServiceAccount
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding

from tests.e2e.rig import RESOURCE_GROUP, SERVER, Rig

pytestmark = pytest.mark.e2e

API = "apiextensions.crossplane.io/v1alpha1"


def definition(rig: Rig) -> dict[str, Any]:
    group = f"{rig.name}.example.org"
    return {
        "apiVersion": API,
        "kind": "InfrastructureDefinition",
        "metadata": {"name": f"places.{group}"},
        "spec": {
            "serviceAccountRef": {"namespace": "crossplane-system", "name": rig.name},
            "crdSpecTemplate": {
                "group": group,
                "version": "v1alpha1",
                "names": {"kind": "Place", "listKind": "PlaceList", "plural": "places", "singular": "place"},
            },
        },
    }


def composition(rig: Rig, *kinds: tuple[str, str, str]) -> dict[str, Any]:
    to = [{"base": {"apiVersion": f"{g}/{v}", "kind": k, "spec": {"location": "West US"}}} for g, v, k in kinds]
    source = {"apiVersion": f"{rig.name}.example.org/v1alpha1", "kind": "Place"}
    return {"apiVersion": API, "kind": "Composition", "metadata": {"name": "place"}, "spec": {"from": source, "to": to}}


def place(rig: Rig) -> dict[str, Any]:
    return {
        "apiVersion": f"{rig.name}.example.org/v1alpha1",
        "kind": "Place",
        "metadata": {"name": rig.name},
        "spec": {"infrastructure": {"compositionRef": {"name": "place"}}},
    }


def allow(rig: Rig, group: str, plural: str) -> None:
    """Let the account do everything with one kind."""
    rig.client.apply(
        ServiceAccount(metadata=ObjectMeta(name=rig.name, namespace="crossplane-system")), field_manager="tests"
    )
    verbs = ["get", "list", "watch", "create", "update", "patch", "delete"]
    rules = [PolicyRule(apiGroups=[group], resources=[plural], verbs=verbs)]
    rig.client.apply(ClusterRole(metadata=ObjectMeta(name=rig.name), rules=rules), field_manager="tests")
    subject = Subject(kind="ServiceAccount", name=rig.name, namespace="crossplane-system")
    role = RoleRef(apiGroup="rbac.authorization.k8s.io", kind="ClusterRole", name=rig.name)
    binding = ClusterRoleBinding(metadata=ObjectMeta(name=rig.name), roleRef=role, subjects=[subject])
    rig.client.apply(binding, field_manager="tests")


def test_the_account_makes_what_it_may_and_is_refused_the_rest(rig: Rig) -> None:
    allow(rig, "azure.crossplane.io", "resourcegroups")
    rig.write("components/place/definition.yaml", [definition(rig), composition(rig, RESOURCE_GROUP, SERVER)])
    rig.write("stacks/dev/claims/place.yaml", place(rig))
    rig.prepare("dev")
    ran = rig.up("dev", "--continue-on-error")
    assert ran.code != 0
    assert f"system:serviceaccount:crossplane-system:{rig.name}" in ran.text
    assert "mysqlservers.database.azure.crossplane.io" in ran.text
    assert "forbidden" in ran.text
    created = [o for o in rig.live(RESOURCE_GROUP) if o["metadata"]["name"].startswith(f"{rig.name}-")]
    assert len(created) == 1
    assert not [o for o in rig.live(SERVER) if o["metadata"]["name"].startswith(f"{rig.name}-")]
