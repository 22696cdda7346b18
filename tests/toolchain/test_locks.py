"""Whether the owners of locks have ended."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime

import pytest

from claimsmith.toolchain import locks
from claimsmith.toolchain.locks import Lock


@pytest.mark.parametrize(
    ("pid", "host", "want"),
    [
        pytest.param(os.getpid(), socket.gethostname(), False, id="at-work"),
        pytest.param(2**22 + 1, socket.gethostname(), True, id="ended"),
        pytest.param(2**22 + 1, "another-machine", None, id="nobody-here-knows"),
    ],
)
def test_gone(pid: int, host: str, want: bool | None) -> None:
    assert locks.gone(Lock(None, pid, "ann", host, datetime.now(UTC))) is want
