"""The parts of a local control plane: how each is started, in which order, and how long it may take to end.

Everything listens on loopback alone, and only certificates of the control plane's own authority open a door.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from claimsmith.lab.files import Files

ETCD = "etcd"
APISERVER = "kube-apiserver"
CONTROLLERS = "kube-controller-manager"
CLOUD = "simulated-cloud"

ORDER = (ETCD, APISERVER, CONTROLLERS, CLOUD)
"""In which order they start; they end in the opposite one."""

SERVERS = (ETCD, APISERVER, CONTROLLERS)
"""Those that are programs of the toolchain."""

GRACE: Mapping[str, float] = {ETCD: 10.0, APISERVER: 15.0, CONTROLLERS: 5.0, CLOUD: 3.0}
"""How many seconds each has to end on SIGTERM, before it is killed."""

_LOOPBACK = "127.0.0.1"


def endpoint(ports: Mapping[str, int]) -> str:
    """The address of the API server; empty before a port is selected."""
    return f"https://{_LOOPBACK}:{ports[APISERVER]}" if ports else ""


def module(name: str) -> list[str]:
    """The command line of one of this package's modules; the folder it is started in lends it no modules."""
    return [sys.executable, "-P", "-m", name]


def environment() -> dict[str, str]:
    """The environment of a part: this process's own, so that modules are found where they are found here."""
    # etcd takes settings from such variables too, and refuses contradictions.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ETCD_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """Have everything of a folder stopped when this process is gone, even by SIGKILL."""
    guard = subprocess.Popen(
        [*module("claimsmith.lab.guard"), str(folder.resolve())],
        stdin=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )
    with guard:
        yield


def argv(part: str, files: Files, binaries: Mapping[str, Path]) -> list[str]:
    """The command line of a part."""
    match part:
        case "etcd":
            options = _etcd(files)
        case "kube-apiserver":
            options = _apiserver(files)
        case "kube-controller-manager":
            options = _controllers(files)
        case "simulated-cloud":
            return [*module("claimsmith.lab.simulated_cloud"), "--kubeconfig", str(files.kubeconfig)]
        case _:
            raise ValueError(part)
    return [str(binaries[part]), *(f"--{name}={value}" for name, value in options.items())]


def _etcd(files: Files) -> dict[str, str]:
    ports, pki = files.ports(), files.pki
    clients = f"https://{_LOOPBACK}:{ports[ETCD]}"
    peers = f"https://{_LOOPBACK}:{ports['etcd-peers']}"
    return {
        "name": "local",
        "data-dir": str(files.etcd),
        "listen-client-urls": clients,
        "advertise-client-urls": clients,
        "listen-peer-urls": peers,
        "initial-advertise-peer-urls": peers,
        "initial-cluster": f"local={peers}",
        # It is alone: there is nobody to wait for before it leads.
        "heartbeat-interval": "20",
        "election-timeout": "200",
        # A crash of the machine may cost this store; nothing that cannot be deployed again is in it.
        "unsafe-no-fsync": "true",
        "log-level": "warn",
        **{
            f"{prefix}{name}": value
            for prefix in ("", "peer-")
            for name, value in {
                "client-cert-auth": "true",
                "trusted-ca-file": str(pki / "ca.crt"),
                "cert-file": str(pki / "server.crt"),
                "key-file": str(pki / "server.key"),
            }.items()
        },
    }


def _apiserver(files: Files) -> dict[str, str]:
    ports, pki = files.ports(), files.pki
    return {
        "etcd-servers": f"https://{_LOOPBACK}:{ports[ETCD]}",
        "etcd-cafile": str(pki / "ca.crt"),
        "etcd-certfile": str(pki / "admin.crt"),
        "etcd-keyfile": str(pki / "admin.key"),
        "bind-address": _LOOPBACK,
        "advertise-address": _LOOPBACK,
        "secure-port": str(ports[APISERVER]),
        # A Service may not have a loopback address behind it, and nothing here runs that would use it.
        "endpoint-reconciler-type": "none",
        "service-cluster-ip-range": "10.96.0.0/24",
        "tls-cert-file": str(pki / "server.crt"),
        "tls-private-key-file": str(pki / "server.key"),
        "client-ca-file": str(pki / "ca.crt"),
        "authorization-mode": "RBAC",
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": str(pki / "sa.pub"),
        "service-account-signing-key-file": str(pki / "sa.key"),
        "profiling": "false",
    }


def _controllers(files: Files) -> dict[str, str]:
    return {
        "kubeconfig": str(files.kubeconfig),
        "controllers": "garbage-collector-controller,namespace-controller,serviceaccount-controller",
        "leader-elect": "false",
        "bind-address": _LOOPBACK,
        "secure-port": "0",
        "profiling": "false",
    }
