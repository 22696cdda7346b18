"""The six parts, the versions we pin and accept, and the folders they live in.

Data and paths only: nothing here runs a program, opens a connection or writes a file. The versions are those of
`engine/toolchain/go.mod` (a test holds them together), so that a download and a build bring the same thing.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PULUMI = "pulumi"
LANGUAGE = "pulumi-language-python"
PROVIDER = "pulumi-resource-kubernetes"
APISERVER = "kube-apiserver"
CONTROLLERS = "kube-controller-manager"
ETCD = "etcd"

GO = "1.26"
INSTALL = "run: claimsmith toolchain install"

Version = tuple[int, int, int]


class Failure(Exception):
    """One way of getting a part that did not work; says why, in words for the user."""


@dataclass(frozen=True)
class Part:
    """One program: the version we pin, the versions we accept, and where its source is."""

    name: str
    pinned: str
    accepts: str
    lowest: Version
    below: Version
    package: str = ""
    binary: str = ""
    version_flag: str = "--version"

    def refusal(self, version: str) -> str | None:
        """Why a version is not compatible; None where it is."""
        if self.lowest <= parse_version(version) < self.below:
            return None
        return f"version {version} is not compatible: wanted {self.accepts}"


PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        Part(
            PULUMI,
            pinned="3.215.0",
            accepts="3.215 or newer, below 4",
            lowest=(3, 215, 0),
            below=(4, 0, 0),
            package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            binary="pulumi",
            version_flag="version",
        ),
        Part(LANGUAGE, pinned="", accepts="the one beside pulumi", lowest=(0, 0, 0), below=(99, 0, 0)),
        Part(
            PROVIDER,
            pinned="4.25.0",
            accepts="4.25.0 exactly",
            lowest=(4, 25, 0),
            below=(4, 25, 1),
            package="./kubernetes",
            binary="kubernetes",
        ),
        Part(
            APISERVER,
            pinned="1.33.3",
            accepts="1.31 to 1.36",
            lowest=(1, 31, 0),
            below=(1, 37, 0),
            package="k8s.io/kubernetes/cmd/kube-apiserver",
            binary="kube-apiserver",
        ),
        Part(
            CONTROLLERS,
            pinned="1.33.3",
            accepts="1.31 to 1.36, as kube-apiserver",
            lowest=(1, 31, 0),
            below=(1, 37, 0),
            package="k8s.io/kubernetes/cmd/kube-controller-manager",
            binary="kube-controller-manager",
        ),
        Part(
            ETCD,
            pinned="3.5.21",
            accepts="3.4 or newer, below 4",
            lowest=(3, 4, 0),
            below=(4, 0, 0),
            package="go.etcd.io/etcd/server/v3",
            binary="server",
        ),
    )
}
NAMES: tuple[str, ...] = tuple(PARTS)


def parse_version(text: str) -> Version:
    """The first three-part version in a text; Failure where there is none."""
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    if not match:
        raise Failure(f"no version in what it printed: {text.strip()[:80]!r}")
    major, minor, patch = (int(number) for number in match.groups())
    return major, minor, patch


def cache_folder(env: Mapping[str, str] = os.environ) -> Path:
    """The user's folder for what we bring; it need not exist."""
    if own := env.get("CLAIMSMITH_CACHE"):
        return Path(own).expanduser().absolute()
    base = env.get("XDG_CACHE_HOME")
    return (Path(base) if base else _home(env) / ".cache").absolute() / "claimsmith"


def toolchain_folder(env: Mapping[str, str] = os.environ) -> Path:
    """The folder of these versions inside the cache, so that a change of versions never mixes old and new."""
    return cache_folder(env) / f"toolchain-{digest()}"


def home_of(name: str, env: Mapping[str, str] = os.environ) -> Path:
    """Where the cache keeps a part.

    The provider stands alone: on PATH the engine would prefer it to the installed plugin, and warn about it.
    """
    return toolchain_folder(env) / ("provider" if name == PROVIDER else "bin") / name


def plugin_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Where Pulumi itself keeps the provider."""
    home = env.get("PULUMI_HOME")
    pulumi = Path(home) if home else _home(env) / ".pulumi"
    return pulumi / "plugins" / f"resource-kubernetes-v{PARTS[PROVIDER].pinned}"


def module_folder() -> Path | None:
    """The pinned Go module: beside the package in a checkout, inside it in an installed wheel; None in neither."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "toolchain", here.parent / "modules"):
        try:
            if (folder / "go.mod").read_text().startswith("module claimsmith.invalid/toolchain\n"):
                return folder
        except OSError:
            continue
    return None


def digest() -> str:
    """Twelve hex digits that change with the pinned versions and with what they are built from."""
    state = hashlib.sha256(repr([(part.name, part.pinned) for part in PARTS.values()]).encode())
    if folder := module_folder():
        for file in ("go.mod", "go.sum", "kubernetes/main.go"):
            state.update((folder / file).read_bytes())
    return state.hexdigest()[:12]


def _home(env: Mapping[str, str]) -> Path:
    return Path(env["HOME"]) if env.get("HOME") else Path.home()
