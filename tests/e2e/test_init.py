"""A new project, as `claimsmith init` makes it, deployed by the real engine with the commands that its README names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith import toolchain
from claimsmith.project import workspace
from claimsmith.project.project import Project
from tests.support.samples import cloned

pytestmark = pytest.mark.e2e
CLAIMSMITH = (sys.executable, "-m", "claimsmith.cli")
PIP = (sys.executable, "-m", "pip")
SOMEBODY = {
    f"GIT_{who}_{what}": "somebody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "my-platform"
    run(tmp_path, *CLAIMSMITH, "init", str(folder))
    # What `make` would install from the package index is what these tests run with.
    (folder / ".venv").symlink_to(sys.prefix)
    yield folder
    subprocess.run([*CLAIMSMITH, "local", "down", "--wipe", "--yes"], cwd=folder, check=True)


def run(folder: Path, *command: str, **environment: str) -> str:
    # An activated environment of the developer's is not the project's.
    mine = ("VIRTUAL_ENV", "PYTHONPATH", "CLAIMSMITH_PYTHON", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    env = {**{name: value for name, value in os.environ.items() if name not in mine}, **environment}
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


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Path]:
    """A new project, made by a claimsmith that came as a wheel into an empty environment."""
    source = cloned(tmp_path / "source")
    run(source, *PIP, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), ".")
    (wheel,) = tmp_path.glob("*.whl")
    run(tmp_path, sys.executable, "-m", "venv", "installed")
    run(tmp_path, "installed/bin/python", "-m", "pip", "install", "-q", str(wheel))
    run(tmp_path, "installed/bin/claimsmith", "init", "shop")
    yield tmp_path / "shop"
    run(tmp_path / "shop", ".venv/bin/claimsmith", "local", "down", "--wipe", "--yes")


@pytest.mark.timeout(1800)
def test_a_project_made_by_an_installed_wheel_checks_itself_deploys_and_can_be_cloned(shop: Path) -> None:
    toolchain.require(*toolchain.NAMES)
    (wheel,) = shop.parent.glob("*.whl")
    assert f"claimsmith[lab] @ {wheel.as_uri()}" in (shop / "requirements.txt").read_text(encoding="utf-8")
    run(shop, "git", "init", "-q")
    run(shop, "git", "add", "--all")
    run(shop, "git", "commit", "-q", "-m", "a new project", **SOMEBODY)
    assert "3 passed" in run(shop, "make", "check", f"PYTHON={sys.executable}")
    deployed = run(shop, "make", "up")
    assert [line.split()[1:4] for line in deployed.splitlines() if line.startswith("Database ")] == [
        ["default/orders", "small-database", "Bound"]
    ]
    # It runs what was installed there, not this checkout, and can build the engine from what came with it.
    told = run(shop, ".venv/bin/python", "-c", "from claimsmith.toolchain import parts; print(parts.modules_folder())")
    assert Path(told.strip()).is_relative_to(shop / ".venv")
    assert run(shop, "git", "status", "--short") == ""
    run(shop, "git", "clone", "-q", ".", "../colleague")
    (shop.parent / "colleague" / ".venv").symlink_to(shop / ".venv")
    select = 'eval "$(.venv/bin/claimsmith env)" && pulumi stack select dev --create --non-interactive'
    run(shop.parent / "colleague", "bash", "-c", select)
    assert run(shop.parent / "colleague", "git", "status", "--short") == ""
    assert "stopped" in run(shop, "bash", "-c", "make down 2>&1")
