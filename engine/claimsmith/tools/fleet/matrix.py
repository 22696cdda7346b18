"""The stacks of a run as waves for CI runners: a matrix of GitHub, or a child pipeline of GitLab."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import Collector, LoadError, Problem
from claimsmith.base.yaml_text import text_of
from claimsmith.tools.fleet.schedule import waves
from claimsmith.tools.fleet.selection import Selection

MOST = 256
"""How many jobs a matrix of GitHub may have."""
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""What the engine permits in the name of a stack: whoever opens a pull request names folders, and jobs run them."""
_UP = 'claimsmith up $CLAIMSMITH_STACKS --yes || [ "$?" -eq 10 ]'
_DESTROY = (
    "claimsmith up $CLAIMSMITH_STACKS --yes --allow-destructive || { code=$?; [ $code -eq 10 ] || [ $code -eq 11 ]; }"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What one runner deploys: one stack, or several where there are more of them than runners."""

    stacks: tuple[str, ...]
    destructive: bool = False
    """Whether the review says that something is deleted or replaced."""

    def to_dict(self) -> dict[str, Any]:
        """The entry of a matrix."""
        more = f" and {len(self.stacks) - 1} more" if len(self.stacks) > 1 else ""
        return {"name": self.stacks[0] + more, "stacks": " ".join(self.stacks), "destructive": self.destructive}


@dataclass(frozen=True, slots=True)
class Matrix:
    """The waves: each needs only stacks of earlier ones."""

    waves: tuple[tuple[Entry, ...], ...]
    removed: tuple[str, ...] = ()
    """The stacks that are gone from the files, with what they deployed still there."""

    def github(self) -> dict[str, Any]:
        """A value for `fromJSON`: each of the waves is a `strategy.matrix`."""
        return {
            "count": len(self.waves),
            "waves": [{"include": [entry.to_dict() for entry in wave]} for wave in self.waves],
            "removed": list(self.removed),
        }

    def gitlab(self, include: Sequence[str] = ()) -> str:
        """The text of a child pipeline: a stage for each wave, a job for each entry; `include` are files of its own."""
        stages = [f"wave-{number}" for number in range(1, len(self.waves) + 1)]
        head: dict[str, Any] = {"include": [{"local": file} for file in include]} if include else {}
        head["stages"] = stages or ["nothing"]
        jobs: dict[str, Any] = {}
        for stage, wave in zip(stages, self.waves, strict=True):
            for entry in wave:
                row = entry.to_dict()
                # With a resource group, two pipelines do not deploy a stack at the same time.
                jobs[f"up {row['name']}"] = {
                    "stage": stage,
                    "resource_group": row["name"],
                    "variables": {"CLAIMSMITH_STACKS": row["stacks"]},
                    "script": [_DESTROY if entry.destructive else _UP],
                    **({"when": "manual", "allow_failure": False} if entry.destructive else {}),
                }
        # GitLab refuses a pipeline without jobs.
        return text_of({**head, **(jobs or {"nothing": {"stage": "nothing", "script": ["true"]}})})


def matrix(selection: Selection, *, runners: int = MOST) -> Matrix:
    """The waves of a selection, with so many entries each at most. What the review cannot read is refused."""
    problems = Collector()
    for review in selection.reviews.values():
        for problem in (*review.problems, *review.refusals):
            problems.add(problem)
    for stack in selection.needs:
        if not _SAFE.fullmatch(stack):
            what = f"the name of the stack {stack!r} is not written into a pipeline"
            problems.add(Problem(what, fix="use letters, digits, dots, dashes and underscores"))
    problems.raise_as(LoadError)
    destructive = {stack for stack, review in selection.reviews.items() if review.destructive}
    found = tuple(
        tuple(Entry(tuple(part), bool(destructive & set(part))) for part in _jobs(wave, destructive, runners))
        for wave in waves(selection.needs)
    )
    return Matrix(found, tuple(review.stack for review in selection.removed))


def _jobs(wave: Sequence[str], destructive: Collection[str], most: int) -> list[Sequence[str]]:
    """The stacks of a wave in so many jobs at most.

    What is permitted to a job is permitted to all its stacks: destructive ones have jobs of their own, unless there is
    one job alone.
    """
    loud = [stack for stack in wave if stack in destructive]
    quiet = [stack for stack in wave if stack not in destructive]
    if len(wave) <= most or most == 1 or not (loud and quiet):
        return _parts(wave, most)
    share = max(1, min(most - 1, len(loud) * most // len(wave)))
    return [*_parts(quiet, most - share), *_parts(loud, share)]


def _parts(stacks: Sequence[str], most: int) -> list[Sequence[str]]:
    """The stacks in so many parts at most, all of about the same size."""
    number = min(len(stacks), most)
    return [stacks[index::number] for index in range(number)]
