"""The reviews of many stacks: what is known not to change comes from the cache, the rest is planned on all cores.

The cache holds only that a stack was silent: nothing changes, nothing is refused, nothing is warned about. Whatever has
something to say is planned anew each time, so no text of a review ever comes from the cache.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from claimsmith.project import digest_cache, functions
from claimsmith.project.git import ignored
from claimsmith.project.project import Project
from claimsmith.tools.review import StackReview
from claimsmith.tools.review.inputs import Inputs, key
from claimsmith.tools.review.stack import Reviewed, reviewed

Tick = Callable[[int, str], None]
PAYS = 8
"""A process more takes a second to start: it pays for that many stacks."""


def review_stacks(
    before: Project,
    after: Project,
    stacks: Sequence[str],
    *,
    strict: bool = False,
    cache: bool = False,
    processes: int = 1,
    tick: Tick | None = None,
) -> list[StackReview]:
    """The reviews of stacks, in their order.

    With `cache`, stacks that are known to be silent are not planned. More `processes` than one need a main module that
    can be imported again, as that of the command line.
    """
    move = tick or (lambda _done, _word: None)
    path = digest_cache.path_of(after.root) if cache else None
    keys = _keys(before, after, stacks, strict=strict) if path else {}
    kept = digest_cache.read(path) if path else {}
    found = {s: StackReview(s, unchanged=kept[k]) for s, k in keys.items() if k in kept}
    planned = [s for s in stacks if s not in found]
    silent: dict[str, int] = {}
    for number, (stack, result) in enumerate(_planned(before, after, planned, strict, processes)):
        move(len(stacks) - len(planned) + number, stack)
        found[stack] = result.review
        if stack in keys and result.repeatable and _is_silent(result.review):
            silent[stack] = result.review.unchanged
    if path and silent:
        # A file that changed while it was planned would be kept under the digest that it had before.
        again = _keys(before, after, list(silent), strict=strict)
        fresh = {keys[s]: number for s, number in silent.items() if again.get(s) == keys[s]}
        used = {k: kept[k] for k in keys.values() if k in kept}
        digest_cache.write(path, {**{k: v for k, v in kept.items() if k not in used}, **used, **fresh})
    move(len(stacks), "")
    return [found[stack] for stack in stacks]


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _keys(before: Project, after: Project, stacks: Sequence[str], *, strict: bool) -> dict[str, str]:
    """The digest of each stack's review, for those that have one."""
    own = ignored(after.root, ["Pulumi.yaml", *(_config(stack) for stack in stacks)])
    sides = Inputs(before), Inputs(after)
    found = {
        stack: key(
            *sides,
            stack,
            strict,
            [side.project.has_stack(stack) for side in sides],
            sorted({"Pulumi.yaml", _config(stack)} & own),
        )
        for stack in stacks
    }
    return {stack: digest for stack, digest in found.items() if digest}


def _config(stack: str) -> str:
    return f"stacks/Pulumi.{stack}.yaml"


def _is_silent(review: StackReview) -> bool:
    return review == StackReview(review.stack, unchanged=review.unchanged)


def _planned(
    before: Project, after: Project, stacks: Sequence[str], strict: bool, processes: int
) -> Iterator[tuple[str, Reviewed]]:
    workers = min(processes, len(stacks) // PAYS)
    if workers < 2 or before.pending or after.pending:
        for stack in stacks:
            yield stack, reviewed(before, after, stack, strict=strict)
        return
    sides = before.root, after.root, strict
    # A fork of a process with threads, such as that of a progress bar, may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=sides)
    try:
        yield from zip(stacks, pool.map(_one, stacks), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


_sides: tuple[Project, Project, bool] | None = None


def _begin(before: Path, after: Path, strict: bool) -> None:
    """Prepare a process of the pool: it ends with the one that started it, which alone hears Ctrl-C."""
    global _sides
    _sides = Project(before), Project(after), strict
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent, "a process of the pool"

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _one(stack: str) -> Reviewed:
    assert _sides, "the process was prepared"
    before, after, strict = _sides
    try:
        return reviewed(before, after, stack, strict=strict)
    finally:
        # A process of the pool ends without the exit handlers that would stop them.
        functions.stop()
