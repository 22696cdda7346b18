"""What every Kubernetes controller is built of: an informer that reports changes, and a work queue of keys.

Both are small versions of those in client-go.
"""

from __future__ import annotations

import logging
import threading
import time
import zlib
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from claimsmith.kubernetes.client import ApiError, Cluster, Object, Resource
from claimsmith.kubernetes.connection import Unreachable

log = logging.getLogger("simulated-cloud")

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 3.0


class Informer(threading.Thread):
    """Lists, then watches all objects of a kind; calls `updated` for each and at its changes, `deleted` at its end.

    Survives a server that is away, a watch that expires and events that were missed.
    """

    def __init__(
        self,
        cluster: Cluster,
        resource: Resource,
        *,
        updated: Callable[[Object], None],
        deleted: Callable[[Object], None],
    ) -> None:
        super().__init__(name=f"informer-{resource.plural}", daemon=True)
        self._cluster = cluster
        self._resource = resource
        self._updated = updated
        self._deleted = deleted
        self._ended = threading.Event()
        self._present: dict[tuple[str, str], Object] = {}

    def stop(self) -> None:
        """Call nothing from now on."""
        self._ended.set()

    def run(self) -> None:
        """Watch until stopped."""
        pause = _FIRST_PAUSE
        while not self._ended.is_set():
            try:
                version = self._list()
                pause = _FIRST_PAUSE
                while not self._ended.is_set():
                    version = self._watch(version)
            except ApiError as error:
                # 410: the events since that version are forgotten. 404: the kind is not served, yet or any more.
                if error.code in (404, 410):
                    pause = _FIRST_PAUSE
                else:
                    log.warning("%s: %s", self._resource.path(), error.message)
            except Unreachable:
                pass
            except Exception:  # a thread that ends would never report anything again
                log.exception("%s", self._resource.path())
            self._ended.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _list(self) -> str:
        items, version = self._cluster.snapshot(self._resource)
        present = {_identity(item): item for item in items}
        for key in [key for key in self._present if key not in present]:
            self._report_deleted(self._present.pop(key))
        for item in items:
            self._report_updated(item)
        return version

    def _watch(self, version: str) -> str:
        for kind, item in self._cluster.watch(self._resource, version):
            if self._ended.is_set():
                break
            version = item["metadata"]["resourceVersion"]
            if kind == "DELETED":
                self._present.pop(_identity(item), None)
                self._report_deleted(item)
            elif kind != "BOOKMARK":
                self._report_updated(item)
        return version

    def _report_updated(self, item: Object) -> None:
        # Only what is needed to report its deletion later.
        meta = item["metadata"]
        self._present[_identity(item)] = {"metadata": {k: meta[k] for k in ("namespace", "name", "uid") if k in meta}}
        self._updated(item)

    def _report_deleted(self, item: Object) -> None:
        if not self._ended.is_set():
            self._deleted(item)


def _identity(item: Object) -> tuple[str, str]:
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


Key = TypeVar("Key", bound=Hashable)


class WorkQueue(Generic[Key]):
    """Calls a function for keys that are due, in threads of its own; a key waits in it at most once.

    The function returns the seconds after which the key is due again, or None. A key always goes to the same thread,
    so that no two work on one object.
    """

    def __init__(self, handle: Callable[[Key], float | None], *, workers: int) -> None:
        self._handle = handle
        self._lanes: list[_Lane[Key]] = [_Lane() for _ in range(workers)]

    def start(self) -> None:
        """Start the threads."""
        for number, lane in enumerate(self._lanes):
            threading.Thread(target=self._work, args=(lane,), name=f"worker-{number}", daemon=True).start()

    def add(self, key: Key, delay: float = 0.0) -> None:
        """Make a key due after some seconds, or earlier where it is due earlier anyway."""
        self._lanes[zlib.crc32(repr(key).encode()) % len(self._lanes)].add(key, time.monotonic() + delay)

    def _work(self, lane: _Lane[Key]) -> None:
        while True:
            key = lane.take()
            again = self._handle(key)
            if again is not None:
                lane.add(key, time.monotonic() + again)


class _Lane(Generic[Key]):
    """The keys of one worker, and when each is due."""

    def __init__(self) -> None:
        self._due: dict[Key, float] = {}
        self._changed = threading.Condition()

    def add(self, key: Key, when: float) -> None:
        with self._changed:
            self._due[key] = min(when, self._due.get(key, when))
            self._changed.notify()

    def take(self) -> Key:
        """The next key that is due; waits for it."""
        with self._changed:
            while True:
                key = min(self._due, key=self._due.__getitem__, default=None)
                wait = None if key is None else self._due[key] - time.monotonic()
                if key is not None and wait is not None and wait <= 0:
                    del self._due[key]
                    return key
                self._changed.wait(wait)
