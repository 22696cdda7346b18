"""The toolchain: finding, downloading, building and installing, all with fake programs and no network."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tarfile
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claimsmith import toolchain
from claimsmith.base.errors import ToolchainError
from claimsmith.toolchain import build, discovery, download, host, parts, process, provider
from claimsmith.toolchain.parts import silent
from tests.support.eventually import eventually

VERSIONS = {
    "pulumi": "v3.215.0",
    "kube-apiserver": "Kubernetes v1.33.3",
    "kube-controller-manager": "Kubernetes v1.33.3",
    "etcd": "etcd Version: 3.5.21",
}
PACKAGES = {parts.PROVIDER: "4.25.0", parts.RANDOM: "4.21.4", parts.POSTGRESQL: "3.18.2"}
NOBODY = "http://127.0.0.1:9"  # the discard port: refused at once
UNBOUNDED = 3600.0  # seconds: longer than any test may take


def program(path: Path, script: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def says(path: Path, line: str) -> Path:
    """A program that prints a line."""
    return program(path, f"echo '{line}'")


def command_line(pid: int) -> str:
    """The command line of a process; empty where it has ended (one that only waits to be reaped has)."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def end(started: subprocess.Popen[str]) -> None:
    """End a process and close its pipe, whatever state it is in."""
    with started:
        started.kill()


