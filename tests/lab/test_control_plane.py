"""The control plane of the lab: its files, its start and end, and the simulated cloud on real servers."""

from __future__ import annotations

import base64
import copy
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith import lab, toolchain
from claimsmith.base.errors import ControlPlaneError
from claimsmith.kubernetes.client import CRDS, NAMESPACES, SECRETS, ApiError, Cluster, Resource
from claimsmith.kubernetes.connection import Unreachable
from claimsmith.lab import behaviour, certificates, control_plane, install, parts
from claimsmith.lab.files import Files
from claimsmith.toolchain import background
from tests.support.eventually import eventually
from tests.support.managed_objects import AZURE, managed, thing

# Processes and files, without servers


def test_files_are_private_and_chosen_once(tmp_path: Path) -> None:
    files = Files(tmp_path)
    assert files.ports() == {}
    assert files.identity() == ""
    files.create()
    ports, identity = files.ports(create=True), files.identity(create=True)
    certificates.ensure(files.pki)
    first = {p.name: p.read_bytes() for p in files.pki.iterdir()}
    certificates.ensure(files.pki)
    assert (files.ports(create=True), files.identity(create=True)) == (ports, identity)
    assert {p.name: p.read_bytes() for p in files.pki.iterdir()} == first
    assert stat.S_IMODE(files.root.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in files.pki.iterdir())
    assert len(set(ports.values())) == len(ports) == 3


def test_taken_port_is_told_not_exchanged(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.create()
    port = files.ports(create=True)[parts.APISERVER]
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        with pytest.raises(ControlPlaneError) as caught:
            files.refuse_taken_ports()
    assert str(port) in caught.value.problems[0].what
    assert "--wipe" in caught.value.problems[0].fix
    files.refuse_taken_ports()


def test_expired_certificates_are_made_anew(tmp_path: Path) -> None:
    import datetime

    certificates.ensure(tmp_path, now=datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC))
    old, signer = (tmp_path / "ca.crt").read_text(), (tmp_path / "sa.key").read_text()
    certificates.ensure(tmp_path)
    assert (tmp_path / "ca.crt").read_text() != old
    assert (tmp_path / "sa.key").read_text() == signer


def test_nothing_is_running_where_nothing_was_started(tmp_path: Path) -> None:
    status = lab.status(tmp_path)
    assert not status.running
    assert [part.running for part in status.parts] == [False, False, False]
    assert lab.down(tmp_path) is False
    assert list(tmp_path.iterdir()) == []


def test_failed_start_stops_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = {}
    for name, code in {
        parts.ETCD: "sleep 60",
        parts.APISERVER: "echo 'Error: no good'; exit 1",
        parts.CONTROLLERS: "exit 0",
    }.items():
        fakes[name] = tmp_path / f"fake-{name}"
        fakes[name].write_text(f"#!/bin/sh\n{code}\n")
        fakes[name].chmod(0o755)
    monkeypatch.setattr(toolchain, "require", lambda *_: fakes)
    begun: list[background.Process] = []
    spawn = background.spawn
    monkeypatch.setattr(background, "spawn", lambda *a, **k: begun.append(spawn(*a, **k)))
    with pytest.raises(ControlPlaneError) as caught:
        lab.up(tmp_path)
    assert "Error: no good" in caught.value.problems[0].what
    assert caught.value.problems[0].fix
    assert len(begun) == 2
    assert not any(p.alive for p in begun)
    assert list((tmp_path / ".claimsmith/local/run").iterdir()) == []


def test_program_that_cannot_be_started_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "require", lambda *names: dict.fromkeys(names, tmp_path / "missing"))
    with pytest.raises(ControlPlaneError, match="cannot start etcd"):
        lab.up(tmp_path)


# On real servers

MYSQLS = Resource(f"{AZURE}/v1beta1", "mysqlservers")
GROUPS = Resource("azure.crossplane.io/v1alpha3", "resourcegroups")
RULES = Resource(f"{AZURE}/v1alpha3", "mysqlservervirtualnetworkrules")
CLUSTERS = Resource("container.gcp.crossplane.io/v1beta1", "gkeclusters")
VPCS = Resource("network.aws.crossplane.io/v1alpha3", "vpcs")
DEFINITIONS = [
    managed(f"{AZURE}/v1beta1", "MySQLServer"),
    managed(f"{AZURE}/v1alpha3", "MySQLServerVirtualNetworkRule"),
    managed("azure.crossplane.io/v1alpha3", "ResourceGroup"),
    managed("container.gcp.crossplane.io/v1beta1", "GKECluster"),
    managed("network.aws.crossplane.io/v1alpha3", "VPC"),
]


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lab.Status]:
    with lab.running(tmp_path_factory.mktemp("plane"), crds=DEFINITIONS) as started:
        yield started


