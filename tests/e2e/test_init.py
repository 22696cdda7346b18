"""The first hour, from a wheel in an empty environment: what a new user types, outside of this repository."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith import toolchain
from tests.support.paths import ROOT
from tests.support.samples import cloned
from tests.support.sdks import large

pytestmark = pytest.mark.e2e
PIP = (sys.executable, "-m", "pip")
SOMEBODY = {
    f"GIT_{who}_{what}": "somebody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


MINE = ("VIRTUAL_ENV", "PYTHONPATH", "CLAIMSMITH_PYTHON", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
"""An activated environment of the developer's is not the project's."""
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.search(r"```console\n(\$ pip install .*?)```", README, re.DOTALL)
PREVIEW = """\
import json, runpy
import pulumi
from pulumi.runtime import mocks

class Cloud(mocks.Mocks):
    seen = []
    def call(self, args):
        raise AssertionError(args.token)
    def new_resource(self, args):
        self.seen.append(args.typ)
        return f"{args.name}-id", dict(args.inputs)

mocks.set_mocks(Cloud(), project="shop", stack="dev", preview=True)
pulumi.runtime.test(lambda: runpy.run_path("stacks/__main__.py", run_name="__main__") and None)()
print(json.dumps(Cloud.seen))
"""
"""Runs the stack's program as the engine does, on Pulumi's mocks; prints the types that it registers."""


def run(folder: Path, *command: str, **environment: str) -> str:
    env = {**{name: value for name, value in os.environ.items() if name not in MINE}, **SOMEBODY, **environment}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = cloned(folder / "source")
    run(source, *PIP, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), ".")
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def hour(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a new user, whose shell finds an empty environment first."""
    folder = tmp_path_factory.mktemp("hour")
    run(folder, sys.executable, "-m", "venv", "installed")
    return folder


def typed(hour: Path, folder: Path, command: str) -> str:
    """What a command prints that the user types into the shell."""
    path = f"{hour}/installed/bin{os.pathsep}{os.environ['PATH']}"
    return run(folder, "bash", "-c", command, PATH=path)


def shown() -> tuple[list[str], str]:
    """The commands in the README, and what the last one prints at its end."""
    assert SHOWN
    commands, _, output = SHOWN[1].partition("…\n")
    return [line.removeprefix("$ ") for line in commands.splitlines()], output


def test_five_commands_are_enough() -> None:
    commands, _ = shown()
    assert [shlex.split(c)[:2] for c in commands] == [
        ["pip", "install"],
        ["claimsmith", "init"],
        ["claimsmith", "new"],
        ["claimsmith", "new"],
        ["make", "up"],
    ]


@pytest.fixture(scope="module")
def shop(hour: Path, wheel: Path) -> Iterator[tuple[Path, str]]:
    """The project of the README's five commands, and what the last of them printed. No file is written by hand."""
    toolchain.require(*toolchain.USES["postgresql"])
    install, init, *rest = shown()[0]
    typed(hour, hour, install.replace("claimsmith[lab]", f"claimsmith[lab] @ {wheel.as_uri()}"))
    typed(hour, hour, init)
    folder = hour / "shop"
    *written, up = rest
    for command in written:
        typed(hour, folder, command)
    try:
        yield folder, typed(hour, folder, f"{up} PYTHON={sys.executable}")
    finally:
        typed(hour, folder, "claimsmith local down --wipe --yes")