class Machine:
    """A made-up machine: one folder on PATH, an empty cache, an empty Pulumi home."""

    def __init__(self, root: Path) -> None:
        self.bin, self.cache, self.pulumi_home = root / "bin", root / "cache", root / "pulumi"
        self.log, self.gate = root / "go.log", root / "gate"
        self.bin.mkdir()

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": str(self.bin),
            "HOME": str(self.bin.parent),
            "CLAIMSMITH_CACHE": str(self.cache),
            "PULUMI_HOME": str(self.pulumi_home),
            "PYTHONPATH": str(Path(toolchain.__file__).parents[2]),
            "GO_LOG": str(self.log),
            "GO_GATE": str(self.gate),
        }

    def plugin(self, version: str = "4.25.0") -> Path:
        """A plugin of Kubernetes, beside one of each bridged provider."""
        for name in parts.BRIDGED:
            self.bridged(name, parts.release(name, self.env))
        return says(parts.plugin_folder(version, self.env) / parts.PROVIDER, "never asked")

    def bridged(self, name: str, version: str) -> Path:
        return says(parts.plugin_folder(version, self.env, name) / name, "never asked")

    def all_on_path(self) -> None:
        for name, line in VERSIONS.items():
            says(self.bin / name, line)
        says(self.bin / parts.LANGUAGE, "never asked")
        self.plugin()

    def staging(self) -> list[Path]:
        return list(self.cache.glob(".staging-*"))

    def go(self, *, gated: bool = False, version: str = "go1.26.8", broken: str = "") -> Path:
        """A fake go, which writes programs that print their version; a gated one first waits for the gate to open."""
        self.gate.touch()
        if gated:
            self.gate.unlink()
        writes = "\n".join(
            f'printf \'#!/bin/sh\\necho "{line}"\\n\' > "$out/{parts.PARTS[name].binary}"; chmod +x $out/*'
            for name, line in VERSIONS.items()
        )
        return program(
            self.bin / "go",
            textwrap.dedent("""\
                PATH=/usr/bin:/bin
                echo "$1 $$" >> "$GO_LOG"
                case "$1" in
                version) echo "go version {version} linux/amd64";;
                list) echo "go: downloading example.org/one v1.0.0" >&2; echo a/b; echo c/d;;
                build)
                  while [ "$1" != -o ]; do shift; done
                  out=$2
                  echo a/b >&2
                  echo half > "$out/half"
                  {broken}
                  while [ ! -e "$GO_GATE" ]; do sleep 0.05; done
                  {writes}
                  rm "$out/half"
                  echo c/d >&2;;
                esac""").format(version=version, writes=writes, broken=broken),
        )

    def go_processes(self) -> list[int]:
        """The fake go processes that are alive, each the leader of a process group."""
        pids = [int(line.split()[1]) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        return [pid for pid in pids if str(self.bin / "go") in command_line(pid)]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    for name in ("XDG_CACHE_HOME", parts.SELECT, parts.PROVIDER_VERSION):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(parts, "package_version", PACKAGES.__getitem__)
    monkeypatch.setattr(download, "SITES", dict.fromkeys(download.SITES, NOBODY))
    return made


# ── what is pinned ────────────────────────────────────────────────────────────────────────────────────────────────────


MODULES = {
    "pulumi": "github.com/pulumi/pulumi/pkg/v3",
    "kube-apiserver": "k8s.io/kubernetes",
    "kube-controller-manager": "k8s.io/kubernetes",
    "etcd": "go.etcd.io/etcd/server/v3",
}
PROVIDER_COMMITS = {
    "4.25.0": "v4.0.0-20260115033456-f47bc2d6f199",
    "4.28.0-alpha.1772599760": "v4.0.0-20260304044920-867400a6a208",
}
PINS = [(chosen, name, pin) for chosen, pins in parts.SETS.items() for name, pin in pins.items()]


def required(module: str, path: str) -> str:
    """The version of a dependency that one of our Go modules requires."""
    folder = parts.modules_folder()
    assert folder
    found = re.search(
        rf"^\s*(?:require )?{re.escape(path)} (\S+)$", (folder / module / "go.mod").read_text(), re.MULTILINE
    )
    assert found, f"{module} does not require {path}"
    return found[1]


@pytest.mark.parametrize(
    ("name", "pin"),
    [pytest.param(name, pin, id=f"{chosen}-{name}") for chosen, name, pin in PINS if name in MODULES],
)
def test_pinned_versions_are_those_of_the_go_modules(name: str, pin: parts.Pin) -> None:
    assert required(pin.module, MODULES[name]) == f"v{pin.version}"


@pytest.mark.parametrize("pin", [pytest.param(pin, id=chosen) for chosen, name, pin in PINS if name == parts.PROVIDER])
def test_pinned_provider_is_the_commit_of_its_go_module(pin: parts.Pin) -> None:
    assert required(pin.module, build.PROVIDER_MODULE) == PROVIDER_COMMITS[pin.version]


@pytest.mark.parametrize(
    ("name", "module", "commit"),
    [
        pytest.param(parts.POSTGRESQL, "terraform-provider-postgresql", "v{}", id="postgresql"),
        # The commit of the release 3.8.1 of 27 January 2026: the registry serves it by its old name, without versions.
        pytest.param(
            parts.RANDOM, "terraform-provider-random", "v1.3.2-0.20260127150608-de3700a633e4 // indirect", id="random"
        ),
    ],
)
def test_version_of_a_bridged_provider_names_the_one_inside(name: str, module: str, commit: str) -> None:
    released, _, inside = parts.SETS["default"][name].version.partition("+terraform.")
    assert parts.PARTS[name].refusal(released) is None
    folder = parts.modules_folder()
    assert folder
    line = f"\tgithub.com/terraform-providers/{module} {commit.format(inside)}\n"
    assert line in (folder / "bridged" / "go.mod").read_text()


@pytest.mark.parametrize("name", parts.BRIDGED)
def test_bridged_provider_has_the_version_of_the_installed_package(name: str, root: Path) -> None:
    released = parts.SETS["default"][name].version.partition("+")[0]
    pinned = f"\npulumi-{parts.package_of(name)}=={released} "
    assert pinned in (root / "requirements.txt").read_text(encoding="utf-8")


def test_every_part_is_for_something() -> None:
    assert {name for names in parts.USES.values() for name in names} == set(parts.NAMES)


@pytest.mark.parametrize("module", sorted({pin.module for _, _, pin in PINS}))
def test_go_version_is_that_of_the_go_modules(module: str) -> None:
    folder = parts.modules_folder()
    assert folder
    assert ".".join(map(str, build.go_of_module(folder / module))) == parts.GO


@pytest.mark.parametrize("chosen", parts.SETS)
def test_every_set_pins_what_can_be_built_and_is_accepted(chosen: str) -> None:
    pins = parts.SETS[chosen]
    assert set(pins) == {name for name, part in parts.PARTS.items() if part.package}
    assert {
        name: parts.refusal(name, pin.version, {parts.SELECT: chosen}) for name, pin in pins.items()
    } == dict.fromkeys(pins)


@pytest.mark.parametrize("chosen", parts.SETS)
def test_the_page_names_the_versions_of_the_set(chosen: str, root: Path) -> None:
    text = (root / "docs" / "internals" / "toolchain.md").read_text(encoding="utf-8")
    engine, plugin = (re.escape(parts.SETS[chosen][name].version) for name in parts.EXACT)
    assert re.search(rf"^\| `{chosen}` \| {engine}\b[^|]* \| {plugin}\b[^|]* \|", text, re.MULTILINE)


def test_sets_do_not_share_a_folder_of_the_cache() -> None:
    folders = {parts.toolchain_folder({"HOME": "/h", parts.SELECT: chosen}) for chosen in parts.SETS}
    assert len(folders) == len(parts.SETS)


def test_linker_is_told_the_versions_of_the_set() -> None:
    flags = build.ldflags({parts.SELECT: "newest"})
    assert "version.Version=v3.259.0" in flags
    assert "main.providerVersion=4.28.0-alpha.1772599760" in flags


@pytest.mark.parametrize(
    ("chosen", "want"),
    [
        pytest.param("default", {"pulumi": ["pulumi"], "kubernetes": [parts.PROVIDER, "etcd"]}, id="default"),
        pytest.param("oldest", {"kubernetes": ["pulumi", parts.PROVIDER, "etcd"]}, id="oldest"),
        pytest.param(
            "newest",
            {"pulumi": ["pulumi"], "provider-newest": [parts.PROVIDER], "kubernetes": ["etcd"]},
            id="newest",
        ),
    ],
)
def test_parts_are_built_from_the_modules_of_the_set(chosen: str, want: dict[str, list[str]]) -> None:
    assert build.by_module(["pulumi", parts.PROVIDER, "etcd"], {parts.SELECT: chosen}) == want


def test_unknown_set_is_a_problem(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(parts.SELECT, "latest")
    with pytest.raises(ToolchainError) as caught:
        toolchain.find_all()
    assert "'latest'" in caught.value.problems[0].what
    assert caught.value.problems[0].fix == "use one of: default, oldest, newest"


@pytest.mark.parametrize(
    ("name", "version"),
    [
        pytest.param("pulumi", "3.215.0", id="pulumi-lowest"),
        pytest.param("pulumi", "3.999.1", id="pulumi-newer"),
        pytest.param("kube-apiserver", "1.31.0", id="kubernetes-lowest"),
        pytest.param("kube-apiserver", "1.36.9", id="kubernetes-highest"),
        pytest.param("etcd", "3.4.0", id="etcd-lowest"),
        pytest.param("etcd", "3.6.1", id="etcd-newer"),
        pytest.param("pulumi-resource-kubernetes", "4.25.0", id="provider-lowest"),
        pytest.param("pulumi-resource-kubernetes", "4.34.2", id="provider-newer"),
        pytest.param("pulumi-resource-kubernetes", "4.28.0-alpha.1772599760", id="provider-development-build"),
    ],
)
def test_accepted_versions(name: str, version: str) -> None:
    assert parts.PARTS[name].refusal(version) is None


@pytest.mark.parametrize(
    ("name", "version"),
    [
        pytest.param("pulumi", "3.214.9", id="pulumi-too-old"),
        pytest.param("pulumi", "4.0.0", id="pulumi-next-major"),
        pytest.param("kube-apiserver", "1.30.9", id="kubernetes-too-old"),
        pytest.param("kube-apiserver", "1.37.0", id="kubernetes-too-new"),
        pytest.param("etcd", "3.3.27", id="etcd-too-old"),
        pytest.param("pulumi-resource-kubernetes", "4.24.0", id="provider-too-old"),
        pytest.param("pulumi-resource-kubernetes", "5.0.0", id="provider-next-major"),
    ],
)
def test_refused_versions(name: str, version: str) -> None:
    assert version in (parts.PARTS[name].refusal(version) or "")


@pytest.mark.parametrize(
    ("chosen", "name", "version", "why"),
    [
        pytest.param("oldest", "pulumi", "3.215.0", None, id="oldest-engine"),
        pytest.param("oldest", "pulumi", "3.259.0", "wanted 3.215.0 exactly", id="newer-engine-for-oldest"),
        pytest.param("newest", parts.PROVIDER, "4.25.0", "wanted 4.28.0-alpha", id="released-provider-for-newest"),
        pytest.param("oldest", "etcd", "3.6.1", None, id="control-plane-of-any-accepted-version"),
        pytest.param("default", "pulumi", "3.300.0", None, id="default-takes-a-range"),
    ],
)
def test_named_set_takes_only_its_engine_and_provider(chosen: str, name: str, version: str, why: str | None) -> None:
    refusal = parts.refusal(name, version, {parts.SELECT: chosen})
    assert (why is None) == (refusal is None)
    assert (why or "") in (refusal or "")


# ── finding ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "line", "version"),
    [
        pytest.param("pulumi", "v3.220.1", "3.220.1", id="pulumi"),
        pytest.param("pulumi", "3.216.0-alpha.1+dev", "3.216.0", id="pulumi-development-build"),
        pytest.param("kube-apiserver", "Kubernetes v1.34.2", "1.34.2", id="kube-apiserver"),
        pytest.param("etcd", "etcd Version: 3.4.30", "3.4.30", id="etcd"),
    ],
)
def test_find_on_path(machine: Machine, name: str, line: str, version: str) -> None:
    path = says(machine.bin / name, line)
    assert toolchain.find(name) == toolchain.InstalledPart(name, path, version, "PATH")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        pytest.param("echo v3.100.0", "not compatible", id="too-old"),
        pytest.param("echo hello", "no version", id="says-no-version"),
        pytest.param("echo no such library >&2; exit 127", "exits with 127 no such library", id="crashes"),
        pytest.param("kill -9 $$", "exits with -9", id="killed"),
    ],
)
def test_unusable_program_on_path_is_skipped_and_remembered(machine: Machine, script: str, why: str) -> None:
    program(machine.bin / "pulumi", script)
    cached = says(parts.home_of("pulumi"), "v3.215.0")
    found, tried = discovery.search(["pulumi"])
    assert found["pulumi"] == toolchain.InstalledPart("pulumi", cached, "3.215.0", "cache")
    assert why in tried.lines["pulumi"][0]


