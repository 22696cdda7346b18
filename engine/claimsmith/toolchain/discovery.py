"""Finds the parts that are on this machine, and the environment to run the engine in.

Looks at Pulumi's plugin folder, PATH and the cache, in that order, asks each program for its version, and takes the
first compatible one. What was tried and refused is kept for the error message. Changes nothing on disk,
except that `require` and `environment` put our own language host into the cache where the engine lacks one.
"""

from __future__ import annotations

import functools
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from claimsmith.base.errors import Problem, ToolchainError
from claimsmith.base.printable import one_line
from claimsmith.toolchain import host, parts, private_runs
from claimsmith.toolchain.parts import (
    APISERVER,
    BRIDGED,
    CONTROLLERS,
    LANGUAGE,
    NAMES,
    PARTS,
    PROVIDER,
    PROVIDERS,
    PULUMI,
    Failure,
)

# Only a program that hangs takes this long: a busy machine must not make a good one look broken and be built anew.
PROBE_SECONDS = 300.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class InstalledPart:
    """A part that can be used: its version, and whether it comes from PATH, the cache or Pulumi's plugins."""

    name: str
    path: Path
    version: str
    origin: str


@dataclass
class Tried:
    """Every way of getting a part that was tried, and how it failed."""

    lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, way: str, outcome: object) -> None:
        """Keep one failure."""
        self.lines.setdefault(name, []).append(f"{way}: {outcome}")

    def problem(self, name: str, fix: str) -> Problem:
        """The problem of a part that is missing after all of it."""
        # On one line: a problem shows line breaks as escapes, so that what it quotes can add no line.
        tried = "".join(f"; tried {one_line(line)}" for line in self.lines.get(name, []))
        return Problem(what=f"{name} ({parts.wanted(name)}) is missing{tried}", fix=fix)


def find(name: str) -> InstalledPart | None:
    """The part to use, if there is one."""
    if name not in PARTS:
        raise ToolchainError(Problem(f"there is no part {name!r}", fix=f"use one of: {', '.join(NAMES)}"))
    return search([name])[0][name]


def find_all(names: Iterable[str] = NAMES) -> dict[str, InstalledPart | None]:
    """All parts, or these, None for each that is missing."""
    return search(names)[0]


def require(*names: str) -> dict[str, Path]:
    """The paths of these parts (of all where none is named); ToolchainError where one is missing."""
    wanted = names or NAMES
    installed, tried = _with_host(wanted, os.environ)
    missing = [name for name in wanted if not installed[name]]
    if missing:
        raise ToolchainError(*(tried.problem(name, parts.INSTALL) for name in missing))
    return {name: part.path for name in wanted if (part := installed[name])}


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment to run `pulumi` in: the installed parts first on PATH, and this interpreter for programs."""
    env = dict(os.environ if base is None else base)
    installed, _ = _with_host(NAMES, env)
    folders = [str(part.path.parent) for part in installed.values() if part and part.origin != "plugins"]
    if sys.prefix != sys.base_prefix:
        # The official language host runs the first `python3` on PATH.
        folders.append(str(Path(sys.executable).parent))
    have = env.get("PATH", "").split(os.pathsep)
    new = [folder for folder in dict.fromkeys(folders) if folder not in have]
    env["PATH"] = os.pathsep.join([*new, *(folder for folder in have if folder)])
    env["PULUMI_SKIP_UPDATE_CHECK"] = "true"
    env["CLAIMSMITH_PYTHON"] = sys.executable
    if part := installed[PROVIDER]:
        # The engine takes the plugin of exactly the version that a program asks for.
        env[parts.PROVIDER_VERSION] = part.version
    return env


def search(names: Iterable[str], env: Mapping[str, str] = os.environ) -> tuple[dict[str, InstalledPart | None], Tried]:
    """What there is of these parts, and what was refused on the way."""
    wanted, tried = list(names), Tried()
    probed = set(wanted)
    if probed & {APISERVER, CONTROLLERS}:
        probed |= {APISERVER, CONTROLLERS}
    if LANGUAGE in probed:
        probed = probed - {LANGUAGE} | {PULUMI}
    with ThreadPoolExecutor(len(PARTS)) as pool:
        ordered = [name for name in NAMES if name in probed]
        usable = dict(zip(ordered, pool.map(lambda name: list(_usable(name, env, tried)), ordered), strict=True))
    installed: dict[str, InstalledPart | None] = {
        name: next(iter(candidates), None) for name, candidates in usable.items()
    }
    if APISERVER in usable:
        installed[APISERVER], installed[CONTROLLERS] = _pair(usable[APISERVER], usable[CONTROLLERS], tried)
    if LANGUAGE in wanted:
        installed[LANGUAGE] = _language(installed[PULUMI], env, tried)
    for part in installed.values():
        log.info("found %s", part)
    return {name: installed[name] for name in wanted}, tried


def probe(name: str, path: Path, env: Mapping[str, str] = os.environ) -> str:
    """The version that a program reports; Failure where it is broken or not accepted."""
    try:
        state = path.stat()
    except OSError as error:
        raise Failure(error.strerror) from error
    version = _version(name, path, state.st_mtime_ns, state.st_size)
    if refusal := parts.refusal(name, version, env):
        raise Failure(refusal)
    return version


def _usable(name: str, env: Mapping[str, str], tried: Tried) -> Iterator[InstalledPart]:
    for path, origin, version in _candidates(name, env, tried):
        try:
            yield InstalledPart(name, path, version or probe(name, path, env), origin)
        except Failure as failure:
            tried.add(name, f"{origin} ({path})", failure)


def _candidates(name: str, env: Mapping[str, str], tried: Tried) -> Iterator[tuple[Path, str, str]]:
    """Where a part is: its path, its origin, and its version if its place shows it."""
    cached = parts.home_of(name, env)
    if name in PROVIDERS:
        yield from _plugins(name, env, tried)
    folders = [Path(folder) for folder in env.get("PATH", "").split(os.pathsep) if folder]
    on_path = [folder / name for folder in dict.fromkeys(folders) if _executable(folder / name)]
    on_path = [path for path in on_path if path.absolute() != cached and not private_runs.is_ours(path)]
    if not on_path:
        tried.add(name, "PATH", "not there")
    yield from ((path, "PATH", "") for path in on_path)
    if _executable(cached):
        # Each look at a provider starts its 300 MB; this one was looked at when it was put into its folder.
        yield cached, "cache", parts.pinned(name, env).version if name in PROVIDERS else ""
    else:
        tried.add(name, "cache", f"not in {cached.parent}")


def _plugins(name: str, env: Mapping[str, str], tried: Tried) -> Iterator[tuple[Path, str, str]]:
    """The providers among Pulumi's plugins, each in a folder named by its version, best first."""
    folder, prefix = parts.plugins_folder(env), parts.plugin_folder("", env, name).name
    plugins = [path for path in folder.glob(f"{prefix}*") if _is_whole(path, name)]
    whole = {path.name.removeprefix(prefix): path / name for path in plugins}
    accepted = [version for version in _preferred(name, whole, env) if not parts.refusal(name, version, env)]
    if not accepted:
        tried.add(name, "plugins", f"not in {folder}")
    yield from ((whole[version], "plugins", version) for version in accepted)


