"""Objects that are there before the engine creates them. On the real engine: tests/e2e/test_existing.py."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.errors import DeployError
from claimsmith.base.labels import ADOPT, OWNER, PREVIOUS_API_VERSION
from claimsmith.base.names import GroupKind, ObjectKey
from claimsmith.compose.plan import Plan, given_resource
from claimsmith.deploy import deployed, preflight
from claimsmith.deploy.deployed import Held
from claimsmith.deploy.existing import Wanted, look_up
from claimsmith.project.checkpoint import HeldObject
from tests.support.samples import claim_data, class_data, class_ref, planned

BUCKET = GroupKind("storage.example.org", "Bucket")
CONTROLLER = [{"kind": "XBucket", "name": "live-one", "controller": True}]


class Cluster:
    """A cluster with some objects, which keeps what it was asked for."""

    def __init__(self, *objects: dict[str, Any]) -> None:
        self._objects = {(o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"]): o for o in objects}
        self.asked: list[tuple[str, int]] = []

    def find(self, api_version: str, kind: str, wanted: Collection[tuple[str, str]]) -> dict[Any, Any]:
        self.asked.append((f"{api_version}/{kind}", len(wanted)))
        return {p: self._objects[kind, *p] for p in wanted if (kind, *p) in self._objects}


def plan(
    *claims: str, annotations: dict[str, str] | None = None, adopting_claim: bool = False, template: str = ""
) -> Plan:
    klass = copy.deepcopy(class_data())
    klass["spec"]["resources"][0] |= {"name": template} if template else {}
    base = klass["spec"]["resources"][0]["base"]
    base["metadata"] = {"annotations": annotations or {}}
    written = [claim_data(name, classRef=class_ref("plain")) for name in claims or ("sql",)]
    for claim in written:
        claim["metadata"]["annotations"] = {ADOPT: "true"} if adopting_claim else {}
    return planned([klass], written)


def bucket(of: Plan, *, owner: str | None = None, controlled: bool = False) -> dict[str, Any]:
    """The live object under the name of the first claim's child; with `owner` empty, it is ours."""
    claim = of.claims[0]
    annotations = {} if owner is None else {OWNER: owner or claim.identity.owner}
    metadata = {"name": claim.children[0].name, "annotations": annotations}
    return {"kind": "Bucket", "metadata": {**metadata, **({"ownerReferences": CONTROLLER} if controlled else {})}}


@pytest.mark.parametrize(
    ("owner", "controlled", "whose"),
    [
        pytest.param(None, False, "was not created by claimsmith", id="of-nobody"),
        pytest.param("other/dev/1", False, "belongs to other/dev/1", id="of-another-stack"),
        pytest.param(None, True, "is controlled by XBucket live-one", id="of-a-live-composite"),
        pytest.param("", True, "and is controlled by XBucket live-one", id="ours-by-name-but-controlled-by-another"),
    ],
)
def test_a_child_of_somebody_else_is_refused(owner: str | None, controlled: bool, whose: str) -> None:
    wanted = plan()
    with pytest.raises(DeployError) as caught:
        preflight.refuse_foreign(wanted, Cluster(bucket(wanted, owner=owner, controlled=controlled)), {}, records=False)
    [problem] = caught.value.problems
    child = wanted.claims[0].children[0]
    assert f"{wanted.claims[0].address}: its child {child.template.name!r} is Bucket {child.name}" in problem.what
    assert whose in problem.what
    assert problem.where is not None
    assert ADOPT in problem.fix


def test_a_claim_cannot_adopt_a_child() -> None:
    wanted = plan(adopting_claim=True)
    with pytest.raises(DeployError):
        preflight.refuse_foreign(wanted, Cluster(bucket(wanted)), {}, records=False)


