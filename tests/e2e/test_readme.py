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
    assert block("yaml", "MySQLInstance") == (ROOT / "stacks" / "dev" / "claims" / "sql.yaml").read_text()


def test_the_shown_component_is_the_generated_one() -> None:
    source = (ROOT / "components" / "private-mysql-server" / "component.py").read_text()
    shown = [line.strip() for line in block("python", "my_sql_server").splitlines()]
    assert [line for line in shown if line not in source] == []


@pytest.mark.e2e
def test_the_demo_prints_what_the_readme_shows(copy: Path) -> None:
    toolchain.require(*toolchain.NAMES)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "scripts/demo.sh"],
        cwd=copy,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    shown = block("console", "$ claimsmith status dev").split("$ claimsmith status dev\n")[1]
    assert shown in ran.stdout
    assert "8 unchanged" in ran.stdout


def test_no_stack_keeps_the_salt_of_somebodys_passphrase() -> None:
    tracked = subprocess.run(["git", "grep", "-l", "^encryptionsalt:"], cwd=ROOT, capture_output=True, text=True)
    assert (tracked.returncode, tracked.stdout) == (1, "")
