from __future__ import annotations

import base64
import copy
import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith import crds, local, toolchain
from claimsmith.errors import ControlPlaneError
from claimsmith.kubeconfig import select
from claimsmith.local import api, behaviour, certificates, control_plane, install, parts, process
from claimsmith.local.agenda import Agenda
from claimsmith.local.behaviour import Target
from claimsmith.local.files import Files
from claimsmith.local.follow import Follower
from claimsmith.local.profiles import Profile, load

AZURE = "database.azure.crossplane.io"
OPEN: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
STRICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "forProvider": {
                    "type": "object",
                    "properties": {"sslEnforcement": {"type": "string", "enum": ["Enabled", "Disabled"]}},
                },
                "tags": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        }
    },
}
NOW = "2026-01-01T00:00:00Z"


def managed(api_version: str, kind: str, **options: Any) -> dict[str, Any]:
    return crds.permissive_crd(api_version, kind, **{"namespaced": False, "managed": True, **options})


def thing(kind: str = "MySQLServer", name: str = "db", *, api_version: str = f"{AZURE}/v1beta1", **spec: Any) -> Any:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "uid": f"uid-of-{name}", "generation": 1},
        "spec": spec,
    }


def nowhere(_field: str, _ref: Any) -> Target:
    return Target()


def known(*names: str) -> behaviour.Find:
    return lambda _field, ref: Target(f"ext-{ref['name']}" if ref["name"] in names else "", required=True)


# What the simulated cloud would make of an object


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({"groupRef": {"name": "a"}}, {"group": "ext-a"}, id="reference"),
        pytest.param({"groupRef": {"name": "a"}, "group": "mine"}, {"group": "mine"}, id="value-wins"),
        pytest.param(
            {"groupRef": {"name": "a", "policy": {"resolve": "Always"}}, "group": "old"},
            {"group": "ext-a"},
            id="resolve-always",
        ),
        pytest.param({"subnetIdRefs": [{"name": "a"}, {"name": "b"}]}, {"subnetIds": ["ext-a", "ext-b"]}, id="list"),
        pytest.param({"groupRef": {"name": "a", "policy": None}}, {"group": "ext-a"}, id="null-policy"),
        pytest.param({"groupRef": {"name": "gone"}}, {}, id="target-missing"),
        pytest.param({"groupSelector": {"matchLabels": {}}}, {}, id="selector-is-not-ours"),
        *(
            pytest.param({f"{name}Ref": {"name": "a"}}, {}, id=f"leaves-{name}Ref")
            for name in ("provider", "providerConfig", "composite", "claim", "class", "resource", "aggregate")
        ),
        pytest.param({"writeConnectionSecretToRef": {"name": "a"}}, {}, id="leaves-writeConnectionSecretToRef"),
        pytest.param({"passwordSecretRef": {"name": "a", "key": "k"}}, {}, id="leaves-secret-keys"),
    ],
)
def test_references(spec: dict[str, Any], want: dict[str, Any]) -> None:
    seen = thing(reclaimPolicy="Delete", deep=[{"er": spec}])
    made, _, _ = behaviour.desired(seen, Profile(), known("a", "b"), OPEN)
    assert made["spec"] == {"reclaimPolicy": "Delete", "deep": [{"er": {**spec, **want}}]}


def test_required_reference_is_waited_for_an_optional_one_is_not() -> None:
    spec: Any = {"aRef": {"name": "x"}, "bRef": {"name": "y", "policy": {"resolution": "Optional"}}}
    _, missing, unresolved = behaviour.desired(thing(**spec), Profile(), known(), OPEN)
    assert missing == ["a refers to 'x', which is not there yet"]
    assert unresolved


MYSQL = load().of(AZURE, "MySQLServer")


@pytest.mark.parametrize(
    ("spec", "schema", "want"),
    [
        pytest.param({}, OPEN, {"deletionPolicy": "Delete"}, id="generic-default"),
        pytest.param({"reclaimPolicy": "Retain"}, OPEN, {"reclaimPolicy": "Retain"}, id="policy-is-kept"),
        pytest.param(
            {"forProvider": {}},
            OPEN,
            {"deletionPolicy": "Delete", "forProvider": {"minimalTlsVersion": "TLSEnforcementDisabled"}},
            id="late-initialises-where-the-field-around-is-given",
        ),
        pytest.param(
            {"forProvider": {"minimalTlsVersion": "TLS1_2"}},
            OPEN,
            {"deletionPolicy": "Delete", "forProvider": {"minimalTlsVersion": "TLS1_2"}},
            id="what-we-set-is-kept",
        ),
        pytest.param(
            {"forProvider": {"sslEnforcement": "Disabled", "minimalTlsVersion": "x"}},
            OPEN,
            {"deletionPolicy": "Delete", "forProvider": {"sslEnforcement": "DISABLED", "minimalTlsVersion": "x"}},
            id="rewrites",
        ),
        pytest.param(
            {"forProvider": {"sslEnforcement": "Disabled"}},
            STRICT,
            {"forProvider": {"sslEnforcement": "Disabled"}},
            id="writes-nothing-that-the-schema-refuses-or-drops",
        ),
    ],
)
def test_late_initialisation_and_rewrites(spec: Any, schema: Any, want: Any) -> None:
    made, _, _ = behaviour.desired(thing(**spec), MYSQL, nowhere, schema)
    assert made["spec"] == want


