"""What the README shows is true: its claim, its commands, their output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith import toolchain
from tests.support.paths import ROOT
from tests.support.samples import cloned

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str, word: str) -> str:
    """The first fenced block of a language that holds a word."""
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(text for text in found if word in text)


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Path]:
    """The tracked files in a folder of their own, as after a clone."""
    cloned(tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    yield tmp_path
    subprocess.run([sys.executable, "-m", "claimsmith.cli", "local", "down"], cwd=tmp_path, check=False)


def test_the_first_screens_claim_is_the_one_in_the_stack() -> None:
    shown = block("yaml", "PostgreSQLDatabase")
    assert shown == (ROOT / "stacks" / "local" / "claims" / "orders.yaml").read_text()
    assert len(shown.splitlines()) == 11


def test_the_shown_component_is_the_generated_one() -> None:
    source = (ROOT / "components" / "private-mysql-server" / "component.py").read_text()
    shown = [line.strip() for line in block("python", "my_sql_server").splitlines()]
    assert [line for line in shown if line not in source] == []


def demo(folder: Path, script: str) -> str:
    """What a demo prints, in a copy of this repository."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", f"scripts/{script}"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # psql fills its columns with spaces, and no file of ours ends a line with one.
    return "\n".join(line.rstrip() for line in ran.stdout.splitlines())


@pytest.mark.e2e
def test_the_demo_prints_what_the_readme_shows(copy: Path) -> None:
    toolchain.require(*toolchain.USES["postgresql"])
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "all"]):
        who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
        subprocess.run(["git", *who, *words], cwd=copy, check=True)
    printed = demo(copy, "demo.sh")
    _, status, psql = re.split(r"^\$ (?=claimsmith|psql)", block("console", "$ claimsmith status local"), flags=re.M)
    assert status in f"{printed}\n"
    assert psql in printed
    # The review of the changed claim, and what the second run did: that, and nothing else.
    assert "properties.connectionLimit: 20 → 50" in printed
    assert "WARNING" not in printed
    assert re.search(r"~ 2 updated\n    3 unchanged", printed)
    assert not (copy / ".claimsmith" / "local").exists()


@pytest.mark.e2e
def test_the_demo_with_kubernetes_ends_with_a_run_that_changes_nothing(copy: Path) -> None:
    toolchain.require(*toolchain.USES["kubernetes"])
    printed = demo(copy, "demo-kubernetes.sh")
    assert "MySQLInstance default/sql        private-mysql-server  Bound" in printed
    assert "8 unchanged" in printed


def test_no_stack_keeps_the_salt_of_somebodys_passphrase() -> None:
    tracked = subprocess.run(["git", "grep", "-l", "^encryptionsalt:"], cwd=ROOT, capture_output=True, text=True)
    assert (tracked.returncode, tracked.stdout) == (1, "")