@pytest.mark.parametrize(
    ("annotations", "owner"),
    [pytest.param({}, "", id="ours"), pytest.param({ADOPT: "true"}, "other/dev/1", id="adopted-by-the-template")],
)
def test_what_is_ours_or_adopted_is_taken_over(annotations: dict[str, str], owner: str) -> None:
    wanted = plan(annotations=annotations)
    name = wanted.claims[0].children[0].name
    taken = preflight.refuse_foreign(wanted, Cluster(bucket(wanted, owner=owner)), {}, records=False)
    assert taken == {ObjectKey(BUCKET, "", name): name}


URN = (
    "urn:pulumi:dev::shop::"
    "claimsmith:database.example.org:Database$kubernetes:storage.example.org/v1:Bucket::default/sql/bucket"
)


def held_as(of: Plan, urn: str) -> dict[ObjectKey, str]:
    """A state that holds the first claim's child under a URN."""
    return {ObjectKey(BUCKET, "", of.claims[0].children[0].name): urn}


@pytest.mark.parametrize(
    ("before", "annotations"),
    [
        pytest.param(URN, {}, id="the-same"),
        pytest.param(URN.replace(":dev::shop:", ":was::other:"), {}, id="of-another-name-of-the-stack"),
        pytest.param(
            URN.replace("/v1:", "/v1beta1:"), {PREVIOUS_API_VERSION: "storage.example.org/v1beta1"}, id="told"
        ),
    ],
)
def test_a_child_that_the_state_holds_is_updated(before: str, annotations: dict[str, str]) -> None:
    wanted = plan(annotations=annotations)
    assert preflight.refuse_foreign(wanted, Cluster(), held_as(wanted, before), records=False) == {}


def test_a_template_whose_name_has_slashes_is_updated() -> None:
    wanted = plan(template="storage.example.org/main")
    held = held_as(wanted, URN.replace("/bucket", "/storage.example.org/main"))
    assert preflight.refuse_foreign(wanted, Cluster(), held, records=False) == {}


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(URN.replace("/v1:", "/v1beta1:"), id="another-api-version"),
        pytest.param(URN.replace("/bucket", "/store"), id="another-template"),
    ],
)
def test_a_child_that_would_be_created_anew_and_deleted_is_refused(before: str) -> None:
    wanted = plan()
    with pytest.raises(
        DeployError, match="the engine would create it again, then delete it with the old one"
    ) as caught:
        preflight.refuse_foreign(wanted, Cluster(), held_as(wanted, before), records=False)
    assert PREVIOUS_API_VERSION in caught.value.problems[0].fix


@pytest.mark.parametrize("held", [pytest.param(True, id="in-the-state"), pytest.param(None, id="state-unknown")])
def test_nothing_is_taken_over_that_may_be_in_the_state(held: bool | None) -> None:
    wanted = plan()
    known = held and held_as(wanted, URN)
    assert preflight.refuse_foreign(wanted, Cluster(bucket(wanted, owner="")), known, records=False) == {}


def test_what_the_state_holds_is_not_looked_up() -> None:
    wanted = plan()
    cluster = Cluster(bucket(wanted))
    held = held_as(wanted, URN)
    assert preflight.refuse_foreign(wanted, cluster, held, records=False) == {}
    assert cluster.asked == []


def test_all_objects_of_a_kind_are_asked_for_at_once() -> None:
    cluster = Cluster()
    preflight.refuse_foreign(plan(*(f"c{i}" for i in range(30))), cluster, {}, records=False)
    assert cluster.asked == [("storage.example.org/v1/Bucket", 30)]


def test_a_record_of_a_live_control_plane_is_refused() -> None:
    wanted = plan()
    claim = {"kind": "Database", "metadata": {"name": "sql", "namespace": "default"}}
    assert preflight.refuse_foreign(wanted, Cluster(claim), {}, records=False) == {}
    with pytest.raises(DeployError, match="its record Database default/sql already exists and was not created"):
        preflight.refuse_foreign(wanted, Cluster(claim), {}, records=True)