GROUP = load().of("ec2.aws.crossplane.io", "SecurityGroup")
RULE_TEXT = "simulated cloud"


@pytest.mark.parametrize(
    ("rules", "want"),
    [
        pytest.param(
            [{"fromPort": 80}, {"fromPort": 443, "description": "ours"}],
            [{"fromPort": 80, "description": RULE_TEXT}, {"fromPort": 443, "description": "ours"}],
            id="in-each-item-that-leaves-it-out",
        ),
        pytest.param([], [], id="empty-list"),
        pytest.param("none", "none", id="no-list"),
        pytest.param(["text"], ["text"], id="no-objects"),
    ],
)
def test_late_initialisation_inside_a_list(rules: Any, want: Any) -> None:
    made, _, _ = behaviour.desired(thing(forProvider={"ingress": rules}), GROUP, nowhere, OPEN)
    assert made["spec"]["forProvider"] == {"ingress": want}
    assert behaviour.desired(made, GROUP, nowhere, OPEN)[0] == made


def test_desired_is_steady_and_leaves_its_input_alone() -> None:
    seen = thing(forProvider={"sslEnforcement": "Disabled", "storageProfile": {}, "groupRef": {"name": "a"}})
    before = copy.deepcopy(seen)
    once, _, _ = behaviour.desired(seen, MYSQL, known("a"), OPEN)
    assert seen == before
    assert behaviour.desired(once, MYSQL, known("a"), OPEN)[0] == once
    assert behaviour.without_finalizer(once)["metadata"]["finalizers"] == []


@pytest.mark.parametrize(
    ("profile", "given", "want"),
    [
        pytest.param(Profile(), None, "db", id="own-name"),
        pytest.param(Profile(), "mine", "mine", id="ours-is-kept"),
        pytest.param(Profile(assigned="vpc-{hash}"), "mine", r"vpc-[0-9a-f]{12}", id="cloud-assigns"),
    ],
)
def test_external_name(profile: Profile, given: str | None, want: str) -> None:
    seen = thing()
    seen["metadata"]["annotations"] = {behaviour.EXTERNAL_NAME: given}
    made, _, _ = behaviour.desired(seen, profile, nowhere, OPEN)
    assert re.fullmatch(want, behaviour.external_name(made))


