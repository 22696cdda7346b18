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


LIVE = """
import os, sys
sys.argv = ["claimsmith"]
from claimsmith.cli import console

@console.command
def command():
    with console.live_table(("STACK",), lambda most: [("dev",)]) as live:
        os.write(1, b"begun" if live else b"none")
        os.read(0, 1)
    console.say("done")
    console.print_line("the result")
    raise SystemExit(7)
command()
"""


@needs_terminal
@pytest.mark.parametrize(
    ("result_too", "code"), [pytest.param(False, 7, id="the-table"), pytest.param(True, 129, id="the-result-too")]
)
def test_what_is_at_work_goes_on_after_its_terminal_was_closed(tmp_path: Path, result_too: bool, code: int) -> None:
    ours, theirs = os.openpty()
    pipe, end = os.pipe()
    command = [sys.executable, "-c", LIVE]
    out = theirs if result_too else end
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=out, stderr=theirs)
    os.close(theirs)
    os.close(end)
    said = b""
    while b"begun" not in said:
        part = os.read(ours if result_too else pipe, 4096)
        assert part, said
        said += part
    os.close(ours)
    process.communicate(b"x")
    assert process.returncode == code
    assert result_too or os.read(pipe, 4096) == b"the result\n"
    os.close(pipe)


def test_what_is_at_work_goes_on_after_its_reader_has_ended(tmp_path: Path) -> None:
    """Unread text must not change the exit code either."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", LIVE],
        cwd=tmp_path,
        input=b"x",
        stdout=subprocess.PIPE,
        stderr=writer,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stdout) == (7, b"nonethe result\n")


@pytest.mark.parametrize("number", [pytest.param(n, id=name) for n, name in enumerate(("stdin", "stdout", "stderr"))])
def test_a_stream_that_the_shell_closed_is_no_bug(tmp_path: Path, number: int) -> None:
    line = f'exec "$0" -m claimsmith.cli up --all {number}>&-'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable],
        cwd=write_files(tmp_path, FILES),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "bug" in done.stderr) == (1, False), done
