"""The state of all stacks goes to another backend, or none does. On the real engine: tests/e2e/test_shared_state.py."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import DeployError
from claimsmith.cli.app import app
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.tools import backend, backend_move
from tests.support.samples import contents
from tests.support.shared_projects import PASSPHRASE, shared_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return shared_project(tmp_path, monkeypatch)


def run(*words: str, stdin: str | None = None):
    return CliRunner().invoke(app, ["backend", *words], input=stdin)


@pytest.mark.parametrize(
    ("url", "want"),
    [
        pytest.param("shared", "is no address", id="no-scheme"),
        pytest.param("s3://", "is no address", id="nothing-behind-it"),
        pytest.param("file://./state", "another folder for each of you", id="relative"),
        pytest.param("file://~/state", "another folder for each of you", id="home"),
        pytest.param("postgres://me:secret@host/db", "contains a password", id="password"),
    ],
)
def test_backends_that_are_refused(project: Project, url: str, want: str) -> None:
    before = contents(project.root)
    ran = run("move", url)
    assert ran.exit_code == 1
    assert want in ran.stderr
    assert "secret@" not in ran.output
    assert "fix: " in ran.stderr
    assert contents(project.root) == before


def test_what_cannot_be_read_here_is_not_moved(project: Project) -> None:
    before = contents(project.root)
    ran = run("move", "s3://other")
    assert ran.exit_code == 1
    assert "claimsmith backend join" in ran.stderr
    assert contents(project.root) == before


@dataclass
class Engine:
    """A stand-in for the engine: the stacks of each backend. One of them can refuse a command."""

    project: Project
    backends: dict[str, dict[str, Any]]
    refused: tuple[str, ...] = ()
    away: bool = False
    """Whether the backend stops answering when it refuses."""
    commands: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return str(yaml.safe_load((self.project.root / "Pulumi.yaml").read_text())["backend"]["url"])

    def __call__(
        self, _: Project, *words: str, stdin: str | None = None, url: str = ""
    ) -> subprocess.CompletedProcess[str]:
        url = url or self.url
        stacks = self.backends.setdefault(url, {})
        named = words[3] if words[2] == "--stack" else words[2]
        self.commands.append(f"{url} {words[1]} {named}")
        if self.commands[-1] in self.refused:
            self.refused = (*self.refused, f"{url} ls --json") if self.away else self.refused
            return subprocess.CompletedProcess(words, 255, "", "error: access denied")
        out = ""
        match words[1]:
            case "--verbose":
                out = json.dumps({"url": self.url})
            case "ls":
                out = json.dumps([{"name": name} for name in stacks])
            case "export":
                out = json.dumps(stacks[named])
            case "import":
                stacks[named] = json.loads(stdin or "")
            case "init":
                stacks[named] = {"version": 3, "deployment": {}}
                path = self.project.root / "stacks" / f"Pulumi.{named}.yaml"
                path.write_text(path.read_text() if path.exists() else "encryptionsalt: new\n")
            case "rm":
                del stacks[named]
        return subprocess.CompletedProcess(words, 0, out, "")


def files_of(project: Project) -> dict[str, bytes]:
    """All files but what is remembered of fitting passphrases."""
    return {name: content for name, content in contents(project.root).items() if name != ".claimsmith/fitting"}


def held(*names: str, pending: int = 0) -> dict[str, Any]:
    resources = [{"urn": f"urn:pulumi:dev::shop::t::{name}", "id": name} for name in names]
    operations = [{"type": "creating", "resource": {"urn": "urn:pulumi:dev::shop::t::x"}}] * pending
    return {"version": 3, "deployment": {"resources": resources, "pending_operations": operations}}


@pytest.fixture
def engine(project: Project, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Two stacks in `file:///shared`, one of them without settings."""
    project.private.mkdir()
    (project.private / "passphrase").write_text(PASSPHRASE)
    for stack in ("dev", "prod"):
        (project.root / "stacks" / stack).mkdir()
    standing = Engine(project, {"file:///shared": {"dev": held("a", "b"), "prod": held("c")}})
    monkeypatch.setattr(workspace, "pulumi", standing)
    return standing


