"""Attacks on the real engine and a real API server: refused with file and line, and nothing that is live is touched."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Secret
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding

from claimsmith import lab
from claimsmith.dialects.definitions.crds import claim_crd, record_crds
from claimsmith.lab import install_crds
from tests.e2e.rig import Rig
from tests.support.attack_files import (
    ATTACKS,
    MINE,
    PLACE,
    PLATFORM,
    SETTINGS,
    THEIRS,
    Attack,
    Data,
    application,
    claim,
    config_map,
    marked,
    queue,
    site,
    store,
)

pytestmark = pytest.mark.e2e

KINDS = [("database.example.org", "v1beta1", "Server"), ("database.m.example.org", "v1beta1", "Server")]
OWN = "stacks/dev/claims/team-a/own.yaml"
WISH = {"writeConnectionSecretToRef": {"name": "orders"}}


def owned(*objects: Data) -> list[Data]:
    """What team-a was given: a claim of every dialect, and an application of these objects."""
    blog = site()
    named = {**blog, "metadata": {**blog["metadata"], "name": "own"}}
    return [claim("own"), store("own"), queue(name="own"), named, application(MINE, "own", "shared", *objects)]


@pytest.fixture(scope="module")
def attacked(control_plane: lab.Status, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Two teams with what they were given, deployed; beside it what somebody else created."""
    rig = Rig(tmp_path_factory.mktemp("attacked"), Path(control_plane.kubeconfig), "attacked")
    for name in (MINE, THEIRS, "infra", "crossplane-system"):
        rig.namespace(name)
    kubeconfig = base64.b64encode(rig.kubeconfig.read_bytes()).decode()
    rig.client.apply(
        Secret(metadata=ObjectMeta(name="central", namespace="infra"), data={"config": kubeconfig}),
        field_manager="tests",
    )
    rig.client.create(ConfigMap(metadata=ObjectMeta(name="important", namespace="kube-system"), data={"a": "1"}))
    rig.client.create(Secret(metadata=ObjectMeta(name="foreign", namespace=MINE), stringData={"a": "1"}))
    for path, documents in PLATFORM.items():
        rig.write(path, documents)
    rig.write("claimsmith.yaml", SETTINGS)
    victim = marked(claim("orders", namespace=THEIRS, **WISH), "crossplane.io/external-name", "orders-db")
    rig.write("stacks/dev/claims/team-b/orders.yaml", [victim, store("store", namespace=THEIRS)])
    rig.write(OWN, owned(config_map("settings")))
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    yield rig
    rig.ok(rig.destroy("dev"))
    rig.client.delete(ConfigMap, "important", namespace="kube-system")
    rig.client.delete(Secret, "foreign", namespace=MINE)
    rig.close()


def live(rig: Rig) -> dict[str, Any]:
    """All that an attack could touch, by kind and name, without what controllers write in their own time."""
    found = {f"{k[0]}/{o['metadata']['name']}": o for k in KINDS for o in rig.live(k)}
    listed = [*rig.client.list(ConfigMap, namespace="*"), *rig.client.list(Secret, namespace="*")]
    listed += [*rig.client.list(ClusterRole), *rig.client.list(ClusterRoleBinding)]
    found |= {f"{type(o).__name__}/{o.metadata.namespace}/{o.metadata.name}": o.to_dict() for o in listed}
    return {name: _content(o) for name, o in found.items()}


def _content(document: dict[str, Any]) -> dict[str, Any]:
    kept = {"uid", "labels", "annotations", "ownerReferences"}
    metadata = {k: v for k, v in document["metadata"].items() if k in kept}
    return {**{k: v for k, v in document.items() if k != "status"}, "metadata": metadata}


@pytest.fixture
def written(attacked: Rig) -> Iterator[Rig]:
    """The project, as it was again after the test."""
    before = {p: p.read_bytes() for p in (attacked.root / "stacks").rglob("*.yaml")}
    yield attacked
    for path in (attacked.root / "stacks").rglob("*.yaml"):
        if path not in before:
            path.unlink()
    for path, content in before.items():
        path.write_bytes(content)