@pytest.fixture
def client(plane: lab.Status) -> Iterator[Cluster]:
    with Cluster.of_file(plane.kubeconfig, manager="test") as found:
        yield found


def made(client: Cluster, resource: Resource, body: Any, **annotations: str) -> Any:
    body = copy.deepcopy(body)
    body["metadata"] = {"name": body["metadata"]["name"], "annotations": annotations}
    return client.create(resource, body)


def ready(client: Cluster, resource: Resource, name: str) -> Any:
    def check() -> Any:
        seen = client.get(resource, name)
        return seen if seen and behaviour.is_ready(seen) else None

    return eventually(check)


def condition(client: Cluster, resource: Resource, name: str, kind: str) -> Any:
    conditions = (client.get(resource, name) or {}).get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == kind), None)


def server(name: str, **more: Any) -> Any:
    ref = {"namespace": "crossplane-system", "name": f"{name}-secret"}
    provider = {"administratorLogin": "myadmin", "sslEnforcement": "Disabled", "storageProfile": {"storageMB": 10}}
    return thing(name=name, forProvider={**provider, **more}, writeConnectionSecretToRef=ref, reclaimPolicy="Delete")


@pytest.mark.e2e
def test_identity_is_told(plane: lab.Status, client: Cluster) -> None:
    system = client.get(NAMESPACES, "kube-system")
    assert system is not None
    assert plane.running
    assert plane.cluster_uid == system["metadata"]["uid"]
    assert len(plane.identity) == 36
    assert [p.name for p in plane.parts] == list(parts.ORDER)
    assert json.loads(json.dumps(plane.to_dict()))["endpoint"] == plane.endpoint
    assert client.get(NAMESPACES, "crossplane-system") is not None


@pytest.mark.e2e
def test_kubeconfig_is_private(plane: lab.Status) -> None:
    assert stat.S_IMODE(plane.kubeconfig.stat().st_mode) == 0o600
    assert stat.S_IMODE(plane.kubeconfig.parent.stat().st_mode) == 0o700


@pytest.mark.e2e
def test_a_damaged_kubeconfig_is_written_anew(tmp_path: Path) -> None:
    with lab.running(tmp_path) as plane:
        whole = plane.kubeconfig.read_text()
        plane.kubeconfig.write_text("users: *canary")
        assert not lab.status(tmp_path).running, "reported, not a traceback"
        assert lab.up(tmp_path).running
        assert plane.kubeconfig.read_text() == whole


@pytest.mark.e2e
def test_stranger_is_forbidden(plane: lab.Status) -> None:
    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["users"][0]["user"] = {}
    with Cluster(yaml.safe_dump(config)) as anonymous, pytest.raises(ApiError) as caught:
        anonymous.snapshot(SECRETS)
    assert caught.value.code == 403
    assert "system:anonymous" in caught.value.message


