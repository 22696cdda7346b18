"""Which kinds and namespaces must be there before the engine runs."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import ControlPlaneError, DeployError
from claimsmith.base.labels import GIVEN_BY
from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.compose.plan import GivenResource, Plan, given_resource
from claimsmith.deploy.presence import refuse_missing
from claimsmith.kubernetes.crds import permissive_crd
from tests.support.samples import BUCKET, claim_data, class_data, class_ref, planned

SECRET = {"writeConnectionSecretToRef": {"name": "sql"}}


class Cluster:
    """A cluster that knows some kinds and has some namespaces; none of them are known if it does not answer."""

    def __init__(self, *, kinds: set[str] = frozenset(), namespaces: set[str] | None = frozenset()) -> None:
        self._kinds, self._namespaces = kinds, namespaces

    def serves(self, api_version: str, kind: str) -> bool:
        return f"{api_version}/{kind}" in self._kinds

    def read(self, api_version: str, kind: str, name: str) -> dict[str, Any] | None:
        if self._namespaces is None:
            raise ControlPlaneError("forbidden")
        return {} if (api_version, kind) == ("v1", "Namespace") and name in self._namespaces else None


def given(document: dict[str, Any]) -> GivenResource:
    key = ObjectKey(GroupKind.of(document), "", document["metadata"]["name"])
    return given_resource(key, document, namespaced=False, managed=False)


KEYED = {**BUCKET, "spec": {**BUCKET["spec"], "writeConnectionSecretToRef": {"namespace": "system"}}}


def plan(*resources: dict[str, Any]) -> Plan:
    return planned(
        [class_data("plain", {"base": KEYED})],
        [claim_data(classRef=class_ref("plain"), **SECRET)],
        given=[given(r) for r in resources],
    )


BUCKETS = "storage.example.org/v1/Bucket"
CRD = permissive_crd("storage.example.org/v1", "Bucket", namespaced=False, managed=True)
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}


@pytest.mark.parametrize(
    ("resources", "cluster"),
    [
        pytest.param([], Cluster(kinds={BUCKETS}, namespaces={"default"}), id="all-there"),
        pytest.param([CRD], Cluster(namespaces={"default"}), id="the-stack-brings-the-kind"),
        pytest.param([NAMESPACE], Cluster(kinds={BUCKETS}), id="the-stack-brings-the-namespace"),
        pytest.param([], Cluster(kinds={BUCKETS}, namespaces=None), id="may-not-know-of-namespaces"),
    ],
)
def test_nothing_is_missing(resources: list[dict[str, Any]], cluster: Any) -> None:
    refuse_missing(plan(*resources), cluster)


def elsewhere(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "metadata": {**document["metadata"], "annotations": {GIVEN_BY: "other"}}}


NO_KIND = "its child 'bucket' is a Bucket of storage.example.org/v1, which the cluster does not serve"
NO_NAMESPACE = "needs the namespace 'default', which does not exist"


@pytest.mark.parametrize(
    ("resources", "cluster", "words"),
    [
        pytest.param([], Cluster(namespaces={"default"}), [NO_KIND], id="kind"),
        pytest.param([], Cluster(kinds={BUCKETS}), [NO_NAMESPACE], id="namespace"),
        pytest.param([], Cluster(), [NO_KIND, NO_NAMESPACE], id="both-at-once"),
        pytest.param([elsewhere(NAMESPACE)], Cluster(kinds={BUCKETS}), [NO_NAMESPACE], id="another-stack-brings-it"),
    ],
)
def test_what_is_missing_is_told_with_its_claim(
    resources: list[dict[str, Any]], cluster: Any, words: list[str]
) -> None:
    with pytest.raises(DeployError) as caught:
        refuse_missing(plan(*resources), cluster)
    problems = caught.value.problems
    assert sorted(w for p in problems for w in words if w in p.what) == sorted(words)
    assert all(p.what.startswith("Database.database.example.org/default/sql") for p in problems)
    assert all(p.where and p.path and p.fix for p in problems)
    assert len(problems) == len(words)
