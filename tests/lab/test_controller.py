"""The informer and the work queue, without a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from claimsmith.kubernetes.client import ApiError, Resource
from claimsmith.kubernetes.connection import Unreachable
from claimsmith.lab.controller import Informer, WorkQueue


class Script:
    """An API server that tells a story: each list and each watch in turn; then nothing more happens."""

    def __init__(self, *acts: Any) -> None:
        self.acts = list(acts)
        self.over = threading.Event()
        self.end = threading.Event()

    def _next(self) -> Any:
        if not self.acts:
            self.over.set()
            self.end.wait()
            raise Unreachable("the story is over")
        return self.acts.pop(0)

    def snapshot(self, _resource: Any) -> Any:
        return self._next()

    def watch(self, _resource: Any, _version: str) -> Iterator[Any]:
        for event in self._next():
            if isinstance(event, Exception):
                raise event
            yield event


def numbered(name: str, version: int) -> Any:
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


def test_informer_outlives_what_happens_to_watches() -> None:
    story = Script(
        ([numbered("a", 1), numbered("b", 2)], "2"),
        [("MODIFIED", numbered("a", 3)), ("BOOKMARK", numbered("", 4))],
        [ApiError(410, "Expired", "too old")],
        ([numbered("a", 5)], "5"),
        [Unreachable("gone")],
        ([numbered("a", 5)], "5"),
        [("ADDED", numbered("c", 6)), ("DELETED", numbered("c", 7))],
    )
    calls: list[str] = []
    informer = Informer(
        story,  # type: ignore[arg-type]  # plays the client's part
        Resource("example.org/v1", "things"),
        updated=lambda item: calls.append(f"{item['metadata']['name']}{item['metadata']['resourceVersion']}"),
        deleted=lambda item: calls.append(f"-{item['metadata']['name']}"),
    )
    informer.start()
    story.over.wait()
    informer.stop()
    story.end.set()
    informer.join()
    assert calls == ["a1", "b2", "a3", "-b", "a5", "a5", "c6", "-c"]


def test_work_queue_looks_at_each_key_once_and_again_when_told() -> None:
    calls: list[tuple[str, float]] = []
    done = threading.Event()

    def handle(key: str) -> float | None:
        calls.append((key, time.monotonic()))
        if len(calls) == 4:
            done.set()
        return 0.1 if key == "again" and len(calls) < 4 else None

    queue: WorkQueue[str] = WorkQueue(handle, workers=1)
    # Whatever the pauses between these lines: "again" is due before the first "later", and again after it.
    queue.add("again", 5)
    queue.add("again")
    queue.add("again")
    queue.add("later", 0.05)
    queue.start()
    done.wait()
    assert [key for key, _ in calls] == ["again", "later", "again", "again"]
