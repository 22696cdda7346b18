"""Results: kept as JSON, shown as a table, compared with the goals."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Row

KEPT = ROOT / "benchmarks" / "results.json"
SHOWN = ROOT / "benchmarks" / "RESULTS.md"
HEAD = """\
# Results

Written by `make bench`; what each row means stands in [README.md](README.md). Each number is the middle of several
runs, with the least and the most beside it. Ratios are taken between runs that took place side by side.

"""


def machine() -> dict[str, str]:
    """What it was measured on."""
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{_memory() / 1024**3:.0f} GiB",
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }


def keep(rows: Sequence[Row]) -> list[Row]:
    """Put rows in the place of older ones of the same benchmarks; those of another machine go. Gives all."""
    here, old = machine(), _kept()
    renewed = {row.bench for row in rows}
    kept = [r for r in old["rows"] if r.bench not in renewed] if old["machine"] == here else []
    order = (
        "program",
        "native",
        "engine",
        "cut",
        "fleet",
        "render",
        "growth",
        "aws",
        "help",
        "start",
        "patches",
        "conformance",
        "functions",
    )
    every = sorted([*kept, *rows], key=lambda r: order.index(r.bench) if r.bench in order else len(order))
    text = json.dumps({"machine": here, "rows": [r.to_dict() for r in every]}, indent=1, ensure_ascii=False)
    KEPT.write_text(text + "\n", encoding="utf-8")
    SHOWN.write_text(HEAD + "\n".join(_machine_lines(here)) + "\n\n" + "\n".join(table(every)) + "\n", encoding="utf-8")
    return every


def last() -> list[Row]:
    """The rows of the last run."""
    rows: list[Row] = _kept()["rows"]
    return rows


def table(rows: Iterable[Row]) -> list[str]:
    """The rows as a Markdown table."""
    lines = [
        "| measure | middle | least to most | runs | goal | met | |",
        "| --- | ---: | --- | ---: | --- | --- | --- |",
    ]
    for row in rows:
        met = {None: "", True: "yes", False: "**no**"}[row.met]
        spread = f"{_number(min(row.values), row.unit)} to {_number(max(row.values), row.unit)}"
        cells = (row.measure, _number(row.middle, row.unit), spread, len(row.values), _goal(row), met, row.detail)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def missed(rows: Iterable[Row]) -> list[str]:
    """The rows whose goals are missed, in a sentence each."""
    return [f"missed: {r.measure}: {_number(r.middle, r.unit)}, wanted {_goal(r)}" for r in rows if r.met is False]


def _goal(row: Row) -> str:
    return "" if row.goal is None else f"{'≥' if row.at_least else '≤'} {_number(row.goal, row.unit)}"


def _number(value: float, unit: str) -> str:
    digits = 3 if value < 0.1 else 2 if value < 100 else 0
    return f"{value:,.{digits}f} {unit}"


def _machine_lines(here: dict[str, str]) -> list[str]:
    return ["| machine | |", "| --- | --- |", *(f"| {key} | {value} |" for key, value in here.items())]


def _kept() -> dict[str, Any]:
    if not KEPT.is_file():
        return {"machine": {}, "rows": []}
    data = json.loads(KEPT.read_text(encoding="utf-8"))
    return {"machine": data["machine"], "rows": [Row(**row) for row in data["rows"]]}


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
