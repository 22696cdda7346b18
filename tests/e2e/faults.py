"""Killing parts of a run with SIGKILL at some moment, and what must be true after the recovery and the next run."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claimsmith import lab
from claimsmith.lab.behaviour import READY_AFTER
from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import RESOURCE_GROUP, RULE, SERVER, Rig, eventually
from tests.support.processes import processes

VICTIMS = ("engine", "program", "provider", "api-server")
KINDS = (RESOURCE_GROUP, SERVER, RULE)
KEYS = {"endpoint", "password", "port", "username"}
PROGRAMS = {"program": "language_host.py", "provider": "pulumi-resource-kubernetes"}
_CHILDREN_OF_A_CLAIM = 3


class Run:
    """A `pulumi up` in the background."""

    def __init__(self, rig: Rig, stack: str, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.log = rig.root / ".claimsmith" / "run.log"
        environment = rig.environment | (env or {})
        command = ["pulumi", "up", "--stack", stack, "--yes", "--skip-preview", "--non-interactive", *arguments]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=rig.root, env=environment, stdout=log, stderr=log)

    @property
    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def part(self, name: str) -> int | None:
        """The process that plays a part in this run, if it is there yet."""
        if name == "engine":
            return self.process.pid
        return next((pid for pid, command in children(self.process.pid) if PROGRAMS[name] in command), None)

    def kill(self, name: str) -> bool:
        """Kill a part as soon as it is there; tells whether the run was still going on."""
        while self.process.poll() is None:
            pid = self.part(name)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                return True
            time.sleep(0.02)
        return False

    def ended(self) -> int:
        """The exit code, when the run has ended; it does not outlive a test that is ended itself."""
        with self.process:
            try:
                return self.process.wait()
            except BaseException:
                self.process.kill()
                raise


def children(parent: int) -> list[tuple[int, str]]:
    """The processes that one started, with their command lines."""
    return [(pid, command) for pid, ppid, command, _ in processes() if ppid == parent]


def left_in(folder: Path) -> list[str]:
    """What still runs in a project's folder."""
    return [f"{pid} {command}" for pid, _, command, cwd in processes() if cwd.is_relative_to(folder)]


