"""Runs a program so that it ends in order once the process that started it is gone, however that one ended.

Its standard input is a pipe that only the starter holds: at the end of the pipe the program gets one interrupt, if it
has had none, and is waited for. The engine finishes what it is working on, writes its state and frees its lock. A
second interrupt would end it at once. So the system's own signal for the death of a parent does not do: the starter may
have interrupted the engine before.

It stands alone (no import of claimsmith): `python -I -S guardian.py PROGRAM [ARGUMENT …]` starts in a moment.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress


def main(command: Sequence[str]) -> int:
    """Run a program to its end; its exit code, or that of a shell for one that a signal ended."""
    interrupted = threading.Event()
    process: subprocess.Popen[bytes] | None = None

    def interrupt(*_: object) -> None:
        interrupted.set()
        if process is not None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)

    def watch() -> None:
        with suppress(OSError):
            while os.read(0, 64):
                pass
        if not interrupted.is_set():
            interrupt()

    signal.signal(signal.SIGINT, interrupt)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    if interrupted.is_set():
        interrupt()
    threading.Thread(target=watch, daemon=True).start()
    code = process.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    # Daemon threads at the end of the interpreter could still hold the pipe.
    os._exit(main(sys.argv[1:]))
