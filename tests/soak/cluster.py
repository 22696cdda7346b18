"""A Dask cluster whose parts are killed, and replaced by new ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support import dask_cluster
from tests.support.dask_cluster import Dask, Worker

VICTIMS = ("dask-scheduler", "dask-worker", "dask-machine")
"""The scheduler of the cluster; a worker, whose engines outlive it; a worker with all that it started."""
_WORKERS = 2


@dataclass
class Cluster:
    """A scheduler and two workers, whichever are the living ones."""

    folder: Path
    env: Mapping[str, str]
    chance: random.Random
    stack: ExitStack
    dask: Dask | None = None
    number: int = 0

    def executor(self) -> str:
        """The address of a whole cluster; what was killed is replaced first."""
        if self.dask is None or self.dask.scheduler.poll() is not None:
            self.number += 1
            self.dask = self.stack.enter_context(dask_cluster.running(self.folder / f"{self.number}", self.env))
        while len(self._living()) < _WORKERS:
            self.dask.add()
        return self.dask.executor

    def kill(self, victim: str) -> None:
        """Kill a part with SIGKILL."""
        assert self.dask
        if victim == "dask-scheduler":
            self.dask.scheduler.kill()
            self.dask.scheduler.wait()
        else:
            self.chance.choice(self._living()).kill(all_of_it=victim == "dask-machine")

    def _living(self) -> list[Worker]:
        return [worker for worker in self.dask.workers if worker.process.poll() is None] if self.dask else []


@contextmanager
def running(folder: Path, env: Mapping[str, str], chance: random.Random) -> Iterator[Cluster]:
    """A cluster that begins when it is first asked for, and ends with the block."""
    folder.mkdir()
    with ExitStack() as stack:
        yield Cluster(folder, env, chance, stack)
