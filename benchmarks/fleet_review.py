"""The review and the validation of a thousand stacks: what the cache spares, and what it must not change.

Twenty classes, and stacks of a hundred claims that each use one of them: a change of one class concerns a twentieth of
the stacks. A first review of the unchanged project fills the cache. Then both sides review the same change, one of them
with `--no-cache`; and what was validated once is validated again. Both must print the same bytes and end with the same
code.
"""

from __future__ import annotations

import os
import resource
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


def claimsmith(root: Path, cache: Path, *words: str) -> tuple[dict[str, float], tuple[int, bytes]]:
    """A whole command: its processor time with that of its processes, the largest one so far; its code and output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = with_paths({**os.environ, "CLAIMSMITH_STACK_CACHE": str(cache)})
    command = [sys.executable, "-m", "claimsmith.cli", "-C", str(root), *words]
    done = subprocess.run(command, capture_output=True, env=environment)
    if done.returncode not in CODES:
        raise SystemExit(f"claimsmith {' '.join(words)} ended with {done.returncode}: {done.stderr.decode()[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "peak": after.ru_maxrss / 1024}, (done.returncode, done.stdout)


def fleet_review(settings: Settings, folder: Path) -> list[Row]:
    """A change of one class, and no change at all, in a project of many stacks."""
    stacks = int(os.environ.get("BENCH_REVIEW_STACKS") or STACKS)
    root, cache = folder / "fleet-review", folder / "review-cache"
    names = write_project(root, stacks)
    shape = f"{stacks:,} stacks × {CLAIMS} claims"
    claimsmith(root, cache, "review")
    rows = []

    def command(*words: str) -> dict[str, float]:
        return claimsmith(root, cache, *words)[0]

    for words in (("review",), ("ci", "matrix")):
        found = pairs(lambda w=words: command(*w), lambda: command("render", names[0]), settings)
        detail = f"{middle(found, 0):.1f} s against {middle(found, 1):.1f} s of processor time"
        measure = f"`{' '.join(words)}` where nothing changed, {shape}, against `render` of one of the stacks"
        rows.append(Row("fleet-review", measure, ratios(found), 10.0, detail=detail))
    change_class(root, names)
    row, peak = _changed(root, cache, shape)
    rows += [row, _validated(root, cache, shape)]
    measure = f"peak memory of a process of these commands, {shape}"
    return [*rows, Row("fleet-review", measure, [peak], 600.0, unit="MiB")]


def _validated(root: Path, cache: Path, shape: str) -> Row:
    """What is checked once more: once, since the first time takes some minutes."""
    cold, expected = claimsmith(root, cache, "validate")
    warm, said = claimsmith(root, cache, "validate")
    if said != expected:
        raise SystemExit("the validation with a cache says something else than the one without")
    measure = f"`validate` where nothing changed, {shape}, filled cache against an empty one"
    return Row("fleet-review", measure, [warm["seconds"] / cold["seconds"]], 0.1, detail=_detail(warm, cold, said))


def _changed(root: Path, cache: Path, shape: str) -> tuple[Row, float]:
    """The change of a class: once, since the side without a cache takes some minutes; and the largest process."""
    warm, said = claimsmith(root, cache, "review", "--output", "json")
    cold, expected = claimsmith(root, cache, "review", "--no-cache", "--output", "json")
    if said != expected:
        raise SystemExit("the review with a cache says something else than the one without")
    measure = f"`review` of a change of one class in {CLASSES}, {shape}, filled cache against none"
    row = Row("fleet-review", measure, [warm["seconds"] / cold["seconds"]], 0.1, detail=_detail(warm, cold, said))
    return row, cold["peak"]


def _detail(warm: dict[str, float], cold: dict[str, float], said: tuple[int, bytes]) -> str:
    seconds = f"{warm['seconds']:.1f} s against {cold['seconds']:.0f} s of processor time"
    return f"{seconds}, the same {len(said[1]):,} bytes"


BENCHES: dict[str, Any] = {"fleet-review": fleet_review}
