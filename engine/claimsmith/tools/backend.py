"""`claimsmith backend`: where the state of a project is, and who can read the secrets of its stacks.

A project begins with state and passphrase on one machine, in files that are not committed. `move` shares both: the
state goes to a backend that colleagues reach, the stacks' settings are committed, the passphrase is handed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claimsmith.base import yaml_text
from claimsmith.base.errors import DeployError, Problem
from claimsmith.base.values import object_at
from claimsmith.project import encryption, workspace
from claimsmith.project.encryption import StackSecrets
from claimsmith.project.load import load
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically

LOCAL = "local"
LOCAL_URL = "file://./.claimsmith/state"
_IGNORED = "stacks/Pulumi.*.yaml"
_REMARK = (
    "# settings of stacks whose state is on this machine: the engine writes the salt of that passphrase into them\n"
)
_SECRET_KEYS = (encryption.SALT, "secretsprovider", "encryptedkey")


@dataclass(frozen=True, slots=True)
class StackState:
    """How the secrets of one stack are encrypted, and whether they can be read here."""

    stack: str
    secrets: str
    readable: bool


@dataclass(frozen=True, slots=True)
class Backend:
    """Where the state is, and the stacks that have settings."""

    url: str
    shared: bool
    stacks: list[StackState]

    def to_dict(self) -> dict[str, Any]:
        """The backend for a machine to read."""
        rows = [{"stack": s.stack, "secrets": s.secrets, "readable": s.readable} for s in self.stacks]
        return {"url": self.url, "shared": self.shared, "stacks": rows}


@dataclass(frozen=True, slots=True)
class Moved:
    """What a change of the backend did."""

    url: str
    moved: list[str]
    """Stacks whose state was moved."""
    created: list[str]
    files: list[str]
    """The files to commit."""
    removed: list[str]
    """Secrets that nobody here can read, and that were taken out of settings."""
    kept: list[str]
    """Stacks that could not be removed from the backend from before."""

    def to_dict(self) -> dict[str, Any]:
        """The change for a machine to read."""
        return {
            "url": self.url,
            "moved": self.moved,
            "created": self.created,
            "files": self.files,
            "removed": self.removed,
            "kept": self.kept,
        }


def describe(project: Project, env: Mapping[str, str] | None = None) -> Backend:
    """Where the state of the project is; the engine is not asked."""
    env = os.environ if env is None else env
    url = env.get(workspace.BACKEND_URL) or address(project)
    passphrase = encryption.passphrase_in(project, env)
    stacks = [_state(s, passphrase) for s in encryption.stack_secrets(project)]
    return Backend(url, not is_local(url), stacks)


def _state(secrets: StackSecrets, passphrase: str | None) -> StackState:
    if not secrets.salt:
        return StackState(secrets.stack, secrets.provider or "none", True)
    readable = passphrase is not None and encryption.fits(passphrase, secrets.salt)
    return StackState(secrets.stack, "passphrase", readable)


def is_local(url: str) -> bool:
    """Whether a backend is a folder of one clone: no colleague has that one."""
    return url.startswith(("file://.", "file:.")) or url in ("", LOCAL)


def leave(project: Project) -> Moved:
    """Use stacks of one's own on this machine; nothing is moved. Secrets that cannot be read leave the settings."""
    path = project.root / "Pulumi.yaml"
    write_atomically(path, with_url(path.read_text(encoding="utf-8"), LOCAL_URL))
    workspace.prepare(project)
    removed: list[str] = []
    passphrase = encryption.passphrase_in(project, {})
    for secrets in encryption.stack_secrets(project):
        if secrets.provider or (secrets.salt and not encryption.fits(passphrase or "", secrets.salt)):
            removed += _without_secrets(project, secrets)
    ignore(project)
    return Moved(LOCAL_URL, [], [], [], removed, [])


def join(project: Project, passphrase: str) -> list[str]:
    """Keep a passphrase that colleagues shared, if it fits; returns the stacks whose secrets it reads.

    The passphrase from before is kept beside it: it may be the only one that reads state of this machine.
    """
    passphrase = passphrase.strip()
    salted = [s for s in encryption.stack_secrets(project) if s.salt]
    if not salted:
        what = "no stack has secrets of a passphrase: there is nothing to join"
        raise DeployError(Problem(what, fix="pull the commit with stacks/Pulumi.STACK.yaml; see: claimsmith backend"))
    fitting = [s.stack for s in salted if encryption.fits(passphrase, s.salt)]
    if not fitting:
        what = f"this passphrase does not fit {', '.join(s.file for s in salted)}"
        fix = f"ask whoever ran `claimsmith backend move` for the text of .claimsmith/{encryption.PASSPHRASE}"
        raise DeployError(Problem(what, fix=fix))
    project.private.mkdir(mode=0o700, exist_ok=True)
    path = project.private / encryption.PASSPHRASE
    old = encryption.read_passphrase(path)
    if old and old != passphrase:
        write_atomically(path.with_suffix(".before"), old, mode=0o600)
    write_atomically(path, passphrase, mode=0o600)
    return fitting


def with_url(text: str, url: str) -> str:
    """The text of Pulumi.yaml with another backend; everything else stays as it is written."""
    block = re.compile(r"^backend:[^\n]*\n(?:(?:[ \t]+[^\n]*)?\n)*?(?=\S|\Z)", re.MULTILINE)
    wanted = yaml_text.dumped({"backend": {"url": url}})
    text = text if text.endswith("\n") else f"{text}\n"
    found = block.search(text)
    if not found:
        return f"{text.rstrip()}\n{wanted}"
    return text[: found.start()] + wanted + text[found.end() :]


def address(project: Project) -> str:
    """The address of the backend in Pulumi.yaml; empty where it names none."""
    documents = load([project.root / "Pulumi.yaml"], root=project.root)
    return str(object_at(documents[0].data, "backend").get("url") or "") if documents else ""


def unignore(project: Project) -> list[str]:
    """Let git see the settings of stacks; returns the files that changed."""
    path = project.root / ".gitignore"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    kept = text.replace(_REMARK, "")
    kept = "".join(line for line in kept.splitlines(keepends=True) if line.strip() != _IGNORED)
    return [".gitignore"] if kept != text and write_atomically(path, kept) else []


def ignore(project: Project) -> None:
    """Let git ignore the settings of stacks."""
    path = project.root / ".gitignore"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if _IGNORED not in text.splitlines():
        write_atomically(path, f"{text}{_REMARK}{_IGNORED}\n")


def _without_secrets(project: Project, secrets: StackSecrets) -> list[str]:
    """Take what nobody here can read out of a stack's settings; returns it in words."""
    path = project.own(Path(project.root / secrets.file))
    data = dict(load([path], root=project.root)[0].data)
    config = dict(object_at(data, "config"))
    unreadable = [name for name, value in config.items() if _has_secret(value)]
    kept = {name: value for name, value in data.items() if name not in _SECRET_KEYS}
    if config:
        kept["config"] = {name: value for name, value in config.items() if name not in unreadable}
    write_atomically(path, yaml_text.dumped(kept) if kept else "")
    return [f"{secrets.stack}: {name}" for name in unreadable]


def _has_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return "secure" in value or any(map(_has_secret, value.values()))
    return isinstance(value, list) and any(map(_has_secret, value))
