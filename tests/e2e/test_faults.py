"""What goes wrong around a run, on the real engine and API server: kills, two runs at once, a cluster that says no.

`make soak` does the kills many times over.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube.models.core_v1 import ResourceQuotaSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ResourceQuota, Secret
from lightkube.resources.core_v1 import ResourceQuotaStatus as QuotaStatus

from claimsmith import lab
from claimsmith.lab.behaviour import READY_AFTER, is_ready
from tests.e2e.creating_provider import both_ways
from tests.e2e.examples import claim, private_mysql
from tests.e2e.faults import KEYS, VICTIMS, Estate, Run, left_in
from tests.e2e.rig import RESOURCE_GROUP, SERVER, Rig, eventually
from tests.support.paths import ROOT

pytestmark = pytest.mark.e2e

KIND = "MySQLInstance.database.example.org"


@pytest.fixture
def estate(rig: Rig, control_plane: lab.Status) -> Estate:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    return Estate(rig, folder_of(control_plane), random.Random(seed))


def folder_of(control_plane: lab.Status) -> Path:
    return Path(control_plane.kubeconfig).parents[2]


@pytest.mark.parametrize("victim", VICTIMS)
def test_killed_at_a_random_moment(estate: Estate, victim: str) -> None:
    took = estate.begin(3)
    estate.check_whole()
    estate.change()
    estate.hit(victim, estate.chance.uniform(0.5, took))
    estate.mend()
    estate.check_whole()


@both_ways
def test_what_an_interrupted_run_created_goes_with_its_claim(estate: Estate) -> None:
    """The engine is killed while it creates, and the claim is removed before the next run: nothing is orphaned."""
    rig = estate.rig
    estate.prepare(1, seconds=3600)
    run = Run(rig, "dev")
    eventually(lambda: rig.live(RESOURCE_GROUP, namespace=rig.name))
    assert run.kill("engine")
    run.ended()
    shown = rig.ok(rig.claimsmith("recover", "dev")).text
    assert "who is gone" in shown
    assert f"{rig.name}/c0/resource-group: interrupted while creating" in shown
    assert "nothing was changed" in shown
    assert "currently locked" in rig.up("dev").text
    done = rig.ok(rig.claimsmith("recover", "dev", "--yes")).text
    assert "take it into the state" in done
    assert "nothing to recover in dev" in rig.ok(rig.claimsmith("recover", "dev")).text

    estate.set({})
    rig.ok(rig.claimsmith("bind", "dev"))
    rig.ok(rig.up("dev"))
    assert rig.live(RESOURCE_GROUP, namespace=rig.name) == []
    assert left_in(rig.root) == []


def test_two_runs_at_once(estate: Estate) -> None:
    rig = estate.rig
    estate.prepare(2, seconds=3600)
    first = Run(rig, "dev")
    eventually(lambda: list((rig.root / ".claimsmith").rglob("locks/**/*.json")))
    second = rig.up("dev")
    refused = rig.claimsmith("recover", "dev", "--yes", "--unlock")
    estate.release(2)
    assert first.ended() == 0, first.text
    assert second.code != 0
    assert "the stack is currently locked by 1 lock(s)" in second.text
    assert refused.code == 1
    assert "a run of 'dev' is at work" in refused.err
    assert "fix: wait until it ends" in refused.err
    estate.check_whole()


def test_what_is_not_ready_in_time_is_named_and_the_next_run_resumes(rig: Rig) -> None:
    rig.namespace(rig.name)
    late = private_mysql("late")
    annotations = late["spec"]["resources"][1]["base"]["metadata"]["annotations"]
    annotations[READY_AFTER] = "3600s"
    annotations["claimsmith.io/timeout"] = "6s"
    rig.write("components/late/class.yaml", late)
    rig.write("components/good/class.yaml", private_mysql("good"))
    for name, klass in (("slow", "late"), ("one", "good"), ("two", "good")):
        rig.write(f"stacks/dev/claims/{name}.yaml", claim(rig.name, name=name, klass=klass))
    rig.prepare("dev")
    ran = rig.up("dev", "--continue-on-error")
    assert ran.code != 0
    assert f"{KIND}/{rig.name}/slow: its child 'my-sql-server' (MySQLServer {rig.name}-slow-" in ran.text
    assert "did not become ready within 6s: Ready is False" in ran.text
    assert "malformed" not in ran.text, "the Secret of the claim is left out"
    assert ran.text.count("did not become ready") == ran.text.count("Ready is False")
    assert "Traceback" not in ran.text
    for name in ("one", "two"):
        assert rig.secret_values(rig.name, name).keys() == KEYS
    assert rig.secret(rig.name, "slow") is None

    # Not by time: however late the cluster was asked, it had to say that the server is not ready.
    slow = rig.one(SERVER, claim="slow", namespace=rig.name)["metadata"]["name"]
    rig.patch(SERVER, slow, {"metadata": {"annotations": {READY_AFTER: "0s"}}})
    eventually(lambda: is_ready(rig.one(SERVER, claim="slow", namespace=rig.name)))
    rig.patch(SERVER, slow, {"metadata": {"annotations": {READY_AFTER: "3600s"}}})
    rig.ok(rig.up("dev"))
    assert rig.secret_values(rig.name, "slow").keys() == KEYS


@pytest.fixture
def claimed(rig: Rig) -> Rig:
    """A claim that is ready to be deployed."""
    rig.namespace(rig.name)
    rig.write("components/mysql/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    return rig


def test_no_quota_is_reported_with_the_claim(claimed: Rig) -> None:
    rig = claimed
    hard = {"count/secrets": "0"}
    quota = ResourceQuota(metadata=ObjectMeta(name="none", namespace=rig.name), spec=ResourceQuotaSpec(hard=hard))
    found = rig.client.create(quota).to_dict()
    found["status"] = {"hard": hard, "used": {"count/secrets": "0"}}
    rig.client.replace(QuotaStatus.from_dict(found), "none", namespace=rig.name)
    ran = rig.up("dev")
    assert ran.code != 0
    assert f"{rig.name}/sql/connection" in ran.text
    assert "exceeded quota: none" in ran.text
    assert "Traceback" not in ran.text
    rig.client.delete(ResourceQuota, "none", namespace=rig.name)
    rig.ok(rig.up("dev"))
    assert rig.secret_values(rig.name, "sql").keys() == KEYS


def test_missing_kinds_and_namespaces_are_reported_before_anything_is_created(rig: Rig) -> None:
    odd = private_mysql("odd")
    odd["spec"]["resources"] = odd["spec"]["resources"][:1]
    base = odd["spec"]["resources"][0]["base"]
    base["kind"] = "Oddity"
    base["spec"]["writeConnectionSecretToRef"] = {"namespace": "crossplane-system"}
    rig.write("components/odd/class.yaml", odd)
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name, klass="odd"))
    rig.write("stacks/Pulumi.dev.yaml", {"config": {"claimsmith:kubeconfig": str(rig.kubeconfig)}})
    for words in (["generate"], ["bind", "dev"]):
        rig.ok(rig.claimsmith(*words))
    rig.ok(rig.pulumi("stack", "init", "dev"))
    for ran in (rig.pulumi("preview", "--stack", "dev"), rig.up("dev")):
        assert ran.code != 0
        assert "its child 'oddity' is a Oddity of azure.crossplane.io/v1alpha3, which the cluster does not" in ran.text
        assert f"needs the namespace '{rig.name}', which does not exist" in ran.text
        assert "stacks/dev/claims/sql.yaml:" in ran.text
        assert "Traceback" not in ran.text


@contextmanager
def stopped(folder: Path) -> Iterator[None]:
    """The API server takes connections and answers nothing."""
    pid = next(p.pid for p in lab.status(folder).parts if p.name == "kube-apiserver")
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_an_api_server_that_does_not_answer(claimed: Rig, control_plane: lab.Status) -> None:
    with stopped(folder_of(control_plane)):
        ran = claimed.up("dev")
    assert ran.code != 0
    assert "the cluster cannot be reached: it gave no answer in time" in ran.text
    assert "Traceback" not in ran.text

    run = Run(claimed, "dev")
    eventually(lambda: claimed.live(RESOURCE_GROUP, namespace=claimed.name))
    with stopped(folder_of(control_plane)):
        time.sleep(3)
    assert run.ended() == 0, run.text
    assert claimed.secret_values(claimed.name, "sql").keys() == KEYS


def elsewhere(kubeconfig: dict[str, Any]) -> None:
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"


def powerless(kubeconfig: dict[str, Any]) -> None:
    kubeconfig["users"][0]["user"] = {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(elsewhere, "the cluster cannot be reached: ", id="refused-connection"),
        pytest.param(powerless, "the cluster refused to show ", id="forbidden"),
    ],
)
def test_a_cluster_that_refuses(claimed: Rig, change: Callable[[dict[str, Any]], None], words: str) -> None:
    config = yaml.safe_load(claimed.kubeconfig.read_text())
    change(config)
    claimed.write("other.kubeconfig", config)
    ran = claimed.pulumi("preview", "--stack", "dev", "--config", "claimsmith:kubeconfig=other.kubeconfig")
    assert ran.code != 0
    assert words in ran.text
    assert "fix: " in ran.text
    assert "Traceback" not in ran.text


def test_a_secret_that_lacks_a_key_is_named_and_the_claim_s_own_stays(rig: Rig) -> None:
    rig.namespace(rig.name)
    for file in ("definition.yaml", "compositions.yaml"):
        rig.write(f"components/mysql-database/{file}", (ROOT / "components/mysql-database" / file).read_text())
    secret = {"namespace": rig.name, "name": "sql"}
    infrastructure = {"compositionRef": {"name": "mysql-on-azure"}, "writeConnectionSecretToRef": secret}
    instance = {
        "apiVersion": "acme.example.org/v1alpha1",
        "kind": "MySQLDatabase",
        "metadata": {"name": rig.name},
        "spec": {"region": "us-west", "storageGB": 10, "infrastructure": infrastructure},
    }
    rig.write("stacks/dev/claims/sql.yaml", instance)
    rig.prepare("dev")
    rig.ok(rig.up("dev"))
    before = rig.secret_values(rig.name, "sql")
    [uid] = [r["uid"] for r in yaml.safe_load((rig.root / "stacks/dev/bindings.yaml").read_text())["bindings"]]
    rig.client.patch(Secret, f"{uid}-mysqlserver", {"data": {"password": None}}, namespace="crossplane-system")
    ran = rig.up("dev")
    assert ran.code != 0
    assert f"MySQLDatabase.acme.example.org/{rig.name}: the Secret crossplane-system/{uid}-mysqlserver" in ran.text
    assert "has no key 'password' for the detail 'password'" in ran.text
    assert "Traceback" not in ran.text
    assert rig.secret_values(rig.name, "sql") == before
    assert not any(value in text for text in rig.printed for value in before.values() if value == before["password"])
