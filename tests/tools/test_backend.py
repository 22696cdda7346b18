"""Where the state of a project is: what can be shared, what is refused, and how somebody joins or leaves."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import DeployError, EngineError
from claimsmith.cli.app import app
from claimsmith.project import workspace
from claimsmith.project.project import Project
from claimsmith.tools import backend
from tests.support.samples import contents

SALT = "v1:EKjN5aiUqIY=:v1:fHWxi9WDYMPOXbaF:OJHwaWNOr1edrlhNzOAocT4Ds14Osg=="
"""As the engine (3.259) wrote it for the passphrase `secret words`."""
SETTINGS = f"encryptionsalt: {SALT}\nconfig:\n  shop:size: small\n  shop:password:\n    secure: v1:abc\n"
IGNORED = ".venv\nstacks/Pulumi.*.yaml\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\nbackend:\n  url: file:///shared\n")
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(SETTINGS)
    (tmp_path / ".gitignore").write_text(".venv\n")
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def run(*words: str, stdin: str | None = None):
    return CliRunner().invoke(app, ["backend", *words], input=stdin)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("name: a\n", "name: a\nbackend:\n  url: s3://b\n", id="none-yet"),
        pytest.param(
            "name: a\n# State.\nbackend:\n  url: file://./x\nconfig:\n  a: b\n",
            "name: a\n# State.\nbackend:\n  url: s3://b\nconfig:\n  a: b\n",
            id="in-the-middle",
        ),
        pytest.param("backend: {url: x}\nname: a\n", "backend:\n  url: s3://b\nname: a\n", id="on-one-line"),
        pytest.param("name: a\nbackend:\n  url: x", "name: a\nbackend:\n  url: s3://b\n", id="at-the-end"),
        pytest.param(
            "name: a\nbackend:\n  # old\n\n  url: x\nmain: m\n",
            "name: a\nbackend:\n  url: s3://b\nmain: m\n",
            id="with-comments-inside",
        ),
    ],
)
def test_only_the_backend_of_pulumi_yaml_changes(before: str, after: str) -> None:
    assert backend.with_url(before, "s3://b") == after
    assert yaml.safe_load(after)["backend"] == {"url": "s3://b"}


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


def test_a_fitting_passphrase_is_kept_and_the_one_before_too(project: Project) -> None:
    project.private.mkdir()
    (project.private / "passphrase").write_text("mine")
    assert run().exit_code == 1
    ran = run("join", stdin="secret words\n")
    assert (ran.exit_code, "it fits: dev" in ran.stderr) == (0, True)
    assert (project.private / "passphrase").read_text() == "secret words"
    assert (project.private / "passphrase").stat().st_mode & 0o777 == 0o600
    assert (project.private / "passphrase.before").read_text() == "mine"
    shown = run()
    assert shown.exit_code == 0
    assert "file:///shared" in shown.stdout
    assert backend.describe(project, {}).to_dict() == {
        "url": "file:///shared",
        "shared": True,
        "stacks": [{"stack": "dev", "secrets": "passphrase", "readable": True}],
    }


def test_a_passphrase_can_be_in_a_file(project: Project, tmp_path: Path) -> None:
    (tmp_path / "shared.txt").write_text("secret words\n")
    assert run("join", "--passphrase-file", "shared.txt").exit_code == 0
    assert (project.private / "passphrase").read_text() == "secret words"


@pytest.mark.parametrize(
    ("passphrase", "settings", "want"),
    [
        pytest.param("guess", SETTINGS, "does not fit stacks/Pulumi.dev.yaml", id="another-one"),
        pytest.param("secret words", "config: {}\n", "nothing to join", id="no-secrets"),
    ],
)
def test_passphrases_that_are_refused(project: Project, passphrase: str, settings: str, want: str) -> None:
    (project.root / "stacks" / "Pulumi.dev.yaml").write_text(settings)
    with pytest.raises(EngineError) as caught:
        backend.join(project, passphrase)
    assert want in caught.value.problems[0].what
    assert caught.value.problems[0].fix
    assert not (project.private / "passphrase").exists()


def test_a_file_that_is_missing_is_refused(project: Project) -> None:
    ran = run("join", "--passphrase-file", "nowhere")
    assert (ran.exit_code, "cannot be read" in ran.stderr) == (1, True)


def test_leaving_removes_what_nobody_here_can_read(project: Project) -> None:
    ran = run("leave")
    assert ran.exit_code == 0, ran.output
    assert "dev: shop:password" in ran.stderr
    left = yaml.safe_load((project.root / "stacks" / "Pulumi.dev.yaml").read_text())
    assert left == {"config": {"shop:size": "small"}}
    assert f"url: {backend.LOCAL_URL}" in (project.root / "Pulumi.yaml").read_text()
    assert "stacks/Pulumi.*.yaml" in (project.root / ".gitignore").read_text().splitlines()
    assert run().exit_code == 0


def test_leaving_keeps_what_can_be_read(project: Project) -> None:
    project.private.mkdir()
    (project.private / "passphrase").write_text("secret words")
    assert backend.leave(project).removed == []
    assert (project.root / "stacks" / "Pulumi.dev.yaml").read_text() == SETTINGS


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

    def __call__(self, _: Project, *words: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        stacks = self.backends.setdefault(self.url, {})
        named = words[3] if words[2:3] == ("--stack",) else words[-1] if words[1] == "rm" else words[2:3] and words[2]
        self.commands.append(f"{self.url} {words[1]} {named}")
        if self.commands[-1] in self.refused:
            self.refused = (*self.refused, f"{self.url} ls --json") if self.away else self.refused
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
    (project.private / "passphrase").write_text("secret words")
    for stack in ("dev", "prod"):
        (project.root / "stacks" / stack).mkdir()
    standing = Engine(project, {"file:///shared": {"dev": held("a", "b"), "prod": held("c")}})
    monkeypatch.setattr(workspace, "pulumi", standing)
    return standing


@pytest.mark.parametrize("to", ["s3://other", "local"])
def test_all_stacks_are_moved(project: Project, engine: Engine, to: str) -> None:
    before = dict(engine.backends["file:///shared"])
    moved = backend.move(project, to)
    assert (moved.moved, moved.created) == (["dev", "prod"], [])
    assert engine.backends[engine.url] == before == engine.backends["file:///shared"]
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
    assert ("PULUMI_BACKEND_URL=s3://other pulumi stack rm" in ran.stderr) == begun
    assert (engine.backends["s3://other"] == {}) or begun


def test_an_interruption_moves_nothing(project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_of(project)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workspace, "import_state", interrupted)
    with pytest.raises(KeyboardInterrupt):
        backend.move(project, "s3://other")
    assert files_of(project) == files
    assert engine.backends["s3://other"] == {}


def test_a_state_that_comes_back_changed_is_not_moved(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "import_state", lambda *_: None)
    with pytest.raises(DeployError, match="does not return the state of 'dev' as it was written"):
        backend.move(project, "s3://other")
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
        backend.move(project, "s3://other")
    assert caught.value.problems[0].fix
    assert (files_of(project), json.dumps(engine.backends["s3://other"])) == (files, before)
