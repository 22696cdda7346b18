"""What is watched while inputs run: exceptions that are not ours, too much time, too much memory.

A worker is a process of its own. It notes each input in a file that is mapped into memory before it is tried, so that
the input is known even where the process dies. Time is counted in seconds of the processor, not of the clock.
"""

from __future__ import annotations

import faulthandler
import hashlib
import mmap
import resource
import signal
import struct
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claimsmith.base.errors import EngineError

SECONDS = 20
"""So long may one input take, of the processor's time."""
MEMORY = 3 * 1024**3
"""So much address space a worker may have."""

_HEAD = struct.Struct("<QQI")
_ROOM = 256 * 1024


@dataclass(frozen=True)
class Tally:
    """What a worker did: how many inputs, how many of them were refused with a reason, and the last one."""

    inputs: int
    refused: int
    last: bytes


class Watch:
    """Runs inputs, one at a time, and notes what should not have happened."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.finds = folder / "finds"
        self.finds.mkdir(parents=True, exist_ok=True)
        self.inputs = self.refused = 0
        note = folder / f"{name}.note"
        note.write_bytes(bytes(_HEAD.size + _ROOM))
        with note.open("r+b") as file:
            self.note = mmap.mmap(file.fileno(), 0)

    def arm(self) -> None:
        """Bound this process: an input that never ends, even in C, ends the process and shows where it was."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.enable()
        faulthandler.register(signal.SIGPROF, chain=True)

    def run(self, target: Callable[[Any], None], case: Any) -> None:
        """Try one input. A refusal of ours is an answer like any other; everything else is a find."""
        text = case if isinstance(case, str) else repr(case)
        shown = text.encode("utf-8", "backslashreplace")[:_ROOM]
        self.inputs += 1
        self.note[: _HEAD.size] = _HEAD.pack(self.inputs, self.refused, len(shown))
        self.note[_HEAD.size : _HEAD.size + len(shown)] = shown
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            target(case)
        except EngineError:
            self.refused += 1
        except Exception as error:
            self._keep(error, shown)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _keep(self, error: Exception, shown: bytes) -> None:
        """Keep the shortest input for each place that an exception comes from."""
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "claimsmith" in f.filename), frames[-1])
        mark = f"{type(error).__name__} {Path(place.filename).name}:{place.lineno} {place.name}"
        path = self.finds / f"{self.name}-{hashlib.sha256(mark.encode()).hexdigest()[:10]}.txt"
        story = "".join(traceback.format_exception(error, limit=-12)).encode("utf-8", "backslashreplace")
        text = mark.encode() + b"\n" + shown + b"\n\n" + story[-4000:]
        if not path.exists() or len(text) < path.stat().st_size:
            path.write_bytes(text)


def tally(name: str, folder: Path) -> Tally:
    """What a worker noted, whether it still runs or not."""
    data = (folder / f"{name}.note").read_bytes()
    inputs, refused, length = _HEAD.unpack_from(data)
    return Tally(inputs, refused, data[_HEAD.size : _HEAD.size + length])