def test_program_that_never_answers_is_refused(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "PROBE_SECONDS", 0.1)
    with pytest.raises(parts.Failure, match=r"printed nothing within 0\.1 seconds"):
        discovery.probe("pulumi", program(machine.bin / "pulumi", "exec /bin/sleep 3600"))


def test_program_of_another_machine_is_skipped(machine: Machine) -> None:
    broken = machine.bin / "etcd"
    broken.write_bytes(b"\x7fELF\x00 not for this machine")
    broken.chmod(0o755)
    assert toolchain.find("etcd") is None


def test_find_looks_further_along_path(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    says(machine.bin / "etcd", "etcd Version: 3.3.0")
    good = says(machine.bin.parent / "other" / "etcd", "etcd Version: 3.5.0")
    monkeypatch.setenv("PATH", f"{machine.bin}{os.pathsep}{good.parent}")
    found = toolchain.find("etcd")
    assert found
    assert found.path == good


def test_cache_on_path_is_still_the_cache(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = says(parts.home_of("etcd"), "etcd Version: 3.5.0")
    monkeypatch.setenv("PATH", str(cached.parent))
    found = toolchain.find("etcd")
    assert found
    assert found.origin == "cache"


@pytest.mark.parametrize(
    ("on_path", "cached", "want"),
    [
        pytest.param(("1.33.1", "1.33.2"), (None, None), ("1.33.1", "1.33.2"), id="same-minor"),
        pytest.param(("1.32.0", "1.34.0"), ("1.33.3", "1.33.3"), ("1.33.3", "1.33.3"), id="path-differs-cache-matches"),
        pytest.param(("1.32.0", None), ("1.33.3", "1.33.3"), ("1.33.3", "1.33.3"), id="path-lacks-controllers"),
        pytest.param(("1.32.0", "1.33.0"), (None, None), ("1.32.0", None), id="no-pair"),
    ],
)
def test_api_server_and_controllers_are_a_pair(
    machine: Machine,
    on_path: tuple[str | None, str | None],
    cached: tuple[str | None, str | None],
    want: tuple[str | None, str | None],
) -> None:
    names = ("kube-apiserver", "kube-controller-manager")
    placed = [*zip([machine.bin / n for n in names], on_path, strict=True)]
    placed += zip([parts.home_of(n) for n in names], cached, strict=True)
    for path, version in filter(lambda row: row[1], placed):
        says(path, f"Kubernetes v{version}")
    found = discovery.search(names)[0]
    assert tuple(part.version if part else None for part in found.values()) == want


def test_provider_among_plugins(machine: Machine) -> None:
    path = machine.plugin()
    assert toolchain.find(parts.PROVIDER) == toolchain.InstalledPart(parts.PROVIDER, path, "4.25.0", "plugins")


@pytest.mark.parametrize(
    ("package", "installed", "want"),
    [
        pytest.param("4.25.0", ["4.25.0", "4.34.2"], "4.25.0", id="that-of-the-python-package"),
        pytest.param("4.34.2", ["4.25.0", "4.34.2"], "4.34.2", id="that-of-a-newer-python-package"),
        pytest.param("4.34.2", ["4.25.0", "4.30.0"], "4.25.0", id="else-the-pinned-one"),
        pytest.param("4.34.2", ["4.9.0", "4.26.0", "4.30.0", "5.0.0"], "4.30.0", id="else-the-newest-accepted-release"),
    ],
)
def test_best_provider_among_plugins(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, package: str, installed: list[str], want: str
) -> None:
    monkeypatch.setattr(parts, "package_version", {**PACKAGES, parts.PROVIDER: package}.__getitem__)
    for version in installed:
        machine.plugin(version)
    assert discovery.search([parts.PROVIDER])[0][parts.PROVIDER] == toolchain.InstalledPart(
        parts.PROVIDER, parts.plugin_folder(want) / parts.PROVIDER, want, "plugins"
    )


@pytest.mark.parametrize("version", ["4.24.9", "5.0.0", "4.28.0-alpha.1", "", "nonsense"])
def test_other_plugins_are_not_taken(machine: Machine, version: str) -> None:
    machine.plugin(version)
    assert toolchain.find(parts.PROVIDER) is None


def test_named_set_takes_no_other_plugin(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(parts.SELECT, "newest")
    machine.plugin()
    assert toolchain.find(parts.PROVIDER) is None
    wanted = machine.plugin("4.28.0-alpha.1772599760")
    found = toolchain.find(parts.PROVIDER)
    assert found
    assert found.path == wanted


@pytest.mark.parametrize(
    ("package", "installed", "found"),
    [
        pytest.param("4.21.4", "4.21.4", True, id="that-of-the-python-package"),
        pytest.param("4.21.4", "4.20.0", False, id="another-release"),
        pytest.param("", "4.21.4", True, id="without-a-package-the-pinned-one"),
    ],
)
def test_bridged_plugin_is_that_of_the_python_package(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, package: str, installed: str, found: bool
) -> None:
    monkeypatch.setattr(parts, "package_version", {**PACKAGES, parts.RANDOM: package}.__getitem__)
    path = machine.bridged(parts.RANDOM, installed)
    part = toolchain.InstalledPart(parts.RANDOM, path, installed, "plugins")
    assert toolchain.find(parts.RANDOM) == (part if found else None)


def test_half_installed_plugin_is_not_there(machine: Machine) -> None:
    folder = machine.plugin().parent
    folder.with_name(folder.name + ".partial").touch()
    assert toolchain.find(parts.PROVIDER) is None


def test_official_language_host_beside_pulumi(machine: Machine) -> None:
    machine.all_on_path()
    found = toolchain.find(parts.LANGUAGE)
    assert found == toolchain.InstalledPart(parts.LANGUAGE, machine.bin / parts.LANGUAGE, "3.215.0", "PATH")


def test_find_refuses_an_unknown_part(machine: Machine) -> None:
    with pytest.raises(ToolchainError) as caught:
        toolchain.find("kubectl")
    assert "etcd" in caught.value.problems[0].fix


def test_require_gives_paths(machine: Machine) -> None:
    machine.all_on_path()
    assert toolchain.require("etcd", "pulumi") == {"etcd": machine.bin / "etcd", "pulumi": machine.bin / "pulumi"}


def test_require_names_what_is_missing(machine: Machine) -> None:
    says(machine.bin / "etcd", "etcd Version: 3.0.0")
    with pytest.raises(ToolchainError) as caught:
        toolchain.require("etcd", "pulumi")
    texts = [problem.what for problem in caught.value.problems]
    assert len(texts) == 2
    assert "3.0.0 is not compatible" in texts[0]
    assert all(problem.fix == "run: claimsmith toolchain install" for problem in caught.value.problems)


# ── the environment ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_environment_puts_the_cache_first_and_the_provider_nowhere(machine: Machine) -> None:
    cached = says(parts.home_of("pulumi"), "v3.215.0")
    machine.plugin()
    env = toolchain.environment({**machine.env, "PATH": "/usr/bin"})
    folders = env["PATH"].split(os.pathsep)
    assert folders[0] == str(cached.parent)
    assert folders[-1] == "/usr/bin"
    assert str(parts.home_of(parts.PROVIDER).parent) not in folders
    assert env["PULUMI_SKIP_UPDATE_CHECK"] == "true"
    assert env["CLAIMSMITH_PYTHON"] == sys.executable


def test_environment_names_the_provider_that_was_found(machine: Machine) -> None:
    machine.plugin("4.30.0")
    assert toolchain.environment()["CLAIMSMITH_PROVIDER_VERSION"] == "4.30.0"


def test_environment_without_a_provider_names_none(machine: Machine) -> None:
    assert "CLAIMSMITH_PROVIDER_VERSION" not in toolchain.environment()


def test_environment_adds_no_folder_twice(machine: Machine) -> None:
    machine.all_on_path()
    once = toolchain.environment()
    assert toolchain.environment(once) == once
    assert once["PATH"].split(os.pathsep).count(str(machine.bin)) == 1


def test_environment_uses_a_cached_provider_that_is_no_plugin(machine: Machine) -> None:
    cached = says(parts.home_of(parts.PROVIDER), "never asked")
    assert str(cached.parent) in toolchain.environment()["PATH"].split(os.pathsep)


def test_environment_brings_our_language_host(machine: Machine) -> None:
    says(parts.home_of("pulumi"), "v3.215.0")
    toolchain.environment()
    found = toolchain.find(parts.LANGUAGE)
    assert found
    assert found.path.parent == parts.home_of("pulumi").parent


def test_engine_on_path_without_a_language_host_finds_ours_among_its_plugins(machine: Machine) -> None:
    says(machine.bin / "pulumi", "v3.259.0")
    env = toolchain.environment()
    found = toolchain.find(parts.LANGUAGE)
    assert found
    assert found.origin == "plugins"
    assert found.path == machine.pulumi_home / "plugins" / "language-python-v0.0.0" / parts.LANGUAGE
    assert str(found.path.parent) not in env["PATH"].split(os.pathsep)


# ── downloading ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def site() -> Iterator[tuple[str, dict[str, bytes]]]:
    """A web site in this process: its address, and its pages to fill."""
    pages: dict[str, bytes] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Length", str(len(pages.get(self.path, b""))))
            self.end_headers()
            self.wfile.write(pages.get(self.path, b""))

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", pages
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "address",
    [
        pytest.param(NOBODY, id="refused"),
        pytest.param("http://nowhere.invalid", id="unknown-name"),
    ],
)
def test_unreachable_site_is_given_up(address: str) -> None:
    assert list(download.unreachable([address], seconds=0.5)) == [address]


def test_site_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent_site:
        address = f"http://127.0.0.1:{silent_site.getsockname()[1]}"
        assert list(download.unreachable([address], seconds=0.5)) == [address]


def test_site_that_answers_with_an_error_is_reachable(site: tuple[str, dict[str, bytes]]) -> None:
    assert download.unreachable([site[0]], seconds=UNBOUNDED) == {}


def test_fetch_checks_the_checksum(tmp_path: Path, site: tuple[str, dict[str, bytes]]) -> None:
    address, pages = site
    pages["/etcd"] = b"content"
    file = download.fetch(f"{address}/etcd", tmp_path / "etcd", hashlib.sha256(b"content").hexdigest(), silent)
    assert file.read_bytes() == b"content"
    assert file.stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize(
    ("path", "why"),
    [
        pytest.param("/etcd", "refused", id="other-checksum"),
        pytest.param("/absent", "404", id="not-there"),
    ],
)
def test_fetch_refuses(tmp_path: Path, site: tuple[str, dict[str, bytes]], path: str, why: str) -> None:
    address, pages = site
    pages["/etcd"] = b"tampered with"
    with pytest.raises(parts.Failure, match=why):
        download.fetch(f"{address}{path}", tmp_path / "etcd", hashlib.sha256(b"content").hexdigest(), silent)
    assert not (tmp_path / "etcd").exists()


def archive(name: str, content: bytes) -> bytes:
    """A gzipped tar archive with one file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def test_install_takes_official_downloads(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, site: tuple[str, dict[str, bytes]]
) -> None:
    address, pages = site
    monkeypatch.setattr(download, "KUBERNETES_SITE", address)
    monkeypatch.setattr(download, "ETCD_SITE", address)
    monkeypatch.setattr(download, "SITES", dict.fromkeys(download.SITES, address))
    monkeypatch.setattr(download, "_platform", lambda: ("linux", "amd64"))
    monkeypatch.setattr(download, "LOOK_SECONDS", UNBOUNDED)
    for name in ("kube-apiserver", "kube-controller-manager"):
        content = f"#!/bin/sh\necho {VERSIONS[name]}\n".encode()
        pages[f"/release/v1.33.3/bin/linux/amd64/{name}"] = content
        pages[f"/release/v1.33.3/bin/linux/amd64/{name}.sha256"] = hashlib.sha256(content).hexdigest().encode()
    packed = archive("etcd-v3.5.21-linux-amd64/etcd", b"#!/bin/sh\necho etcd Version: 3.5.21\n")
    release = "/etcd-io/etcd/releases/download/v3.5.21"
    pages[f"{release}/etcd-v3.5.21-linux-amd64.tar.gz"] = packed
    listing = f"{hashlib.sha256(packed).hexdigest()}  etcd-v3.5.21-linux-amd64.tar.gz\n"
    pages[f"{release}/SHA256SUMS"] = listing.encode()

    def installer(folder: Path) -> list[Path]:
        names = (("pulumi", "v3.255.0"), (parts.LANGUAGE, "official"))
        return [says(folder / "bin" / name, line) for name, line in names]

    monkeypatch.setattr(download, "pulumi", installer)
    monkeypatch.setattr(download, "provider", lambda _name, _engine, _folder: machine.plugin())
    found = toolchain.install()
    assert {name: part.origin for name, part in found.items()} == {
        **dict.fromkeys(toolchain.NAMES, "cache"),
        **dict.fromkeys(parts.PROVIDERS, "plugins"),
    }
    assert found[parts.LANGUAGE].version == "3.255.0"
    assert not host.is_ours(found[parts.LANGUAGE].path)
    assert not machine.staging()


@pytest.mark.parametrize(
    ("chosen", "sdk", "want"),
    [
        pytest.param("default", "3.272.0", "3.272.0", id="release-of-the-sdk"),
        pytest.param("default", "3.255.0", "3.259.0", id="pinned-where-the-sdk-is-older"),
        pytest.param("oldest", "3.272.0", "3.215.0", id="oldest-exactly"),
    ],
)
def test_engine_that_is_downloaded(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, chosen: str, sdk: str, want: str
) -> None:
    monkeypatch.setenv(parts.SELECT, chosen)
    monkeypatch.setattr(download.metadata, "version", lambda _: sdk)
    assert download.engine_release() == want


@pytest.mark.parametrize(
    ("chosen", "package", "want"),
    [
        pytest.param("default", "4.34.2", "4.34.2", id="release-of-the-python-package"),
        pytest.param("default", "5.0.0", "4.25.0", id="pinned-where-the-package-is-not-accepted"),
        pytest.param("oldest", "4.34.2", "4.25.0", id="oldest-exactly"),
    ],
)
def test_provider_that_is_downloaded(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, chosen: str, package: str, want: str
) -> None:
    monkeypatch.setenv(parts.SELECT, chosen)
    monkeypatch.setattr(parts, "package_version", {**PACKAGES, parts.PROVIDER: package}.__getitem__)
    assert parts.release(parts.PROVIDER) == want


# ── building and installing ───────────────────────────────────────────────────────────────────────────────────────────


def test_install_does_nothing_where_all_is_there(machine: Machine) -> None:
    machine.all_on_path()
    assert {part.origin for part in toolchain.install().values()} == {"PATH", "plugins"}
    assert not machine.cache.exists()


def test_install_builds_only_what_is_missing(machine: Machine) -> None:
    machine.go()
    machine.plugin()
    says(machine.bin / "etcd", "etcd Version: 3.4.30")
    reports: list[tuple[str, int, int | None, str]] = []
    found = toolchain.install(lambda *report: reports.append(report))
    assert found["etcd"].origin == "PATH"
    assert found["pulumi"].origin == "cache"
    assert host.is_ours(found[parts.LANGUAGE].path)
    assert ("building", 4, 4, "") in reports
    assert not machine.staging()


def test_install_for_postgresql_builds_neither_a_control_plane_nor_its_provider(machine: Machine) -> None:
    machine.go()
    for name in parts.BRIDGED:
        says(parts.home_of(name), "never asked")
    found = toolchain.install(names=parts.USES["postgresql"])
    assert {name: part.origin for name, part in found.items()} == {
        parts.PULUMI: "cache",
        parts.LANGUAGE: "cache",
        parts.RANDOM: "plugins",
        parts.POSTGRESQL: "plugins",
    }
    assert [line.split()[0] for line in machine.log.read_text().splitlines()].count("build") == 1


def test_bridged_provider_embeds_what_its_generator_writes(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program(
        machine.bin / "go",
        """PATH=/usr/bin:/bin
        case "$1" in
        version) echo "go version go1.26.8 linux/amd64";;
        list) echo a/b;;
        build)
          while [ "$1" != -o ]; do shift; done
          out=$2; shift 2
          for package; do
            printf '#!/bin/sh\\n/bin/echo generated > "$5/schema.json"\\n' > "$out/${package##*/}"
            [ "$package" = "./schema/random" ] || /bin/cat random/schema.json > "$out/${package##*/}"
            chmod +x "$out/${package##*/}"
          done;;
        esac""",
    )
    assert build.build([parts.RANDOM], tmp_path / "bin", silent)[parts.RANDOM].read_text() == "generated\n"


def test_install_brings_both_of_a_pair_that_cannot_match(machine: Machine) -> None:
    machine.go()
    machine.plugin()
    says(machine.bin / "kube-apiserver", "Kubernetes v1.31.0")
    found = toolchain.install()
    assert [found[n].origin for n in ("kube-apiserver", "kube-controller-manager")] == ["cache", "cache"]


def test_install_replaces_a_broken_program_in_the_cache(machine: Machine) -> None:
    machine.go()
    machine.plugin()
    program(parts.home_of("etcd"), "exit 1")
    assert toolchain.install()["etcd"].version == "3.5.21"


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        pytest.param(lambda _: None, "there is no go on PATH", id="no-go"),
        pytest.param(lambda m: m.go(version="go1.19.8"), "1.19 is too old: wanted 1.26", id="old-go"),
        pytest.param(lambda m: m.go(broken="echo 'x.go:1: no space' >&2; exit 1"), "x.go:1: no space", id="go-fails"),
        pytest.param(lambda m: m.go(broken="for f in server kubernetes; do :; done; exit 2"), "go build", id="silent"),
    ],
)
def test_failed_install_tells_all_that_was_tried(
    machine: Machine, prepare: Callable[[Machine], None], why: str
) -> None:
    prepare(machine)
    machine.plugin()
    says(machine.bin / "pulumi", "v3.100.0")
    with pytest.raises(ToolchainError) as caught:
        toolchain.install()
    problems = {problem.what.split()[0]: problem for problem in caught.value.problems}
    assert list(problems) == ["pulumi", parts.LANGUAGE, "kube-apiserver", "kube-controller-manager", "etcd"]
    for way in ("3.100.0 is not compatible", "tried cache", "tried download", NOBODY, "tried build", why):
        assert way in problems["pulumi"].what
    assert not any("\n" in problem.what for problem in problems.values())
    assert all(problem.fix for problem in problems.values())
    assert not machine.staging()
    assert not parts.toolchain_folder().exists()


def test_installed_package_without_the_go_module_says_so(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "modules_folder", lambda: None)
    monkeypatch.setattr(build, "modules_folder", lambda: None)
    with pytest.raises(ToolchainError) as caught:
        toolchain.install()
    assert "only of the source checkout" in caught.value.problems[0].what
    assert "source checkout" in caught.value.problems[0].fix


def test_cache_that_cannot_be_written_is_a_problem(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine.bin.parent / "file").touch()
    monkeypatch.setenv("CLAIMSMITH_CACHE", str(machine.bin.parent / "file" / "cache"))
    with pytest.raises(ToolchainError) as caught:
        toolchain.install()
    assert "CLAIMSMITH_CACHE" in caught.value.problems[0].fix


def test_staging_of_the_dead_is_removed(machine: Machine) -> None:
    machine.go()
    machine.plugin()
    stale = machine.cache / ".staging-dead"
    (stale / "built").mkdir(parents=True)
    toolchain.install()
    assert not stale.exists()


def test_cached_provider_is_linked_among_the_plugins(machine: Machine) -> None:
    machine.all_on_path()
    cached = says(parts.home_of(parts.PROVIDER), "never asked")
    plugin = parts.plugin_folder("4.25.0") / parts.PROVIDER
    plugin.unlink()
    assert toolchain.install()[parts.PROVIDER].origin == "plugins"
    assert plugin.samefile(cached)


def test_provider_says_its_version(tmp_path: Path) -> None:
    script = tmp_path / "provider"
    script.write_text(
        f"#!{sys.executable}\n"
        + textwrap.dedent("""\
            from concurrent import futures
            import grpc
            from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc
            class Provider(provider_pb2_grpc.ResourceProviderServicer):
                def GetPluginInfo(self, request, context):
                    return plugin_pb2.PluginInfo(version="4.25.0")
            server = grpc.server(futures.ThreadPoolExecutor(1))
            provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(), server)
            port = server.add_insecure_port("127.0.0.1:0")
            server.start()
            print(port, flush=True)
            server.wait_for_termination()
            """)
    )
    script.chmod(0o755)
    assert provider.version(script) == "4.25.0"


def test_something_else_than_a_provider_is_refused(tmp_path: Path) -> None:
    with pytest.raises(parts.Failure, match="provider protocol"):
        provider.version(says(tmp_path / "provider", "usage: provider"))


def test_signal_during_a_start_waits_for_its_end() -> None:
    done: list[str] = []

    def begin() -> None:
        with process.held():
            signal.raise_signal(signal.SIGINT)
            done.append("the block")

    with pytest.raises(KeyboardInterrupt):
        begin()
    assert done


def test_ignored_signals_stay_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with process.handling(lambda *_: pytest.fail("handled"), process.STOPPING):
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_command_that_takes_too_long_ends_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = program(tmp_path / "slow", "/bin/sleep 3600 & echo $! > begun; mv begun child; wait")

    class WhenItHasAChild(threading.Timer):
        def run(self) -> None:
            eventually((tmp_path / "child").exists)
            self.function(*self.args)

    monkeypatch.setattr(process.threading, "Timer", WhenItHasAChild)
    with pytest.raises(parts.Failure, match=r"within 0\.001 seconds"):
        process.run([str(slow)], output=tmp_path / "output", cwd=tmp_path, seconds=0.001)
    eventually(lambda: not command_line(int((tmp_path / "child").read_text())))


# ── two at once, and interrupted ──────────────────────────────────────────────────────────────────────────────────────


DRIVER = f"""
import sys
from claimsmith import toolchain
from claimsmith.toolchain import download
download.SITES = dict.fromkeys(download.SITES, {NOBODY!r})
try:
    toolchain.install(lambda title, *_: print(title, flush=True))
