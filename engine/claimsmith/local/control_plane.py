"""A control plane on this machine: real etcd, kube-apiserver and kube-controller-manager, and the simulated cloud.

`up` leaves them running in the background, `down` ends them, `status` tells. Ports, certificates and identity
are made once and kept with the data, so that what was deployed before is still there after a pause.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from claimsmith.errors import ControlPlaneError, Problem
from claimsmith.local import parts, process
from claimsmith.local.files import Files

# A program that ends is noticed at once; only one that hangs, not a busy machine, takes this long.
_START_PATIENCE = 900.0


@dataclass(frozen=True, slots=True)
class Part:
    """One program of the control plane."""

    name: str
    running: bool
    pid: int | None
    port: int | None
    log: Path


@dataclass(frozen=True, slots=True)
class Status:
    """How the control plane of a project stands.

    `identity` is made once and kept until the data is wiped; `cluster_uid` is the uid of the namespace
    kube-system, known while it runs.
    """

    running: bool
    parts: tuple[Part, ...]
    endpoint: str
    kubeconfig: Path
    identity: str
    cluster_uid: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The status for a machine to read."""
        told = asdict(self)
        told["kubeconfig"] = str(self.kubeconfig)
        told["parts"] = [{**asdict(part), "log": str(part.log)} for part in self.parts]
        return told


def _quiet(_message: str) -> None:
    """Tell nobody."""


def up(
    folder: Path,
    *,
    crds: Sequence[dict[str, Any]] = (),
    namespaces: Sequence[str] = ("crossplane-system",),
    simulate: bool = True,
    report: Callable[[str], None] = _quiet,
) -> Status:
    """Start what is not running, put definitions and namespaces in; gives the status when all of it is ready.

    What this call started is stopped again where it fails or is interrupted.
    """
    from claimsmith import toolchain
    from claimsmith.local import certificates

    certificates.require_extra()
    binaries = toolchain.require(*parts.SERVERS)
    files = Files(folder)
    with files.lock(report):
        begun: list[str] = []
        try:
            _bring_up(files, binaries, crds=crds, namespaces=namespaces, simulate=simulate, report=report, begun=begun)
        except BaseException:
            _stop(files, begun)
            raise
        return status(folder)


def down(folder: Path, *, wipe: bool = False, report: Callable[[str], None] = _quiet) -> bool:
    """Stop what is running, and remove its data where asked to; tells whether there was anything to do."""
    files = Files(folder)
    if not files.root.exists():
        return False
    with files.lock(report):
        done = _stop(files, parts.ORDER)
        if wipe:
            files.wipe()
    return done or wipe


def status(folder: Path) -> Status:
    """How it stands; changes nothing."""
    files = Files(folder)
    ports = files.ports()
    told = tuple(_part(files, name, ports) for name in parts.ORDER if name in parts.SERVERS or _recorded(files, name))
    running = all(part.running for part in told)
    uid = _ready_uid(files) if running else None
    return Status(
        running=uid is not None,
        parts=told,
        endpoint=parts.endpoint(ports),
        kubeconfig=files.kubeconfig,
        identity=files.identity(),
        cluster_uid=uid,
    )


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[Status]:
    """A control plane for as long as a `with` block lasts, then stopped, however the block or this process ends.

    Takes the options of `up`. The data stays.
    """
    guard = subprocess.Popen(
        [*parts.module("claimsmith.local.guard"), str(folder.resolve())],
        stdin=subprocess.PIPE,
        env=parts.environment(),
        start_new_session=True,
    )
    with guard:
        try:
            yield up(folder, **options)
        finally:
            down(folder)


