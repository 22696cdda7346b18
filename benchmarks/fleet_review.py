"""The review of a thousand stacks: what the cache spares, and what it must not change.

Twenty classes, and stacks of a hundred claims that each use one of them: a change of one class concerns a twentieth of
the stacks. Before anything is measured, a review of the unchanged project fills the cache. Both sides then review the
same change; the strict side has `--no-cache`. Both must print the same bytes.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks import workload
from benchmarks.measure import Row, Settings, middle, pairs, ratios, with_paths

STACKS, CLAIMS, CHILDREN, CLASSES = 1000, 100, 3, 20
CHANGED = 3
CODES = (0, 10)
"""Nothing changes, or something does."""


def write_project(root: Path, stacks: int, claims: int = CLAIMS) -> list[str]:
    """A project with generated components and bindings, committed; gives the stacks' names."""
    from claimsmith.project.project import Project
    from claimsmith.tools.bind import bind
    from claimsmith.tools.generate import generate

    settings = {"name": "bench", "runtime": "python", "main": "stacks", "stackConfigDir": "stacks"}
    workload.write(root / "Pulumi.yaml", settings)
    for number in range(CLASSES):
        workload.write(_class_path(root, number), _class(number))
    names = [f"s{number:04}" for number in range(stacks)]
    for number, name in enumerate(names):
        kind = f"Database{number % CLASSES:02}"
        documents = [{**workload.claim_document(n), "kind": kind} for n in range(claims)]
        workload.write(root / "stacks" / name / "claims" / "databases.yaml", *documents)
    project = Project(root)
    generate(project, check=False)
    for name in names:
        bind(project, name)
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "base"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return names


def change_class(root: Path, names: Sequence[str]) -> None:
    """Change one class, its component, and the bindings of its claims."""
    from claimsmith.project.project import Project
    from claimsmith.tools.bind import bound
    from claimsmith.tools.generate import generate

    document = yaml.safe_load(_class_path(root, CHANGED).read_text(encoding="utf-8"))
    document["spec"]["resources"][-1]["base"]["metadata"] = {"labels": {"changed": "yes"}}
    workload.write(_class_path(root, CHANGED), document)
    project = Project(root)
    generate(project, check=False)
    for name in names[CHANGED::CLASSES]:
        result = bound(project, name, accept=[document["metadata"]["name"]])
        result.path.write_text(result.text, encoding="utf-8")


def _class_path(root: Path, number: int) -> Path:
    return root / "components" / f"databases-{number:02}" / "class.yaml"


def _class(number: int) -> dict[str, Any]:
    document = workload.class_document(CHILDREN)
    document["metadata"]["name"] = f"databases-{number:02}"
    document["spec"]["claim"]["kind"] = f"Database{number:02}"
    return document


def claimsmith(root: Path, cache: Path, *words: str) -> tuple[dict[str, float], bytes]:
    """A whole command: its processor time with that of its processes, the largest of them, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = with_paths({**os.environ, "CLAIMSMITH_REVIEW_CACHE": str(cache)})
    command = [sys.executable, "-m", "claimsmith.cli", "-C", str(root), *words]
    done = subprocess.run(command, capture_output=True, env=environment)
    if done.returncode not in CODES:
        raise SystemExit(f"claimsmith {' '.join(words)} ended with {done.returncode}: {done.stderr.decode()[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "peak": after.ru_maxrss / 1024}, done.stdout


def fleet_review(settings: Settings, folder: Path) -> list[Row]:
    """A change of one class, and no change at all, in a project of many stacks."""
    stacks = int(os.environ.get("BENCH_REVIEW_STACKS") or STACKS)
    root, cache = folder / "fleet-review", folder / "review-cache"
    names = write_project(root, stacks)
    shape = f"{stacks:,} stacks × {CLAIMS} claims"
    first, _ = claimsmith(root, cache, "review")
    rows = [
        Row(
            "fleet-review", f"peak memory of a process, the first review of {shape}", [first["peak"]], 600.0, unit="MiB"
        )
    ]

    def command(*words: str) -> dict[str, float]:
        return claimsmith(root, cache, *words)[0]

    for words in (("review",), ("ci", "matrix")):
        found = pairs(lambda w=words: command(*w), lambda: command("render", names[0]), settings)
        detail = f"{middle(found, 0):.1f} s against {middle(found, 1):.1f} s of processor time"
        measure = f"`{' '.join(words)}` where nothing changed, {shape}, against `render` of one of the stacks"
        rows.append(Row("fleet-review", measure, ratios(found), 10.0, detail=detail))
    change_class(root, names)
    rows.append(_changed(root, cache, shape))
    return rows


def _changed(root: Path, cache: Path, shape: str) -> Row:
    """The change of a class: once, since the side without a cache takes a quarter of an hour."""
    filled = cache.with_name("filled-cache")
    shutil.copytree(cache, filled)
    warm, said = claimsmith(root, filled, "review", "--output", "json")
    cold, expected = claimsmith(root, cache, "review", "--no-cache", "--output", "json")
    if said != expected:
        raise SystemExit("the review with a cache says something else than the one without")
    detail = f"{warm['seconds']:.0f} s against {cold['seconds']:.0f} s of processor time, the same {len(said):,} bytes"
    measure = f"`review` of a change of one class in {CLASSES}, {shape}, filled cache against none"
    return Row("fleet-review", measure, [warm["seconds"] / cold["seconds"]], 0.1, detail=detail)


BENCHES: dict[str, Any] = {"fleet-review": fleet_review}
