"""Something that is done for each of many stacks: what is known to be silent comes from the cache, the rest is planned
on all cores.

The cache holds only that a stack was silent, with a few numbers: nothing changes, nothing is refused, nothing is warned
about. Whatever has something to say is planned anew each time, so no text ever comes from the cache.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from claimsmith.project import digest_cache, functions
from claimsmith.project.digest_cache import Numbers

Result = TypeVar("Result")
Tick = Callable[[int, str], None]
PAYS = 8
"""A process more takes a second to start: it pays for that many stacks."""


@dataclass(frozen=True, slots=True)
class Silence(Generic[Result]):
    """How the silence of a stack is known."""

    root: Path
    purpose: str
    """What the silence is of, as the name of the cache's file has it."""
    keys: Callable[[Sequence[str]], Mapping[str, str]]
    """The digests of all that the results of stacks depend on, of those stacks that have one; read from the files."""
    numbers: Callable[[Result], Numbers | None]
    """What is kept of a silent result; None of one that says something, or may say something else another time."""
    count: int
    """How many numbers that are."""
    result: Callable[[str, Numbers], Result]
    """The result of a silent stack."""


@dataclass(frozen=True, slots=True)
class Elsewhere(Generic[Result]):
    """How another process gets the function that is called for each stack; all of it can be pickled."""

    prepare: Callable[..., Callable[[str], Result]]
    arguments: tuple[Any, ...]


def each_of(
    stacks: Sequence[str],
    here: Callable[[str], Result],
    *,
    silence: Silence[Result] | None = None,
    elsewhere: Elsewhere[Result] | None = None,
    processes: int = 1,
    tick: Tick | None = None,
) -> list[Result]:
    """The results of stacks, in their order.

    With `silence`, stacks that are known to be silent are not planned. More `processes` than one need a main module
    that can be imported again, as that of the command line.
    """
    move = tick or (lambda _done, _word: None)
    path = digest_cache.path_of(silence.root, silence.purpose) if silence else None
    keys = silence.keys(stacks) if silence and path else {}
    kept = digest_cache.read(path, silence.count) if silence and path else {}
    found = {s: silence.result(s, kept[k]) for s, k in keys.items() if k in kept} if silence else {}
    planned = [s for s in stacks if s not in found]
    fresh: dict[str, Numbers] = {}
    for number, (stack, result) in enumerate(_planned(planned, here, elsewhere, processes)):
        move(len(stacks) - len(planned) + number, stack)
        found[stack] = result
        numbers = silence.numbers(result) if silence and stack in keys else None
        if numbers is not None:
            fresh[stack] = numbers
    if silence and path and fresh:
        _keep(path, silence, keys, kept, fresh)
    move(len(stacks), "")
    return [found[stack] for stack in stacks]


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _keep(
    path: Path,
    silence: Silence[Any],
    keys: Mapping[str, str],
    kept: Mapping[str, Numbers],
    fresh: Mapping[str, Numbers],
) -> None:
    """Write what was known, what of it was used, and what is new."""
    # A file that changed while it was planned would be kept under the digest that it had before.
    again = silence.keys(list(fresh))
    new = {keys[s]: numbers for s, numbers in fresh.items() if again.get(s) == keys[s]}
    used = {k: kept[k] for k in keys.values() if k in kept}
    digest_cache.write(path, {**{k: v for k, v in kept.items() if k not in used}, **used, **new})


def _planned(
    stacks: Sequence[str], here: Callable[[str], Result], elsewhere: Elsewhere[Result] | None, processes: int
) -> Iterator[tuple[str, Result]]:
    workers = min(processes, len(stacks) // PAYS)
    if workers < 2 or elsewhere is None:
        for stack in stacks:
            yield stack, here(stack)
        return
    # A fork of a process with threads, such as that of a progress bar, may hang.
    context = multiprocessing.get_context("spawn")
    arguments = elsewhere.prepare, elsewhere.arguments
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=arguments)
    try:
        yield from zip(stacks, pool.map(_one, stacks), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


_each: Callable[[str], Any] | None = None


def _begin(prepare: Callable[..., Callable[[str], Any]], arguments: tuple[Any, ...]) -> None:
    """Prepare a process of the pool: it ends with the one that started it, which alone hears Ctrl-C."""
    global _each
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent, "a process of the pool"

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
    _each = prepare(*arguments)


def _one(stack: str) -> Any:
    assert _each, "the process was prepared"
    try:
        return _each(stack)
    finally:
        # A process of the pool ends without the exit handlers that would stop them.
        functions.stop()
