"""How things are measured: each task in a process of its own, A and B in turn, and what comes of it as rows.

A ratio is taken between neighbours in time, so that a machine that is busy for a while disturbs both sides alike.
What computes is timed by its own processor time, what waits for the engine by the clock.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peer import Peer

ROOT = Path(__file__).resolve().parents[1]

Task = Callable[[], dict[str, float]]
"""Does something once, and tells numbers: seconds, bytes, counts."""


@dataclass
class Row:
    """One line of the results: a number over several runs, and the goal for its middle."""

    bench: str
    measure: str
    values: list[float]
    goal: float | None = None
    at_least: bool = False
    """Whether the goal is a least and not a most."""
    unit: str = "×"
    detail: str = ""
    when: str = field(default_factory=lambda: time.strftime("%Y-%m-%d"))

    @property
    def middle(self) -> float:
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if self.goal is None:
            return None
        return self.middle >= self.goal if self.at_least else self.middle <= self.goal

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Settings:
    """How long it may take."""

    repeats: int = 5
    budget: float = 100.0
    """Seconds for each benchmark, after which no further repeat is begun; two are made in any case."""
    peer: Peer | None = None
    """Crossplane's render command, if the user has it."""


def pairs(one: Task, other: Task, settings: Settings) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Both tasks in turn, as often as wanted, as long as there is time."""
    return [(first, second) for first, second in rounds((one, other), settings)]


def rounds(tasks: Sequence[Task], settings: Settings) -> list[tuple[dict[str, float], ...]]:
    """All tasks in turn, as often as wanted, as long as there is time."""
    begin = time.monotonic()
    found: list[tuple[dict[str, float], ...]] = []
    while len(found) < settings.repeats and (len(found) < 2 or time.monotonic() - begin < settings.budget):
        found.append(tuple(task() for task in tasks))
        print(".", end="", file=sys.stderr, flush=True)
    return found


def ratios(found: Sequence[tuple[dict[str, float], dict[str, float]]], key: str = "seconds") -> list[float]:
    """The first task's number against the second's, pair by pair."""
    return [a[key] / b[key] for a, b in found]


def middle(found: Sequence[tuple[dict[str, float], dict[str, float]]], side: int, key: str = "seconds") -> float:
    """The middle of one side's number."""
    return statistics.median(pair[side][key] for pair in found)


def task(name: str, *arguments: str) -> Task:
    """A function of `benchmarks.tasks` in a process of its own, which prints its numbers as JSON in its last line."""
    return lambda: json.loads(run([sys.executable, "-m", "benchmarks.tasks", name, *arguments]).splitlines()[-1])


def processor_time(command: Sequence[str]) -> Task:
    """The processor time of a whole program."""
    return processor_times([command])


def processor_times(commands: Sequence[Sequence[str]]) -> Task:
    """The processor time of whole programs, one after the other."""

    def measure() -> dict[str, float]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for command in commands:
            run(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {"seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}

    return measure


def run(command: Sequence[str], **more: Any) -> str:
    """What a command prints; one that fails ends the benchmark with what it said."""
    environment = more.pop("env", None) or dict(os.environ)
    done = subprocess.run(command, capture_output=True, text=True, env=with_paths(environment), **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def with_paths(environment: dict[str, str]) -> dict[str, str]:
    """The environment with this repository's package and benchmarks to be imported first, compiled once as usual."""
    given = [p for p in (environment.get("PYTHONPATH", "")).split(os.pathsep) if p]
    kept = {key: value for key, value in environment.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT / "engine"), str(ROOT), *given])}