@pytest.mark.timeout(1800)
def test_an_own_class_is_deployed_on_postgresql(hour: Path, wheel: Path, shop: tuple[Path, str]) -> None:
    folder, printed = shop
    table = [line.rstrip() for line in shown()[1].splitlines()]
    assert [line.rstrip() for line in printed.splitlines()][-len(table) :] == table
    requirements = (folder / "requirements.txt").read_text(encoding="utf-8")
    assert f"claimsmith[lab] @ {wheel.as_uri()}" in requirements
    # It runs what was installed there, not this checkout, and can build the engine from what came with it.
    modules = "from claimsmith.toolchain import parts; print(parts.modules_folder())"
    assert Path(run(folder, ".venv/bin/python", "-c", modules).strip()).is_relative_to(folder / ".venv")
    # The database is real: a login with the credentials of the example claim.
    uri = typed(hour, folder, "claimsmith connection dev orders --format uri").strip()
    psql = "from claimsmith.lab import postgresql; print(postgresql.psql())"
    client = run(folder, ".venv/bin/python", "-c", psql).strip()
    query = "SELECT count(*) FROM pg_database WHERE datname = 'invoices'"
    assert run(folder, client, uri, "-tAc", query, PGSSLMODE="disable").strip() == "1"
    # Nothing of the deployment is tracked, and what was added is reviewed against the first commit.
    assert "Pulumi.dev" not in run(folder, "git", "status", "--short", "--untracked-files=all")
    assert "invoices" in run(folder, "bash", "-c", "make review BASE=main 2>&1; cat .claimsmith/review/review.md")
    run(folder, "make", "record")
    assert "3 passed" in run(folder, "make", "check")
    run(folder, "git", "add", "--all")
    run(folder, "git", "commit", "-q", "-m", "An archive")
    run(folder, "git", "clone", "-q", ".", "../colleague")
    (hour / "colleague" / ".venv").symlink_to(folder / ".venv")
    select = 'eval "$(.venv/bin/claimsmith env)" && pulumi stack select dev --create --non-interactive'
    run(hour / "colleague", "bash", "-c", select)
    assert run(hour / "colleague", "git", "status", "--short") == ""


@pytest.mark.timeout(1800)
def test_a_crossplane_definition_is_deployed_on_the_local_control_plane(hour: Path, shop: tuple[Path, str]) -> None:
    toolchain.require(*toolchain.USES["kubernetes"])
    typed(hour, hour, "claimsmith init queues --crossplane")
    folder = hour / "queues"
    # What `make` would install is there already, in the environment of the first project.
    (folder / ".venv").symlink_to(shop[0] / ".venv")
    kind = "platform.example.org/v1alpha1/Queue"
    typed(hour, folder, f"claimsmith new definition {kind} --field 'size:small|large' --field retentionDays:integer=4")
    typed(hour, folder, f"claimsmith new class queue --claim {kind} --makes sqs.aws.m.upbound.io/v1beta1/Queue")
    typed(hour, folder, "claimsmith new claim Queue/shop/mails --create-namespace")
    try:
        typed(hour, folder, "make -o .venv/.installed up")
        claims = json.loads(typed(hour, folder, "claimsmith status dev --output json"))["claims"]
        assert {c["claim"].rpartition("/")[2]: c["phase"] for c in claims} == {"mails": "Bound", "orders": "Bound"}
        assert [r["kind"] for c in claims for r in c["resources"]] == ["Instance", "Queue"]
        again = "pulumi up --stack dev --yes --skip-preview --expect-no-changes --non-interactive"
        typed(hour, folder, f'eval "$(claimsmith env)" && {again}')
    finally:
        typed(hour, folder, "claimsmith local down --wipe --yes")


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("provider", "token", "types"),
    [
        large(
            "aws",
            "aws:sqs:Queue",
            ["aws:s3/bucket:Bucket", "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "aws:sqs/queue:Queue"],
            package="aws",
            id="aws",
        )
    ],
)
def test_a_cloud_is_validated_rendered_and_previewed_on_mocks(
    hour: Path, shop: tuple[Path, str], provider: str, token: str, types: list[str]
) -> None:
    # Some hundred megabytes: taken from the environment of the tests, not from the index.
    sdk = importlib.util.find_spec(f"pulumi_{provider}")
    assert sdk
    assert sdk.submodule_search_locations
    package = Path(sdk.submodule_search_locations[0])
    for name in ("installed", "shop/.venv"):
        (packages,) = (hour / name / "lib").glob("python*/site-packages")
        # It reads its own version when it is imported.
        for part in (package, *package.parent.glob(f"{package.name}-*.dist-info")):
            (packages / part.name).symlink_to(part)
    typed(hour, hour, f"claimsmith init cloud --provider {provider}")
    folder = hour / "cloud"
    (folder / ".venv").symlink_to(shop[0] / ".venv")
    typed(hour, folder, f"claimsmith new class queue --claim platform.example.org/v1alpha1/Queue --makes {token}")
    typed(hour, folder, "claimsmith new claim Queue/default/mails")
    typed(hour, folder, "claimsmith validate --strict")
    assert f"type: {types[-1]}" in typed(hour, folder, "claimsmith render dev")
    registered = json.loads(run(folder, ".venv/bin/python", "-c", PREVIEW).splitlines()[-1])
    assert sorted(t for t in registered if t.startswith(f"{provider}:")) == sorted(types)
