"""Looks over a Pulumi program's shoulder: when it registers resources, how many, and how large. The same on both sides."""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
from typing import Any

_lock = threading.Lock()
_seen: dict[str, float] = {"registrations": 0, "bytes": 0, "inputs": 0, "first": 0.0, "last": 0.0}


def begin() -> None:
    """Watch the registrations from now on, and write what was seen to the file that BENCH_PROBE names."""
    from pulumi.runtime.proto import resource_pb2_grpc

    path = os.environ.get("BENCH_PROBE")
    if not path:
        return
    _seen["imported"] = time.time()
    original = resource_pb2_grpc.ResourceMonitorStub.__init__

    def watched(self: Any, channel: Any) -> None:
        original(self, channel)
        register = self.RegisterResource

        def registering(request: Any, *args: Any, **kwargs: Any) -> Any:
            _note(request)
            try:
                return register(request, *args, **kwargs)
            finally:
                _seen["last"] = time.time()
                _write(path)

        self.RegisterResource = registering

    resource_pb2_grpc.ResourceMonitorStub.__init__ = watched  # type: ignore[method-assign]
    atexit.register(_write, path)


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


def _write(path: str) -> None:
    with _lock, open(path, "w", encoding="utf-8") as file:
        json.dump(_seen, file)
