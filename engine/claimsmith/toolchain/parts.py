"""The parts, the versions that are accepted, the sets of versions that are installed, and the folders they live in.

Data and paths only: nothing here runs a program, opens a connection or writes a file. The versions are those of the Go
modules in `engine/toolchain` (a test compares them).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from claimsmith.base.errors import Problem, ToolchainError
from claimsmith.base.user_folders import cache_folder, home

PULUMI = "pulumi"
LANGUAGE = "pulumi-language-python"
PROVIDER = "pulumi-resource-kubernetes"
RANDOM = "pulumi-resource-random"
POSTGRESQL = "pulumi-resource-postgresql"
APISERVER = "kube-apiserver"
CONTROLLERS = "kube-controller-manager"
ETCD = "etcd"

GO = "1.26"
INSTALL = "run: claimsmith toolchain install"

Version = tuple[int, int, int]


Report = Callable[[str, int, int | None, str], None]
"""Called with the title of a step, how much of it is done, of how much (None: unknown), and the current item."""


def silent(title: str, done: int, total: int | None, item: str) -> None:
    """Report to nobody."""


class Failure(Exception):
    """One way of getting a part that did not work; its message is for the user."""


@dataclass(frozen=True)
class Part:
    """One program: the versions we accept, and what it is called in a Go module."""

    name: str
    accepts: str
    lowest: Version
    below: Version
    package: str = ""
    version_flag: str = "--version"

    @property
    def binary(self) -> str:
        """The name that Go gives to the program: the last part of its package's path that is no version."""
        return re.sub(r"/v\d+$", "", self.package).rpartition("/")[2]

    def refusal(self, version: str) -> str | None:
        """Why a version is not compatible; None where it is."""
        if self.lowest <= parse_version(version) < self.below:
            return None
        return f"version {version} is not compatible: wanted {self.accepts}"


_ENGINE = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
_KUBERNETES = "k8s.io/kubernetes/cmd"
_PARTS = (
    Part(PULUMI, "3.215 or newer, below 4", (3, 215, 0), (4, 0, 0), _ENGINE, version_flag="version"),
    Part(LANGUAGE, "the one beside pulumi", (0, 0, 0), (99, 0, 0)),
    Part(PROVIDER, "4.25 or newer, below 5", (4, 25, 0), (5, 0, 0), "./provider"),
    Part(RANDOM, "4.16 or newer, below 5", (4, 16, 0), (5, 0, 0), "./random"),
    Part(POSTGRESQL, "3.15 or newer, below 4", (3, 15, 0), (4, 0, 0), "./postgresql"),
    Part(APISERVER, "1.31 to 1.36", (1, 31, 0), (1, 37, 0), f"{_KUBERNETES}/{APISERVER}"),
    Part(CONTROLLERS, "1.31 to 1.36, as kube-apiserver", (1, 31, 0), (1, 37, 0), f"{_KUBERNETES}/{CONTROLLERS}"),
    Part(ETCD, "3.4 or newer, below 4", (3, 4, 0), (4, 0, 0), "go.etcd.io/etcd/server/v3"),
)
PARTS: dict[str, Part] = {part.name: part for part in _PARTS}
NAMES: tuple[str, ...] = tuple(PARTS)

BRIDGED = (RANDOM, POSTGRESQL)
"""Providers of Terraform behind Pulumi's bridge. Programs request the version of the Python package, and no other."""
PROVIDERS = (PROVIDER, *BRIDGED)
_ENGINE_PARTS = (PULUMI, LANGUAGE)
USES: dict[str, tuple[str, ...]] = {
    "kubernetes": (*_ENGINE_PARTS, PROVIDER, APISERVER, CONTROLLERS, ETCD),
    "postgresql": (*_ENGINE_PARTS, *BRIDGED),
    # The engine downloads the plugins of all other providers itself.
    "native": _ENGINE_PARTS,
}
"""What can be deployed from this machine, and the parts that it takes."""


@dataclass(frozen=True)
class Pin:
    """The version of a part that a set installs, and the folder of `engine/toolchain` that builds it."""

    version: str
    module: str


SELECT = "CLAIMSMITH_TOOLCHAIN"
"""The environment variable that names a set."""
DEFAULT = "default"
PROVIDER_VERSION = "CLAIMSMITH_PROVIDER_VERSION"
"""The environment variable that names to programs the provider that is in use."""

#: What the build metadata of a version names is the provider of Terraform inside: it knows its own properties, not all
#: those of the release whose Python package it serves.
_BRIDGED = {
    RANDOM: Pin("4.21.4+terraform.3.8.1", "bridged"),
    POSTGRESQL: Pin("3.18.2+terraform.1.7.1", "bridged"),
}
_CONTROL_PLANE = {
    APISERVER: Pin("1.33.3", "kubernetes"),
    CONTROLLERS: Pin("1.33.3", "kubernetes"),
    ETCD: Pin("3.5.21", "kubernetes"),
}
#: The default set is what `install` builds; any compatible program that is there already is used instead. The other two
#: are the ends of what can be built and tested: their engine and provider are of exactly these versions.
SETS: dict[str, dict[str, Pin]] = {
    DEFAULT: {PULUMI: Pin("3.259.0", "pulumi"), PROVIDER: Pin("4.25.0", "kubernetes"), **_BRIDGED, **_CONTROL_PLANE},
    "oldest": {
        PULUMI: Pin("3.215.0", "kubernetes"),
        PROVIDER: Pin("4.25.0", "kubernetes"),
        **_BRIDGED,
        **_CONTROL_PLANE,
    },
    "newest": {
        PULUMI: Pin("3.259.0", "pulumi"),
        # Commit 867400a6a208, two days after release 4.27.0 and eight before 4.28.0, as Pulumi names such builds.
        PROVIDER: Pin("4.28.0-alpha.1772599760", "provider-newest"),
        **_BRIDGED,
        **_CONTROL_PLANE,
    },
}
EXACT = (PULUMI, PROVIDER)


