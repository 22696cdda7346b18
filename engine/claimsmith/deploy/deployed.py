"""What the stack's state holds. The engine does not pass it to a program, so `pulumi stack export` is run.

It runs beside the planning, so that a preview without changes hardly waits for it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claimsmith.base.errors import DeployError, Problem
from claimsmith.base.names import ObjectKey
from claimsmith.project import checkpoint
from claimsmith.project.checkpoint import HeldObject

TIMEOUT_SECONDS = 60.0
_CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Held:
    """The objects that the state holds."""

    objects: tuple[HeldObject, ...]

    def within(self, cluster: str, targets: Set[str]) -> dict[ObjectKey, str]:
        """The URNs of the objects in a target cluster, by its identity, or with no identity in the stack's own.

        `targets` are the identities of all target clusters: other providers lead to the stack's own.
        """
        names = {f"{_CLUSTER}/{target}" for target in ({cluster} if cluster else targets)}
        return {o.key: o.urn for o in self.objects if (o.provider in names) is bool(cluster)}

    @property
    def owned(self) -> frozenset[tuple[ObjectKey, str]]:
        """What the state holds in any cluster, with its owners."""
        return frozenset((o.key, o.owner) for o in self.objects)


class Reading:
    """The state of a stack, being read in the background."""

    def __init__(self, root: Path, stack: str) -> None:
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="state")
        self._done: Future[Held] = pool.submit(read, root, stack)
        pool.shutdown(wait=False)

    def result(self) -> Held:
        """What the state holds; raises where it cannot be read."""
        return self._done.result()


def read(root: Path, stack: str) -> Held:
    """What the state of a stack holds, by its whole name: organization, project and stack."""
    command = ["pulumi", "stack", "export", "--stack", stack, "--non-interactive"]
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True
        )
        state: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        what = f"the state of {stack} cannot be read: {_reason(error)}"
        raise DeployError(Problem(what, fix="make sure that this works: pulumi stack export")) from error
    return Held(tuple(checkpoint.held(state)))


def _reason(error: Exception) -> str:
    output = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
    return str(output or error).strip().removeprefix("error: ")
