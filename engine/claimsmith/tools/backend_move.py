"""`claimsmith backend move`: takes the state of all stacks from one backend to another, whole or not at all.

Both backends are named to the engine by their addresses. Pulumi.yaml names the new one only when all stacks are there,
and only then they leave the one from before. Copies of the states are kept in .claimsmith/moved.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from claimsmith.base.errors import DeployError, LoadError, Problem
from claimsmith.base.printable import counted
from claimsmith.project import checkpoint, encryption, stack_locks, workspace
from claimsmith.project.checkpoint import State
from claimsmith.project.project import Project
from claimsmith.project.writing import write_atomically
from claimsmith.toolchain import file_backend, process
from claimsmith.tools import backend
from claimsmith.tools.backend import LOCAL, LOCAL_URL, Moved, is_local

COPIES = "moved"
_SCHEMES = ("file", "s3", "gs", "azblob", "postgres")
"""The backends whose stacks keep their secrets as their settings say: a Pulumi service has a key of its own."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two backends."""

    project: Project
    url: str

    @property
    def place(self) -> str:
        """Where it is, however its address is written."""
        folder = file_backend.folder(self.url, self.project.root)
        return str(folder.resolve()) if folder else self.url

    def stacks(self) -> list[str]:
        """The stacks of the project there."""
        listed = json.loads(self.run("stack", "ls", "--json"))
        return [str(entry["name"]).rpartition("/")[2] for entry in listed]

    def export(self, stack: str) -> State:
        """The state of a stack."""
        return workspace.export_state(self.project, stack, url=self.url)

    def fill(self, stack: str, state: State) -> None:
        """Write a state into a stack, and read it back."""
        workspace.import_state(self.project, stack, state, url=self.url)
        if _objects(self.export(stack)) != _objects(state):
            what = f"the backend does not return the state of {stack!r} as it was written"
            raise DeployError(Problem(what, fix="nothing was changed; use another backend"))

    def remove(self, stack: str) -> bool:
        """Remove a stack, not what it deployed; returns whether it is gone."""
        return not self._pulumi("stack", "rm", "--stack", stack, "--force", "--yes", "--preserve-config").returncode

    def run(self, *words: str) -> str:
        """What a command of the engine prints; a refusal is an error."""
        done = self._pulumi(*words)
        if done.returncode:
            what = f"the backend refused `pulumi {' '.join(words[:2])}`"
            fix = "nothing was changed; check the address, and your access to it"
            raise workspace.refused(what, done.stderr, fix=fix)
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
    old, new = _Side(project, _current(project)), _Side(project, url)
    _refuse_same(old, new)
    with process.interruptible():
        states = {stack: old.export(stack) for stack in old.stacks()}
        _refuse_unfinished(old, states)
        for stack, state in states.items():
            write_atomically(project.private / COPIES / f"{stack}.json", json.dumps(state, indent=4), mode=0o600)
        created = _copy(new, states)
        kept = _leave_old(old, states)
    files = ["Pulumi.yaml"]
    if is_local(url):
        backend.ignore(project)
    else:
        files += [*backend.unignore(project), *(secrets.file for secrets in encryption.stack_secrets(project))]
    return Moved(url, sorted(states), sorted(set(created) - states.keys()), files, [], kept)


def _current(project: Project) -> str:
    """The address of the backend that the stacks are in now."""
    named, chosen = backend.address(project), os.environ.get(workspace.BACKEND_URL, "")
    if named and chosen and named != chosen:
        what = f"{workspace.BACKEND_URL} is set, and names another backend than Pulumi.yaml"
        raise DeployError(Problem(what, fix="unset it, so that the stacks of Pulumi.yaml's backend are moved"))
    url = chosen or named or workspace.backend(project)
    if urlsplit(url).scheme not in _SCHEMES:
        what = f"the stacks are in {url}, which encrypts their secrets with a key of its own"
        fix = "move each stack: pulumi stack export --show-secrets, then pulumi stack import in the other backend"
        raise DeployError(Problem(what, fix=fix))
    return url


def _copy(new: _Side, states: Mapping[str, State]) -> list[str]:
    """Create all stacks in the new backend, and use it; returns their names. If one fails, none is left there."""
    project, settings = new.project, _settings(new.project)
    encrypted = {s.stack: project.root / s.file for s in encryption.stack_secrets(project) if s.salt or s.provider}
    created: list[str] = []
    begun = ""
    try:
        there = new.stacks()
        _refuse_taken(new, states, there)
        for stack in sorted({*project.stacks(), *states} - set(there)):
            begun = stack
            new.run("stack", "init", "--stack", stack, "--no-select")
            created.append(stack)
            if path := encrypted.get(stack):
                # The engine replaces a key that it does not use by default; the state and the settings need theirs.
                write_atomically(path, settings[path])
            if stack in states:
                new.fill(stack, states[stack])
        path = project.root / "Pulumi.yaml"
        write_atomically(path, backend.with_url(path.read_text(encoding="utf-8"), new.url))
    except BaseException as error:
        refused = isinstance(error, DeployError)
        # An interruption may come before the engine's answer; what it refused to create is somebody else's.
        left = _undo(new, created if refused or begun in created else [*created, begun], settings)
        if left:
            problems = error.problems if isinstance(error, DeployError) else (Problem("the move was interrupted"),)
            what = f"{new.url} may still have {counted(len(left), 'stack')} of this attempt: {', '.join(left)}"
            raise DeployError(*problems, Problem(what, fix=f"if it has: {_removal(new, left)}")) from error
        raise
    return created


