"""A new project, as `claimsmith init` makes it, deployed by the real engine with the commands that its README tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith import toolchain, workspace
from claimsmith.project import Project

pytestmark = pytest.mark.e2e
CLAIMSMITH = (sys.executable, "-m", "claimsmith.cli")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "my-platform"
    run(tmp_path, *CLAIMSMITH, "init", str(folder))
    # What `make` would install from the package index is what these tests run with.
    (folder / ".venv").symlink_to(sys.prefix)
    yield folder
    subprocess.run([*CLAIMSMITH, "local", "down", "--wipe", "--yes"], cwd=folder, check=True)


def run(folder: Path, *command: str, **environment: str) -> str:
    env = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_project_is_deployed_with_a_new_claim_and_removed(project: Path) -> None:
    toolchain.require(*toolchain.NAMES)
    settings = workspace.environment(Project(project))
    run(project, *CLAIMSMITH, "local", "up", "--stack", "dev")
    run(project, "pulumi", "stack", "select", "dev", "--create", "--non-interactive", **settings)
    up = ("pulumi", "up", "--stack", "dev", "--yes", "--skip-preview", "--suppress-outputs", "--non-interactive")
    run(project, *up, **settings)
    (claim,) = json.loads(run(project, *CLAIMSMITH, "status", "dev", "-o", "json"))
    assert claim["claim"] == "Database.platform.example.org/default/orders"
    assert claim["phase"] == "Bound"
    assert [r["kind"] for r in claim["resources"]] == ["ResourceGroup", "MySQLServer"]
    assert {"endpoint", "password", "username"} <= set(claim["connectionSecret"]["keys"])
    run(project, *up, "--expect-no-changes", **settings)
    run(project, *CLAIMSMITH, "new", "claim", "Database/default/carts", "--set", "storageGB=30")
    run(project, *CLAIMSMITH, "bind", "dev")
    run(project, *up, **settings)
    claims = json.loads(run(project, *CLAIMSMITH, "status", "dev", "-o", "json"))
    assert [(c["claim"].rpartition("/")[2], c["phase"]) for c in claims] == [("carts", "Bound"), ("orders", "Bound")]
    run(project, "pulumi", "destroy", "--stack", "dev", "--yes", "--skip-preview", "--non-interactive", **settings)