@pytest.mark.parametrize("attack", [pytest.param(a, id=name) for name, a in ATTACKS.items()])
def test_attacks(attack: Attack, written: Rig) -> None:
    for path, document in attack.files.items():
        written.write(path, document)
    written.write("stacks/Pulumi.dev.yaml", _binding_by_itself(written))
    before = live(written)
    ran = written.up("dev")
    assert ran.code != 0, ran.text
    assert attack.says in ran.text
    assert f"{attack.at}:" in ran.text
    assert live(written) == before


def _binding_by_itself(rig: Rig) -> str:
    """The stack's config, in which claims need not be bound first: the attack itself is to be refused."""
    return _with((rig.root / "stacks" / "Pulumi.dev.yaml").read_text(), "claimsmith:bind: auto")


def _with(text: str, setting: str) -> str:
    return text.replace("config:", f"config:\n  {setting}", 1)


def test_a_secret_that_somebody_else_created(written: Rig) -> None:
    written.write(PLACE, claim("attack", writeConnectionSecretToRef={"name": "foreign"}))
    written.ok(written.claimsmith("bind", "dev"))
    before = live(written)
    ran = written.up("dev")
    assert ran.code != 0
    assert f"{PLACE}:" in ran.text
    assert live(written) == before


def test_force_is_dropped_on_a_shared_target(written: Rig) -> None:
    forced = marked(config_map("settings", a="2"), "pulumi.com/patchForce")
    written.write(OWN, owned(forced))
    written.ok(written.up("dev"))
    [found] = [c for c in written.client.list(ConfigMap, namespace=MINE) if c.metadata.name == "settings"]
    assert found.data == {"a": "2"}
    assert "pulumi.com/patchForce" not in (found.metadata.annotations or {})


def test_what_teams_were_given_is_deployed(attacked: Rig) -> None:
    """The rule does not strangle: every dialect's claims of both teams are live."""
    labelled = [o["metadata"].get("labels") or {} for k in KINDS for o in attacked.live(k)]
    owners = {labels.get("resourceclaim.crossplane.io/namespace") for labels in labelled}
    assert {MINE, THEIRS} <= owners
    assert attacked.secret(THEIRS, "orders")


def test_a_record_that_somebody_else_created(written: Rig) -> None:
    install_crds(written.kubeconfig, [*record_crds(), claim_crd("database.example.org/v1alpha1", "Database")])
    resource = create_namespaced_resource("database.example.org", "v1alpha1", "Database", "databases")
    by_hand = {"metadata": {"name": "attack", "namespace": MINE}, "spec": {"size": 99}}
    written.client.create(resource.from_dict(by_hand))
    written.write(PLACE, claim("attack"))
    written.write("stacks/Pulumi.dev.yaml", _with(_binding_by_itself(written), "claimsmith:records: 'true'"))
    ran = written.up("dev")
    kept = written.client.get(resource, "attack", namespace=MINE).to_dict()
    written.client.delete(resource, "attack", namespace=MINE)
    assert ran.code != 0
    assert "its record Database team-a/attack already exists and was not created by claimsmith" in ran.text
    assert f"{PLACE}:" in ran.text
    assert kept["spec"] == {"size": 99}


def test_the_same_claim_from_another_stack(written: Rig) -> None:
    place = "stacks/twin/claims/team-b/orders.yaml"
    written.write(place, claim("orders", namespace=THEIRS, **WISH))
    written.write("stacks/Pulumi.twin.yaml", (written.root / "stacks" / "Pulumi.dev.yaml").read_text())
    written.ok(written.claimsmith("bind", "twin"))
    written.ok(written.pulumi("stack", "init", "twin"))
    before = live(written)
    ran = written.up("twin")
    after = live(written)
    written.ok(written.pulumi("stack", "rm", "twin", "--yes", "--force"))
    assert ran.code != 0
    assert f"asks for the Secret {THEIRS}/orders, which already exists and belongs to attacked/dev/" in ran.text
    assert f"{place}:" in ran.text
    assert after == before