@pytest.mark.parametrize("to", ["s3://other", "local"])
def test_all_stacks_are_moved(project: Project, engine: Engine, to: str) -> None:
    before = dict(engine.backends["file:///shared"])
    moved = backend_move.move(project, to)
    assert (moved.moved, moved.created) == (["dev", "prod"], [])
    assert engine.backends[engine.url] == before
    assert engine.backends["file:///shared"] == {}
    copies = {path.stem: json.loads(path.read_text()) for path in (project.private / "moved").iterdir()}
    assert copies == before
    assert (project.private / "moved/dev.json").stat().st_mode & 0o777 == 0o600
    assert engine.url == (backend.LOCAL_URL if to == "local" else to)
    assert ("stacks/Pulumi.*.yaml" in (project.root / ".gitignore").read_text().splitlines()) == (to == "local")


@pytest.mark.parametrize("away", [False, True], ids=["answers", "does-not-answer-any-more"])
@pytest.mark.parametrize(
    "refused",
    ["ls --json", "init dev", "import dev", "export dev", "init prod", "import prod", "export prod"],
)
def test_if_anything_is_refused_nothing_has_moved(project: Project, engine: Engine, refused: str, away: bool) -> None:
    files, states = files_of(project), json.dumps(engine.backends["file:///shared"])
    engine.refused, engine.away = (f"s3://other {refused}",), away
    ran = run("move", "s3://other")
    assert (ran.exit_code, "access denied" in ran.stderr) == (1, True), ran.output
    assert files_of(project) == files
    assert json.dumps(engine.backends["file:///shared"]) == states
    begun = away and refused not in ("ls --json",)
    assert ("PULUMI_BACKEND_URL='s3://other' pulumi stack rm" in ran.stderr) == begun
    assert (engine.backends["s3://other"] == {}) or begun


def test_a_stack_that_the_old_backend_keeps_is_reported(project: Project, engine: Engine) -> None:
    engine.refused = ("file:///shared rm prod",)
    ran = run("move", "s3://other")
    assert ran.exit_code == 0, ran.output
    assert "warning: the backend from before still has 'prod'" in ran.stderr
    assert list(engine.backends["file:///shared"]) == ["prod"]
    assert sorted(engine.backends["s3://other"]) == ["dev", "prod"]


def test_an_interruption_moves_nothing(project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_of(project)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workspace, "import_state", interrupted)
    with pytest.raises(KeyboardInterrupt):
        backend_move.move(project, "s3://other")
    assert files_of(project) == files
    assert engine.backends["s3://other"] == {}


def test_a_state_that_comes_back_changed_is_not_moved(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "import_state", lambda *_, **__: None)
    with pytest.raises(DeployError, match="does not return the state of 'dev' as it was written"):
        backend_move.move(project, "s3://other")
    assert engine.backends["s3://other"] == {}


@pytest.mark.parametrize(
    ("here", "there", "want"),
    [
        pytest.param(held("a", pending=1), {}, "'dev' has operations that were interrupted", id="interrupted"),
        pytest.param(held("a"), {"dev": held("z")}, "the backend has a stack 'dev' already", id="another-one-is-there"),
    ],
)
def test_stacks_that_cannot_be_moved(
    project: Project, engine: Engine, here: dict[str, Any], there: dict[str, Any], want: str
) -> None:
    engine.backends = {"file:///shared": {"dev": here}, "s3://other": there}
    files, before = files_of(project), json.dumps(there)
    with pytest.raises(DeployError, match=want) as caught:
        backend_move.move(project, "s3://other")
    assert caught.value.problems[0].fix
    assert (files_of(project), json.dumps(engine.backends["s3://other"])) == (files, before)
