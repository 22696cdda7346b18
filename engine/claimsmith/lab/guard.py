"""Stops a control plane and a PostgreSQL server when the process that started this one is gone, even by SIGKILL.

Run as `python -m claimsmith.lab.guard FOLDER` with a pipe for its standard input, which the system closes
when the holder of the other end ends.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from claimsmith.lab import control_plane, postgresql


def main() -> None:
    """Wait for the pipe's end, then stop what still runs."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    folder = Path(sys.argv[1])
    control_plane.down(folder)
    postgresql.down(folder)


if __name__ == "__main__":
    main()
