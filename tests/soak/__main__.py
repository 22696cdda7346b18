"""Kills parts of runs of many claims at random moments: one stack on files, then fleets whose state is in a server.

    stack     `pulumi up` of one stack, its state in files
    fleet     `claimsmith up --all` of several, their state in PostgreSQL
    bucket    the same, their state in a bucket of an S3 server
    dask      the same on two workers of a Dask cluster, their state in PostgreSQL

A chain of one to three kills, each followed by the documented recovery, then a whole run: it must end with exactly the
wanted resources. Prints its seed, stops by itself, and sums up. Settings come from the environment:

    SEED=…       the same choices again (the moments are as exact as the machine's clock)
    MINUTES=90   no new chain is begun after that
    MOMENTS=25   kills for each victim
    CLAIMS=30    claims in the stack
    STACKS=4     stacks of a fleet, which share the claims
    PARTS=stack,fleet         some of the parts; the minutes are shared by their victims
    VICTIMS=engine,provider   some of the victims
"""

from __future__ import annotations

import os
import random
import secrets
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from claimsmith import lab, toolchain
from tests.e2e.conftest import with_subnet
from tests.e2e.faults import VICTIMS, Estate
from tests.e2e.rig import Rig
from tests.soak import cluster, state
from tests.soak.fleet import HERE, IN_A_BUCKET, ON_DASK, Fleet


def setting(name: str, usual: int) -> int:
    return int(os.environ.get(name) or usual)


def say(text: str) -> None:
    print(text, flush=True)


class Tally:
    """How often each victim was hit, and what came of it."""

    def __init__(self, victims: Sequence[str], moments: int) -> None:
        self.left = dict.fromkeys(victims, moments)
        self.hits: Counter[str] = Counter()
        self.late: Counter[str] = Counter()
        self.steps: Counter[str] = Counter()

    def next(self, chance: random.Random) -> str | None:
        """A victim that was not hit often enough yet."""
        open_ = [victim for victim, left in self.left.items() if left > 0]
        return chance.choice(open_) if open_ else None

    def count(self, victim: str, going: bool, said: str) -> None:
        """Note a kill: whether the run still went on, and what recovery said of it."""
        self.left[victim] -= 1
        (self.hits if going else self.late)[victim] += 1
        self.count_steps(said)

    def count_steps(self, said: str) -> None:
        """Note what recovery said it did."""
        for step in ("free it", "take it into the state", "clear it", "refresh it", "the next up takes it up"):
            self.steps[step] += said.count(step)

    def summary(self) -> str:
        rows = [f"  {v:<11} {self.hits[v]:>3} hit, {self.late[v]:>2} after the end" for v in self.left]
        steps = ", ".join(f"{count} × {step}" for step, count in self.steps.items() if count)
        return "\n".join([*rows, f"  recovery: {steps or 'had nothing to do'}"])


def fleet_chain(fleet: Fleet, tally: Tally, longest: float) -> None:
    """Change the claims, kill up to three runs, each of which resumes the one before, then run to the end and look."""
    chance = fleet.chance
    fleet.change()
    for _ in range(chance.randint(1, 3)):
        victim = tally.next(chance)
        if victim is None:
            break
        # A changed third of the claims takes less time than all of them did.
        delay = chance.uniform(0.2, longest / 2)
        code, going = fleet.hit(victim, delay)
        tally.count(victim, going, "")
        say(f"  {victim} after {delay:.1f} s: {'hit' if going else 'late'}, ended with {code}")
    tally.count_steps(fleet.run_to_the_end())
    fleet.check_whole()


def soak_fleet(folder: Path, seed: int, tally: Tally, end: float, opened: state.Opened, *, on_dask: bool) -> None:
    """Chains of kills in a fleet, until every victim was hit often enough or the time is up."""
    with ExitStack() as stack:
        status = stack.enter_context(lab.running(folder / "control-plane"))
        server = stack.enter_context(opened(folder / "server"))
        with_subnet(status)
        rig = Rig(folder / "project", Path(status.kubeconfig), "soakfleet")
        chance = random.Random(seed)
        fleet = Fleet.create(rig, folder / "control-plane", server, chance, setting("STACKS", 4))
        if on_dask:
            env = {**os.environ, **rig.settings}
            fleet.cluster = stack.enter_context(cluster.running(folder / "dask", env, chance))
        took = fleet.begin(setting("CLAIMS", 30))
        fleet.check_whole()
        say(f"{len(fleet.estates)} stacks are deployed, in {took:.1f} s")
        chains(tally, end, seed, lambda: fleet_chain(fleet, tally, took))
        fleet.end()
        rig.close()


