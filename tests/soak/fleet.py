"""Many stacks, their state in a PostgreSQL server, and kills of any part: the scheduler and the server too."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from claimsmith import lab
from claimsmith.base.errors import ControlPlaneError
from claimsmith.lab import postgresql
from tests.e2e.faults import PROGRAMS, Estate
from tests.e2e.rig import Ran, Rig, eventually
from tests.support.processes import processes

VICTIMS = ("scheduler", "engine", "program", "provider", "api-server", "database")
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
    server: Path
    """The folder of the PostgreSQL server that has the state."""
    chance: random.Random
    estates: list[Estate]
    unfinished: bool = False
    """Whether the last run was killed, or failed: the next one resumes it."""

    @classmethod
    def create(cls, rig: Rig, control_plane: Path, server: Path, chance: random.Random, stacks: int) -> Fleet:
        """A project whose state is in the server; nothing is deployed yet."""
        found = postgresql.status(server)
        url = f"postgres://{found.user}@{found.host}:{found.port}/postgres?sslmode=disable&table=soak"
        settings = (rig.root / "Pulumi.yaml").read_text()
        rig.write("Pulumi.yaml", settings.replace("file://./.claimsmith/state", url))
        rig.settings["PGPASSWORD"] = found.password_file.read_text().strip()
        names = [f"s{number}" for number in range(stacks)]
        estates = [Estate(rig, control_plane, chance, name, namespace=f"{rig.name}-{name}") for name in names]
        return cls(rig, control_plane, server, chance, estates)

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
        return ["up", *which, "--parallel", str(PARALLEL), "--allow-destructive", "--lock-timeout", "5m", "--yes"]

    def _kill(self, victim: str, process: subprocess.Popen[bytes]) -> bool:
        """Kill a part as soon as it is there; tells whether the run was still going on."""
        while process.poll() is None:
            if victim == "scheduler":
                process.kill()
                return True
            if victim == "database":
                self.restart_database()
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

    def restart_database(self) -> None:
        """Kill the server with all that it was told to do, and start it again."""
        pid = postgresql.status(self.server).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        time.sleep(self.chance.uniform(0.0, 2.0))
        # Until its last session has ended, too, the data is in use.
        eventually(self._database_up)

    def _database_up(self) -> bool:
        try:
            return postgresql.up(self.server).running
        except ControlPlaneError:
            return False

    def _parts(self, victim: str) -> list[int]:
        here = [(pid, command) for pid, _, command, cwd in processes() if cwd.is_relative_to(self.rig.root)]
        if victim == "engine":
            return sorted(pid for pid, command in here if "pulumi up --stack" in command)
        return sorted(pid for pid, command in here if PROGRAMS[victim] in command)

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

    def end(self) -> None:
        """Destroy everything."""
        ran = self.rig.claimsmith("destroy", "--all", "--allow-destructive", "--yes")
        assert ran.code in _DONE, ran.text
        for estate in self.estates:
            assert not estate.live(), "something is left after the destroy"