@pytest.mark.e2e
def test_server_is_verified(plane: lab.Status, tmp_path: Path) -> None:
    certificates.ensure(tmp_path)
    (tmp_path / "kubeconfig").write_text(certificates.kubeconfig(tmp_path, plane.endpoint))
    with (
        Cluster.of_file(tmp_path / "kubeconfig") as misled,
        pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        misled.snapshot(NAMESPACES)


@pytest.mark.e2e
def test_certificate_of_another_authority_opens_nothing(plane: lab.Status, tmp_path: Path) -> None:
    certificates.ensure(tmp_path)
    config = yaml.safe_load(certificates.kubeconfig(tmp_path, plane.endpoint))
    config["clusters"] = yaml.safe_load(plane.kubeconfig.read_text())["clusters"]
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    with Cluster.of_file(tmp_path / "kubeconfig") as stranger, pytest.raises(ApiError) as caught:
        stranger.snapshot(NAMESPACES)
    assert caught.value.code == 401


@pytest.mark.e2e
def test_everything_listens_on_loopback_alone_and_wants_a_certificate(plane: lab.Status) -> None:
    pids = {part.pid for part in plane.parts}
    inodes = set()
    for pid in pids:
        links = [os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()]
        inodes |= {m[1] for link in links if (m := re.fullmatch(r"socket:\[(\d+)\]", link))}
    rows = [r.split() for f in ("tcp", "tcp6") for r in Path(f"/proc/net/{f}").read_text().splitlines()[1:]]
    listening = {r[1] for r in rows if r[3] == "0A" and r[9] in inodes}
    assert len(listening) == 3
    assert all(address.startswith("0100007F:") for address in listening)
    config = yaml.safe_load(plane.kubeconfig.read_text())
    address = f"https://127.0.0.1:{plane.parts[0].port}"
    config["clusters"][0]["cluster"] = {"server": address, "insecure-skip-tls-verify": True}
    config["users"][0]["user"] = {}
    with Cluster(yaml.safe_dump(config)) as etcd, pytest.raises(Unreachable):
        etcd.request("GET", "/version")


@pytest.mark.e2e
def test_namespace_can_be_deleted(client: Cluster) -> None:
    client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short"}})
    client.delete(NAMESPACES, "short")
    eventually(lambda: client.get(NAMESPACES, "short") is None)


@pytest.mark.e2e
def test_mysql_server_becomes_ready_and_stays_put(client: Cluster) -> None:
    group = thing("ResourceGroup", "rg", api_version="azure.crossplane.io/v1alpha3", location="West US")
    made(client, GROUPS, group)
    made(client, MYSQLS, server("sql", resourceGroupNameRef={"name": "rg"}))
    seen = ready(client, MYSQLS, "sql")
    assert seen["metadata"]["finalizers"] == [behaviour.FINALIZER]
    assert behaviour.external_name(seen) == "sql"
    assert seen["spec"]["forProvider"]["resourceGroupName"] == "rg"
    assert seen["spec"]["forProvider"]["sslEnforcement"] == "DISABLED"
    assert seen["spec"]["forProvider"]["storageProfile"] == {
        "storageMB": 10,
        "backupRetentionDays": 7,
        "geoRedundantBackup": "Disabled",
    }
    assert {m["operation"] for m in seen["metadata"]["managedFields"] if m["manager"] == "simulated-cloud"} == {
        "Update"
    }
    secret = client.get(SECRETS, "sql-secret", namespace="crossplane-system")
    assert secret is not None
    assert secret["type"] == "connection.crossplane.io/v1alpha1"
    assert secret["metadata"]["ownerReferences"][0]["uid"] == seen["metadata"]["uid"]
    assert set(secret["data"]) == {"endpoint", "port", "username", "password"}
    # When another one is ready, the cloud has looked at this one again.
    made(client, MYSQLS, server("next", resourceGroupNameRef={"name": "rg"}))
    ready(client, MYSQLS, "next")
    assert client.get(MYSQLS, "sql") == seen
    assert client.get(SECRETS, "sql-secret", namespace="crossplane-system") == secret

    seen["spec"]["forProvider"]["storageProfile"]["storageMB"] = 20
    client.replace(MYSQLS, seen)
    eventually(lambda: (client.get(MYSQLS, "sql") or {})["status"]["atProvider"]["storageMB"] == 20)
    assert client.get(SECRETS, "sql-secret", namespace="crossplane-system") == secret

    client.delete(MYSQLS, "sql", policy="Foreground")
    eventually(lambda: client.get(MYSQLS, "sql") is None)
    eventually(lambda: client.get(SECRETS, "sql-secret", namespace="crossplane-system") is None)


@pytest.mark.e2e
def test_secret_is_there_before_ready(client: Cluster) -> None:
    made(client, MYSQLS, server("order"))
    ready(client, MYSQLS, "order")
    assert client.get(SECRETS, "order-secret", namespace="crossplane-system") is not None


@pytest.mark.e2e
def test_missing_target_is_waited_for(client: Cluster) -> None:
    rule = thing(
        "MySQLServerVirtualNetworkRule", "rule", api_version=f"{AZURE}/v1alpha3", serverNameRef={"name": "late"}
    )
    made(client, RULES, rule)
    synced = eventually(lambda: condition(client, RULES, "rule", "Synced"))
    assert synced["status"] == "False"
    assert "'late'" in synced["message"]
    made(client, MYSQLS, server("late"))
    assert ready(client, RULES, "rule")["spec"]["serverName"] == "late"


@pytest.mark.e2e
def test_missing_namespace_is_told_and_waited_for(client: Cluster) -> None:
    body = server("homeless")
    body["spec"]["writeConnectionSecretToRef"]["namespace"] = "later"
    made(client, MYSQLS, body)
    synced = eventually(lambda: (c := condition(client, MYSQLS, "homeless", "Synced")) and c["status"] == "False" and c)
    assert "later" in synced["message"]
    client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}})
    ready(client, MYSQLS, "homeless")
    assert condition(client, MYSQLS, "homeless", "Synced")["status"] == "True"


