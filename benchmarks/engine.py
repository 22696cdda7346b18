"""What runs on the real engine and a real API server: the same resources by claims and by hand, and many of them."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks import sites
from benchmarks.measure import Row, Settings, middle, pairs, ratios, run

CLAIMS, CHILDREN = 100, 5
CUT = 200
"""How many resources docs/reference/performance.md lets a stack have on the file backend."""
MANY = 2000
PARTS = 4
"""With its component, a claim of so many parts is five resources."""
NO_CHECKPOINTS = {"PULUMI_EXPERIMENTAL": "true", "PULUMI_SKIP_CHECKPOINTS": "true"}


@dataclass
class Bed:
    """A control plane, and projects on it; nothing is cleaned up, since all of it goes in the end."""

    folder: Path
    kubeconfig: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def project(self, *, by_hand: bool, claims: int, children: int, stacks: int = 1, **env: str) -> Project:
        """A new project with its stacks made, its claims bound and its component generated."""
        number = next(self._numbers)
        root = self.folder / f"project-{number}"
        names = sites.write_project(
            root,
            by_hand=by_hand,
            kubeconfig=self.kubeconfig,
            claims=claims,
            children=children,
            stacks=stacks,
            name=f"bench{number:03}",
        )
        if not by_hand:
            _claimsmith(root, "generate")
            for name in names:
                _claimsmith(root, "bind", name)
        project = Project(root, names, {"BENCH_CHILDREN": str(children), **env})
        for name in names:
            project.pulumi("stack", "init", name)
        return project


@dataclass
class Project:
    """A project that the engine can run."""

    root: Path
    stacks: list[str]
    env: dict[str, str]

    def pulumi(self, *words: str) -> dict[str, float]:
        """Run the engine; gives its time, and what the program was seen to do."""
        from claimsmith.project import workspace
        from claimsmith.project.project import Project as Claimed

        probe = self.root / "probe.json"
        probe.unlink(missing_ok=True)
        environment = workspace.environment(Claimed(self.root)) | self.env | {"BENCH_PROBE": str(probe)}
        begin = time.time()
        run(["pulumi", *words, "--non-interactive"], cwd=self.root, env=environment)
        end = time.time()
        seen: dict[str, float] = json.loads(probe.read_text()) if probe.is_file() else {"last": end, "first": begin}
        first, last = seen["first"], seen["last"]
        return {"seconds": end - begin, "before": first - begin, "program": last - first, "after": end - last, **seen}

    def up(self, stack: str) -> dict[str, float]:
        """Deploy a stack; gives the size of its state too."""
        told = self.pulumi("up", "--yes", "--skip-preview", "--stack", stack)
        [state] = (self.root / ".claimsmith" / "state" / ".pulumi" / "stacks").rglob(f"{stack}.json")
        return {**told, "state": state.stat().st_size}


@contextmanager
def bed(folder: Path) -> Iterator[Bed]:
    """A control plane with the namespaces of the sites' teams, for as long as it is wanted."""
    from lightkube import Client
    from lightkube.config.kubeconfig import KubeConfig
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import Namespace

    from claimsmith import lab, toolchain

    toolchain.require(*toolchain.NAMES)
    with lab.running(folder / "control-plane") as status:
        client = Client(config=KubeConfig.from_file(status.kubeconfig).get(), trust_env=False)
        for number in range(MANY // CUT):
            client.create(Namespace(metadata=ObjectMeta(name=f"team-{number}")))
        yield Bed(folder, Path(status.kubeconfig))


def engine(settings: Settings, folder: Path) -> list[Row]:
    """Program, `up` and a `preview` that finds nothing to do: generated components against hand-written ones."""
    with bed(folder / "engine") as on:

        def side(*, by_hand: bool) -> dict[str, float]:
            project = on.project(by_hand=by_hand, claims=CLAIMS, children=CHILDREN, **NO_CHECKPOINTS)
            [stack] = project.stacks
            up = project.up(stack)
            preview = project.pulumi("preview", "--stack", stack, "--expect-no-changes")
            return {**up, "preview": preview["seconds"], "preview before": preview["before"]}

        # Its goals are the closest to 1: it may take twice the time of the others.
        longer = Settings(settings.repeats, settings.budget * 2)
        found = pairs(lambda: side(by_hand=False), lambda: side(by_hand=True), longer)
    shape = f"{CLAIMS} claims × {CHILDREN} children"

    def row(measure: str, key: str, goal: float | None, unit: str = "s") -> Row:
        mine, theirs = middle(found, 0, key), middle(found, 1, key)
        digits = 2 if unit == "s" else 0
        detail = f"{mine:,.{digits}f} {unit} against {theirs:,.{digits}f} {unit}"
        return Row("engine", measure, ratios(found, key), goal, detail=detail)

    return [
        row(f"time in the program, {shape}, against hand-written", "program", 1.1),
        row("number of registrations with the engine", "registrations", 1.0, ""),
        row("bytes of registrations with the engine", "bytes", 1.0, "bytes"),
        row("bytes of state", "state", 1.1, "bytes"),
        row("whole `pulumi up`", "seconds", 1.05),
        row("whole `pulumi preview` without changes", "preview", 1.05),
        row("of it, until the first registration", "preview before", None),
    ]


def cut(_: Settings, folder: Path) -> list[Row]:
    """Many resources, cut into stacks as documented, against one such stack; on the file backend with checkpoints."""
    claims = CUT // (PARTS + 1)
    with bed(folder / "cut") as on:
        many = on.project(by_hand=False, claims=MANY // CUT * claims, children=PARTS, stacks=MANY // CUT)
        alone: list[float] = []
        parts: list[float] = []
        for number, stack in enumerate(many.stacks):
            if number % 4 == 0:
                single = on.project(by_hand=False, claims=claims, children=PARTS)
                alone.append(single.up(single.stacks[0])["seconds"])
            parts.append(many.up(stack)["seconds"])
            print(".", end="", file=sys.stderr, flush=True)
    one = statistics.median(alone)
    detail = f"{sum(parts) / MANY:.3f} s against {one / CUT:.3f} s per resource, {len(parts)} stacks of {CUT}"
    measure = f"seconds per resource of an `up` of {MANY:,} resources, cut into stacks, against {CUT}"
    return [Row("cut", measure, [part / one for part in parts], 1.5, detail=detail)]


def _claimsmith(root: Path, *words: str) -> None:
    run([sys.executable, "-m", "claimsmith.cli", "-C", str(root), *words])


BENCHES: dict[str, Any] = {"engine": engine, "cut": cut}
