"""Many stacks, their state in a server, on this machine or on a Dask cluster, and kills of any part."""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from claimsmith import lab
from tests.e2e.faults import PROGRAMS, Estate, left_in
from tests.e2e.rig import Ran, Rig, eventually
from tests.soak import cluster
from tests.soak.cluster import Cluster
from tests.soak.state import StateServer
from tests.support.processes import processes

HERE = ("scheduler", "engine", "program", "provider", "api-server", "database")
"""The victims of a fleet on this machine, whose state is in PostgreSQL; `scheduler` is `claimsmith up`."""
IN_A_BUCKET = ("scheduler", "engine", "bucket")
ON_DASK = ("scheduler", "guardian", "engine", "database", *cluster.VICTIMS)
PARALLEL = 2
_DONE = (0, 10, 11)
"""The exit codes of a run in which no stack failed."""
_TRIES = 4
"""How often the documented recovery may be needed: a stack that another one waited for may need it too."""


@dataclass
class Fleet:
    """Some stacks of one project, each with claims in a namespace of its own."""

    rig: Rig
    control_plane: Path
    state: StateServer
    chance: random.Random
    estates: list[Estate]
    cluster: Cluster | None = None
    """What the stacks run on; None for this machine."""
    unfinished: bool = False
    """Whether the last run was killed, or failed: the next one resumes it."""

    @classmethod
    def create(cls, rig: Rig, control_plane: Path, state: StateServer, chance: random.Random, stacks: int) -> Fleet:
        """A project whose state is in the server; nothing is deployed yet."""
        settings = (rig.root / "Pulumi.yaml").read_text()
        rig.write("Pulumi.yaml", settings.replace("file://./.claimsmith/state", state.url))
        rig.settings |= state.settings | {"PULUMI_CONFIG_PASSPHRASE": secrets.token_hex(8)}
        names = [f"s{number}" for number in range(stacks)]
        estates = [Estate(rig, control_plane, chance, name, namespace=f"{rig.name}-{name}") for name in names]
        return cls(rig, control_plane, state, chance, estates)

    def begin(self, claims: int) -> float:
        """Deploy so many claims in all; gives how long it took."""
        for estate in self.estates:
            estate.prepare(max(1, claims // len(self.estates)))
        begun = time.monotonic()
        self.run_to_the_end()
        return time.monotonic() - begun

    def change(self) -> None:
        """Change the claims of every stack."""
        for estate in self.estates:
            estate.change()

    def hit(self, victim: str, delay: float) -> tuple[int, bool]:
        """Begin or resume a run, and kill the victim after a while; the exit code, and whether the run went on then."""
        log = self.rig.root / ".claimsmith" / "soak.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "claimsmith.cli", *self._words()],
                cwd=self.rig.root,
                env={**os.environ, **self.rig.settings},
                stdout=output,
                stderr=output,
            )
        with process:
            end = time.monotonic() + delay
            while time.monotonic() < end and process.poll() is None:
                time.sleep(0.01)
            going = self._kill(victim, process)
            code = process.wait()
        self.unfinished = code not in _DONE
        return code, going

    def _words(self) -> list[str]:
        which = ["--resume"] if self.unfinished else ["--all"]
        where = ["--executor", self.cluster.executor()] if self.cluster else []
        how = ["--parallel", str(PARALLEL), "--allow-destructive", "--lock-timeout", "5m", "--yes"]
        return ["up", *which, *where, *how]

    def _kill(self, victim: str, process: subprocess.Popen[bytes]) -> bool:
        """Kill a part as soon as it is there; tells whether the run was still going on."""
        while process.poll() is None:
            if victim == "scheduler":
                process.kill()
                return True
            if victim in ("database", "bucket"):
                self.restart_state()
                return True
            if self.cluster and victim in cluster.VICTIMS:
                self.cluster.kill(victim)
                return True
            if victim == "api-server":
                parts = {p.name: p.pid for p in lab.status(self.control_plane).parts}
                os.kill(parts["kube-apiserver"], signal.SIGKILL)
                lab.up(self.control_plane)
                return True
            if found := self._parts(victim):
                with suppress(ProcessLookupError):
                    os.kill(self.chance.choice(found), signal.SIGKILL)
                    return True
            time.sleep(0.02)
        return False

    def restart_state(self) -> None:
        """Kill the server of the state with all its work in progress, and start it again."""
        self.state.kill()
        time.sleep(self.chance.uniform(0.0, 2.0))
        self.state.start()

    def _parts(self, victim: str) -> list[int]:
        here = [(pid, command) for pid, _, command, cwd in processes() if any(map(cwd.is_relative_to, self._places()))]
        # On a worker, an engine's command is its guardian's too.
        guarded = [(pid, command, "guardian.py" in command) for pid, command in here if "pulumi up --stack" in command]
        if victim in ("engine", "guardian"):
            return sorted(pid for pid, _, guards in guarded if guards == (victim == "guardian"))
        return sorted(pid for pid, command in here if PROGRAMS[victim] in command)

    def _places(self) -> list[Path]:
        """The folders that the engines run in."""
        return [self.rig.root, *([self.cluster.folder] if self.cluster else [])]

    def run_to_the_end(self) -> str:
        """Run or resume until every stack is done, with the documented recovery in between; gives what that said."""
        said = ""
        for _ in range(_TRIES):
            ran = self.rig.claimsmith(*self._words(), "--output", "json")
            said += ran.err
            self.unfinished = ran.code not in _DONE
            if not self.unfinished:
                return said
            said += self.recover(ran)
        raise AssertionError(f"not every stack is done after {_TRIES} runs:\n{said}")

    def recover(self, ran: Ran) -> str:
        """Recover each stack that failed, as docs/guides/fleet.md says."""
        rows = json.loads(ran.out)["stacks"] if ran.out else []
        failed = [row["stack"] for row in rows if row["state"] == "failed"]
        # `pulumi cancel` removes the lock of a running engine too: those that outlived the scheduler end first.
        eventually(lambda: not self._parts("engine"))
        said = ""
        for stack in failed:
            self.rig.pulumi("cancel", "--stack", stack, "--yes")
            said += self.rig.ok(self.rig.claimsmith("recover", stack, "--yes")).text
        return said

    def check_whole(self) -> None:
        """Exactly the wanted resources in every stack, and nothing that a further run would change."""
        for estate in self.estates:
            estate.check_whole()
        ran = self.rig.claimsmith("preview", "--all", "--parallel", str(PARALLEL), "--output", "json")
        assert ran.code == 0, ran.text
        if self.cluster:
            for files in self.cluster.folder.glob("*/worker-*/files"):
                eventually(lambda files=files: left_in(files) == [])

    def end(self) -> None:
        """Destroy everything."""
        ran = self.rig.claimsmith("destroy", "--all", "--allow-destructive", "--yes")
        assert ran.code in _DONE, ran.text
        for estate in self.estates:
            assert not estate.live(), "something is left after the destroy"