@pytest.mark.e2e
def test_cloud_assigns_the_id(client: Cluster) -> None:
    body = thing(
        "VPC", "net", api_version="network.aws.crossplane.io/v1alpha3", forProvider={"cidrBlock": "10.0.0.0/16"}
    )
    made(client, VPCS, body, **{behaviour.EXTERNAL_NAME: "mine"})
    assert behaviour.external_name(ready(client, VPCS, "net")).startswith("vpc-")


@pytest.mark.e2e
def test_cluster_secret_leads_to_a_cluster(client: Cluster, plane: lab.Status, tmp_path: Path) -> None:
    ref = {"namespace": "crossplane-system", "name": "gke"}
    body = thing("GKECluster", "gke", api_version="container.gcp.crossplane.io/v1beta1", writeConnectionSecretToRef=ref)
    made(client, CLUSTERS, body)
    ready(client, CLUSTERS, "gke")
    secret = client.get(SECRETS, "gke", namespace="crossplane-system") or {}
    assert {"endpoint", "kubeconfig", "clusterCA", "username", "password"} <= set(secret["data"])
    (tmp_path / "kubeconfig").write_bytes(base64.b64decode(secret["data"]["kubeconfig"]))
    with Cluster.of_file(tmp_path / "kubeconfig") as made_cluster:
        assert made_cluster.get(NAMESPACES, "kube-system") is not None
    assert base64.b64decode(secret["data"]["endpoint"]).decode() == plane.endpoint


@pytest.mark.e2e
def test_hooks(client: Cluster) -> None:
    made(client, MYSQLS, server("never"), **{behaviour.NEVER_READY: "true"})
    made(client, MYSQLS, server("bare"), **{behaviour.NO_SECRET: "true"})
    begun = time.monotonic()
    made(client, MYSQLS, server("slow"), **{behaviour.READY_AFTER: "2s"})
    ready(client, MYSQLS, "bare")
    assert client.get(SECRETS, "bare-secret", namespace="crossplane-system") is None
    ready(client, MYSQLS, "slow")
    assert time.monotonic() - begun >= 2
    assert eventually(lambda: condition(client, MYSQLS, "never", "Ready"))["status"] == "False"


@pytest.mark.e2e
def test_kind_that_comes_later_is_looked_after(client: Cluster, plane: lab.Status) -> None:
    assert lab.install_crds(plane.kubeconfig, [managed("cache.azure.crossplane.io/v1beta1", "Redis")])
    assert not lab.install_crds(plane.kubeconfig, [managed("cache.azure.crossplane.io/v1beta1", "Redis")])
    caches = Resource("cache.azure.crossplane.io/v1beta1", "redis")
    made(client, caches, thing("Redis", "r", api_version="cache.azure.crossplane.io/v1beta1"))
    ready(client, caches, "r")


