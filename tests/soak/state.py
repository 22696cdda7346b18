"""The servers that a fleet keeps its state in, killed without a word and started again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from claimsmith.base.errors import ControlPlaneError
from claimsmith.lab import postgresql
from tests.e2e.rig import eventually
from tests.e2e.shared_backends import Bucket, Table
from tests.support import buckets


class StateServer(Protocol):
    """What the state is in."""

    @property
    def url(self) -> str:
        """The address for the engine."""

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables by which a client may use it."""

    def kill(self) -> None:
        """End it with SIGKILL."""

    def start(self) -> None:
        """Start it again, on its data, and wait until it answers."""


class _Table(Table):
    """A table whose server is not asked to end: all its work in progress is lost."""

    def kill(self) -> None:
        pid = self.server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def start(self) -> None:
        # Until its last session has ended, too, the data is in use.
        eventually(self._up)

    def _up(self) -> bool:
        try:
            return postgresql.up(self.folder).running
        except ControlPlaneError:
            return False


@contextmanager
def table(folder: Path) -> Iterator[StateServer]:
    """A table of a PostgreSQL server."""
    with postgresql.running(folder):
        yield _Table(folder, "soak")


@contextmanager
def bucket(folder: Path) -> Iterator[StateServer]:
    """A bucket of an S3 server."""
    with buckets.running(folder) as server:
        if server is None:
            raise SystemExit(buckets.MISSING)
        yield Bucket(server, "soak")


Opened = Callable[[Path], AbstractContextManager[StateServer]]
