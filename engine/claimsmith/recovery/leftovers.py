"""What a run leaves on this machine: plugins without their engine, half-written files, and temporary files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from claimsmith.documents import MAX_TEXT
from claimsmith.kubeconfig import credentials
from claimsmith.local.process import Process, started
from claimsmith.recovery import locks

_PROC = Path("/proc")
_PLUGINS = ("pulumi-resource-", "pulumi-language-", "language_host.py")
_PROVIDER = "pulumi-resource-kubernetes"
_PROVIDERS_COPY = re.compile(r"kubeconfig[0-9]{5,10}")
"""Go's `os.CreateTemp("", "kubeconfig")`."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A plugin of this project's that outlived its engine."""

    process: Process
    program: str


def processes(root: Path) -> list[Leftover]:
    """The engine's plugins that run in a project's folder while their engine is gone. Linux tells; others do not."""
    if not _PROC.joinpath("self", "cwd").exists():
        return []
    found = (_plugin(int(p.name), root.resolve()) for p in sorted(_PROC.iterdir()) if p.name.isdigit())
    return [leftover for leftover in found if leftover]


def half_written(root: Path) -> list[Path]:
    """The files that a killed claimsmith had begun to write: each is a copy beside the old one, which is whole."""
    return sorted(p for p in root.glob("**/.*.partial") if p.is_file() and not _alive(p.name))


def kubeconfigs(folder: Path, known: Callable[[], list[str]]) -> list[Path]:
    """The copies of these kubeconfigs that Kubernetes providers, which have ended, left in a temporary folder.

    A copy has the name that the provider gives, belongs to this user and holds the same servers and secrets. It is left
    alone where a provider runs that could have written it; so are all where nobody tells (no /proc).
    """
    found = [p for p in sorted(folder.glob("kubeconfig*")) if _PROVIDERS_COPY.fullmatch(p.name)]
    if not found or not _PROC.joinpath("self").exists():
        return []
    wanted = {c for text in known() if (c := credentials(text))}
    living = list(_providers(folder))
    return [p for p in found if _is_copy(p, wanted, living)]


def _is_copy(path: Path, wanted: set[frozenset[str]], living: list[float]) -> bool:
    try:
        found = path.lstat()
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_size <= MAX_TEXT
        if not ours or any(begun <= found.st_mtime + 1 for begun in living):
            return False
        return credentials(path.read_text(encoding="utf-8")) in wanted
    except (OSError, ValueError):
        return False


def _providers(temporary: Path) -> Iterator[float]:
    """When each Kubernetes provider of this user's that has this temporary folder began."""
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            try:
                program = folder.joinpath("cmdline").read_bytes().split(b"\0")[0]
                environment = folder.joinpath("environ").read_bytes().split(b"\0")
            except OSError:
                continue
            named = [v.removeprefix(b"TMPDIR=") for v in environment if v.startswith(b"TMPDIR=")]
            # As Go's os.TempDir does.
            its = Path(os.fsdecode((named and named[0]) or b"/tmp"))
            if Path(os.fsdecode(program)).name.startswith(_PROVIDER) and its.resolve() == temporary.resolve():
                yield locks.begun(int(folder.name)) or 0.0


def _alive(name: str) -> bool:
    """Whether the process that writes a partial file, whose id stands in its name, still runs."""
    number = name.removesuffix(".partial").rpartition(".")[2]
    return number.isdigit() and started(int(number)) != ""


def _plugin(pid: int, root: Path) -> Leftover | None:
    folder = _PROC / str(pid)
    try:
        arguments = folder.joinpath("cmdline").read_bytes().decode(errors="replace").split("\0")
        within = Path(os.readlink(folder / "cwd"))
        parent = int(folder.joinpath("stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return None
    program = next((Path(a).name for a in arguments[:4] if Path(a).name.startswith(_PLUGINS)), None)
    if program is None or not within.is_relative_to(root) or _is_engine(parent):
        return None
    return Leftover(Process(pid, started(pid)), program)


def _is_engine(pid: int) -> bool:
    """Whether a process can be what started a plugin: the engine, or the language host that runs a program."""
    try:
        name = Path(_PROC.joinpath(str(pid), "cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")).name
    except OSError:
        return False
    return name.startswith("pulumi")
