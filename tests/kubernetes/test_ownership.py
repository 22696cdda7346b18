"""Fields that we set and somebody else has taken over, by the managed fields that the API server keeps."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import ControlPlaneError
from claimsmith.base.names import ChildAddress, ClaimKey
from claimsmith.base.values import Ref
from claimsmith.deploy.takeovers import conflicts_ahead
from claimsmith.kubernetes import ownership
from tests.support.samples import claim_data, class_data, class_ref, planned

OURS, CLOUD = "claimsmith-shop-dev", "simulated-cloud"
RULES = [{"port": 80}]
THEIRS = [{"port": 80, "description": "x"}]


def entry(manager: str, fields: Any, **more: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": fields, **more}


def live(spec: Any, *entries: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "sg", "managedFields": list(entries), **metadata}, "spec": spec}


def spec_of(fields: Any) -> dict[str, Any]:
    return {"f:spec": {"f:forProvider": fields}}


def document(**fields: Any) -> dict[str, Any]:
    return {"kind": "Group", "metadata": {"name": "sg"}, "spec": {"forProvider": fields}}


RULES_THEIRS = entry(CLOUD, spec_of({"f:rules": {}}))
KEYED = 'k:{"name":"a"}'


@pytest.mark.parametrize(
    ("ours", "found", "want"),
    [
        pytest.param(
            document(rules=RULES),
            live({"forProvider": {"rules": THEIRS}}, RULES_THEIRS),
            [("spec.forProvider.rules", CLOUD)],
            id="inside-a-list",
        ),
        pytest.param(
            document(tier="a"),
            live({"forProvider": {"tier": "b"}}, entry(CLOUD, spec_of({"f:tier": {}}))),
            [("spec.forProvider.tier", CLOUD)],
            id="a-single-field",
        ),
        pytest.param(
            document(rules=RULES),
            live({"forProvider": {"rules": RULES}}, RULES_THEIRS),
            [],
            id="same-value-no-conflict",
        ),
        pytest.param(
            document(rules=RULES),
            live({"forProvider": {"rules": THEIRS}}, RULES_THEIRS, entry(OURS, spec_of({"f:rules": {}}))),
            [],
            id="still-ours-too",
        ),
        pytest.param(
            document(rules=RULES),
            live({"forProvider": {"rules": THEIRS, "late": 1}}, entry(CLOUD, spec_of({"f:late": {}}))),
            [],
            id="late-initialised-beside-ours",
        ),
        pytest.param(
            document(rules=[{"port": Ref("x", ("status", "port"))}]),
            live({"forProvider": {"rules": RULES}}, RULES_THEIRS),
            [],
            id="known-only-later",
        ),
        pytest.param(
            document(rules=[{"port": Ref("x", ("status", "port"))}]),
            live({"forProvider": {"rules": THEIRS}}, RULES_THEIRS),
            [("spec.forProvider.rules", CLOUD)],
            id="known-only-later-and-changed-beside-it",
        ),
        pytest.param(
            document(rules=[{"name": "b", "port": 1}, {"name": "a", "port": 80}]),
            live(
                {"forProvider": {"rules": [{"name": "a", "port": 81}, {"name": "b", "port": 1}]}},
                entry(CLOUD, spec_of({"f:rules": {KEYED: {".": {}, "f:port": {}}}})),
            ),
            [("spec.forProvider.rules[1].port", CLOUD)],
            id="an-item-by-its-key",
        ),
        pytest.param(
            document(tags=["a"]),
            live({"forProvider": {"tags": ["a", "b"]}}, entry(CLOUD, spec_of({"f:tags": {'v:"b"': {}}}))),
            [],
            id="another-member-of-a-set",
        ),
        pytest.param(
            document(rules=RULES),
            live({"forProvider": {}}, RULES_THEIRS),
            [("spec.forProvider.rules", CLOUD)],
            id="taken-away",
        ),
        pytest.param(
            document(tier=None), live({"forProvider": {}}, entry(CLOUD, spec_of({"f:tier": {}}))), [], id="null"
        ),
        pytest.param(
            {**document(), "metadata": {"name": "sg", "labels": {"a.b/c": "x"}}},
            live({}, entry(CLOUD, {"f:metadata": {"f:labels": {"f:a.b/c": {}}}}), labels={"a.b/c": "y"}),
            [("metadata.labels[a.b/c]", CLOUD)],
            id="a-label",
        ),
        pytest.param(
            document(rules=RULES),
            live({"forProvider": {"rules": THEIRS}}, RULES_THEIRS, entry("kubectl", spec_of({"f:rules": {}}))),
            [("spec.forProvider.rules", f"{CLOUD}, kubectl")],
            id="several-managers",
        ),
        pytest.param(document(rules=RULES), {"metadata": {"name": "sg"}}, [], id="nothing-is-known"),
    ],
)
def test_taken_over(ours: dict[str, Any], found: dict[str, Any], want: list[tuple[str, str]]) -> None:
    assert [(t.path, t.managers) for t in ownership.taken_over(ours, found, OURS)] == want


@pytest.mark.parametrize(
    ("handed_over", "want"),
    [
        pytest.param([], ["spec.forProvider.rules"], id="not-said"),
        pytest.param(["spec.forProvider.rules"], [], id="the-field"),
        pytest.param(["spec.forProvider"], [], id="what-it-is-in"),
        pytest.param(["spec.other"], ["spec.forProvider.rules"], id="another-field"),
    ],
)
def test_what_is_handed_over_is_not_taken(handed_over: list[str], want: list[str]) -> None:
    found = ownership.taken_over(
        document(rules=RULES), live({"forProvider": {"rules": THEIRS}}, RULES_THEIRS), OURS, handed_over
    )
    assert [t.path for t in found] == want


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        pytest.param("spec.forProvider.rules", "spec.forProvider.rules", id="a-list"),
        pytest.param("spec.forProvider.rules[1].port", "spec.forProvider.rules", id="inside-a-list"),
    ],
)
def test_claim_child_field_manager_and_ways_out_are_named(path: str, whole: str) -> None:
    taken = ownership.Taken(path, CLOUD, RULES, THEIRS)
    problem = ownership.conflict(ChildAddress(ClaimKey.parse("XNet.acme.example.org/mine"), "group"), document(), taken)
    assert problem.what == (
        f"XNet.acme.example.org/mine: its child 'group' (Group sg): {path} was changed by {CLOUD!r}, "
        "which owns it now: the next change of this child is refused as a conflict"
    )
    assert f"claimsmith.io/controller-owned: {whole}" in problem.fix
    assert "PULUMI_K8S_ENABLE_PATCH_FORCE=true" in problem.fix
    assert 'pulumi.com/patchForce: "true"' in problem.fix


# Before the engine runs


class Cluster:
    """A cluster with the children of a plan, each as it is given; none may be read where there is nothing."""

    def __init__(self, spec: Any, *entries: dict[str, Any]) -> None:
        self._found = spec and live(spec, *entries)

    def read(self, *_: Any) -> dict[str, Any] | None:
        if self._found == {}:
            raise ControlPlaneError("forbidden")
        return self._found

    def find(self, _api_version: str, _kind: str, wanted: list[Any]) -> dict[Any, Any]:
        found = self.read()
        return {place: {"metadata": found["metadata"]} for place in wanted} if found else {}


BUCKET = {"size": 2, "forProvider": {}}
SIZE = {"f:spec": {"f:size": {}}}


@pytest.mark.parametrize(
    ("cluster", "want"),
    [
        pytest.param(Cluster(BUCKET, entry(CLOUD, SIZE)), ["spec.size"], id="taken-over"),
        pytest.param(Cluster(BUCKET, entry(OURS, SIZE)), [], id="ours"),
        pytest.param(Cluster(None), [], id="not-there-yet"),
        pytest.param(Cluster({}), [], id="may-not-be-read"),
    ],
)
def test_conflicts_are_told_before_the_engine_runs(cluster: Any, want: list[str]) -> None:
    base = {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "spec": {"size": 1}}
    plan = planned([class_data("plain", {"base": base})], [claim_data(classRef=class_ref("plain"))])
    assert [p.path for p in conflicts_ahead(plan, cluster)] == want


@pytest.mark.parametrize(
    ("annotations", "environment"),
    [
        pytest.param({"pulumi.com/patchForce": "true"}, {}, id="with-each-change"),
        pytest.param({}, {"PULUMI_K8S_ENABLE_PATCH_FORCE": "true"}, id="in-this-run"),
    ],
)
def test_what_is_overwritten_anyway_is_no_conflict(
    annotations: dict[str, str], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    metadata = {"annotations": annotations}
    base = {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "metadata": metadata, "spec": {"size": 1}}
    plan = planned([class_data("plain", {"base": base})], [claim_data(classRef=class_ref("plain"))])
    assert conflicts_ahead(plan, Cluster(BUCKET, entry(CLOUD, SIZE))) == []