@pytest.mark.parametrize(
    ("owner", "want"),
    [
        pytest.param("ours", {}, id="it-moves-between-two-names-of-a-cluster"),
        pytest.param("other", {ObjectKey(BUCKET, "", "b"): "b"}, id="another-cluster-has-one-of-that-name"),
    ],
)
def test_what_moves_is_left_to_the_engine(owner: str, want: dict[ObjectKey, str]) -> None:
    document = {"apiVersion": f"{BUCKET.group}/v1", "kind": "Bucket", "metadata": {"name": "b"}}
    live = Cluster({**document, "metadata": {"name": "b", "annotations": {OWNER: "ours"}}})
    wanted = Wanted(document, "ours", "it is there", None, "", "")
    assert look_up([wanted], live, frozenset(), {(wanted.key, owner)}) == (want, [])


def given(**annotations: str) -> Plan:
    document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "annotations": annotations}}
    key = ObjectKey(GroupKind("", "Namespace"), "", "shop")
    return planned([class_data()], [], given=[given_resource(key, document, namespaced=False, managed=False)])


SHOP = {"kind": "Namespace", "metadata": {"name": "shop"}}
SHOP_KEY = ObjectKey(GroupKind("", "Namespace"), "", "shop")


@pytest.mark.parametrize("held", [{}, {SHOP_KEY: "urn"}], ids=["new", "in-the-state"])
def test_what_is_given_is_looked_up_in_every_run(held: dict[ObjectKey, str]) -> None:
    with pytest.raises(DeployError, match="resources provides Namespace/shop, which already exists and was not"):
        preflight.refuse_foreign(given(), Cluster(SHOP), held, records=False)


def test_what_the_state_holds_stays_ours_when_a_controller_adopts_it() -> None:
    metadata = {"name": "shop", "annotations": {OWNER: "shop/dev/given"}, "ownerReferences": CONTROLLER}
    live = {"kind": "Namespace", "metadata": metadata}
    assert preflight.refuse_foreign(given(), Cluster(live), {SHOP_KEY: "urn"}, records=False) == {}


def test_what_is_given_can_be_adopted() -> None:
    taken = preflight.refuse_foreign(given(**{ADOPT: "true"}), Cluster(SHOP), {}, records=False)
    assert taken == {SHOP_KEY: "shop"}


def test_the_objects_of_the_state_cluster_by_cluster() -> None:
    own, other = ObjectKey(BUCKET, "", "a"), ObjectKey(BUCKET, "", "b")
    far = "Cluster.x.org/far"
    places = (("cluster", own, "u1"), ("cluster/ns/account", own, "u1"), (f"cluster/{far}", other, "u2"))
    held = Held(tuple(HeldObject(*place) for place in places))
    assert held.within("", {far}) == {own: "u1"}
    assert held.within(far, {far}) == {other: "u2"}


ENGINES = {
    "none": "",
    "refuses": "#!/bin/sh\necho 'error: no stack named that' >&2\nexit 1\n",
    "says-nonsense": "#!/bin/sh\necho nonsense\n",
}


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        pytest.param("none", "No such file", id="no-engine-on-the-path"),
        pytest.param("refuses", "no stack named that", id="refused"),
        pytest.param("says-nonsense", "Expecting value", id="no-json"),
    ],
)
def test_a_state_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, words: str
) -> None:
    stand_in(tmp_path, monkeypatch, ENGINES[engine])
    with pytest.raises(DeployError) as caught:
        deployed.Reading(tmp_path, "o/p/dev").result()
    [problem] = caught.value.problems
    assert words in problem.what
    assert problem.fix


def test_the_state_is_read_from_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, """#!/bin/sh\necho '{"deployment": {"resources": null}}'\n""")
    assert deployed.Reading(tmp_path, "o/p/dev").result() == Held(())


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let `pulumi` be a script; none where it is empty."""
    path = folder / "bin" / "pulumi"
    path.parent.mkdir()
    path.write_text(script or "not a program")
    path.chmod(0o755 if script else 0o644)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}/bin" if script else str(folder / "empty"))
