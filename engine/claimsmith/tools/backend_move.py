"""`claimsmith backend move`: takes the state of all stacks from one backend to another, whole or not at all.

Both backends are named to the engine by their addresses. Pulumi.yaml names the new one only when all stacks are there,
and only then they leave the one from before, with a copy of each state kept in .claimsmith/moved.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from claimsmith.base.errors import DeployError, LoadError, Problem
from claimsmith.base.printable import counted
from claimsmith.project import checkpoint, encryption, workspace
from claimsmith.project.checkpoint import State
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically
from claimsmith.toolchain import locks
from claimsmith.tools import backend
from claimsmith.tools.backend import LOCAL, LOCAL_URL, Moved, is_local

COPIES = "moved"


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two backends."""

    project: Project
    url: str

    def stacks(self) -> list[str]:
        """The stacks of the project there."""
        listed = json.loads(self.run("stack", "ls", "--json"))
        return [str(entry["name"]).rpartition("/")[2] for entry in listed]

    def export(self, stack: str) -> State:
        """The state of a stack."""
        return workspace.export_state(self.project, stack, url=self.url)

    def create(self, stack: str, state: State | None) -> None:
        """Create a stack with a state, and read it again."""
        self.run("stack", "init", stack, "--no-select")
        if state is None:
            return
        workspace.import_state(self.project, stack, state, url=self.url)
        if _objects(self.export(stack)) != _objects(state):
            what = f"the backend does not return the state of {stack!r} as it was written"
            raise DeployError(Problem(what, fix="nothing was changed; use another backend"))

    def remove(self, stack: str) -> bool:
        """Remove a stack, not what it deployed; returns whether it is gone."""
        return not self._pulumi("stack", "rm", stack, "--force", "--yes", "--preserve-config").returncode

    def run(self, *words: str) -> str:
        """What a command of the engine prints; a refusal is an error."""
        done = self._pulumi(*words)
        if done.returncode:
            what = f"the backend refused `pulumi {' '.join(words[:2])}`: {workspace.errors_in(done.stderr)}"
            raise DeployError(Problem(what, fix="nothing was changed; check the address, and your access to it"))
        return done.stdout

    def _pulumi(self, *words: str) -> subprocess.CompletedProcess[str]:
        return workspace.pulumi(self.project, *words, url=self.url)


def move(project: Project, url: str) -> Moved:
    """Move the state of all stacks to another backend, and use that one. If it fails, everything is as before."""
    url = LOCAL_URL if url == LOCAL else url
    if url != LOCAL_URL:
        _refuse_address(url)
    if problems := encryption.unfit(project, os.environ):
        raise DeployError(*problems)
    old, new = _Side(project, workspace.backend(project)), _Side(project, url)
    states = {stack: old.export(stack) for stack in old.stacks()}
    _refuse_unfinished(old, states)
    created = _copy(new, states)
    path = project.root / "Pulumi.yaml"
    write_atomically(path, backend.with_url(path.read_text(encoding="utf-8"), url))
    kept = [stack for stack, state in states.items() if not _left(old, stack, state)]
    files = ["Pulumi.yaml"]
    if is_local(url):
        backend.ignore(project)
    else:
        files += [*backend.unignore(project), *(secrets.file for secrets in encryption.stack_secrets(project))]
    return Moved(url, sorted(states), sorted(set(created) - states.keys()), files, [], kept)


def _copy(new: _Side, states: Mapping[str, State]) -> list[str]:
    """Create all stacks in the new backend; returns their names. If one fails, none is left there."""
    settings = _settings(new.project)
    created: list[str] = []
    try:
        there = new.stacks()
        if taken := sorted(stack for stack in there if stack in states):
            what = f"the backend has a stack {taken[0]!r} already, and this project has another one"
            raise DeployError(Problem(what, fix=f"use another backend; or remove that one: {_removal(new, taken[0])}"))
        for stack in sorted({*new.project.stacks(), *states} - set(there)):
            created.append(stack)
            new.create(stack, states.get(stack))
    except BaseException as error:
        left = _undo(new, created, settings)
        if left and isinstance(error, DeployError):
            what = f"{new.url} may still have {counted(len(left), 'stack')} of this attempt: {', '.join(left)}"
            problem = Problem(what, fix=f"if it has: {_removal(new, left[0])}")
            raise DeployError(*error.problems, problem) from error
        raise
    return created


def _undo(new: _Side, created: list[str], settings: Mapping[Path, str]) -> list[str]:
    """Remove the stacks that were created, and restore settings; returns the stacks that may still be there."""
    try:
        left = [stack for stack in new.stacks() if stack in created and not new.remove(stack)]
    except DeployError:
        left = created
    # The engine writes the salt of a new stack into its settings.
    for path in _settings(new.project).keys() - settings.keys():
        path.unlink()
    for path, text in settings.items():
        write_atomically(path, text)
    return left


def _settings(project: Project) -> dict[Path, str]:
    paths = sorted((project.root / "stacks").glob("Pulumi.*.yaml"))
    return {path: path.read_text(encoding="utf-8") for path in paths}


def _left(old: _Side, stack: str, state: State) -> bool:
    """Remove a stack from the backend from before, so that nobody deploys it from there; returns whether it is gone."""
    copy = old.project.private / COPIES / f"{stack}.json"
    write_atomically(copy, json.dumps(state, indent=4), mode=0o600)
    return old.remove(stack)


def _removal(side: _Side, stack: str) -> str:
    return f"{workspace.BACKEND_URL}='{side.url}' pulumi stack rm {stack} --force --preserve-config"


def _objects(state: State) -> list[tuple[Any, Any]]:
    """What a state holds. Its secrets are encrypted anew each time it is written."""
    resources = (state.get("deployment") or {}).get("resources") or []
    return [(resource["urn"], resource.get("id")) for resource in resources]


def _refuse_unfinished(old: _Side, states: Mapping[str, State]) -> None:
    """Refuse what cannot be moved whole: a run at work, and what a killed one left behind, which an import clears."""
    problems = []
    for stack, state in states.items():
        fix = f"first: claimsmith recover {stack} --yes"
        folder = locks.folder(old.url, old.project.root, old.project.name, stack)
        if held := locks.locks(folder):
            wait = f"wait until it ends; if it was killed, {fix}"
            problems.append(Problem(f"{stack!r} is locked: {held[0]}", fix=wait))
        elif checkpoint.pending(state):
            problems.append(Problem(f"{stack!r} has operations that were interrupted", fix=fix))
    if problems:
        raise DeployError(*problems)


def _refuse_address(url: str) -> None:
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
