"""What a killed run leaves on this machine: plugins of the engine without their engine, and half-written files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from claimsmith.local.process import Process, started

_PROC = Path("/proc")
_PLUGINS = ("pulumi-resource-", "pulumi-language-", "language_host.py")


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
