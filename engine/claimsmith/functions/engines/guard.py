"""Runs a function's own program, and ends it with all that it started once the command that needs it is gone.

The command holds the other end of this process's standard input, which the system closes when the command ends, even by
SIGKILL. Should this process be killed itself, the kernel ends the program. Processes that the program started and left
to themselves, in groups or sessions of their own, become children of this one, and end with it too.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress

from claimsmith.functions.engines import sandbox

_LAST_BYTES = 2000


def main() -> None:
    """Start the program, then wait for its end or for that of the command."""
    settings = json.loads(sys.argv[2])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sandbox.adopt_orphans()
    own = os.getpid()
    program = subprocess.Popen(
        settings["command"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=settings["folder"],
        env=settings["environment"],
        start_new_session=True,
        preexec_fn=lambda: _prepare(own),  # this process has one thread yet
    )
    last: list[bytes] = []
    reader = threading.Thread(target=_follow, args=(program, last), daemon=True)
    reader.start()
    threading.Thread(target=_report, args=(program, reader, last), daemon=True).start()
    sys.stdin.buffer.read()
    _end(program)
    # The command removes its temporary files itself, unless it was killed.
    shutil.rmtree(settings["temporary"], ignore_errors=True)


def _prepare(parent: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    sandbox.end_with_parent(parent)


def _follow(program: subprocess.Popen[bytes], last: list[bytes]) -> None:
    """Keep the end of what the program reports."""
    if program.stderr is None:
        return
    kept = b""
    while chunk := program.stderr.read1(65536):  # type: ignore[attr-defined]  # a buffered pipe has it
        kept = (kept + chunk)[-_LAST_BYTES:]
        last[:] = [kept]


def _report(program: subprocess.Popen[bytes], reader: threading.Thread, last: list[bytes]) -> None:
    """Say how the program ended, and end too."""
    code = program.wait()
    reader.join(1)
    text = b"".join(last).decode("utf-8", "replace")
    sys.stdout.write(json.dumps({"code": code, "last": text}) + "\n")
    sys.stdout.flush()
    _end(program)
    os._exit(0)


def _end(program: subprocess.Popen[bytes]) -> None:
    for number, seconds in ((signal.SIGTERM, 1.0), (signal.SIGKILL, 5.0)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, number)
        with suppress(subprocess.TimeoutExpired):
            program.wait(seconds)
    sandbox.end_descendants()
