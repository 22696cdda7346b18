"""Runs a long command so that nothing of it lives on: not after its end, an interrupt, or its time.

What signals do meanwhile is settled here too, for those who clean up after an interrupt.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from claimsmith.toolchain.parts import Failure

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(
    command: list[str],
    *,
    output: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] = os.environ,
    each: Callable[[str], None] = lambda _: None,
    seconds: float | None = None,
) -> str:
    """What a command printed, kept in a file; `each` gets every line of its standard error as it comes.

    Failure with its last lines where it fails or takes too long. However this ends, the command and all
    that it started have ended too: they are a process group of their own, which an interrupt reaches only from here.
    """
    last: list[str] = []
    process: subprocess.Popen[str] | None = None
    try:
        with output.open("w") as file, held():
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        with _limit(process, seconds):
            for line in process.stderr or ():
                last = [*last[-14:], line.rstrip()]
                each(line.rstrip())
            process.wait()
    except BaseException:
        if process:
            _stop(process)
        raise
    finally:
        if process and process.stderr:
            process.stderr.close()
    printed = output.read_text(errors="replace")
    if process.returncode:
        # A line without a space is the name of a package, and so progress; others are messages.
        messages = [line for line in last if " " in line] or last or printed.splitlines()[-3:]
        # A problem is one line: a line end would be printed as \n.
        raise Failure("; ".join(messages[-8:]) or f"exit code {process.returncode}")
    return printed


@contextmanager
def handling(handler: Callable[[int, object], None], numbers: Sequence[signal.Signals]) -> Iterator[None]:
    """Handle signals otherwise for a while. Ignored ones stay ignored (nohup); only the main thread can do it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}
    changed = {number: old for number, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in changed:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in changed.items():
            signal.signal(number, old)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind as Ctrl-C does, so that everything is cleaned up."""

    def stop(number: int, _: object) -> None:
        sys.exit(128 + number)

    with handling(stop, (signal.SIGTERM, signal.SIGHUP)):
        yield


@contextmanager
def held() -> Iterator[None]:
    """Let signals wait until the end of the block: a start that is interrupted half-way leaves an unknown process."""
    waiting: list[int] = []
    try:
        with handling(lambda number, _: waiting.append(number), STOPPING):
            yield
    finally:
        for number in waiting:
            signal.raise_signal(number)


@contextmanager
def _limit(process: subprocess.Popen[str], seconds: float | None) -> Iterator[None]:
    """Kill the command where the block takes longer."""
    if not seconds:
        yield
        return
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if process.returncode == -signal.SIGKILL and late.is_set():
        raise Failure(f"was not done within {seconds:g} seconds")


def _stop(process: subprocess.Popen[str]) -> None:
    """Ask first, so that the command can tidy up; then insist."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=3)
    _kill(process)
    process.wait()


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
