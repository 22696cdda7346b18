"""Kills parts of runs of many claims at random moments: one stack on files, then a fleet whose state is in PostgreSQL.

A chain of one to three kills, each followed by the documented recovery, then a whole run: it must end with exactly the
wanted resources. Prints its seed, stops by itself, and sums up. Settings come from the environment:

    SEED=…       the same choices again (the moments are as exact as the machine's clock)
    MINUTES=90   no new chain is begun after that
    MOMENTS=25   kills for each victim
    CLAIMS=30    claims in the stack
    STACKS=4     stacks of the fleet, which share the claims
    PARTS=stack,fleet         one of the two; each has half of the minutes
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
from pathlib import Path

from claimsmith import lab, toolchain
from claimsmith.lab import postgresql
from tests.e2e.conftest import with_subnet
from tests.e2e.faults import VICTIMS, Estate
from tests.e2e.rig import Rig
from tests.soak.fleet import VICTIMS as fleet_victims
from tests.soak.fleet import Fleet


def setting(name: str, usual: int) -> int:
    return int(os.environ.get(name) or usual)


def say(text: str) -> None:
    print(text, flush=True)


class Tally:
    """How often each victim was hit, and what came of it."""

    def __init__(self, victims: list[str], moments: int) -> None:
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


def soak_fleet(folder: Path, seed: int, minutes: float) -> Tally:
    tally = Tally(wanted_victims(fleet_victims), setting("MOMENTS", 25))
    end = time.monotonic() + 60 * minutes
    with lab.running(folder / "control-plane") as status, postgresql.running(folder / "server"):
        with_subnet(status)
        rig = Rig(folder / "project", Path(status.kubeconfig), "soakfleet")
        chance = random.Random(seed)
        fleet = Fleet.create(rig, folder / "control-plane", folder / "server", chance, setting("STACKS", 4))
        took = fleet.begin(setting("CLAIMS", 30))
        fleet.check_whole()
        say(f"{len(fleet.estates)} stacks are deployed, in {took:.1f} s")
        number = 0
        while any(left > 0 for left in tally.left.values()) and time.monotonic() < end:
            number += 1
            say(f"chain {number} of the fleet:")
            try:
                fleet_chain(fleet, tally, took)
            except BaseException:
                say(f"failed in chain {number} of the fleet; SEED={seed} begins the same again\n{tally.summary()}")
                raise
        fleet.end()
        rig.close()
    return tally


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


def wanted_victims(known: tuple[str, ...]) -> list[str]:
    """The victims of a part that are asked for."""
    every = {*VICTIMS, *fleet_victims}
    named = [v for v in os.environ.get("VICTIMS", "").split(",") if v]
    if unknown := sorted(set(named) - every):
        sys.exit(f"no such victim: {', '.join(unknown)}; use some of: {', '.join(sorted(every))}")
    return [v for v in known if not named or v in named]


def soak(folder: Path, seed: int, minutes: float) -> Tally:
    claims = setting("CLAIMS", 30)
    tally = Tally(wanted_victims(VICTIMS), setting("MOMENTS", 25))
    end = time.monotonic() + 60 * minutes
    with lab.running(folder / "control-plane") as status:
        with_subnet(status)
        rig = Rig(folder / "project", Path(status.kubeconfig), "soak")
        estate = Estate(rig, folder / "control-plane", random.Random(seed))
        took = estate.begin(claims)
        estate.check_whole()
        say(f"{claims} claims are deployed, in {took:.1f} s")
        number = 0
        while any(left > 0 for left in tally.left.values()) and time.monotonic() < end:
            number += 1
            say(f"chain {number}:")
            try:
                chain(estate, tally, took)
            except BaseException:
                say(f"failed in chain {number}; SEED={seed} begins the same again\n{tally.summary()}")
                raise
        rig.ok(rig.destroy(estate.stack))
        assert estate.live() == Counter(), "something is left after the destroy"
        rig.close()
    return tally


def main() -> None:
    toolchain.require(*toolchain.NAMES)
    seed = setting("SEED", secrets.randbits(32))
    say(f"SEED={seed}")
    begun = time.monotonic()
    parts = {name: PARTS[name] for name in (os.environ.get("PARTS") or ",".join(PARTS)).split(",")}
    for name, part in parts.items():
        with tempfile.TemporaryDirectory(prefix="claimsmith-soak-") as folder:
            try:
                tally = part(Path(folder), seed, setting("MINUTES", 90) / len(parts))
            except AssertionError:
                traceback.print_exc()
                sys.exit(1)
        left = {v: n for v, n in tally.left.items() if n > 0}
        say(f"{name}: all whole after {(time.monotonic() - begun) / 60:.0f} minutes\n{tally.summary()}")
        if left:
            say("  time was up; still to do: " + ", ".join(f"{n} × {v}" for v, n in left.items()))


PARTS = {"stack": soak, "fleet": soak_fleet}


if __name__ == "__main__":
    main()
