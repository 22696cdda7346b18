"""Looks over a Pulumi program's shoulder, the same on both sides: when it registers what, and how large that is."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

_lock = threading.Lock()
_seen: dict[str, float] = {"registrations": 0, "bytes": 0, "inputs": 0, "first": 0.0, "last": 0.0}


def begin() -> None:
    """Watch the registrations from now on, and write what was seen to the file that BENCH_PROBE names."""
    from pulumi.runtime import settings

    path = os.environ.get("BENCH_PROBE")
    monitor: Any = settings.get_monitor()
    if not path or monitor is None:
        return
    register = monitor.RegisterResource

    def registering(request: Any, *args: Any, **kwargs: Any) -> Any:
        _note(request)
        try:
            return register(request, *args, **kwargs)
        finally:
            with _lock:
                _seen["last"] = time.time()

    monitor.RegisterResource = registering
    threading.Thread(target=_write_often, args=(path,), daemon=True).start()


def _note(request: Any) -> None:
    with _lock:
        _seen["first"] = _seen["first"] or time.time()
        if not request.type.startswith(("pulumi:pulumi:Stack", "pulumi:providers:")):
            _seen["registrations"] += 1
            # Where in which file it was called from is told too, and is no part of the resource.
            plain = type(request)()
            plain.CopyFrom(request)
            plain.ClearField("sourcePosition")
            plain.ClearField("stackTrace")
            _seen["bytes"] += plain.ByteSize()
            _seen["inputs"] += request.object.ByteSize()


def _write_often(path: str) -> None:
    """Keep the file up to date: a language host ends its programs without much ado."""
    while True:
        with _lock:
            text = json.dumps(_seen)
        with open(f"{path}.partial", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{path}.partial", path)
        time.sleep(0.02)
