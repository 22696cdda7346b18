"""Items in the order of their needs."""

from __future__ import annotations

import graphlib
import heapq
import itertools
from collections.abc import Mapping, Sequence

from claimsmith.base.errors import Problem, ReferenceError_


def ordered(items: Sequence[str], needs: Mapping[str, Sequence[tuple[str, str]]]) -> list[str]:
    """The items so that each comes after what it needs, else in their original order.

    `needs` gives for an item what it needs and the path where it says so; a circle is refused, naming these.
    """
    place = {item: index for index, item in enumerate(items)}
    waiting = {item: {n for n, _ in needs.get(item, ()) if n in place} for item in items}
    needed_by: dict[str, list[str]] = {}
    for item in items:
        for need in waiting[item]:
            needed_by.setdefault(need, []).append(item)
    ready = [place[item] for item in items if not waiting[item]]
    done: list[str] = []
    while ready:
        item = items[heapq.heappop(ready)]
        done.append(item)
        for follower in needed_by.get(item, ()):
            waiting[follower].discard(item)
            if not waiting[follower]:
                heapq.heappush(ready, place[follower])
    if len(done) < len(items):
        raise ReferenceError_(_circle([i for i in items if waiting[i]], needs))
    return done


def _circle(items: Sequence[str], needs: Mapping[str, Sequence[tuple[str, str]]]) -> Problem:
    sorter = graphlib.TopologicalSorter({i: tuple(n for n, _ in needs.get(i, ())) for i in items})
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        cycle: list[str] = list(reversed(error.args[1]))
        steps = []
        for here, there in itertools.pairwise(cycle):
            path = next(p for n, p in needs[here] if n == there)
            steps.append(f"{here} needs {there} ({path})")
        return Problem(f"references run in a circle: {'; '.join(steps)}", fix="remove one of these references")
    raise AssertionError("items that cannot be ordered hold a circle")
