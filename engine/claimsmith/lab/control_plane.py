"""A control plane on this machine: real etcd, kube-apiserver and kube-controller-manager, and the simulated cloud.

`up` leaves them running in the background, `down` ends them, `status` reports. Ports, certificates and identity
are created once and kept with the data, so that deployed resources are still there after a pause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from claimsmith.base.errors import ControlPlaneError, EngineError, Problem
from claimsmith.base.printable import counted
from claimsmith.lab import parts
from claimsmith.lab.files import Files
from claimsmith.toolchain import background

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
    """The state of a project's control plane.

    `identity` is created once and kept until the data is wiped; `cluster_uid` is the uid of the namespace
    kube-system, None while it does not run.
    """

    running: bool
    parts: tuple[Part, ...]
    endpoint: str
    kubeconfig: Path
    identity: str
    cluster_uid: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The status for a machine to read."""
        parts_ = [{**asdict(part), "log": str(part.log)} for part in self.parts]
        return {
            "running": self.running,
            "parts": parts_,
            "endpoint": self.endpoint,
            "kubeconfig": str(self.kubeconfig),
            "identity": self.identity,
            "clusterUid": self.cluster_uid,
        }


def _quiet(_message: str) -> None:
    """Report to nobody."""


def up(
    folder: Path,
    *,
    crds: Sequence[dict[str, Any]] = (),
    namespaces: Sequence[str] = ("crossplane-system",),
    simulate: bool = True,
    report: Callable[[str], None] = _quiet,
) -> Status:
    """Start what is not running, install definitions and namespaces; returns the status when all of it is ready.

    If it fails or is interrupted, it stops what it started.
    """
    from claimsmith import toolchain
    from claimsmith.lab import certificates

    certificates.require_extra()
    binaries = toolchain.require(*parts.SERVERS)
    files = Files(folder)
    with files.lock(report):
        started: list[str] = []
        try:
            _start_all(
                files, binaries, crds=crds, namespaces=namespaces, simulate=simulate, report=report, started=started
            )
        except BaseException:
            _stop(files, started)
            raise
        return status(folder)


def down(folder: Path, *, wipe: bool = False, report: Callable[[str], None] = _quiet) -> bool:
    """Stop what is running, and remove its data if requested; returns whether there was anything to do."""
    files = Files(folder)
    if not files.root.exists():
        return False
    with files.lock(report):
        done = _stop(files, parts.ORDER)
        if wipe:
            files.wipe()
    return done or wipe