@dataclass
class Estate:
    """Some claims of one stack, whose files a test changes, and what they must have become."""

    rig: Rig
    control_plane: Path
    """The folder of the local control plane."""
    chance: random.Random
    stack: str = "dev"
    sizes: dict[str, int] = field(default_factory=dict)
    """The wanted storage of each claim."""
    passwords: dict[str, str] = field(default_factory=dict)
    namespace: str = ""
    """Where the claims are; by default, one of the project's name."""

    def __post_init__(self) -> None:
        self.namespace = self.namespace or self.rig.name

    def prepare(self, count: int, *, seconds: int = 0) -> None:
        """Write so many claims, ready to be deployed; the first resource of each takes so long to become ready."""
        self.rig.namespace(self.namespace)
        self._write_class(seconds)
        self.set({f"c{i}": 10 for i in range(count)})
        self.rig.prepare(self.stack)

    def hurry(self) -> None:
        """Let the next run wait for nothing: what `prepare` held back becomes ready as soon as it is deployed."""
        self._write_class(0)
        self.rig.ok(self.rig.claimsmith("accept", "--yes"))

    def _write_class(self, seconds: int) -> None:
        klass = private_mysql()
        ready_after = {READY_AFTER: f"{seconds}s"}
        klass["spec"]["resources"][0]["base"]["metadata"] = {"annotations": ready_after if seconds else {}}
        self.rig.write("components/private-mysql-server/class.yaml", klass)

    def release(self, count: int) -> None:
        """Let so many first resources, as soon as they are there, become ready at once."""
        live = eventually(
            lambda: len(found := self.rig.live(RESOURCE_GROUP, namespace=self.namespace)) == count and found
        )
        for one in live:
            self.rig.patch(RESOURCE_GROUP, one["metadata"]["name"], {"metadata": {"annotations": {READY_AFTER: "0s"}}})

    def begin(self, count: int) -> float:
        """Deploy so many claims; gives how long it took."""
        self.prepare(count)
        begun = time.monotonic()
        self.rig.ok(self.rig.up(self.stack))
        return time.monotonic() - begun

    def set(self, sizes: dict[str, int]) -> None:
        """Make these the claims."""
        for name in self.sizes.keys() - sizes.keys():
            self.rig.remove(f"stacks/{self.stack}/claims/{name}.yaml")
        for name, size in sizes.items():
            self.rig.write(f"stacks/{self.stack}/claims/{name}.yaml", claim(self.namespace, name=name, storageGB=size))
        self.sizes = dict(sizes)

    def change(self) -> None:
        """Remove a third of the claims, change a third, and bring as many new ones as went."""
        names = sorted(self.sizes)
        self.chance.shuffle(names)
        third = max(1, len(names) // 3)
        gone, changed, same = names[:third], names[third : 2 * third], names[2 * third :]
        fresh = [f"n{self.chance.randrange(10**9)}" for _ in gone]
        sizes = {name: self.sizes[name] for name in same} | {name: self.sizes[name] + 1 for name in changed}
        self.set(sizes | dict.fromkeys(fresh, 10))
        self.rig.ok(self.rig.claimsmith("bind", self.stack))

    def hit(self, victim: str, delay: float) -> tuple[Run, bool]:
        """Begin a run and kill the victim after a while; ends when the run has ended and the cluster answers."""
        run = Run(self.rig, self.stack)
        end = time.monotonic() + delay
        while time.monotonic() < end and run.process.poll() is None:
            time.sleep(0.01)
        if victim == "api-server":
            going = run.process.poll() is None
            parts = {p.name: p.pid for p in lab.status(self.control_plane).parts}
            os.kill(parts["kube-apiserver"], signal.SIGKILL)
            lab.up(self.control_plane)
        else:
            going = run.kill(victim)
        run.ended()
        return run, going

    def wanted(self) -> Counter[tuple[str, str]]:
        """Kind and name of all that the claims make, as it is rendered."""
        ran = self.rig.ok(self.rig.claimsmith("render", self.stack, "--output", "json"))
        return Counter((d["kind"], d["metadata"]["name"]) for d in json.loads(ran.out)["items"])

    def live(self) -> Counter[tuple[str, str]]:
        """Kind and name of all objects in the cluster that carry the stack's name."""
        head = f"{self.rig.name}/{self.stack}/"
        found = [o for kind in KINDS for o in self.rig.live(kind)] + self._secrets()
        mine = [
            o for o in found if (o["metadata"].get("annotations") or {}).get("claimsmith.io/owner", "").startswith(head)
        ]
        return Counter((o["kind"], o["metadata"]["name"]) for o in mine)

    def _secrets(self) -> list[dict[str, Any]]:
        from lightkube.resources.core_v1 import Secret

        return [{**s.to_dict(), "kind": "Secret"} for s in self.rig.client.list(Secret, namespace=self.namespace)]

    def state(self) -> dict[str, Any]:
        deployment: dict[str, Any] = json.loads(
            self.rig.ok(self.rig.pulumi("stack", "export", "--stack", self.stack)).out
        )["deployment"]
        return deployment

    def check_whole(self) -> None:
        """Exactly the wanted resources, in cluster and state alike; every Secret whole and, once given, kept."""
        wanted = self.wanted()
        assert len(wanted) == len(self.sizes) * (_CHILDREN_OF_A_CLAIM + 1)
        assert eventually(lambda: self.live() == wanted or None), f"live but not wanted: {self.live() - wanted}"
        deployment = self.state()
        assert deployment.get("pending_operations", []) == []
        urns = [r["urn"] for r in deployment["resources"]]
        assert len(urns) == len(set(urns))
        ids = Counter(
            (r["inputs"]["kind"], r["id"].rpartition("/")[2])
            for r in deployment["resources"]
            if r["custom"] and "apiVersion" in r["inputs"]
        )
        assert ids == wanted
        assert [r["urn"] for r in deployment["resources"] if r.get("initErrors") or r.get("delete")] == []
        for name in self.sizes:
            values = self.rig.secret_values(self.namespace, name)
            assert values.keys() == KEYS
            assert self.passwords.setdefault(name, values["password"]) == values["password"], "the password changed"
            assert not any(values["password"] in text for text in self.rig.printed), "the password was printed"
        sizes = {o["metadata"]["labels"]["resourceclaim.crossplane.io/name"]: o for o in self._servers()}
        assert {n: o["spec"]["forProvider"]["storageProfile"]["storageMB"] for n, o in sizes.items()} == {
            name: size * 1024 for name, size in self.sizes.items()
        }
        assert eventually(lambda: left_in(self.rig.root) == [] or None), left_in(self.rig.root)

    def _servers(self) -> list[dict[str, Any]]:
        return self.rig.live(SERVER, namespace=self.namespace)

    def mend(self) -> None:
        """Recover and run again."""
        self.rig.ok(self.rig.claimsmith("recover", self.stack, "--yes"))
        assert "nothing to recover" in self.rig.ok(self.rig.claimsmith("recover", self.stack)).text
        up = self.rig.ok(self.rig.up(self.stack))
        assert "pending operations" not in up.text
        assert "Traceback" not in up.text
