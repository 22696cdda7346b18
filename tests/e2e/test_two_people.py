"""Two people, two clones, one shared backend: both deploy, and neither is left with "incorrect passphrase"."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from claimsmith.lab import postgresql, postgresql_settings
from claimsmith.project import workspace
from claimsmith.project.project import Project

pytestmark = pytest.mark.e2e
CLAIMSMITH = f"{sys.executable} -m claimsmith.cli"
UP = "pulumi up --stack dev --yes --skip-preview --suppress-outputs --non-interactive"
MINE = ("VIRTUAL_ENV", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE", "PULUMI_BACKEND_URL", "KUBECONFIG")
SOMEBODY = {f"GIT_{who}_{what}": "me@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@dataclass
class Person:
    """Somebody with a clone of the project, and a shell in it."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    def shell(self, command: str, *, code: int = 0, stdin: str = "") -> str:
        env = {**{n: v for n, v in os.environ.items() if n not in MINE}, **SOMEBODY, **self.env}
        ran = subprocess.run(
            ["bash", "-c", command], cwd=self.root, env=env, input=stdin, capture_output=True, text=True
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    def claimsmith(self, words: str, *, code: int = 0, stdin: str = "") -> str:
        return self.shell(f"{CLAIMSMITH} {words}", code=code, stdin=stdin)

    def up(self, *flags: str) -> str:
        return self.shell(f'eval "$({CLAIMSMITH} env)" && {UP} {" ".join(flags)}')


@pytest.fixture
def names(request: pytest.FixtureRequest, postgresql_server: postgresql.Server) -> Iterator[list[str]]:
    """Names of databases on the shared server that are this test's own."""
    digest = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:8]
    found = [f"first{digest}", f"second{digest}"]
    yield found
    for statement in ("DROP DATABASE IF EXISTS {}", "DROP ROLE IF EXISTS {}"):
        for name in found:
            sql(postgresql_server, statement.format(name))


def sql(server: postgresql.Server, statement: str) -> None:
    command = [str(postgresql.psql()), "-h", server.host, "-p", str(server.port), "-U", server.user, "-c", statement]
    env = {**os.environ, "PGPASSWORD": server.password_file.read_text().strip(), "PGSSLMODE": "disable"}
    subprocess.run([*command, "-d", "postgres"], env=env, check=True, capture_output=True)


@pytest.fixture
def first(tmp_path: Path, postgresql_server: postgresql.Server, names: list[str]) -> Person:
    """Whoever created the project, and deployed it on one machine."""
    env = {"PGPASSWORD": postgresql_server.password_file.read_text().strip()}
    Person(tmp_path, env).claimsmith("init first --name shop")
    person = Person(tmp_path / "first", env)
    person.shell("git rm -q stacks/dev/claims/orders.yaml")
    (person.root / ".venv").symlink_to(sys.prefix)
    person.claimsmith(f"new claim Database/default/{names[0]}")
    postgresql_settings.configure(Project(person.root), "dev", postgresql_server)
    person.up()
    assert "Pulumi.dev.yaml" not in person.shell("git status --short --untracked-files=all")
    return person


@pytest.mark.parametrize("kind", ["folder", "database"])
def test_both_deploy(
    first: Person, tmp_path: Path, names: list[str], kind: str, postgresql_server: postgresql.Server
) -> None:
    server = f"{postgresql_server.host}:{postgresql_server.port}"
    # The table is this project's own: other projects of this server have another one.
    table = f"state_{names[0]}"
    query = f"sslmode=disable&table={table}"
    urls = {
        "folder": f"file://{tmp_path}/shared",
        "database": f"'postgres://{postgresql_server.user}@{server}/postgres?{query}'",
    }
    (tmp_path / "shared").mkdir()
    output = first.claimsmith(f"backend move {urls[kind]}")
    assert "moved: dev" in output
    assert "claimsmith backend join" in output
    first.up("--expect-no-changes")
    first.shell("git add -A && git commit -q -m 'Share the state'")
    assert "stacks/Pulumi.dev.yaml" in first.shell("git ls-files")
    shared = first.shell("git grep -n . -- .")
    assert (first.root / ".claimsmith/passphrase").read_text() not in shared

    first.shell("git clone -q . ../second")
    second = Person(tmp_path / "second", first.env)
    (second.root / ".venv").symlink_to(sys.prefix)
    # Before the engine starts: what is wrong, and both ways out.
    refused = second.shell(f'eval "$({CLAIMSMITH} env)" && echo started', code=1)
    assert "claimsmith backend join" in refused
    assert "claimsmith backend leave" in refused
    assert "started" not in refused
    assert "no" in second.claimsmith("backend", code=1).splitlines()[2].split()
    assert "does not fit" in second.claimsmith("backend join", stdin="guess", code=1)
    passphrase = (first.root / ".claimsmith" / "passphrase").read_text()
    assert "it fits: dev" in second.claimsmith("backend join", stdin=passphrase)
    second.up("--expect-no-changes")
    second.claimsmith(f"new claim Database/default/{names[1]}")
    second.up()
    second.shell("git add -A && git commit -q -m 'Claim another database'")

    first.shell("git pull -q ../second main")
    first.up("--expect-no-changes")
    claims = json.loads(first.claimsmith("status dev --output json").strip())["claims"]
    assert sorted(c["claim"].rpartition("/")[2] for c in claims) == sorted(names)
    for person in (first, second):
        assert person.shell("git status --short") == ""
    first.shell(f'eval "$({CLAIMSMITH} env)" && pulumi destroy --stack dev --yes --skip-preview --non-interactive')
    if kind == "database":
        sql(postgresql_server, f"DROP TABLE {table}")


def test_a_colleague_can_have_a_stack_of_their_own(
    first: Person, tmp_path: Path, names: list[str], postgresql_server: postgresql.Server
) -> None:
    """The other way out, from settings that were committed although the state was never shared."""
    first.shell("git add -f stacks/Pulumi.dev.yaml && git add -A && git commit -q -m 'A salt by mistake'")
    first.shell("git clone -q . ../second")
    second = Person(tmp_path / "second", first.env)
    (second.root / ".venv").symlink_to(sys.prefix)
    # What commands say where the engine is asked first.
    assert "claimsmith backend leave" in second.claimsmith("status dev", code=1)
    left = second.claimsmith("backend leave")
    assert "dev: postgresql:password" in left
    second.shell(f'eval "$({CLAIMSMITH} env)" && pulumi stack select dev --create --non-interactive')
    (second.root / "stacks/dev/claims" / f"{names[0]}.yaml").unlink()
    second.claimsmith(f"new claim Database/default/{names[1]}")
    postgresql_settings.configure(Project(second.root), "dev", postgresql_server)
    second.up()
    for person in (second, first):
        person.shell(f'eval "$({CLAIMSMITH} env)" && pulumi destroy --stack dev --yes --skip-preview --non-interactive')
    assert workspace.STATE in {p.name for p in (second.root / ".claimsmith").iterdir()}
