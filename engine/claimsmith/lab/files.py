"""The files of a local control plane: one folder of a project, readable by its owner alone.

.claimsmith/local.lock      taken by whoever starts or stops it
.claimsmith/local/          identity, ports.json, kubeconfig
    pki/                    certificates and keys
    etcd/                   what the API server stores
    run/  log/              process records and logs
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from claimsmith.base.errors import Collector, ControlPlaneError, Problem
from claimsmith.base.posix import fcntl, write_private

PORTS = ("etcd", "etcd-peers", "kube-apiserver")
# Below the range from which the system takes ports for outgoing connections, so that a kept port stays free.
_PORT_RANGE = range(20_000, 32_000)
_LOCK_PATIENCE = 1800.0


@dataclass(frozen=True, slots=True)
class Files:
    """The files of the control plane that belongs to a project's folder."""

    project: Path

    @property
    def root(self) -> Path:
        """The folder that holds everything but the lock."""
        return self.project.resolve() / ".claimsmith" / "local"

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the administrator."""
        return self.root / "kubeconfig"

    @property
    def pki(self) -> Path:
        """Certificates and keys."""
        return self.root / "pki"

    @property
    def etcd(self) -> Path:
        """The store's data."""
        return self.root / "etcd"

    def record(self, part: str) -> Path:
        """The record of a part's process."""
        return self.root / "run" / f"{part}.json"

    def log(self, part: str) -> Path:
        """The log of a part."""
        return self.root / "log" / f"{part}.log"

    def create(self) -> None:
        """Create the folders, closed to others."""
        top = self.root.parent
        if not top.exists():
            top.mkdir(mode=0o700, parents=True)
        for folder in (self.root, self.pki, self.etcd, self.root / "run", self.root / "log"):
            folder.mkdir(mode=0o700, exist_ok=True)
            folder.chmod(0o700)
        write_private(self.root / ".gitignore", "*\n")

    def wipe(self) -> None:
        """Remove all of it."""
        if self.root.exists():
            shutil.rmtree(self.root)

    def identity(self, *, create: bool = False) -> str:
        """The uid that this control plane got when it was created; empty before that."""
        path = self.root / "identity"
        if not path.exists():
            if not create:
                return ""
            write_private(path, f"{uuid.uuid4()}\n")
        return path.read_text().strip()

    def ports(self, *, create: bool = False) -> dict[str, int]:
        """The port of each listener, selected once; empty before that."""
        path = self.root / "ports.json"
        if not path.exists():
            if not create:
                return {}
            write_private(path, json.dumps(_free_ports(), indent=2) + "\n")
        ports: dict[str, int] = json.loads(path.read_text())
        return ports

    def refuse_taken_ports(self) -> None:
        """Raise where another process listens on a port that is ours: it is kept, not exchanged."""
        problems = Collector()
        for name, port in self.ports().items():
            if not is_free(port):
                what = f"port {port} of the local control plane ({name}) is taken by another process"
                end = f"stop that process (to find it: ss -ltnp 'sport = :{port}')"
                fix = f"{end}, or create a new control plane: claimsmith local down --wipe"
                problems.add(Problem(what, path=str(self.root / "ports.json"), fix=fix))
        problems.raise_as(ControlPlaneError)

    @contextmanager
    def lock(self, report: Callable[[str], None]) -> Iterator[None]:
        """Hold the right to start or stop this control plane; wait for another holder."""
        path = self.root.parent / "local.lock"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
            _wait_for_lock(file.fileno(), report)
            yield


def is_free(port: int) -> bool:
    """Whether a server could listen on a loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port on which nobody listens now, and which the system gives to no outgoing connection."""
    return next(_free())


def _free_ports() -> dict[str, int]:
    return dict(zip(PORTS, _free(), strict=False))


def _free() -> Iterator[int]:
    return (port for port in random.SystemRandom().sample(_PORT_RANGE, len(_PORT_RANGE)) if is_free(port))


def _wait_for_lock(descriptor: int, report: Callable[[str], None]) -> None:
    deadline = time.monotonic() + _LOCK_PATIENCE
    reported = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                since = f"for {_LOCK_PATIENCE:.0f} seconds"
                what = f"another claimsmith has been starting or stopping the local control plane {since}"
                raise ControlPlaneError(Problem(what, fix="wait for it or end it, then try again")) from None
            if not reported:
                report("waiting for another claimsmith that starts or stops the local control plane")
                reported = True
            time.sleep(0.1)