def _preferred(name: str, versions: Iterable[str], env: Mapping[str, str]) -> list[str]:
    """The version that goes with the Python package, the pinned one, then other releases, the newest first."""
    if name in BRIDGED:
        # The typed SDKs of these request their own version, and the engine takes no other plugin.
        return [version for version in (parts.release(name, env),) if version in versions]
    releases = [version for version in versions if re.fullmatch(r"\d+\.\d+\.\d+", version)]
    newest = sorted(releases, key=parts.parse_version, reverse=True)
    best = dict.fromkeys([parts.package_version(name), parts.pinned(name, env).version, *newest])
    return [version for version in best if version in versions]


def _is_whole(plugin: Path, name: str) -> bool:
    return _executable(plugin / name) and not plugin.with_name(plugin.name + ".partial").exists()


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _pair(
    servers: list[InstalledPart], controllers: list[InstalledPart], tried: Tried
) -> tuple[InstalledPart | None, InstalledPart | None]:
    """The first API server with controllers of the same minor version; where no two match, they wait for theirs."""
    for server in servers:
        for one in controllers:
            if _minor(server) == _minor(one):
                return server, one
    if not servers or not controllers:
        return next(iter(servers), None), next(iter(controllers), None)
    for one in controllers:
        tried.add(
            CONTROLLERS, f"{one.origin} ({one.path})", f"{one.version}, but kube-apiserver is {servers[0].version}"
        )
    return servers[0], None


def _minor(part: InstalledPart) -> tuple[int, int]:
    return parts.parse_version(part.version)[:2]


def _language(pulumi: InstalledPart | None, env: Mapping[str, str], tried: Tried) -> InstalledPart | None:
    """The host beside the engine, which is of the engine's version, or ours."""
    if pulumi:
        beside = pulumi.path.resolve().with_name(LANGUAGE)
        if _executable(beside) and not host.is_ours(beside):
            return InstalledPart(LANGUAGE, beside, pulumi.version, pulumi.origin)
        tried.add(LANGUAGE, pulumi.origin, f"not beside {pulumi.path}")
    ours = host_of(pulumi, env)
    origin = "cache" if ours == parts.home_of(LANGUAGE, env) else "plugins"
    if host.is_current(ours):
        return InstalledPart(LANGUAGE, ours, metadata.version("pulumi"), origin)
    tried.add(LANGUAGE, origin, f"not in {ours.parent}")
    return None


def host_of(pulumi: InstalledPart | None, env: Mapping[str, str] = os.environ) -> Path:
    """Where our language host is, or would be, for an engine."""
    return parts.host_of(pulumi is None or pulumi.origin == "cache", env)


def _with_host(names: Iterable[str], env: Mapping[str, str]) -> tuple[dict[str, InstalledPart | None], Tried]:
    installed, tried = search(names, env)
    if LANGUAGE in installed and not installed[LANGUAGE]:
        try:
            host.write(host_of(search([PULUMI], env)[0][PULUMI], env))
        except OSError as error:
            tried.add(LANGUAGE, "our own", error)
        else:
            installed |= search([LANGUAGE], env)[0]
    return installed, tried


@functools.lru_cache(maxsize=64)
def _version(name: str, path: Path, changed: int, size: int) -> str:  # noqa: ARG001 - the last two tell files apart
    if name in PROVIDERS:
        from claimsmith.toolchain import provider

        return provider.version(path)
    try:
        done = subprocess.run(
            [path, PARTS[name].version_flag],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
        )
    except subprocess.TimeoutExpired as error:
        raise Failure(f"printed nothing within {PROBE_SECONDS:g} seconds") from error
    except OSError as error:
        raise Failure(f"cannot be run: {error.strerror or error}") from error
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Failure(f"exits with {done.returncode} {' '.join(last)}".strip())
    major, minor, patch = parts.parse_version(done.stdout.decode(errors="replace"))
    return f"{major}.{minor}.{patch}"
