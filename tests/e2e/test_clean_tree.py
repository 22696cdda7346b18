"""Demos and tests run in one clone in either order, twice, and leave nothing that git would see."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith import toolchain
from tests.support.samples import cloned

pytestmark = pytest.mark.e2e

SOMEBODY = {
    f"GIT_{who}_{what}": "somebody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
DEMO = ("bash", "scripts/demo.sh")
DEMO_KUBERNETES = ("bash", "scripts/demo-kubernetes.sh")
TESTS = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_readme.py")


def run(folder: Path, *command: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **SOMEBODY, "PATH": path}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    folder = cloned(tmp_path / "clone")
    run(folder, "git", "init", "-q")
    run(folder, "git", "add", "--all")
    run(folder, "git", "commit", "-q", "-m", "all of it")
    (folder / ".venv").symlink_to(sys.prefix)
    yield folder
    subprocess.run([sys.executable, "-m", "claimsmith.cli", "local", "down", "--wipe", "--yes"], cwd=folder, check=True)


@pytest.mark.timeout(1800)
def test_demo_and_tests_leave_a_clean_tree_in_either_order_twice(clone: Path) -> None:
    toolchain.require(*toolchain.NAMES)
    for command in (TESTS, DEMO, TESTS, DEMO_KUBERNETES, DEMO):
        run(clone, *command)
        assert run(clone, "git", "status", "--short") == ""
    # The engine did write its salt: into a file that is this clone's own.
    for stack in ("local", "dev"):
        assert "encryptionsalt: " in (clone / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