def chains(tally: Tally, end: float, seed: int, chain: Callable[[], None]) -> None:
    """One chain after the other, while there is time and something to do."""
    number = 0
    while any(left > 0 for left in tally.left.values()) and time.monotonic() < end:
        number += 1
        say(f"chain {number}:")
        try:
            chain()
        except BaseException:
            say(f"failed in chain {number}; SEED={seed} begins the same again\n{tally.summary()}")
            raise


def chain(estate: Estate, tally: Tally, longest: float) -> None:
    """Change the claims, kill up to three runs, then run to the end and look."""
    chance = estate.chance
    estate.change()
    for _ in range(chance.randint(1, 3)):
        victim = tally.next(chance)
        if victim is None:
            break
        delay = chance.uniform(0.2, longest)
        run, going = estate.hit(victim, delay)
        said = estate.rig.ok(estate.rig.claimsmith("recover", estate.stack, "--yes")).text
        tally.count(victim, going, said)
        say(f"  {victim} after {delay:.1f} s: {'hit' if going else 'late'}, ended with {run.process.returncode}")
    up = estate.rig.ok(estate.rig.up(estate.stack))
    assert "pending operations" not in up.text
    estate.check_whole()


def soak_stack(folder: Path, seed: int, tally: Tally, end: float) -> None:
    """Chains of kills in one stack, until every victim was hit often enough or the time is up."""
    claims = setting("CLAIMS", 30)
    with lab.running(folder / "control-plane") as status:
        with_subnet(status)
        rig = Rig(folder / "project", Path(status.kubeconfig), "soak")
        estate = Estate(rig, folder / "control-plane", random.Random(seed))
        took = estate.begin(claims)
        estate.check_whole()
        say(f"{claims} claims are deployed, in {took:.1f} s")
        chains(tally, end, seed, lambda: chain(estate, tally, took))
        rig.ok(rig.destroy(estate.stack))
        assert estate.live() == Counter(), "something is left after the destroy"
        rig.close()


Part = tuple[Callable[[Path, int, Tally, float], None], tuple[str, ...]]
PARTS: dict[str, Part] = {
    "stack": (soak_stack, VICTIMS),
    "fleet": (partial(soak_fleet, opened=state.table, on_dask=False), HERE),
    "bucket": (partial(soak_fleet, opened=state.bucket, on_dask=False), IN_A_BUCKET),
    "dask": (partial(soak_fleet, opened=state.table, on_dask=True), ON_DASK),
}
"""What each part does, and its victims."""


def wanted_parts() -> dict[str, Part]:
    """The parts that are asked for, with those of their victims that are."""
    names = [n for n in os.environ.get("PARTS", "").split(",") if n] or list(PARTS)
    victims = [v for v in os.environ.get("VICTIMS", "").split(",") if v]
    every = {v for _, known in PARTS.values() for v in known}
    for kind, unknown, known in (("part", set(names) - PARTS.keys(), PARTS), ("victim", set(victims) - every, every)):
        if unknown:
            sys.exit(f"no such {kind}: {', '.join(sorted(unknown))}; use some of: {', '.join(sorted(known))}")
    found = {n: (PARTS[n][0], tuple(v for v in PARTS[n][1] if not victims or v in victims)) for n in names}
    return {name: part for name, part in found.items() if part[1]}


def main() -> None:
    toolchain.require(*toolchain.NAMES)
    seed = setting("SEED", secrets.randbits(32))
    parts = wanted_parts()
    say(f"SEED={seed}")
    begun = time.monotonic()
    minutes, every = setting("MINUTES", 90), sum(len(victims) for _, victims in parts.values())
    for name, (soak, victims) in parts.items():
        say(f"{name}:")
        tally = Tally(victims, setting("MOMENTS", 25))
        end = time.monotonic() + 60 * minutes * len(victims) / every
        with tempfile.TemporaryDirectory(prefix="claimsmith-soak-") as folder:
            try:
                soak(Path(folder), seed, tally, end)
            except AssertionError:
                traceback.print_exc()
                sys.exit(1)
        say(f"{name}: all whole after {(time.monotonic() - begun) / 60:.0f} minutes\n{tally.summary()}")
        if left := {v: n for v, n in tally.left.items() if n > 0}:
            say("  time was up; still to do: " + ", ".join(f"{n} × {v}" for v, n in left.items()))


if __name__ == "__main__":
    main()
