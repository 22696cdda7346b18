"""Locks of a stack, of its files or through the engine. On the real engine: tests/e2e/test_shared_state.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from claimsmith.base.errors import DeployError
from claimsmith.project import stack_locks, workspace
from claimsmith.project.project import Project
from claimsmith.toolchain.locks import Lock

LOCKED = (
    "error: the stack is currently locked by 1 lock(s).\n"
    "  s3://b/.pulumi/locks/x.json: created by me@elsewhere (pid 7) at 2026-01-01T00:00:00Z\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    return Project(tmp_path)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that a stand-in for the engine got; it finds a lock, and cannot cancel."""
    got: list[str] = []

    def pulumi(_: Project, *words: str, url: str = "") -> subprocess.CompletedProcess[str]:
        got.append(" ".join([*words, url]).strip())
        return subprocess.CompletedProcess(words, 255, "", LOCKED if "rename" in words else "error: access denied")

    monkeypatch.setattr(workspace, "pulumi", pulumi)
    return got


@pytest.mark.parametrize("url", ["s3://b", "gs://b", "azblob://b", "postgres://h/d"])
def test_the_engine_is_asked_for_those_of_shared_backends(project: Project, commands: list[str], url: str) -> None:
    [found] = stack_locks.held(project, "dev", url)
    assert (found.file, found.host, found.pid) == (None, "elsewhere", 7)
    # Onto its own name: the engine refuses that, whatever it finds.
    assert commands == [f"stack rename dev --stack dev {url}"]


@pytest.mark.parametrize("url", ["file:///nowhere", "https://api.example.org"])
def test_the_engine_is_not_asked_for_others(project: Project, commands: list[str], url: str) -> None:
    assert (stack_locks.held(project, "dev", url), commands) == ([], [])


def test_a_file_is_removed_without_the_engine(project: Project, commands: list[str], tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    path.write_text("{}")
    stack_locks.free(project, "dev", [Lock(path, 7, "me", "here", None)])
    assert (path.exists(), commands) == (False, [])


def test_a_lock_that_the_engine_cannot_remove_is_an_error(project: Project, commands: list[str]) -> None:
    with pytest.raises(DeployError, match="access denied"):
        stack_locks.free(project, "dev", [Lock(None, 7, "me", "here", None)])
    assert commands == ["cancel --stack dev --yes"]