@pytest.mark.parametrize(
    ("items", "want"),
    [
        pytest.param({"type": "object", "properties": {"b": {"type": "string"}}}, True, id="known"),
        pytest.param({"type": "object", "properties": {}}, False, id="dropped"),
        pytest.param({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, True, id="open"),
    ],
)
def test_allows_inside_a_list(items: Any, want: bool) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": items}}}
    assert behaviour.allows(schema, "a[*].b", "x") is want


@pytest.mark.parametrize(
    ("path", "value", "want"),
    [
        pytest.param("spec.forProvider.sslEnforcement", "Enabled", True, id="in-enum"),
        pytest.param("spec.forProvider.sslEnforcement", "DISABLED", False, id="not-in-enum"),
        pytest.param("spec.forProvider.other", 1, False, id="pruned"),
        pytest.param("spec.tags.any", "x", True, id="map"),
    ],
)
def test_allows(path: str, value: Any, want: bool) -> None:
    assert behaviour.allows(STRICT, path, value) is want


@pytest.mark.parametrize(
    ("annotation", "value", "want"),
    [
        pytest.param(behaviour.NEVER_READY, "true", None, id="never"),
        pytest.param(behaviour.NEVER_READY, "false", 0.3, id="never-false"),
        pytest.param(behaviour.READY_AFTER, "2s", 2.0, id="seconds"),
        pytest.param(behaviour.READY_AFTER, "500ms", 0.5, id="milliseconds"),
        pytest.param(behaviour.READY_AFTER, "soon", 0.3, id="nonsense"),
    ],
)
def test_ready_after(annotation: str, value: str, want: float | None) -> None:
    seen = thing()
    seen["metadata"]["annotations"] = {annotation: value}
    assert behaviour.ready_after(seen, 0.3) == want


def test_status_reflects_the_spec_and_keeps_time_and_strangers() -> None:
    seen = thing(forProvider={"version": "5.6", "storageProfile": {"storageMB": 10}})
    seen["status"] = {"bindingPhase": "Bound", "conditions": [{"type": "Other", "status": "True"}]}
    first = behaviour.status(seen, MYSQL, phase="Available", now=NOW)
    assert first["atProvider"]["storageMB"] == 10
    assert first["bindingPhase"] == "Bound"
    assert [(c["type"], c["status"]) for c in first["conditions"]] == [
        ("Other", "True"),
        ("Ready", "True"),
        ("Synced", "True"),
    ]
    assert all("simulated cloud" in c["message"] for c in first["conditions"][1:])
    seen["status"] = first
    assert behaviour.is_ready(seen)
    assert behaviour.status(seen, MYSQL, phase="Available", now="later") == first
    seen["spec"]["forProvider"]["storageProfile"]["storageMB"] = 20
    again = behaviour.status(seen, MYSQL, phase="Available", now="later")
    assert again["atProvider"]["storageMB"] == 20
    assert again["conditions"] == first["conditions"]


def test_problem_shows_in_synced() -> None:
    told = behaviour.status(thing(), MYSQL, phase="Creating", problem="no network", now=NOW)
    assert [(c["type"], c["status"], c["reason"]) for c in told["conditions"]] == [
        ("Ready", "False", "Creating"),
        ("Synced", "False", "ReconcileError"),
    ]
    assert "atProvider" not in told


CLUSTER = {"endpoint": "https://x", "kubeconfig": "k", "clusterCA": "c"}


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        pytest.param("MySQLServer", {"endpoint", "port", "username", "password"}, id="database"),
        pytest.param("Redis", {"endpoint", "port", "password"}, id="cache"),
        pytest.param("GKECluster", {"endpoint", "kubeconfig", "clusterCA", "username", "password"}, id="cluster"),
        pytest.param("Anything", {"endpoint"}, id="others"),
    ],
)
def test_connection_details(kind: str, want: set[str]) -> None:
    profile = load().of(AZURE, kind)
    seen = thing(kind, forProvider={"administratorLogin": "me"})
    details = behaviour.connection_details(seen, profile, password="p", cluster=CLUSTER)
    assert set(details) == want
    assert details.get("username", "me") == "me"


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"writeConnectionSecretToRef": {"namespace": "n", "name": "s"}}, ("n", "s"), id="singular"),
        pytest.param({"writeConnectionSecretsToRef": {"namespace": "n", "name": "s"}}, ("n", "s"), id="plural"),
        pytest.param({"writeConnectionSecretToRef": {"name": "s"}}, ("", "s"), id="no-namespace"),
    ],
)
def test_secret_target(spec: Any, want: Any) -> None:
    assert behaviour.secret_target(thing(**spec)) == want


def test_secret_of_another_is_refused() -> None:
    seen = thing()
    own = behaviour.secret(seen, ("n", "s"), {"a": "b"}, None)
    assert behaviour.refusal(seen, own) == ""
    assert "belongs to MySQLServer db" in behaviour.refusal(thing(name="other"), own)
    assert "not a connection secret" in behaviour.refusal(seen, {**own, "type": "Opaque"})
    assert behaviour.secret(seen, ("n", "s"), {"a": "b"}, own) == own


def test_same_kind_of_two_clouds_has_two_profiles() -> None:
    profiles = load()
    assert profiles.of("network.aws.crossplane.io", "Subnet").assigned
    assert not profiles.of("network.azure.crossplane.io", "Subnet").assigned


# Processes and files, without servers


def sleeper(tmp_path: Path, *, code: str = "import time; time.sleep(3600)") -> process.Process:
    argv = [sys.executable, "-c", code]
    return process.spawn(argv, record=tmp_path / "r.json", log=tmp_path / "p.log", env=dict(os.environ))


def eventually(check: Callable[[], Any]) -> Any:
    """The first true result, however long it takes: a hang meets the time limit of all tests."""
    while not (found := check()):
        time.sleep(0.02)
    return found


