"""All objects of one kind, as they come, change and go: list, then watch, for as long as wanted."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from claimsmith.local import api

log = logging.getLogger("simulated-cloud")

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 3.0


class Follower(threading.Thread):
    """Calls `seen` for each object at first and at each change, `gone` for one that is no more.

    Outlives a server that is away, a watch that expires and events that were missed.
    """

    def __init__(
        self,
        client: api.Api,
        resource: api.Resource,
        *,
        seen: Callable[[api.Object], None],
        gone: Callable[[api.Object], None],
    ) -> None:
        super().__init__(name=f"follow-{resource.plural}", daemon=True)
        self._client = client
        self._resource = resource
        self._seen = seen
        self._gone = gone
        self._ended = threading.Event()
        self._known: dict[tuple[str, str], api.Object] = {}

    def stop(self) -> None:
        """Call nothing from now on."""
        self._ended.set()

    def run(self) -> None:
        """Follow until stopped."""
        pause = _FIRST_PAUSE
        while not self._ended.is_set():
            try:
                version = self._list()
                pause = _FIRST_PAUSE
                while not self._ended.is_set():
                    version = self._watch(version)
            except api.ApiError as error:
                # 410: what happened since is forgotten. 404: the kind is not served yet, or no more.
                if error.code in (404, 410):
                    pause = _FIRST_PAUSE
                else:
                    log.warning("%s: %s", self._resource.path(), error)
            except api.Unreachable:
                pass
            except Exception:  # a follower that ends would never see anything again
                log.exception("%s", self._resource.path())
            self._ended.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _list(self) -> str:
        items, version = self._client.list(self._resource)
        present = {_identity(item): item for item in items}
        for key in [key for key in self._known if key not in present]:
            self._tell_gone(self._known.pop(key))
        for item in items:
            self._tell_seen(item)
        return version

    def _watch(self, version: str) -> str:
        for kind, item in self._client.watch(self._resource, version):
            if self._ended.is_set():
                break
            version = item["metadata"]["resourceVersion"]
            if kind == "DELETED":
                self._known.pop(_identity(item), None)
                self._tell_gone(item)
            elif kind != "BOOKMARK":
                self._tell_seen(item)
        return version

    def _tell_seen(self, item: api.Object) -> None:
        # Only what is needed to say later that it is gone.
        meta = item["metadata"]
        self._known[_identity(item)] = {"metadata": {k: meta[k] for k in ("namespace", "name", "uid") if k in meta}}
        self._seen(item)

    def _tell_gone(self, item: api.Object) -> None:
        if not self._ended.is_set():
            self._gone(item)


def _identity(item: api.Object) -> tuple[str, str]:
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]
