"""What a run leaves on this machine: plugins without their engine, half-written files, and temporary files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from claimsmith.base.documents import MAX_TEXT
from claimsmith.kubernetes.kubeconfig import credentials
from claimsmith.toolchain import locks
from claimsmith.toolchain.background import Process, started

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
    """The engine's plugins that run in a project's folder while their engine is gone. Only Linux shows them."""
    if not _PROC.joinpath("self", "cwd").exists():
        return []
    plugins = (_plugin(int(p.name), root.resolve()) for p in sorted(_PROC.iterdir()) if p.name.isdigit())
    return [leftover for leftover in plugins if leftover]


def half_written(root: Path) -> list[Path]:
    """The files that a killed claimsmith was writing: each is a copy beside the old one, which is whole."""
    return sorted(p for p in root.glob("**/.*.partial") if p.is_file() and not _alive(p.name))


def kubeconfigs(folder: Path, known: Callable[[], list[str]]) -> list[Path]:
    """The copies of these kubeconfigs that Kubernetes providers, which have ended, left in a temporary folder.

    A copy has the name that the provider chooses, belongs to this user and holds the same servers and secrets. It is
    left alone where a provider runs that could have written it; so are all without /proc.
    """
    copies = [p for p in sorted(folder.glob("kubeconfig*")) if _PROVIDERS_COPY.fullmatch(p.name)]
    if not copies or not _PROC.joinpath("self").exists():
        return []
    wanted = {c for text in known() if (c := credentials(text))}
    living = list(_providers(folder))
    return [p for p in copies if _is_copy(p, wanted, living)]


def _is_copy(path: Path, wanted: set[frozenset[str]], living: list[float]) -> bool:
    try:
        info = path.lstat()
        ours = stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid() and info.st_size <= MAX_TEXT
        if not ours or any(start <= info.st_mtime + 1 for start in living):
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
                yield locks.start_time(int(folder.name)) or 0.0


def _alive(name: str) -> bool:
    """Whether the process that writes a partial file, whose id is in its name, still runs."""
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