def _undo(new: _Side, created: list[str], settings: Mapping[Path, str]) -> list[str]:
    """Remove the stacks that were created, and restore settings; returns the stacks that may still be there."""
    try:
        left = [stack for stack in new.stacks() if stack in created and not new.remove(stack)]
    except DeployError:
        left = [stack for stack in created if stack]
    # The engine writes the salt of a new stack into its settings.
    for path in _settings(new.project).keys() - settings.keys():
        path.unlink()
    for path, text in settings.items():
        write_atomically(path, text)
    return left


def _settings(project: Project) -> dict[Path, str]:
    paths = sorted((project.root / "stacks").glob("Pulumi.*.yaml"))
    return {path: path.read_text(encoding="utf-8") for path in paths}


def _leave_old(old: _Side, states: Mapping[str, State]) -> list[str]:
    """Remove the stacks from the backend from before, so that nobody deploys from there; returns those that stay.

    One that was deployed meanwhile stays. So do all that are left if somebody interrupts this: they have moved already.
    """
    left = list(states)
    try:
        for stack, state in states.items():
            if _objects(old.export(stack)) == _objects(state) and old.remove(stack):
                left.remove(stack)
    except (DeployError, KeyboardInterrupt, SystemExit):
        return left
    return left


def _removal(side: _Side, stacks: list[str]) -> str:
    remove = f"{workspace.BACKEND_URL}='{side.url}' pulumi stack rm --force --preserve-config"
    if len(stacks) == 1:
        return f"{remove} --stack {stacks[0]}"
    return f"for stack in {' '.join(stacks)}; do {remove} --yes --stack $stack; done"


def _objects(state: State) -> list[tuple[Any, Any]]:
    """What a state holds. Its secrets are encrypted anew each time it is written."""
    resources = (state.get("deployment") or {}).get("resources") or []
    return [(resource["urn"], resource.get("id")) for resource in resources]


def _refuse_same(old: _Side, new: _Side) -> None:
    if old.place == new.place:
        raise DeployError(Problem(f"the stacks are in {new.url} already", fix="name another backend"))


def _refuse_taken(new: _Side, states: Mapping[str, State], there: list[str]) -> None:
    if taken := sorted(stack for stack in there if stack in states):
        what = f"the backend has a stack {taken[0]!r} already, and this project has another one"
        what += f"; so it is with {', '.join(taken[1:])}" if taken[1:] else ""
        remedy = f"use another backend; or, if a killed move left it there: {_removal(new, taken)}"
        raise DeployError(Problem(what, fix=remedy))


def _refuse_unfinished(old: _Side, states: Mapping[str, State]) -> None:
    """Refuse what cannot be moved whole: a run at work, and what a killed one left behind, which an import clears."""
    problems = []
    for stack, state in states.items():
        fix = f"first: claimsmith recover {stack} --yes"
        if held := stack_locks.held(old.project, stack, old.url):
            wait = f"wait until it ends; if it was killed, {fix}"
            problems.append(Problem(f"{stack!r} is locked: {held[0]}", fix=wait))
        elif checkpoint.pending(state):
            problems.append(Problem(f"{stack!r} has operations that were interrupted", fix=fix))
    if problems:
        raise DeployError(*problems)


def _refuse_address(url: str) -> None:
    """Refuse what is no address of a backend that colleagues reach, or says more than may be committed."""
    fix = "write it as file:///shared/folder, s3://bucket, gs://bucket, azblob://container or postgres://host/database"
    try:
        parts = urlsplit(url)
        secret = parts.password or "password" in parse_qs(parts.query)
    except ValueError:
        raise LoadError(Problem("this is no address of a backend", fix=fix)) from None
    if secret:
        names = "AWS_SECRET_ACCESS_KEY or AWS_PROFILE" if parts.scheme == "s3" else "PGPASSWORD, or PULUMI_BACKEND_URL,"
        remedy = f"leave it out: Pulumi.yaml is committed. Set {names} on each machine"
        raise LoadError(Problem("the address of the backend contains a password", fix=remedy))
    if parts.scheme not in _SCHEMES or not url.partition("://")[2] or not url.isprintable() or " " in url:
        raise LoadError(Problem(f"{url!r} is no address of a backend that stacks can be moved to", fix=fix))
    if parts.scheme == "file" and not url.startswith("file:///"):
        remedy = "name a folder that all of you reach, as file:///shared/folder; or: claimsmith backend move local"
        raise LoadError(Problem(f"{url!r} is another folder for each of you", fix=remedy))
