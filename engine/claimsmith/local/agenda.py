"""What is to be done when: keys of objects, each at most once, each by one worker at a time."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Agenda(Generic[Key]):
    """Calls a function for keys that are due, in threads of its own.

    The function gives the seconds after which to look at the key again, or nothing. A key always goes to the
    same thread, so that no two work on one object.
    """

    def __init__(self, handle: Callable[[Key], float | None], *, workers: int) -> None:
        self._handle = handle
        self._lanes: list[_Lane[Key]] = [_Lane() for _ in range(workers)]

    def start(self) -> None:
        """Begin."""
        for number, lane in enumerate(self._lanes):
            threading.Thread(target=self._work, args=(lane,), name=f"worker-{number}", daemon=True).start()

    def add(self, key: Key, delay: float = 0.0) -> None:
        """Have a key looked at after some seconds, or earlier where it is due earlier anyway."""
        self._lanes[zlib.crc32(repr(key).encode()) % len(self._lanes)].add(key, time.monotonic() + delay)

    def _work(self, lane: _Lane[Key]) -> None:
        while True:
            key = lane.take()
            again = self._handle(key)
            if again is not None:
                lane.add(key, time.monotonic() + again)


class _Lane(Generic[Key]):
    """The keys of one worker, with when they are due."""

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
