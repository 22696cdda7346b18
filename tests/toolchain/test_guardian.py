"""A program under a guardian: it ends in order with whoever started it, and by one interrupt alone."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from claimsmith.toolchain import guardian

# Counts its interrupts in a file, and ends once the file `end` exists.
PROGRAM = """\
import pathlib, signal, sys, time
here = pathlib.Path(sys.argv[1])
count = []
signal.signal(signal.SIGINT, lambda *_: (count.append(1), (here / "interrupts").write_text(str(len(count)))))
(here / "began").touch()
while not (here / "end").exists():
    time.sleep(0.01)
sys.exit(len(count))
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    words = [sys.executable, "-I", "-S", guardian.__file__, sys.executable, "-I", "-S", str(program), str(folder)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
    until(folder / "began")
    return process


def until(path: Path, text: str = "") -> None:
    while not path.exists() or path.read_text() != text:
        pass


@pytest.mark.parametrize("before", [False, True], ids=["not-interrupted", "interrupted-before"])
def test_the_end_of_the_pipe_is_one_interrupt_in_all(tmp_path: Path, before: bool) -> None:
    with start(tmp_path) as process:
        assert process.stdin
        if before:
            process.send_signal(signal.SIGINT)
            until(tmp_path / "interrupts", "1")
        process.stdin.close()
        until(tmp_path / "interrupts", "1")
        (tmp_path / "end").touch()
        assert process.wait() == 1


def test_interrupts_are_passed_on(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        for number in ("1", "2"):
            process.send_signal(signal.SIGINT)
            until(tmp_path / "interrupts", number)
        (tmp_path / "end").touch()
        assert process.wait() == 2


@pytest.mark.parametrize(
    ("code", "want"),
    [
        pytest.param("raise SystemExit(7)", 7, id="its-exit-code"),
        pytest.param("import os; os.kill(os.getpid(), 9)", 137, id="killed"),
    ],
)
def test_exit_codes(code: str, want: int) -> None:
    words = [sys.executable, "-I", "-S", guardian.__file__, sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.wait() == want
