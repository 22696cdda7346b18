"""Fuzz everything that reads what a user writes: `make fuzz`, or `python -m tests.fuzz --seed 7 --inputs 1000000`."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.watch import tally

ROOT = Path(__file__).resolve().parents[2]
SHARES = {
    "hypothesis": {
        "documents": 3, "fieldpath": 3, "transforms": 6, "jinja2": 3, "go-template": 3, "generate": 4, "plan": 3,
        "native": 3,
    },
    "atheris": {
        "documents": 35, "fieldpath": 45, "transforms": 45, "jinja2": 18, "go-template": 18, "generate": 8, "plan": 6,
        "native": 6,
    },
}  # fmt: skip
"""Of so many inputs, how many each engine gives to each target: more to what is quick."""


def main() -> int:
    """Run every target under every engine that is installed; 1 where anything was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="repeat a run; printed by each")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="how many, over all targets")
    parser.add_argument("--only", default="", help="one target")
    parser.add_argument("--engine", default="", choices=["", *SHARES], help="one engine")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many workers at once")
    wanted = parser.parse_args()
    seed = wanted.seed or 1 + secrets.randbelow(2**31 - 2)
    engines = [e for e in SHARES if find_spec(e) and wanted.engine in ("", e)]
    folder = ROOT / ".claimsmith" / "fuzz"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"seed {seed}: repeat with  make fuzz SEED={seed} INPUTS={wanted.inputs}", flush=True)
    shares = [(e, t, s) for e in engines for t, s in SHARES[e].items() if wanted.only in ("", t)]
    whole = sum(s for _, _, s in shares)
    died: list[str] = []
    with ThreadPoolExecutor(wanted.jobs) as pool:
        runs = [
            pool.submit(run, engine, target, seed, -(-wanted.inputs * share // whole), folder, died)
            for engine, target, share in shares
        ]
        total = sum(r.result() for r in runs)
    finds = sorted((folder / "finds").glob("*.txt"))
    print(f"{total} inputs, {len(finds)} finds, {len(died)} workers died; seed {seed}")
    for path in finds:
        print(f"\n{path.relative_to(ROOT)}:\n{path.read_text(encoding='utf-8', errors='replace')}")
    for story in died:
        print(story)
    return 1 if finds or died or total < wanted.inputs else 0


def run(engine: str, target: str, seed: int, inputs: int, folder: Path, died: list[str]) -> int:
    """One worker until it ends; tells how many inputs it tried."""
    name = f"{engine}-{target}"
    log = folder / f"{name}.log"
    command = [sys.executable, "-m", "tests.fuzz.worker", engine, target, str(seed), str(inputs), str(folder)]
    with log.open("wb") as file:
        environment = {**os.environ, "PYTHONHASHSEED": str(seed % 2**32)}
        code = subprocess.run(command, cwd=ROOT, stdout=file, stderr=file, env=environment).returncode
    done = tally(name, folder)
    print(f"  {engine:10} {target:12} {done.inputs:>9} inputs, {done.refused:>9} of them refused", flush=True)
    if code:
        last = done.last.decode("utf-8", "replace")
        output = log.read_text(encoding="utf-8", errors="replace")[-3000:]
        died.append(f"\n{name} ended with {code} at input {done.inputs}:\n{last}\n{output}")
    return done.inputs


if __name__ == "__main__":
    raise SystemExit(main())