def test_process_is_found_again_and_stopped(tmp_path: Path) -> None:
    begun = sleeper(tmp_path)
    assert process.recorded(tmp_path / "r.json") == begun
    assert os.getsid(begun.pid) == begun.pid
    process.stop(begun, grace=5)
    assert not begun.alive
    assert process.recorded(tmp_path / "r.json") is None


def test_process_that_does_not_listen_is_made_to_end(tmp_path: Path) -> None:
    code = (
        "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(3600)"
    )
    begun = sleeper(tmp_path, code=code)
    eventually(lambda: (tmp_path / "p.log").read_text())
    process.stop(begun, grace=0.2)
    assert not begun.alive


def test_another_process_with_a_recorded_id_is_left_alone(tmp_path: Path) -> None:
    begun = sleeper(tmp_path)
    try:
        earlier = process.Process(begun.pid, "another start")
        record = tmp_path / "old.json"
        record.write_text(json.dumps({"pid": begun.pid, "started": "another start"}))
        assert process.recorded(record) is None
        process.stop(earlier, grace=0.1)
        assert begun.alive
    finally:
        process.stop(begun, grace=5)


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"pid": 1}'])
def test_damaged_record_is_no_process(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    assert process.recorded(tmp_path / "r.json") is None


def test_files_are_private_and_chosen_once(tmp_path: Path) -> None:
    files = Files(tmp_path)
    assert files.ports() == {}
    assert files.identity() == ""
    files.make()
    ports, identity = files.ports(make=True), files.identity(make=True)
    certificates.ensure(files.pki)
    first = {p.name: p.read_bytes() for p in files.pki.iterdir()}
    certificates.ensure(files.pki)
    assert (files.ports(make=True), files.identity(make=True)) == (ports, identity)
    assert {p.name: p.read_bytes() for p in files.pki.iterdir()} == first
    assert stat.S_IMODE(files.root.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in files.pki.iterdir())
    assert len(set(ports.values())) == len(ports) == 3


def test_taken_port_is_told_not_exchanged(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.make()
    port = files.ports(make=True)[parts.APISERVER]
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
    told = local.status(tmp_path)
    assert not told.running
    assert [part.running for part in told.parts] == [False, False, False]
    assert local.down(tmp_path) is False
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
    begun: list[process.Process] = []
    spawn = process.spawn
    monkeypatch.setattr(process, "spawn", lambda *a, **k: begun.append(spawn(*a, **k)))
    with pytest.raises(ControlPlaneError) as caught:
        local.up(tmp_path)
    assert "Error: no good" in caught.value.problems[0].what
    assert caught.value.problems[0].fix
    assert len(begun) == 2
    assert not any(p.alive for p in begun)
    assert list((tmp_path / ".claimsmith/local/run").iterdir()) == []


def test_program_that_cannot_be_started_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "require", lambda *names: dict.fromkeys(names, tmp_path / "missing"))
    with pytest.raises(ControlPlaneError, match="cannot start etcd"):
        local.up(tmp_path)


class Script:
    """An API server that tells a story: each list and each watch in turn; then nothing more happens."""

    def __init__(self, *acts: Any) -> None:
        self.acts = list(acts)
        self.over = threading.Event()
        self.end = threading.Event()

    def _next(self) -> Any:
        if not self.acts:
            self.over.set()
            self.end.wait()
            raise api.Unreachable("the story is over")
        return self.acts.pop(0)

    def list(self, _resource: Any) -> Any:
        return self._next()

    def watch(self, _resource: Any, _version: str) -> Iterator[Any]:
        for event in self._next():
            if isinstance(event, Exception):
                raise event
            yield event


def numbered(name: str, version: int) -> Any:
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


def test_follower_outlives_what_happens_to_watches() -> None:
    story = Script(
        ([numbered("a", 1), numbered("b", 2)], "2"),
        [("MODIFIED", numbered("a", 3)), ("BOOKMARK", numbered("", 4))],
        [api.ApiError(410, "Expired", "too old")],
        ([numbered("a", 5)], "5"),
        [api.Unreachable("gone")],
        ([numbered("a", 5)], "5"),
        [("ADDED", numbered("c", 6)), ("DELETED", numbered("c", 7))],
    )
    told: list[str] = []
    follower = Follower(
        story,  # type: ignore[arg-type]  # plays the client's part
        MYSQLS,
        seen=lambda item: told.append(f"{item['metadata']['name']}{item['metadata']['resourceVersion']}"),
        gone=lambda item: told.append(f"-{item['metadata']['name']}"),
    )
    follower.start()
    story.over.wait()
    follower.stop()
    story.end.set()
    follower.join()
    assert told == ["a1", "b2", "a3", "-b", "a5", "a5", "c6", "-c"]


def test_agenda_looks_at_each_key_once_and_again_when_told() -> None:
    told: list[tuple[str, float]] = []
    done = threading.Event()

    def handle(key: str) -> float | None:
        told.append((key, time.monotonic()))
        if len(told) == 4:
            done.set()
        return 0.1 if key == "again" and len(told) < 4 else None

    agenda: Agenda[str] = Agenda(handle, workers=1)
    # Whatever the pauses between these lines: "again" is due before the first "later", and again after it.
    agenda.add("again", 5)
    agenda.add("again")
    agenda.add("again")
    agenda.add("later", 0.05)
    agenda.start()
    done.wait()
    assert [key for key, _ in told] == ["again", "later", "again", "again"]


# On real servers

MYSQLS = api.Resource(AZURE, "v1beta1", "mysqlservers", namespaced=False)
GROUPS = api.Resource("azure.crossplane.io", "v1alpha3", "resourcegroups", namespaced=False)
RULES = api.Resource(AZURE, "v1alpha3", "mysqlservervirtualnetworkrules", namespaced=False)
CLUSTERS = api.Resource("container.gcp.crossplane.io", "v1beta1", "gkeclusters", namespaced=False)
VPCS = api.Resource("network.aws.crossplane.io", "v1alpha3", "vpcs", namespaced=False)
DEFINITIONS = [
    managed(f"{AZURE}/v1beta1", "MySQLServer"),
    managed(f"{AZURE}/v1alpha3", "MySQLServerVirtualNetworkRule"),
    managed("azure.crossplane.io/v1alpha3", "ResourceGroup"),
    managed("container.gcp.crossplane.io/v1beta1", "GKECluster"),
    managed("network.aws.crossplane.io/v1alpha3", "VPC"),
]


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[local.Status]:
    with local.running(tmp_path_factory.mktemp("plane"), crds=DEFINITIONS) as told:
        yield told


@pytest.fixture
def client(plane: local.Status) -> Iterator[api.Api]:
    with api.Api.of(plane.kubeconfig, manager="test") as found:
        yield found


def made(client: api.Api, resource: api.Resource, body: Any, **annotations: str) -> Any:
    body = copy.deepcopy(body)
    body["metadata"] = {"name": body["metadata"]["name"], "annotations": annotations}
    return client.create(resource, body)


def ready(client: api.Api, resource: api.Resource, name: str) -> Any:
    def check() -> Any:
        seen = client.get(resource, name)
        return seen if seen and behaviour.is_ready(seen) else None

    return eventually(check)


def condition(client: api.Api, resource: api.Resource, name: str, kind: str) -> Any:
    conditions = (client.get(resource, name) or {}).get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == kind), None)


