"""The repository of a new project: one commit with all files, and none where it is inside of another repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from claimsmith.tools.scaffold import first_commit

IDENTITY = {f"GIT_{who}_{what}": "me@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [n for n in os.environ if n.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in {**IDENTITY, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "shop"
    path.mkdir()
    (path / "Pulumi.yaml").write_text("name: shop\n")
    return path


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_all_files_are_in_the_first_commit(folder: Path) -> None:
    (folder / ".gitignore").write_text(".venv\n")
    (folder / ".venv").write_text("not mine")
    assert "first commit on main" in first_commit.create(folder, near=folder, name="shop")
    assert git(folder, "log", "--format=%s", "main").splitlines() == ["Create the platform shop"]
    assert git(folder, "ls-files").split() == [".gitignore", "Pulumi.yaml"]
    assert git(folder, "status", "--short") == ""


def test_variables_of_a_hook_name_another_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(folder.parent / "other.git"))
    first_commit.create(folder, near=folder, name="shop")
    assert (folder / ".git").is_dir()
    assert not (folder.parent / "other.git").exists()


@pytest.mark.parametrize("place", ["here", "above"])
def test_inside_of_a_repository_nothing_is_committed(folder: Path, place: str) -> None:
    outer = folder if place == "here" else folder.parent
    git(outer, "init", "-q")
    assert "already" in first_commit.create(folder, near=folder, name="shop")
    assert git(folder, "status", "--short", "--untracked-files=all").split()[0] == "??"


def test_without_git_it_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert "git is not installed" in first_commit.create(folder, near=folder, name="shop")
    assert not (folder / ".git").exists()


def test_no_identity_is_invented(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in IDENTITY:
        monkeypatch.delenv(name)
    monkeypatch.delenv("EMAIL", raising=False)
    git(folder, "init", "-q")
    git(folder, "config", "user.useConfigOnly", "true")
    config = (folder / ".git" / "config").read_text()
    (folder.parent / "config").write_text(config[config.index("[user]") :])
    subprocess.run(["rm", "-r", str(folder / ".git")], check=True)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder.parent / "config"))
    assert "without a commit yet" in first_commit.create(folder, near=folder, name="shop")
    assert git(folder, "diff", "--cached", "--name-only").split() == ["Pulumi.yaml"]
