"""The locks that the engine names in its messages, and whether their owners have ended."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claimsmith.toolchain import locks
from claimsmith.toolchain.locks import Lock

MESSAGE = """\
error: the stack is currently locked by 2 lock(s). Either wait for the other process(es) to end or delete the lock \
file with `pulumi cancel`.
  postgres://me@db:5432/.pulumi/locks/organization/shop/dev/1-a.json?table=shop: created by ann@box (pid 12) at \
2026-11-18T20:00:01Z
  s3://state/.pulumi/locks/organization/shop/dev/2-b.json: created by bob@other (pid 7) at 2026-11-18T21:00:01+01:00
"""


@pytest.mark.parametrize(
    ("output", "want"),
    [
        pytest.param(
            MESSAGE,
            [
                Lock(Path("1-a.json"), 12, "ann", "box", datetime(2026, 11, 18, 20, 0, 1, tzinfo=UTC)),
                Lock(Path("2-b.json"), 7, "bob", "other", datetime(2026, 11, 18, 20, 0, 1, tzinfo=UTC)),
            ],
            id="two",
        ),
        pytest.param("error: the stack 'dev' already exists", [], id="none"),
    ],
)
def test_named_in(output: str, want: list[Lock]) -> None:
    assert locks.named_in(output) == want


@pytest.mark.parametrize(
    ("pid", "host", "want"),
    [
        pytest.param(os.getpid(), socket.gethostname(), False, id="at-work"),
        pytest.param(2**22 + 1, socket.gethostname(), True, id="ended"),
        pytest.param(2**22 + 1, "another-machine", None, id="nobody-here-knows"),
    ],
)
def test_gone(pid: int, host: str, want: bool | None) -> None:
    assert locks.gone(Lock(Path("a.json"), pid, "ann", host, datetime.now(UTC))) is want
