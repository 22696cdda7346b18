"""Brings what is missing: an official download, else a build, put in place whole or not at all.

One install at a time per cache folder: a second one waits, then uses what the first installed. Work happens in a
staging folder inside the cache, which is removed at the end, on SIGINT, SIGTERM and SIGHUP; one left behind by a
process that was killed outright is removed by the next install.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from claimsmith.base.errors import Problem, ToolchainError
from claimsmith.base.posix import fcntl
from claimsmith.base.user_folders import cache_folder
from claimsmith.toolchain import build, discovery, download, host, parts, process, provider
from claimsmith.toolchain.discovery import InstalledPart, Tried

STAGING = ".staging-"


def install(report: parts.Report | None = None, names: Sequence[str] = parts.NAMES) -> dict[str, InstalledPart]:
    """These parts, each installed where it is missing; ToolchainError with all that was tried where one cannot be."""
    report = report or parts.silent
    installed, _ = discovery.search(names)
    if not _missing(installed) and not _needs_link(installed):
        return _complete(installed)
    cache = cache_folder()
    try:
        with process.interruptible(), _lock(cache, report), _staging(cache) as stage:
            return _install_missing(names, stage, report)
    except OSError as error:
        what = f"cannot write to the cache folder: {error}"
        raise ToolchainError(Problem(what, fix="set CLAIMSMITH_CACHE to a folder you can write to")) from error


def _install_missing(names: Sequence[str], stage: Path, report: parts.Report) -> dict[str, InstalledPart]:
    """Fill the cache, each way in turn for what the ways before it left missing."""
    # The lock may have been waited for: look again.
    installed, tried = discovery.search(names)
    _download(_missing(installed), stage, tried, report)
    missing = [name for name in _missing(discovery.search(names)[0]) if parts.PARTS[name].package]
    if missing:
        try:
            _place(build.build(missing, stage, report), tried, "build")
        except parts.Failure as failure:
            for name in missing:
                tried.add(name, "build", failure)
    installed, _ = discovery.search(names)
    if parts.LANGUAGE in installed and not installed[parts.LANGUAGE] and (engine := discovery.find(parts.PULUMI)):
        host.write(discovery.host_of(engine))
    for name in _needs_link(installed):
        try:
            provider.link(name)
        except OSError as error:
            # It works from the cache too; the engine then warns that it comes from PATH.
            report(f"the provider stays in the cache: {error}", 0, None, "")
    installed, _ = discovery.search(names)
    absent = [name for name, part in installed.items() if not part]
    if absent:
        raise ToolchainError(*(tried.problem(name, _fix(name)) for name in absent))
    return _complete(installed)


def _missing(installed: dict[str, InstalledPart | None]) -> list[str]:
    """What to install. A control plane program of another minor version than ours cannot be paired: install both."""
    missing = [name for name, part in installed.items() if not part]
    for name, other in ((parts.APISERVER, parts.CONTROLLERS), (parts.CONTROLLERS, parts.APISERVER)):
        part = installed.get(other)
        if name in missing and part and part.version.split(".")[:2] != parts.pinned(name).version.split(".")[:2]:
            missing.append(other)
    return [name for name in parts.NAMES if name in missing]


def _needs_link(installed: dict[str, InstalledPart | None]) -> list[str]:
    """The providers that Pulumi does not find among its plugins yet."""
    return [name for name in parts.PROVIDERS if (part := installed.get(name)) and part.origin == "cache"]


def _complete(installed: dict[str, InstalledPart | None]) -> dict[str, InstalledPart]:
    return {name: part for name, part in installed.items() if part}


def _fix(name: str) -> str:
    if name == parts.LANGUAGE:
        return "install the engine first: it comes with pulumi"
    build_it = (
        f"install Go {parts.GO} or newer" if parts.modules_folder() else f"use a source checkout with Go {parts.GO}"
    )
    return f"connect to the internet, or {build_it}, or put {name} ({parts.wanted(name)}) on PATH"


def _download(missing: Sequence[str], stage: Path, tried: Tried, report: parts.Report) -> None:
    """Take what can be had from the makers' sites."""
    wanted = [name for name in missing if name != parts.LANGUAGE]
    report("looking for official downloads", 0, None, "")
    refused = download.unreachable(download.SITES[name] for name in wanted)
    for name in wanted:
        try:
            if why := refused.get(download.SITES[name]):
                raise parts.Failure(why)
            report(f"downloading {name}", 0, None, "")
            _download_one(name, stage, tried, report)
        except parts.Failure as failure:
            tried.add(name, "download", failure)


def _download_one(name: str, stage: Path, tried: Tried, report: parts.Report) -> None:
    match name:
        case "pulumi":
            downloaded = {path.name: path for path in download.pulumi(stage / "pulumi")}
            discovery.probe(name, downloaded[name])
            parts.home_of(name).parent.mkdir(parents=True, exist_ok=True)
            # The engine comes last: its language hosts are then beside it from the first.
            for file in sorted(downloaded, key=lambda file: file == name):
                os.replace(downloaded[file], parts.home_of(name).with_name(file))
        case _ if name in parts.PROVIDERS:
            engine = discovery.find(parts.PULUMI)
            if not engine:
                raise parts.Failure("needs pulumi, which is missing")
            download.provider(name, engine.path, stage)
        case _:
            path = download.etcd(stage, report) if name == parts.ETCD else download.kubernetes(name, stage, report)
            _place({name: path}, tried, "download")


def _place(programs: dict[str, Path], tried: Tried, way: str) -> None:
    """Put programs that work into the cache, each in one step."""
    for name, path in programs.items():
        try:
            discovery.probe(name, path)
        except parts.Failure as failure:
            tried.add(name, way, failure)
            continue
        home = parts.home_of(name)
        home.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, home)


@contextmanager
def _lock(cache: Path, report: parts.Report) -> Iterator[None]:
    """Hold the cache folder's lock; wait for it where another install has it. It ends with its process."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            report(f"waiting for another install (process {file.read().strip() or 'unknown'})", 0, None, "")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


@contextmanager
def _staging(cache: Path) -> Iterator[Path]:
    """A folder to work in, gone at the end; with the lock held, any that is there belongs to the dead."""
    for stale in cache.glob(f"{STAGING}*"):
        shutil.rmtree(stale, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(dir=cache, prefix=STAGING))
    try:
        yield folder
    finally:
        # To the end, even where the user is impatient.
        with process.handling(lambda *_: None, process.STOPPING):
            shutil.rmtree(folder, ignore_errors=True)