def server(name: str, **more: Any) -> Any:
    ref = {"namespace": "crossplane-system", "name": f"{name}-secret"}
    provider = {"administratorLogin": "myadmin", "sslEnforcement": "Disabled", "storageProfile": {"storageMB": 10}}
    return thing(name=name, forProvider={**provider, **more}, writeConnectionSecretToRef=ref, reclaimPolicy="Delete")


@pytest.mark.e2e
def test_identity_is_told(plane: local.Status, client: api.Api) -> None:
    system = client.get(api.NAMESPACES, "kube-system")
    assert system is not None
    assert plane.running
    assert plane.cluster_uid == system["metadata"]["uid"]
    assert len(plane.identity) == 36
    assert [p.name for p in plane.parts] == list(parts.ORDER)
    assert json.loads(json.dumps(plane.to_dict()))["endpoint"] == plane.endpoint
    assert client.get(api.NAMESPACES, "crossplane-system") is not None


@pytest.mark.e2e
def test_kubeconfig_is_private(plane: local.Status) -> None:
    assert stat.S_IMODE(plane.kubeconfig.stat().st_mode) == 0o600
    assert stat.S_IMODE(plane.kubeconfig.parent.stat().st_mode) == 0o700


@pytest.mark.e2e
def test_a_damaged_kubeconfig_is_written_anew(tmp_path: Path) -> None:
    with local.running(tmp_path) as plane:
        whole = plane.kubeconfig.read_text()
        plane.kubeconfig.write_text("users: *canary")
        assert not local.status(tmp_path).running, "told, not a traceback"
        assert local.up(tmp_path).running
        assert plane.kubeconfig.read_text() == whole


@pytest.mark.e2e
def test_stranger_is_forbidden(plane: local.Status) -> None:
    cluster = select(plane.kubeconfig.read_text(), file="kubeconfig").cluster
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    with api.Api(plane.endpoint, context, manager="") as anonymous, pytest.raises(api.ApiError) as caught:
        anonymous.list(api.SECRETS)
    assert caught.value.code == 403
    assert "system:anonymous" in str(caught.value)


