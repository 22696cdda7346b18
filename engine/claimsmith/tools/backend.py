"""`claimsmith backend`: where the state of a project is, and who can read the secrets of its stacks.

A project begins with state and passphrase on one machine, in files that are not committed. `move` shares both: the
state goes to a backend that colleagues reach, the stacks' settings are committed, the passphrase is handed over.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from claimsmith.base import yaml_text
from claimsmith.base.errors import DeployError, LoadError, Problem
from claimsmith.base.printable import counted
from claimsmith.base.values import object_at
from claimsmith.project import checkpoint, encryption, workspace
from claimsmith.project.encryption import StackSecrets
from claimsmith.project.load import load
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically
from claimsmith.toolchain import locks

LOCAL = "local"
LOCAL_URL = "file://./.claimsmith/state"
VARIABLE = "PULUMI_BACKEND_URL"
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

    def to_dict(self) -> dict[str, Any]:
        """The change for a machine to read."""
        return {
            "url": self.url,
            "moved": self.moved,
            "created": self.created,
            "files": self.files,
            "removed": self.removed,
        }


def describe(project: Project, env: Mapping[str, str] | None = None) -> Backend:
    """Where the state of the project is; the engine is not asked."""
    env = os.environ if env is None else env
    url = env.get(VARIABLE) or _url(project)
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


def move(project: Project, url: str) -> Moved:
    """Use another backend, and move the state of all stacks there: whole, or not at all.

    If it fails, the project uses the backend from before, and nothing of it stays in the other one. The state in the
    backend from before is left as it is.
    """
    local = url == LOCAL
    url = LOCAL_URL if local else url
    if not local:
        _refuse(url)
    if problems := encryption.unfit(project, os.environ):
        raise DeployError(*problems)
    states = {stack: workspace.export_state(project, stack) for stack in _stacks_of(project)}
    _refuse_unfinished(project, states)
    files = _texts(project)
    created: list[str] = []
    write_atomically(project.root / "Pulumi.yaml", with_url(files[project.root / "Pulumi.yaml"], url))
    try:
        there = set(_stacks_of(project))
        _refuse_taken(states, there)
        for stack in sorted({*project.stacks(), *states} - there):
            created.append(stack)
            _run(project, "stack", "init", stack, "--no-select")
            if stack in states:
                _import(project, stack, states[stack])
    except BaseException as error:
        left = _undo(project, created, files)
        if left and isinstance(error, DeployError):
            raise DeployError(*error.problems, _left_behind(url, left)) from error
        raise
    ignored = [] if local else _unignore(project)
    if local:
        _ignore(project)
    changed = ["Pulumi.yaml", *ignored, *([] if local else (s.file for s in encryption.stack_secrets(project)))]
    return Moved(url, sorted(states.keys() & set(created)), sorted(set(created) - states.keys()), changed, [])


def _refuse_unfinished(project: Project, states: Mapping[str, checkpoint.State]) -> None:
    """Refuse what cannot be moved whole: a run at work, and what a killed one left behind, which an import clears."""
    backend = workspace.backend(project)
    problems = []
    for stack, state in states.items():
        fix = f"first: claimsmith recover {stack} --yes"
        if held := locks.locks(locks.folder(backend, project.root, project.name, stack)):
            problems.append(
                Problem(f"{stack!r} is locked: {held[0]}", fix=f"wait until it ends; if it was killed, {fix}")
            )
        if checkpoint.pending(state):
            problems.append(Problem(f"{stack!r} has operations that were interrupted", fix=fix))
    if problems:
        raise DeployError(*problems)


def _refuse_taken(states: Mapping[str, checkpoint.State], there: Collection[str]) -> None:
    if taken := sorted(stack for stack in states if stack in there and _resources(states[stack])):
        what = f"the backend has a stack {taken[0]!r} already, and this project has another one"
        raise DeployError(Problem(what, fix="use another backend; or end one of the two: pulumi destroy"))


def _import(project: Project, stack: str, state: checkpoint.State) -> None:
    """Write a state into the backend that the project uses now, and read it again."""
    workspace.import_state(project, stack, state)
    if _resources(workspace.export_state(project, stack)) != _resources(state):
        what = f"the backend does not return the state of {stack!r} as it was written"
        raise DeployError(Problem(what, fix="nothing was changed; use another backend"))


def _texts(project: Project) -> dict[Path, str]:
    """The files that the engine and we change when the backend changes."""
    paths = [project.root / "Pulumi.yaml", *sorted((project.root / "stacks").glob("Pulumi.*.yaml"))]
    return {path: path.read_text(encoding="utf-8") for path in paths}


def _undo(project: Project, created: list[str], files: Mapping[Path, str]) -> list[str]:
    """Remove the stacks that were created, and restore the files; returns the stacks that may still be there."""
    try:
        there = set(_stacks_of(project)) & set(created)
        remove = "stack", "rm", "--force", "--yes", "--preserve-config"
        left = [stack for stack in sorted(there) if workspace.pulumi(project, *remove, stack).returncode]
    except DeployError:
        left = created
    for path in _texts(project).keys() - files.keys():
        path.unlink()
    for path, text in files.items():
        write_atomically(path, text)
    return left


def _left_behind(url: str, stacks: list[str]) -> Problem:
    remove = f"{VARIABLE}={shlex.quote(url)} pulumi stack rm --force --preserve-config {stacks[0]}"
    what = f"{url} may still have {counted(len(stacks), 'stack')} of this attempt: {', '.join(stacks)}"
    return Problem(what, fix=f"if it has: {remove}")


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
    _ignore(project)
    return Moved(LOCAL_URL, [], [], [], removed)


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
    wanted = f"backend:\n  url: {url}\n"
    text = text if text.endswith("\n") else f"{text}\n"
    found = block.search(text)
    if not found:
        return f"{text.rstrip()}\n{wanted}"
    return text[: found.start()] + wanted + text[found.end() :]


def _refuse(url: str) -> None:
    parts = urlsplit(url)
    if not parts.scheme or not url.partition("://")[2]:
        fix = "write it as file:///shared/folder, s3://bucket, gs://bucket, azblob://container or postgres://host/database"
        raise LoadError(Problem(f"{url!r} is no address of a backend", fix=fix))
    if is_local(url) or url.startswith("file://~"):
        fix = "name a folder that all of you reach, as file:///shared/folder; or: claimsmith backend move local"
        raise LoadError(Problem(f"{url!r} is another folder for each of you", fix=fix))
    if parts.password:
        fix = "leave it out: Pulumi.yaml is committed. Set PGPASSWORD, or PULUMI_BACKEND_URL, on each machine"
        raise LoadError(Problem("the address of the backend contains a password", fix=fix))


def _url(project: Project) -> str:
    documents = load([project.root / "Pulumi.yaml"], root=project.root)
    return str(object_at(documents[0].data, "backend").get("url") or "") if documents else ""


def _stacks_of(project: Project) -> list[str]:
    """The stacks of the project in the backend that it uses now."""
    listed = json.loads(_run(project, "stack", "ls", "--json"))
    return [str(entry["name"]).rpartition("/")[2] for entry in listed]


def _resources(state: Mapping[str, Any]) -> list[Any]:
    return (state.get("deployment") or {}).get("resources") or []


def _run(project: Project, *words: str) -> str:
    done = workspace.pulumi(project, *words)
    if done.returncode:
        what = f"the backend refused `pulumi {' '.join(words[:2])}`: {workspace.errors_in(done.stderr)}"
        raise DeployError(Problem(what, fix="nothing was changed; check the address, and your access to it"))
    return done.stdout


def _unignore(project: Project) -> list[str]:
    """Let git see the settings of stacks; returns the files that changed."""
    path = project.root / ".gitignore"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    kept = text.replace(_REMARK, "")
    kept = "".join(line for line in kept.splitlines(keepends=True) if line.strip() != _IGNORED)
    return [".gitignore"] if kept != text and write_atomically(path, kept) else []


def _ignore(project: Project) -> None:
    path = project.root / ".gitignore"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if _IGNORED not in text.splitlines():
        write_atomically(path, f"{text}{_REMARK}{_IGNORED}\n")


def _without_secrets(project: Project, secrets: StackSecrets) -> list[str]:
    """Take what nobody here can read out of a stack's settings; returns it in words."""
    path = project.own(Path(project.root / secrets.file))
    data = dict(load([path], root=project.root)[0].data)
    config = dict(object_at(data, "config"))
    unreadable = [name for name, value in config.items() if isinstance(value, dict) and "secure" in value]
    kept = {name: value for name, value in data.items() if name not in _SECRET_KEYS}
    if config:
        kept["config"] = {name: value for name, value in config.items() if name not in unreadable}
    write_atomically(path, yaml_text.dumped(kept) if kept else "")
    return [f"{secrets.stack}: {name}" for name in unreadable]