@pytest.mark.e2e
def test_definition_that_discovery_missed_is_touched(
    client: Cluster, plane: lab.Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = install._undiscovered
    missed = [crd for crd in client.snapshot(CRDS)[0] if crd["spec"]["names"]["kind"] == "VPC"]

    def look_badly(client: Cluster) -> Any:
        found = client.get(CRDS, "vpcs.network.aws.crossplane.io") or {}
        return look(client) if install._TOUCHED in found["metadata"]["annotations"] else missed

    monkeypatch.setattr(install, "_undiscovered", look_badly)
    monkeypatch.setattr(install, "_TOUCH_AFTER", 0.1)
    install.wait_until_discovered(client)
    assert not lab.install_crds(plane.kubeconfig, DEFINITIONS)


@pytest.mark.e2e
def test_refused_definition_is_told(plane: lab.Status) -> None:
    turned = managed("azure.crossplane.io/v1alpha3", "ResourceGroup", namespaced=True)
    with pytest.raises(ControlPlaneError, match=r"resourcegroups\.azure\.crossplane\.io"):
        lab.install_crds(plane.kubeconfig, [turned])


@pytest.mark.e2e
def test_versions_in_use_survive_an_update(client: Cluster, plane: lab.Status) -> None:
    for version in ("v1alpha1", "v1beta1"):
        lab.install_crds(plane.kubeconfig, [managed(f"x.example.org/{version}", "Thing")])
    found = client.get(CRDS, "things.x.example.org") or {}
    assert {v["name"] for v in found["spec"]["versions"]} == {"v1alpha1", "v1beta1"}


@pytest.mark.e2e
def test_what_was_there_is_there_after_a_pause(tmp_path: Path) -> None:
    with lab.running(tmp_path, crds=DEFINITIONS) as first, Cluster.of_file(first.kubeconfig, manager="test") as client:
        made(client, MYSQLS, server("kept"))
        seen = ready(client, MYSQLS, "kept")
    assert not lab.status(tmp_path).running
    with lab.running(tmp_path, crds=DEFINITIONS) as second:
        assert (second.endpoint, second.identity, second.cluster_uid) == (
            first.endpoint,
            first.identity,
            first.cluster_uid,
        )
        with Cluster.of_file(second.kubeconfig, manager="test") as client:
            made(client, MYSQLS, server("second"))
            ready(client, MYSQLS, "second")
            assert client.get(MYSQLS, "kept") == seen
            client.delete(MYSQLS, "kept", policy="Foreground")
            eventually(lambda: client.get(MYSQLS, "kept") is None)
    assert lab.down(tmp_path, wipe=True)
    assert not (tmp_path / ".claimsmith/local").exists()


@pytest.mark.e2e
def test_half_of_it_is_repaired(tmp_path: Path) -> None:
    with lab.running(tmp_path, crds=DEFINITIONS) as first:
        pids = {part.name: part.pid for part in first.parts}
        for name in (parts.ETCD, parts.CLOUD):
            os.kill(pids[name] or 0, signal.SIGKILL)
        eventually(lambda: not lab.status(tmp_path).running)
        again = lab.up(tmp_path, crds=DEFINITIONS)
        assert again.running
        assert again.cluster_uid == first.cluster_uid
        assert lab.up(tmp_path, crds=DEFINITIONS) == again
        without = lab.up(tmp_path, simulate=False)
        assert without.running
        assert parts.CLOUD not in [part.name for part in without.parts]


@pytest.mark.e2e
def test_simulated_cloud_outlives_the_api_server(tmp_path: Path) -> None:
    files = Files(tmp_path)
    with lab.running(tmp_path, crds=DEFINITIONS) as first, Cluster.of_file(first.kubeconfig, manager="test") as client:
        found = background.recorded(files.record(parts.APISERVER))
        assert found is not None
        background.stop(found, grace=0)
        time.sleep(1)
        argv = parts.argv(parts.APISERVER, files, toolchain.require(*parts.SERVERS))
        env = parts.environment()
        background.spawn(argv, record=files.record(parts.APISERVER), log=files.log(parts.APISERVER), env=env)
        eventually(lambda: lab.status(tmp_path).running)
        made(client, MYSQLS, server("after"))
        ready(client, MYSQLS, "after")
        assert lab.status(tmp_path).parts[-1] == first.parts[-1]


@pytest.mark.e2e
def test_two_at_once_give_one(tmp_path: Path) -> None:
    statuses: list[lab.Status] = []
    try:
        threads = [threading.Thread(target=lambda: statuses.append(lab.up(tmp_path))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(statuses) == 2
        assert statuses[0] == statuses[1]
    finally:
        lab.down(tmp_path)


@pytest.mark.e2e
def test_interrupted_start_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[background.Process] = []

    def interrupt(*_: Any, **__: Any) -> None:
        begun.extend(p for name in parts.ORDER if (p := background.recorded(Files(tmp_path).record(name))))
        raise KeyboardInterrupt

    monkeypatch.setattr(control_plane, "_wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        lab.up(tmp_path)
    assert len(begun) == 2
    assert not any(p.alive for p in begun)


@pytest.mark.e2e
def test_stops_when_its_starter_is_killed(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time\n"
        "from claimsmith import lab, toolchain\n"
        "bins = {p.name: p for p in map(pathlib.Path, sys.argv[2:])}\n"
        "toolchain.require = lambda *names: bins\n"
        "with lab.running(pathlib.Path(sys.argv[1])):\n"
        "    print('up', flush=True)\n"
        "    time.sleep(3600)\n"
    )
    binaries = [str(path) for path in toolchain.require(*parts.SERVERS).values()]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), *binaries],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    ) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"up\n"
        begun = [p for name in parts.ORDER if (p := background.recorded(Files(tmp_path).record(name)))]
        starter.kill()
    assert len(begun) == 4
    eventually(lambda: not any(p.alive for p in begun))
