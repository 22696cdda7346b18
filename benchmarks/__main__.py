"""`python -m benchmarks [NAME …]`: run the benchmarks, print and keep what comes out."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import engine, fleet, fleet_review, offline, report
from benchmarks.measure import Row, Settings
from benchmarks.peer import Peer

BENCHES = {**offline.BENCHES, **engine.BENCHES, **fleet.BENCHES, **fleet_review.BENCHES}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(BENCHES)}; all where none is named")
    parser.add_argument("--repeats", type=int, default=5, help="how often each pair is run (default 5)")
    parser.add_argument("--budget", type=float, default=100.0, help="seconds after which no further repeat is begun")
    parser.add_argument("--check", action="store_true", help="exit 1 where a goal is missed")
    parser.add_argument("--last", action="store_true", help="run nothing: look at the last results")
    parser.add_argument("--peer", metavar="COMMAND", help="Crossplane's command line, as the other side of functions")
    parser.add_argument("--peer-functions", type=Path, metavar="FILE", help="where the functions of --peer listen")
    given = parser.parse_args()
    if bool(given.peer) != bool(given.peer_functions):
        parser.error("--peer and --peer-functions belong together")
    other = Peer(given.peer, given.peer_functions) if given.peer else None
    unknown = [name for name in given.names if name not in BENCHES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; use: {', '.join(BENCHES)}")
    names = given.names or list(BENCHES)
    rows = report.last() if given.last else run(names, Settings(given.repeats, given.budget, other))
    wanted = [row for row in rows if not given.names or row.bench in given.names]
    print("\n".join(report.table(wanted)))
    wrong = report.missed(wanted)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if given.check and wrong else 0


def run(names: list[str], settings: Settings) -> list[Row]:
    """Run benchmarks, each kept as soon as it is done."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="claimsmith-bench-") as folder:
        for name in names:
            begin = time.monotonic()
            print(f"{name} ", end="", file=sys.stderr, flush=True)
            rows += (found := BENCHES[name](settings, Path(folder)))
            report.keep(found)
            print(f" {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return rows


if __name__ == "__main__":
    sys.exit(main())
