"""Long work shows its progress where somebody looks, and keeps quiet elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.refusal_files import FILES
from tests.support.samples import write_files

BAR = """
from claimsmith.cli import console
with console.progress("building", 20, quiet={quiet}) as move:
    for done in range(21):
        move(done, f"part {{done}}")
"""
STEPS = """
from claimsmith.cli import console
with console.steps("starting") as tell:
    tell("etcd")
    tell("api")
"""
RUN = """
import sys
sys.argv = ["claimsmith", "{}"]
from claimsmith.cli.app import main
main()
"""
VALIDATE = RUN.format("validate")

needs_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")


def on_a_terminal(code: str, folder: Path) -> str:
    """What a program writes to standard error where that is a terminal."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    command = [sys.executable, "-c", code]
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            # The other end is closed.
            break
        if not part:
            break
        said += part
    process.wait()
    os.close(ours)
    return said.decode()


def elsewhere(code: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr


@needs_terminal
@pytest.mark.parametrize(
    ("code", "words"),
    [
        pytest.param(BAR.format(quiet=False), "building", id="bar"),
        pytest.param(BAR.format(quiet=True), "building", id="quiet-bar"),
        pytest.param(STEPS, "starting", id="steps"),
        pytest.param(VALIDATE, "checking", id="validate"),
    ],
)
def test_on_a_terminal_something_moves(tmp_path: Path, code: str, words: str) -> None:
    said = on_a_terminal(code, write_files(tmp_path, FILES))
    assert words in said
    assert "\x1b[" in said


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        pytest.param(
            BAR.format(quiet=False),
            ["building …", *(f"building: {n}0% part {n * 2}" for n in range(1, 11))],
            id="a-line-every-tenth",
        ),
        pytest.param(BAR.format(quiet=True), [], id="nothing-where-quiet"),
        pytest.param(STEPS, ["etcd", "api"], id="a-line-for-each-step"),
    ],
)
def test_elsewhere_nothing_moves(tmp_path: Path, code: str, lines: list[str]) -> None:
    assert elsewhere(code, tmp_path).splitlines() == lines


@pytest.mark.parametrize(("command", "words"), [("validate", "checking"), ("review", "review …")])
def test_commands_that_read_show_no_progress_elsewhere(tmp_path: Path, command: str, words: str) -> None:
    assert words not in elsewhere(RUN.format(command), write_files(tmp_path, FILES))