def selected(env: Mapping[str, str] = os.environ) -> str:
    """The name of the set in use; ToolchainError where the environment names one that does not exist."""
    name = env.get(SELECT) or DEFAULT
    if name not in SETS:
        what = f"{SELECT} names the set of versions {name!r}, which does not exist"
        raise ToolchainError(Problem(what, fix=f"use one of: {', '.join(SETS)}"))
    return name


def pinned(name: str, env: Mapping[str, str] = os.environ) -> Pin:
    """The pin of a part in the set in use."""
    return SETS[selected(env)][name]


def is_exact(name: str, env: Mapping[str, str] = os.environ) -> bool:
    """Whether only the pinned version of a part will do."""
    return selected(env) != DEFAULT and name in EXACT


def wanted(name: str, env: Mapping[str, str] = os.environ) -> str:
    """The versions of a part that are accepted, as text."""
    return f"{pinned(name, env).version} exactly" if is_exact(name, env) else PARTS[name].accepts


def refusal(name: str, version: str, env: Mapping[str, str] = os.environ) -> str | None:
    """Why a version of a part is not accepted; None where it is."""
    if is_exact(name, env) and version != pinned(name, env).version:
        return f"version {version} is not of the set {selected(env)!r}: wanted {wanted(name, env)}"
    return PARTS[name].refusal(version)


def package_version(name: str = PROVIDER) -> str:
    """The version of a provider's Python package, which is that of the provider released with it; empty without one."""
    try:
        return metadata.version(f"pulumi-{package_of(name)}")
    except metadata.PackageNotFoundError:
        return ""


def package_of(name: str) -> str:
    """The Pulumi package of a provider: `random` of `pulumi-resource-random`."""
    return name.removeprefix("pulumi-resource-")


def release(name: str, env: Mapping[str, str] = os.environ) -> str:
    """The version under which programs request a provider: that of its Python package, or the pinned one."""
    package = package_version(name)
    if not package or is_exact(name, env) or refusal(name, package, env):
        return pinned(name, env).version.partition("+")[0]
    return package


def parse_version(text: str) -> Version:
    """The first three-part version in a text; Failure where there is none."""
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    if not match:
        raise Failure(f"no version in what it printed: {text.strip()[:80]!r}")
    major, minor, patch = (int(number) for number in match.groups())
    return major, minor, patch


def toolchain_folder(env: Mapping[str, str] = os.environ) -> Path:
    """The folder of the set in use inside the cache: neither sets nor older versions of a set mix."""
    return cache_folder(env) / f"toolchain-{selected(env)}-{digest(_OWN_FOLDER, env)}"


def home_of(name: str, env: Mapping[str, str] = os.environ) -> Path:
    """Where the cache keeps a part.

    A provider has a folder of its own: on PATH the engine would prefer it to the installed plugin, and warn about it.
    The bridged ones are the same in every set, and are built without the others.
    """
    if name in BRIDGED:
        return cache_folder(env) / f"toolchain-bridged-{digest(BRIDGED, env)}" / package_of(name) / name
    return toolchain_folder(env) / ("provider" if name == PROVIDER else "bin") / name


def plugins_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Where Pulumi keeps its plugins."""
    own = env.get("PULUMI_HOME")
    return (Path(own) if own else home(env) / ".pulumi") / "plugins"


def plugin_folder(version: str, env: Mapping[str, str] = os.environ, name: str = PROVIDER) -> Path:
    """Where Pulumi keeps a version of a provider."""
    return plugins_folder(env) / f"resource-{package_of(name)}-v{version}"


def host_of(beside_engine: bool, env: Mapping[str, str] = os.environ) -> Path:
    """Where our language host is: beside the engine in the cache, or among the plugins of an engine found on PATH.

    The engine uses those without a warning, and warns of a language host that it finds on PATH. The version in the
    plugin's folder is the lowest: engines ask for no version of a language host and take the newest that is there.
    """
    return home_of(LANGUAGE, env) if beside_engine else plugins_folder(env) / "language-python-v0.0.0" / LANGUAGE


def modules_folder() -> Path | None:
    """The Go modules: beside the package in a checkout, inside it in an installed wheel; None in neither."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "toolchain", here.parent / "modules"):
        try:
            first = (folder / "pulumi" / "go.mod").read_text().partition("\n")[0]
        except OSError:
            continue
        if first == "module claimsmith.invalid/toolchain/pulumi":
            return folder
    return None


_OWN_FOLDER = tuple(name for name in NAMES if name not in BRIDGED)


def digest(names: Sequence[str], env: Mapping[str, str] = os.environ) -> str:
    """Twelve hex digits that change with the versions of these parts and with what they are built from."""
    pins = {name: pin for name, pin in SETS[selected(env)].items() if name in names}
    state = hashlib.sha256(repr(sorted((name, pin.version) for name, pin in pins.items())).encode())
    if folder := modules_folder():
        modules = sorted({pin.module for pin in pins.values()})
        files = [f"{module}/{file}" for module in modules for file in ("go.mod", "go.sum")]
        own = sorted((folder / "bridged").rglob("*.go")) if "bridged" in modules else [folder / "provider" / "main.go"]
        for file in [*(folder / file for file in files), *own]:
            state.update(file.read_bytes())
    return state.hexdigest()[:12]