@pytest.mark.e2e
def test_server_is_verified(plane: local.Status, tmp_path: Path) -> None:
    certificates.ensure(tmp_path)
    (tmp_path / "kubeconfig").write_text(certificates.kubeconfig(tmp_path, plane.endpoint))
    with (
        api.Api.of(tmp_path / "kubeconfig", manager="") as misled,
        pytest.raises(api.Unreachable, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        misled.list(api.NAMESPACES)


@pytest.mark.e2e
def test_certificate_of_another_authority_opens_nothing(plane: local.Status, tmp_path: Path) -> None:
    certificates.ensure(tmp_path)
    config = yaml.safe_load(certificates.kubeconfig(tmp_path, plane.endpoint))
    config["clusters"] = yaml.safe_load(plane.kubeconfig.read_text())["clusters"]
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    with api.Api.of(tmp_path / "kubeconfig", manager="") as stranger, pytest.raises(api.ApiError) as caught:
        stranger.list(api.NAMESPACES)
    assert caught.value.code == 401


@pytest.mark.e2e
def test_everything_listens_on_loopback_alone_and_wants_a_certificate(plane: local.Status) -> None:
    pids = {part.pid for part in plane.parts}
    inodes = set()
    for pid in pids:
        links = [os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()]
        inodes |= {m[1] for link in links if (m := re.fullmatch(r"socket:\[(\d+)\]", link))}
    rows = [r.split() for f in ("tcp", "tcp6") for r in Path(f"/proc/net/{f}").read_text().splitlines()[1:]]
    listening = {r[1] for r in rows if r[3] == "0A" and r[9] in inodes}
    assert len(listening) == 3
    assert all(address.startswith("0100007F:") for address in listening)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    address = f"https://127.0.0.1:{plane.parts[0].port}"
    with api.Api(address, context, manager="") as etcd, pytest.raises(api.Unreachable):
        etcd.request("GET", "/version")


@pytest.mark.e2e
def test_namespace_can_be_deleted(client: api.Api) -> None:
    client.create(api.NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short"}})
    client.delete(api.NAMESPACES, "short")
    eventually(lambda: client.get(api.NAMESPACES, "short") is None)


@pytest.mark.e2e
def test_mysql_server_becomes_ready_and_stays_put(client: api.Api) -> None:
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
    secret = client.get(api.SECRETS, "sql-secret", namespace="crossplane-system")
    assert secret is not None
    assert secret["type"] == "connection.crossplane.io/v1alpha1"
    assert secret["metadata"]["ownerReferences"][0]["uid"] == seen["metadata"]["uid"]
    assert set(secret["data"]) == {"endpoint", "port", "username", "password"}
    # When another one is ready, the cloud has looked at this one again.
    made(client, MYSQLS, server("next", resourceGroupNameRef={"name": "rg"}))
    ready(client, MYSQLS, "next")
    assert client.get(MYSQLS, "sql") == seen
    assert client.get(api.SECRETS, "sql-secret", namespace="crossplane-system") == secret

    seen["spec"]["forProvider"]["storageProfile"]["storageMB"] = 20
    client.replace(MYSQLS, seen)
    eventually(lambda: (client.get(MYSQLS, "sql") or {})["status"]["atProvider"]["storageMB"] == 20)
    assert client.get(api.SECRETS, "sql-secret", namespace="crossplane-system") == secret

    client.delete(MYSQLS, "sql", policy="Foreground")
    eventually(lambda: client.get(MYSQLS, "sql") is None)
    eventually(lambda: client.get(api.SECRETS, "sql-secret", namespace="crossplane-system") is None)


@pytest.mark.e2e
def test_secret_is_there_before_ready(client: api.Api) -> None:
    made(client, MYSQLS, server("order"))
    ready(client, MYSQLS, "order")
    assert client.get(api.SECRETS, "order-secret", namespace="crossplane-system") is not None


@pytest.mark.e2e
def test_missing_target_is_waited_for(client: api.Api) -> None:
    rule = thing(
        "MySQLServerVirtualNetworkRule", "rule", api_version=f"{AZURE}/v1alpha3", serverNameRef={"name": "late"}
    )
    made(client, RULES, rule)
    told = eventually(lambda: condition(client, RULES, "rule", "Synced"))
    assert told["status"] == "False"
    assert "'late'" in told["message"]
    made(client, MYSQLS, server("late"))
    assert ready(client, RULES, "rule")["spec"]["serverName"] == "late"


@pytest.mark.e2e
def test_missing_namespace_is_told_and_waited_for(client: api.Api) -> None:
    body = server("homeless")
    body["spec"]["writeConnectionSecretToRef"]["namespace"] = "later"
    made(client, MYSQLS, body)
    told = eventually(lambda: (c := condition(client, MYSQLS, "homeless", "Synced")) and c["status"] == "False" and c)
    assert "later" in told["message"]
    client.create(api.NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}})
    ready(client, MYSQLS, "homeless")
    assert condition(client, MYSQLS, "homeless", "Synced")["status"] == "True"


@pytest.mark.e2e
def test_cloud_assigns_the_id(client: api.Api) -> None:
    body = thing(
        "VPC", "net", api_version="network.aws.crossplane.io/v1alpha3", forProvider={"cidrBlock": "10.0.0.0/16"}
    )
    made(client, VPCS, body, **{behaviour.EXTERNAL_NAME: "mine"})
    assert behaviour.external_name(ready(client, VPCS, "net")).startswith("vpc-")


@pytest.mark.e2e
def test_cluster_secret_leads_to_a_cluster(client: api.Api, plane: local.Status, tmp_path: Path) -> None:
    ref = {"namespace": "crossplane-system", "name": "gke"}
    body = thing("GKECluster", "gke", api_version="container.gcp.crossplane.io/v1beta1", writeConnectionSecretToRef=ref)
    made(client, CLUSTERS, body)
    ready(client, CLUSTERS, "gke")
    secret = client.get(api.SECRETS, "gke", namespace="crossplane-system") or {}
    assert {"endpoint", "kubeconfig", "clusterCA", "username", "password"} <= set(secret["data"])
    (tmp_path / "kubeconfig").write_bytes(base64.b64decode(secret["data"]["kubeconfig"]))
    with api.Api.of(tmp_path / "kubeconfig", manager="") as made_cluster:
        assert made_cluster.get(api.NAMESPACES, "kube-system") is not None
    assert base64.b64decode(secret["data"]["endpoint"]).decode() == plane.endpoint


@pytest.mark.e2e
def test_hooks(client: api.Api) -> None:
    made(client, MYSQLS, server("never"), **{behaviour.NEVER_READY: "true"})
    made(client, MYSQLS, server("bare"), **{behaviour.NO_SECRET: "true"})
    begun = time.monotonic()
    made(client, MYSQLS, server("slow"), **{behaviour.READY_AFTER: "2s"})
    ready(client, MYSQLS, "bare")
    assert client.get(api.SECRETS, "bare-secret", namespace="crossplane-system") is None
    ready(client, MYSQLS, "slow")
    assert time.monotonic() - begun >= 2
    assert eventually(lambda: condition(client, MYSQLS, "never", "Ready"))["status"] == "False"


@pytest.mark.e2e
def test_kind_that_comes_later_is_looked_after(client: api.Api, plane: local.Status) -> None:
    assert local.install_crds(plane.kubeconfig, [managed("cache.azure.crossplane.io/v1beta1", "Redis")])
    assert not local.install_crds(plane.kubeconfig, [managed("cache.azure.crossplane.io/v1beta1", "Redis")])
    caches = api.Resource("cache.azure.crossplane.io", "v1beta1", "redis", namespaced=False)
    made(client, caches, thing("Redis", "r", api_version="cache.azure.crossplane.io/v1beta1"))
    ready(client, caches, "r")


@pytest.mark.e2e
def test_definition_that_discovery_missed_is_touched(
    client: api.Api, plane: local.Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = install._undiscovered
    missed = [crd for crd in client.list(api.CRDS)[0] if crd["spec"]["names"]["kind"] == "VPC"]

    def look_badly(client: api.Api) -> Any:
        found = client.get(api.CRDS, "vpcs.network.aws.crossplane.io") or {}
        return look(client) if install._TOUCHED in found["metadata"]["annotations"] else missed

    monkeypatch.setattr(install, "_undiscovered", look_badly)
    monkeypatch.setattr(install, "_TOUCH_AFTER", 0.1)
    install.wait_until_discovered(client)
    assert not local.install_crds(plane.kubeconfig, DEFINITIONS)


@pytest.mark.e2e
def test_refused_definition_is_told(plane: local.Status) -> None:
    turned = managed("azure.crossplane.io/v1alpha3", "ResourceGroup", namespaced=True)
    with pytest.raises(ControlPlaneError, match=r"resourcegroups\.azure\.crossplane\.io"):
        local.install_crds(plane.kubeconfig, [turned])


@pytest.mark.e2e
def test_versions_in_use_survive_an_update(client: api.Api, plane: local.Status) -> None:
    for version in ("v1alpha1", "v1beta1"):
        local.install_crds(plane.kubeconfig, [managed(f"x.example.org/{version}", "Thing")])
    found = client.get(api.CRDS, "things.x.example.org") or {}
    assert {v["name"] for v in found["spec"]["versions"]} == {"v1alpha1", "v1beta1"}


@pytest.mark.e2e
def test_what_was_there_is_there_after_a_pause(tmp_path: Path) -> None:
    with local.running(tmp_path, crds=DEFINITIONS) as first, api.Api.of(first.kubeconfig, manager="test") as client:
        made(client, MYSQLS, server("kept"))
        seen = ready(client, MYSQLS, "kept")
    assert not local.status(tmp_path).running
    with local.running(tmp_path, crds=DEFINITIONS) as second:
        assert (second.endpoint, second.identity, second.cluster_uid) == (
            first.endpoint,
            first.identity,
            first.cluster_uid,
        )
        with api.Api.of(second.kubeconfig, manager="test") as client:
            made(client, MYSQLS, server("second"))
            ready(client, MYSQLS, "second")
            assert client.get(MYSQLS, "kept") == seen
            client.delete(MYSQLS, "kept", policy="Foreground")
            eventually(lambda: client.get(MYSQLS, "kept") is None)
    assert local.down(tmp_path, wipe=True)
    assert not (tmp_path / ".claimsmith/local").exists()


@pytest.mark.e2e
def test_half_of_it_is_repaired(tmp_path: Path) -> None:
    with local.running(tmp_path, crds=DEFINITIONS) as first:
        pids = {part.name: part.pid for part in first.parts}
        for name in (parts.ETCD, parts.CLOUD):
            os.kill(pids[name] or 0, signal.SIGKILL)
        eventually(lambda: not local.status(tmp_path).running)
        again = local.up(tmp_path, crds=DEFINITIONS)
        assert again.running
        assert again.cluster_uid == first.cluster_uid
        assert local.up(tmp_path, crds=DEFINITIONS) == again
        without = local.up(tmp_path, simulate=False)
        assert without.running
        assert parts.CLOUD not in [part.name for part in without.parts]


@pytest.mark.e2e
def test_simulated_cloud_outlives_the_api_server(tmp_path: Path) -> None:
    files = Files(tmp_path)
    with local.running(tmp_path, crds=DEFINITIONS) as first, api.Api.of(first.kubeconfig, manager="test") as client:
        found = process.recorded(files.record(parts.APISERVER))
        assert found is not None
        process.stop(found, grace=0)
        client.close()
        time.sleep(1)
        argv = parts.argv(parts.APISERVER, files, toolchain.require(*parts.SERVERS))
        env = parts.environment()
        process.spawn(argv, record=files.record(parts.APISERVER), log=files.log(parts.APISERVER), env=env)
        eventually(lambda: local.status(tmp_path).running)
        made(client, MYSQLS, server("after"))
        ready(client, MYSQLS, "after")
        assert local.status(tmp_path).parts[-1] == first.parts[-1]


@pytest.mark.e2e
def test_two_at_once_give_one(tmp_path: Path) -> None:
    told: list[local.Status] = []
    try:
        threads = [threading.Thread(target=lambda: told.append(local.up(tmp_path))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(told) == 2
        assert told[0] == told[1]
    finally:
        local.down(tmp_path)


@pytest.mark.e2e
def test_interrupted_start_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[process.Process] = []

    def interrupt(*_: Any, **__: Any) -> None:
        begun.extend(p for name in parts.ORDER if (p := process.recorded(Files(tmp_path).record(name))))
        raise KeyboardInterrupt

    monkeypatch.setattr(control_plane, "_wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        local.up(tmp_path)
    assert len(begun) == 2
    assert not any(p.alive for p in begun)


@pytest.mark.e2e
def test_stops_when_its_starter_is_killed(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time\n"
        "from claimsmith import local, toolchain\n"
        "bins = {p.name: p for p in map(pathlib.Path, sys.argv[2:])}\n"
        "toolchain.require = lambda *names: bins\n"
        "with local.running(pathlib.Path(sys.argv[1])):\n"
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
        begun = [p for name in parts.ORDER if (p := process.recorded(Files(tmp_path).record(name)))]
        starter.kill()
    assert len(begun) == 4
    eventually(lambda: not any(p.alive for p in begun))