def _bring_up(
    files: Files,
    binaries: Mapping[str, Path],
    *,
    crds: Sequence[dict[str, Any]],
    namespaces: Sequence[str],
    simulate: bool,
    report: Callable[[str], None],
    begun: list[str],
) -> None:
    from claimsmith.local import api, certificates, install

    if not _answers(files):
        report("starting etcd and kube-apiserver")
        _stop(files, parts.ORDER)
        files.make()
        certificates.ensure(files.pki)
        ports = files.ports(make=True)
        files.refuse_taken_ports()
        files.identity(make=True)
        _write_kubeconfig(files, certificates.kubeconfig(files.pki, parts.endpoint(ports)))
        for name in (parts.ETCD, parts.APISERVER):
            _start(files, name, binaries, begun)
        _wait(files, begun, lambda: _answers(files), what="the API server being ready")
    with api.Api.of(files.kubeconfig, manager=install.MANAGER) as client:
        install.ensure_namespaces(client, namespaces)
        if crds:
            report(f"installing {len(crds)} definitions")
        if crds and install.install_crds(files.kubeconfig, crds):
            # Its garbage collector looks for new kinds only now and then, but always when it starts.
            _stop(files, [parts.CONTROLLERS])
        install.wait_until_discovered(client)
        if not simulate:
            _stop(files, [parts.CLOUD])
        for name in (parts.CONTROLLERS, *((parts.CLOUD,) if simulate else ())):
            if process.recorded(files.record(name)) is None:
                report(f"starting {name}")
                _start(files, name, binaries, begun)
        accounts = api.Resource("", "v1", "serviceaccounts", namespaced=True)
        _wait(
            files,
            begun,
            lambda: client.get(accounts, "default", namespace="default") is not None,
            what="the controllers being at work",
        )


def _start(files: Files, name: str, binaries: Mapping[str, Path], begun: list[str]) -> None:
    begun.append(name)
    argv = parts.argv(name, files, binaries)
    try:
        process.spawn(argv, record=files.record(name), log=files.log(name), env=parts.environment())
    except OSError as error:
        raise ControlPlaneError(
            Problem(
                what=f"cannot start {name} ({argv[0]}): {error.strerror}",
                fix="bring the toolchain again: claimsmith toolchain install",
            )
        ) from error


def _wait(files: Files, begun: Sequence[str], done: Callable[[], bool], *, what: str) -> None:
    """Wait until something is so, as long as everything that was begun lives."""
    from claimsmith.local import install

    def check() -> bool:
        for name in begun:
            if process.recorded(files.record(name)) is None:
                raise ControlPlaneError(
                    Problem(
                        what=f"{name} ended while it was starting: {_last_words(files.log(name))}",
                        path=str(files.log(name)),
                        fix="read its log; where its data is damaged, start afresh: claimsmith local down --wipe",
                    )
                )
        return done()

    install.until(check, what=what, patience=_START_PATIENCE)


def _stop(files: Files, names: Sequence[str]) -> bool:
    """Stop these parts, in the right order; tells whether any was running."""
    stopped = False
    # Without its store the API server waits for it instead of ending, and has nothing to write anyway.
    orphaned = process.recorded(files.record(parts.ETCD)) is None
    for name in reversed(parts.ORDER):
        if name not in names:
            continue
        found = process.recorded(files.record(name))
        if found is not None:
            process.stop(found, grace=1.0 if orphaned else parts.GRACE[name])
            stopped = True
        files.record(name).unlink(missing_ok=True)
    return stopped


def _answers(files: Files) -> bool:
    """Whether etcd and the API server are ours, alive and ready."""
    return _ready_uid(files) is not None


def _ready_uid(files: Files) -> str | None:
    """The uid of kube-system, once etcd and the API server are ours, alive and ready."""
    from claimsmith.local import api

    if any(process.recorded(files.record(name)) is None for name in (parts.ETCD, parts.APISERVER)):
        return None
    try:
        with api.Api.of(files.kubeconfig, manager="", timeout=30.0) as client:
            client.request("GET", "/readyz")
            found = client.get(api.NAMESPACES, "kube-system")
            return str(found["metadata"]["uid"]) if found else None
    except (api.ApiError, api.Unreachable):
        return None


def _part(files: Files, name: str, ports: Mapping[str, int]) -> Part:
    found = process.recorded(files.record(name))
    return Part(name, found is not None, found.pid if found else None, ports.get(name), files.log(name))


def _recorded(files: Files, name: str) -> bool:
    return files.record(name).exists()


def _write_kubeconfig(files: Files, text: str) -> None:
    from claimsmith.local.files import write_private

    if not files.kubeconfig.exists() or files.kubeconfig.read_text() != text:
        write_private(files.kubeconfig, text)
    files.kubeconfig.chmod(0o600)


def _last_words(log: Path) -> str:
    """The line of a log that most likely says what went wrong."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("Error:", "F")) or '"level":"fatal"' in line]
    return (telling or lines or ["it said nothing"])[-1][:400]
