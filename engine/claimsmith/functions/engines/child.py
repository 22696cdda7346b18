"""A child process that runs one engine: requests come in as lines of JSON, answers go out as lines of JSON.

It is started by `functions/worker.py`, with the engine, the limits and the readable folders as its arguments.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, BinaryIO, Final

from claimsmith.functions.engines import sandbox, syscalls

Engine = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Answers one request."""
ENGINES: Final = ("cel", "cel_types", "kcl", "python")


def main() -> None:
    """Load the engine, give up rights, then answer until the requests end."""
    settings = json.loads(sys.argv[2])
    sandbox.end_with_parent(settings["parent"])
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt of the terminal is for the parent to handle
    if settings["engine"] not in ENGINES:
        raise SystemExit(f"no such engine: {settings['engine']}")
    engine = import_module(f"claimsmith.functions.engines.{settings['engine']}_engine")
    readable = [*settings["folders"], *getattr(engine, "READABLE", ())]
    sandbox.limit(megabytes=settings["megabytes"], processor_seconds=settings["processor_seconds"])
    confined = sandbox.confine(readable)
    syscalls.refuse()
    answer: Engine = engine.start(settings["folders"], confined)
    for line in sys.stdin.buffer:
        answers.write(_answered(answer, line))
        answers.flush()


def _answered(answer: Engine, line: bytes) -> bytes:
    asked = json.loads(line)
    try:
        return _line(asked["number"], answer(asked["request"]))
    except MemoryError:
        return _line(asked["number"], {"error": "needs more memory than it may use"})
    except RecursionError:
        return _line(asked["number"], {"error": "nests too deeply"})
    except Exception as error:  # whatever an engine raises is an answer: the parent names step and reason
        return _line(asked["number"], {"error": f"{type(error).__name__}: {error}"})


def _line(number: str, answer: Mapping[str, Any]) -> bytes:
    return json.dumps({"number": number, "answer": answer}).encode() + b"\n"


def _own_output() -> BinaryIO:
    """The answers' channel; what an engine prints goes nowhere."""
    channel = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return channel
