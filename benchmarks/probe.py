"""Looks over a Pulumi program's shoulder, the same on both sides: when it registers what, and how large that is."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any


class Seen:
    """What was registered so far, the stack itself and its provider left out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.numbers: dict[str, float] = {"registrations": 0, "bytes": 0, "first": 0.0, "last": 0.0}

    def note(self, request: Any) -> None:
        """A registration that is about to be sent."""
        with self._lock:
            self.numbers["first"] = self.numbers["first"] or time.time()
            if not request.type.startswith(("pulumi:pulumi:Stack", "pulumi:providers:")):
                # Where in which file it was called from is told too, and is no part of the resource.
                plain = type(request)()
                plain.CopyFrom(request)
                plain.ClearField("sourcePosition")
                plain.ClearField("stackTrace")
                self.numbers["registrations"] += 1
                self.numbers["bytes"] += plain.ByteSize()

    def answered(self) -> None:
        """The engine has answered to one."""
        with self._lock:
            self.numbers["last"] = time.time()

    def text(self) -> str:
        """The numbers as JSON."""
        with self._lock:
            return json.dumps(self.numbers)


def begin() -> None:
    """Watch the registrations from now on, and write what was seen to the file that BENCH_PROBE names."""
    from pulumi.runtime import settings

    path = os.environ.get("BENCH_PROBE")
    monitor: Any = settings.get_monitor()
    if not path or monitor is None:
        return
    seen = Seen()
    register = monitor.RegisterResource

    def registering(request: Any, *args: Any, **kwargs: Any) -> Any:
        seen.note(request)
        try:
            return register(request, *args, **kwargs)
        finally:
            seen.answered()

    monitor.RegisterResource = registering
    threading.Thread(target=_write_often, args=(seen, path), daemon=True).start()


def _write_often(seen: Seen, path: str) -> None:
    """Keep the file up to date: a language host ends its programs without much ado."""
    while True:
        with open(f"{path}.partial", "w", encoding="utf-8") as file:
            file.write(seen.text())
        os.replace(f"{path}.partial", path)
        time.sleep(0.02)