def status(folder: Path) -> Status:
    """The state of the control plane; changes nothing."""
    files = Files(folder)
    ports = files.ports()
    all_parts = tuple(
        _part(files, name, ports) for name in parts.ORDER if name in parts.SERVERS or files.record(name).exists()
    )
    running = all(part.running for part in all_parts)
    uid = _ready_uid(files) if running else None
    return Status(
        running=uid is not None,
        parts=all_parts,
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
    with parts.guarded(folder):
        try:
            yield up(folder, **options)
        finally:
            down(folder)


def _start_all(
    files: Files,
    binaries: Mapping[str, Path],
    *,
    crds: Sequence[dict[str, Any]],
    namespaces: Sequence[str],
    simulate: bool,
    report: Callable[[str], None],
    started: list[str],
) -> None:
    from claimsmith.kubernetes.client import Cluster, Resource
    from claimsmith.lab import certificates, install

    if not _answers(files):
        report("starting etcd and kube-apiserver")
        _stop(files, parts.ORDER)
        files.create()
        certificates.ensure(files.pki)
        ports = files.ports(create=True)
        files.refuse_taken_ports()
        files.identity(create=True)
        _write_kubeconfig(files, certificates.kubeconfig(files.pki, parts.endpoint(ports)))
        for name in (parts.ETCD, parts.APISERVER):
            _start(files, name, binaries, started)
        _wait(files, started, lambda: _answers(files), what="the API server being ready")
    with Cluster.of_file(files.kubeconfig, manager=install.MANAGER) as cluster:
        install.ensure_namespaces(cluster, namespaces)
        if crds:
            report(f"installing {counted(len(crds), 'definition')}")
        if crds and install.install_crds(files.kubeconfig, crds):
            # Its garbage collector looks for new kinds only now and then, but always when it starts.
            _stop(files, [parts.CONTROLLERS])
        install.wait_until_discovered(cluster)
        if not simulate:
            _stop(files, [parts.CLOUD])
        for name in (parts.CONTROLLERS, *((parts.CLOUD,) if simulate else ())):
            if background.recorded(files.record(name)) is None:
                report(f"starting {name}")
                _start(files, name, binaries, started)
        accounts = Resource("v1", "serviceaccounts")
        _wait(
            files,
            started,
            lambda: cluster.get(accounts, "default", namespace="default") is not None,
            what="the controllers being at work",
        )


def _start(files: Files, name: str, binaries: Mapping[str, Path], started: list[str]) -> None:
    started.append(name)
    argv = parts.argv(name, files, binaries)
    try:
        background.spawn(argv, record=files.record(name), log=files.log(name), env=parts.environment())
    except OSError as error:
        what = f"cannot start {name} ({argv[0]}): {error.strerror}"
        fix = "install the toolchain again: claimsmith toolchain install"
        raise ControlPlaneError(Problem(what, fix=fix)) from error


def _wait(files: Files, started: Sequence[str], done: Callable[[], bool], *, what: str) -> None:
    """Wait until a condition holds, while everything that was started still runs."""
    from claimsmith.lab import install

    def check() -> bool:
        for name in started:
            if background.recorded(files.record(name)) is None:
                ended = f"{name} ended while it was starting: {_last_error(files.log(name))}"
                fix = "read its log; if its data is damaged, start over: claimsmith local down --wipe"
                raise ControlPlaneError(Problem(ended, path=str(files.log(name)), fix=fix))
        return done()

    install.until(check, what=what, patience=_START_PATIENCE)


def _stop(files: Files, names: Sequence[str]) -> bool:
    """Stop these parts, in the right order; returns whether any was running."""
    stopped = False
    # Without its store the API server waits for it instead of ending, and has nothing to write anyway.
    orphaned = background.recorded(files.record(parts.ETCD)) is None
    for name in reversed(parts.ORDER):
        if name not in names:
            continue
        process = background.recorded(files.record(name))
        if process is not None:
            background.stop(process, grace=1.0 if orphaned else parts.GRACE[name])
            stopped = True
        files.record(name).unlink(missing_ok=True)
    return stopped


def _answers(files: Files) -> bool:
    """Whether etcd and the API server are ours, alive and ready."""
    return _ready_uid(files) is not None


def _ready_uid(files: Files) -> str | None:
    """The uid of kube-system, once etcd and the API server are ours, alive and ready."""
    from claimsmith.kubernetes.client import Cluster

    if any(background.recorded(files.record(name)) is None for name in (parts.ETCD, parts.APISERVER)):
        return None
    try:
        with Cluster.of_file(files.kubeconfig, timeout=30.0) as cluster:
            return cluster.identity() if cluster.ready() else None
    except EngineError:
        return None


def _part(files: Files, name: str, ports: Mapping[str, int]) -> Part:
    process = background.recorded(files.record(name))
    return Part(name, process is not None, process.pid if process else None, ports.get(name), files.log(name))


def _write_kubeconfig(files: Files, text: str) -> None:
    from claimsmith.base.posix import write_private

    if not files.kubeconfig.exists() or files.kubeconfig.read_text() != text:
        write_private(files.kubeconfig, text)
    files.kubeconfig.chmod(0o600)


def _last_error(log: Path) -> str:
    """The line of a log that most likely names the error."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("Error:", "F")) or '"level":"fatal"' in line]
    return (errors or lines or ["its log is empty"])[-1][:400]