except KeyboardInterrupt:
    sys.exit(130)
print("done", flush=True)
"""


@pytest.fixture
def start(machine: Machine) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts an install in a process of its own; neither it nor what it runs outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def begin() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", DRIVER]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        started.append(subprocess.Popen(command, env=machine.env, text=True, **pipes))  # type: ignore[call-overload]
        return started[-1]

    yield begin
    for install in started:
        end(install)
    for pid in machine.go_processes():
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def building(machine: Machine) -> bool:
    return any(machine.cache.glob(".staging-*/modules/*/built/half"))


def test_two_installs_at_once_build_once(machine: Machine, start: Callable[[], subprocess.Popen[str]]) -> None:
    machine.go(gated=True)
    machine.plugin()
    first = start()
    eventually(lambda: building(machine))
    second = start()
    assert second.stdout
    assert f"waiting for another install (process {first.pid})" in iter(lambda: second.stdout.readline().strip(), "")
    machine.gate.touch()
    outputs = [first.communicate()[0], second.communicate()[0]]
    assert (first.returncode, second.returncode) == (0, 0)
    assert all("done" in output for output in outputs)
    builds = [line for line in machine.log.read_text().splitlines() if line.startswith("build ")]
    assert len(builds) == len(build.by_module(["pulumi", "etcd"]))


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="ctrl-c"),
        pytest.param(signal.SIGTERM, 143, id="terminated"),
        pytest.param(signal.SIGHUP, 129, id="terminal-closed"),
    ],
)
def test_interrupted_install_leaves_nothing(
    machine: Machine, start: Callable[[], subprocess.Popen[str]], number: signal.Signals, code: int
) -> None:
    machine.go(gated=True)
    machine.plugin()
    install = start()
    eventually(lambda: building(machine))
    install.send_signal(number)
    output = install.communicate()[0]
    assert install.returncode == code, output
    assert "Traceback" not in output
    assert sorted(path.name for path in machine.cache.iterdir()) == ["lock"]
    eventually(lambda: not machine.go_processes())


def test_install_after_a_killed_one(machine: Machine, start: Callable[[], subprocess.Popen[str]]) -> None:
    machine.go(gated=True)
    machine.plugin()
    install = start()
    eventually(lambda: building(machine))
    install.kill()
    install.communicate()
    (pid,) = machine.go_processes()
    os.killpg(pid, signal.SIGKILL)
    assert machine.staging()
    machine.go()
    toolchain.install()
    assert not machine.staging()


# ── the language host ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_language_host_is_written_once(machine: Machine) -> None:
    path = host.write(parts.home_of(parts.LANGUAGE))
    before = path.stat().st_mtime_ns
    assert host.write(parts.home_of(parts.LANGUAGE)).stat().st_mtime_ns == before
    assert host.is_ours(path)


def test_outdated_language_host_is_written_anew(machine: Machine) -> None:
    path = host.write(parts.home_of(parts.LANGUAGE))
    path.with_name("language_host.py").write_text("an older one")
    assert not host.is_current(path)
    assert host.is_current(host.write(parts.home_of(parts.LANGUAGE)))


@pytest.mark.parametrize(
    ("variables", "want"),
    [
        pytest.param({"CLAIMSMITH_PYTHON": "{fake}"}, "fake", id="the-one-we-are-told"),
        pytest.param({"VIRTUAL_ENV": "{venv}"}, "venv", id="the-active-virtual-environment"),
        pytest.param({"CLAIMSMITH_PYTHON": "{fake}", "VIRTUAL_ENV": "{venv}"}, "fake", id="told-beats-active"),
    ],
)
def test_wrapper_picks_the_interpreter(machine: Machine, variables: dict[str, str], want: str) -> None:
    root = machine.bin.parent
    fake = program(root / "fake", "echo fake")
    program(root / "venv" / "bin" / "python", "echo venv")
    env = {name: value.format(fake=fake, venv=root / "venv") for name, value in variables.items()}
    done = subprocess.run(
        [host.write(parts.home_of(parts.LANGUAGE))], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == want


def test_language_host_without_the_sdk_says_what_to_do(machine: Machine) -> None:
    env = {"PYTHONPATH": str(machine.bin)}
    (machine.bin / "grpc.py").write_text("raise ImportError('no grpc')")
    done = subprocess.run(
        [host.write(parts.home_of(parts.LANGUAGE)), "127.0.0.1:9"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "CLAIMSMITH_PYTHON" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def served(machine: Machine) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running language host, and its address."""
    started = subprocess.Popen(
        [host.write(parts.home_of(parts.LANGUAGE)), "--tracing", "x", "127.0.0.1:9"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert started.stdout
    try:
        yield started, f"127.0.0.1:{int(started.stdout.readline())}"
    finally:
        end(started)


def test_language_host_answers(served: tuple[subprocess.Popen[str], str]) -> None:
    import grpc
    from google.protobuf.empty_pb2 import Empty
    from pulumi.runtime.proto import language_pb2, language_pb2_grpc

    with grpc.insecure_channel(served[1]) as channel:
        stub = language_pb2_grpc.LanguageRuntimeStub(channel)
        assert re.fullmatch(r"3\.\d+\.\d+.*", stub.GetPluginInfo(Empty()).version)
        assert stub.About(language_pb2.AboutRequest()).executable == sys.executable
        assert not stub.GetRequiredPackages(language_pb2.GetRequiredPackagesRequest()).packages
        said = list(stub.InstallDependencies(language_pb2.InstallDependenciesRequest()))
        assert sys.executable.encode() in said[0].stdout
        listed = stub.GetProgramDependencies(language_pb2.GetProgramDependenciesRequest()).dependencies
        assert "pulumi" in [row.name for row in listed]
        with pytest.raises(grpc.RpcError) as caught:
            stub.Pack(language_pb2.PackRequest())
        assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
def test_language_host_ends_quietly(served: tuple[subprocess.Popen[str], str], number: signal.Signals) -> None:
    served[0].send_signal(number)
    assert served[0].communicate()[0] == ""
    assert served[0].returncode == 0


def test_language_host_survives_a_false_alarm(served: tuple[subprocess.Popen[str], str]) -> None:
    import grpc
    from google.protobuf.empty_pb2 import Empty
    from pulumi.runtime.proto import language_pb2_grpc

    served[0].send_signal(signal.SIGUSR1)
    with grpc.insecure_channel(served[1]) as channel:
        assert language_pb2_grpc.LanguageRuntimeStub(channel).GetPluginInfo(Empty()).version
    assert served[0].poll() is None


def test_language_host_ends_with_its_parent(machine: Machine) -> None:
    ours = host.write(parts.home_of(parts.LANGUAGE))
    parent = subprocess.Popen(
        ["/bin/sh", "-c", f"'{ours}' 127.0.0.1:9 & echo pid $!; wait"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert parent.stdout
        said = parent.stdout.readline() + parent.stdout.readline()
    finally:
        end(parent)
    child = int(re.findall(r"pid (\d+)", said)[0])
    eventually(lambda: "language_host.py" not in command_line(child))


# ── the commands ──────────────────────────────────────────────────────────────────────────────────────────────────────


def command(*arguments: str) -> Any:
    from claimsmith.cli.toolchain import app

    return CliRunner().invoke(app, list(arguments), prog_name="claimsmith toolchain")


def test_command_shows_the_parts(machine: Machine) -> None:
    machine.all_on_path()
    result = command()
    assert result.exit_code == 0, result.output
    assert re.search(rf"^etcd +3\.5\.21 +PATH +{machine.bin}/etcd$", result.stdout, re.MULTILINE)


def test_command_tells_what_is_missing(machine: Machine) -> None:
    says(machine.bin / "etcd", VERSIONS["etcd"])
    result = command("--output", "json")
    assert result.exit_code == 1
    assert [row["part"] for row in json.loads(result.stdout)["parts"] if row["path"]] == ["etcd"]
    assert "fix: run: claimsmith toolchain install" in result.stderr


def test_command_installs(machine: Machine) -> None:
    machine.go()
    machine.plugin()
    result = command("install", "--output", "json")
    assert result.exit_code == 0, result.output
    assert {row["origin"] for row in json.loads(result.stdout)["parts"]} == {"cache", "plugins"}
    assert "building: 100%" in result.stderr


def test_command_that_cannot_install_prints_problems(machine: Machine) -> None:
    result = command("install", "--output", "json")
    assert result.exit_code == 1
    assert all(problem["fix"] for problem in json.loads(result.stdout)["problems"])
    assert "there is no go on PATH" in result.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["install", "--help"]], ids=["toolchain", "install"])
def test_help_shows_an_example(arguments: list[str]) -> None:
    assert "Example: claimsmith toolchain" in command(*arguments).stdout
