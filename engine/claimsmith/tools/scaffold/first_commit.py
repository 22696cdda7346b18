"""The repository of a new project, with its files as the first commit.

A review compares with a commit: without one, the first change of a project could not be reviewed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from claimsmith.base.printable import one_line

BRANCH = "main"
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
_PATIENCE = 60.0
"""Seconds that git may take: a signature or a hook of the user's may wait for somebody."""


def create(folder: Path, *, near: Path, name: str) -> str:
    """Commit the files of a folder in a repository of its own; returns what happened, in words.

    `near` is where the folder is going to be. Inside of a repository, committing is left to its owner. No identity is
    invented: without one, the files are ready for the first commit.
    """
    if any((parent / ".git").exists() for parent in (near, *near.parents)):
        return "In a git repository already: commit the files there."
    git = shutil.which("git")
    if git is None:
        return "git is not installed: install it, then run git init and commit the files."
    _run(git, folder, "init", "-q")
    # Not by `init -b`, which git has only since 2.28.
    _run(git, folder, "symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
    _run(git, folder, "add", "--all")
    failure = _run(git, folder, "commit", "-q", "-m", f"Create the platform {name}")
    if failure:
        return f"A git repository, without a commit yet ({failure}): fix that, then run git commit."
    return f"A git repository, with the first commit on {BRANCH}."


def _run(git: str, folder: Path, *words: str) -> str:
    """Run git; returns why it failed, empty where it did not."""
    # Where git itself started us, as from a hook, its variables name another repository.
    env = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    command = [git, *words]
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired:
        return f"git {words[0]} took longer than {_PATIENCE:.0f} seconds"
    if not done.returncode:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.startswith(("fatal:", "error:"))]
    return one_line(lines[-1] if lines else done.stderr) or f"git {words[0]} failed"
