"""The locks that runs hold on a stack, in any backend of the engine that has locks to list."""

from __future__ import annotations

from urllib.parse import urlsplit

from claimsmith.base.errors import DeployError, Problem
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.toolchain import locks
from claimsmith.toolchain.locks import Lock

_LISTED = ("s3", "gs", "azblob", "postgres")
"""The backends whose locks only the engine reads. A Pulumi service has none of this kind."""


def held(project: Project, stack: str, url: str) -> list[Lock]:
    """The locks on a stack in the backend of this address."""
    if urlsplit(url).scheme not in _LISTED:
        return locks.locks(locks.folder(url, project.root, project.name, stack))
    # No command lists them. This one takes the lock, finds that the new name exists, and changes nothing.
    return locks.reported(workspace.pulumi(project, "stack", "rename", stack, "--stack", stack, url=url).stderr)


def free(project: Project, stack: str, held: list[Lock]) -> None:
    """Remove locks whose owners are gone."""
    for lock in held:
        if lock.file:
            lock.file.unlink(missing_ok=True)
    if any(not lock.file for lock in held):
        done = workspace.pulumi(project, "cancel", "--stack", stack, "--yes")
        if done.returncode:
            what = f"the lock of {stack!r} cannot be removed: {workspace.errors_in(done.stderr)}"
            raise DeployError(Problem(what, fix=f"fix that, then: pulumi cancel --stack {stack}"))
