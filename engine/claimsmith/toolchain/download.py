"""Brings parts from where their makers publish them: Pulumi, Kubernetes and etcd.

Every file is checked against the checksum published beside it. One short look at each address comes first, so that a
machine without internet loses seconds, not minutes. Files land in the folder provided; the caller puts them in place.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import tarfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from claimsmith.toolchain import parts, process
from claimsmith.toolchain.parts import APISERVER, CONTROLLERS, ETCD, LANGUAGE, PROVIDERS, PULUMI, Failure, Report

PULUMI_SITE = "https://get.pulumi.com"
KUBERNETES_SITE = "https://dl.k8s.io"
ETCD_SITE = "https://github.com"
SITES = {
    PULUMI: PULUMI_SITE,
    LANGUAGE: PULUMI_SITE,
    **dict.fromkeys(PROVIDERS, PULUMI_SITE),
    APISERVER: KUBERNETES_SITE,
    CONTROLLERS: KUBERNETES_SITE,
    ETCD: ETCD_SITE,
}
# A machine without internet mostly hears so at once; where its packets vanish it loses these seconds, once.
LOOK_SECONDS = 15.0
READ_SECONDS = 60.0
INSTALLER_SECONDS = 3600.0
INSTALLER = """
import sys
from pulumi.automation import PulumiCommand
from semver import VersionInfo
PulumiCommand.install(root=sys.argv[1], version=VersionInfo.parse(sys.argv[2]))
"""


def unreachable(sites: Iterable[str], seconds: float | None = None) -> dict[str, str]:
    """Those of the sites that do not answer within some seconds, and why; all are tried at once."""
    limit = LOOK_SECONDS if seconds is None else seconds
    answers: dict[str, str | None] = {}

    def look(site: str) -> None:
        try:
            urllib.request.urlopen(urllib.request.Request(site, method="HEAD"), timeout=limit).close()
            answers[site] = None
        except urllib.error.HTTPError as error:
            error.close()
            answers[site] = None  # an answer all the same
        except (OSError, ValueError) as error:
            answers[site] = f"{site} cannot be reached: {getattr(error, 'reason', error)}"

    # Threads, because looking up a name obeys no timeout; one that hangs is left behind.
    tried = list(dict.fromkeys(sites))
    threads = [threading.Thread(target=look, args=(site,), daemon=True) for site in tried]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(limit)
    silence = {site: f"{site} did not answer within {limit:g} seconds" for site in tried}
    return {site: why for site in tried if (why := answers.get(site, silence[site]))}


def engine_release() -> str:
    """The engine to download: the release of the Python SDK, or the pinned one where that is newer or must be."""
    pin = parts.pinned(PULUMI).version
    if parts.is_exact(PULUMI):
        return pin
    return max(pin, metadata.version("pulumi"), key=parts.parse_version)


def pulumi(folder: Path) -> list[Path]:
    """The engine and its language hosts, by the Pulumi SDK's own installer."""
    folder.mkdir()
    _run([sys.executable, "-c", INSTALLER, str(folder), engine_release()], folder, os.environ)
    if not (folder / "bin" / PULUMI).is_file():
        raise Failure("the installer of the Pulumi SDK installed no pulumi")
    return sorted((folder / "bin").iterdir())


def provider(name: str, engine: Path, folder: Path) -> None:
    """A provider, put among Pulumi's plugins by the engine itself."""
    wanted = [parts.package_of(name), parts.release(name)]
    _run([str(engine), "plugin", "install", "resource", *wanted], folder, os.environ)


def _run(command: list[str], folder: Path, env: Mapping[str, str]) -> None:
    quiet = {**env, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    process.run(command, output=folder / "output", env=quiet, seconds=INSTALLER_SECONDS)


def kubernetes(name: str, folder: Path, report: Report) -> Path:
    """One program of a Kubernetes release."""
    system, machine = _platform()
    if system != "linux":
        raise Failure(f"there is no official {name} for {system}")
    url = f"{KUBERNETES_SITE}/release/v{parts.pinned(name).version}/bin/{system}/{machine}/{name}"
    return fetch(url, folder / name, read(f"{url}.sha256"), report)


def etcd(folder: Path, report: Report) -> Path:
    """The etcd of its release archive."""
    system, machine = _platform()
    if system != "linux":
        raise Failure(f"there is no official archive that we can read for {system}")
    version = parts.pinned(ETCD).version
    release = f"{ETCD_SITE}/etcd-io/etcd/releases/download/v{version}"
    name = f"etcd-v{version}-{system}-{machine}.tar.gz"
    archive = fetch(f"{release}/{name}", folder / name, checksum_of(name, read(f"{release}/SHA256SUMS")), report)
    try:
        with tarfile.open(archive) as tar:
            program = tar.extractfile(f"{name.removesuffix('.tar.gz')}/etcd")
            if not program:
                raise KeyError("etcd is not a file")
            with program, (folder / ETCD).open("wb") as target:
                shutil.copyfileobj(program, target)
    except (tarfile.TarError, KeyError) as error:
        raise Failure(f"the archive {name} is not what it should be: {error}") from error
    archive.unlink()
    (folder / ETCD).chmod(0o755)
    return folder / ETCD


def checksum_of(name: str, listing: str) -> str:
    """The checksum of a file in a listing of checksums."""
    for line in listing.splitlines():
        digest, _, file = line.partition(" ")
        if file.strip().lstrip("*") == name:
            return digest
    raise Failure(f"no checksum of {name} is published")


def read(url: str) -> str:
    """The text at an address."""
    try:
        with urllib.request.urlopen(url, timeout=READ_SECONDS) as answer:
            content: bytes = answer.read(1_000_000)
    except OSError as error:
        raise Failure(f"{url}: {error}") from error
    return content.decode(errors="replace")


def fetch(url: str, file: Path, checksum: str, report: Report) -> Path:
    """The program at an address, in a file; Failure, and no file, where it has not this SHA-256 checksum."""
    state = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=READ_SECONDS) as answer, file.open("wb") as target:
            total = int(answer.headers.get("Content-Length") or 0) or None
            while block := answer.read(1 << 20):
                state.update(block)
                target.write(block)
                report(f"downloading {file.name}", target.tell(), total, "")
    except OSError as error:
        file.unlink(missing_ok=True)
        raise Failure(f"{url}: {error}") from error
    if state.hexdigest() != checksum.split()[0].lower():
        file.unlink()
        raise Failure(f"{url} has checksum {state.hexdigest()[:12]}…, published is {checksum[:12]}…: refused")
    file.chmod(0o755)
    return file


def _platform() -> tuple[str, str]:
    machine = platform.machine().lower()
    return platform.system().lower(), {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
