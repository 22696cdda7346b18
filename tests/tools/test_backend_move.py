"""The state of all stacks goes to another backend, or none does. On the real engine: tests/e2e/test_shared_state.py."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
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
        pytest.param("file://shared/state", "another folder for each of you", id="relative-without-a-dot"),
        pytest.param("file:///a b", "is no address", id="space"),
        pytest.param("postgres://[secret@/db", "no address", id="malformed"),
        pytest.param("mysql://me:secret@host/db", "contains a password", id="password-in-another-address"),
        pytest.param("s3://key:secret@bucket", "AWS_SECRET_ACCESS_KEY", id="key-of-a-bucket"),
        pytest.param("https://api.example.org", "is no address", id="service"),
        pytest.param("postgres://me:secret@host/db", "contains a password", id="password"),
        pytest.param("postgres://host/db?password=secret@", "contains a password", id="password-in-the-query"),
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
    before: dict[str, Callable[[], object]] = field(default_factory=dict)
    """What happens before a command."""

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
        self.before.get(self.commands[-1], lambda: None)()
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
            case "init" if named in stacks:
                return subprocess.CompletedProcess(words, 255, "", f"error: stack {named!r} already exists")
            case "init":
                stacks[named] = {"version": 3, "deployment": {}}
                path = self.project.root / "stacks" / f"Pulumi.{named}.yaml"
                kept = [line for line in path.read_text().splitlines() if "awskms" not in line] if path.exists() else []
                path.write_text("\n".join([*kept, "encryptionsalt: new\n"]))
            case "rm":
                del stacks[named]
        return subprocess.CompletedProcess(words, 0, out, "")


def files_of(project: Project) -> dict[str, bytes]:
    """All files but the copies of states, and what is remembered of fitting passphrases."""
    own = (".claimsmith/fitting", ".claimsmith/moved/")
    return {name: content for name, content in contents(project.root).items() if not name.startswith(own)}


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
    begun = away and refused not in ("ls --json", "init dev")
    assert ("PULUMI_BACKEND_URL='s3://other' pulumi stack rm" in ran.stderr) == begun
    assert (engine.backends["s3://other"] == {}) or begun


def test_a_stack_that_the_old_backend_keeps_is_reported(project: Project, engine: Engine) -> None:
    engine.refused = ("file:///shared rm prod",)
    ran = run("move", "s3://other")
    assert ran.exit_code == 0, ran.output
    assert "warning: the backend from before still has 'prod'" in ran.stderr
    assert list(engine.backends["file:///shared"]) == ["prod"]
    assert sorted(engine.backends["s3://other"]) == ["dev", "prod"]


def test_settings_keep_the_key_that_encrypts_them(project: Project, engine: Engine) -> None:
    """The engine replaces the key of a cloud by a salt when it creates a stack."""
    path = project.root / "stacks" / "Pulumi.prod.yaml"
    path.write_text("secretsprovider: awskms://alias/platform\nconfig: {shop:a: {secure: v1:abc}}\n")
    before = path.read_text()
    backend_move.move(project, "s3://other")
    assert path.read_text() == before


def test_a_stack_that_a_colleague_creates_meanwhile_stays(project: Project, engine: Engine) -> None:
    theirs = held("theirs")
    engine.before["s3://other init prod"] = lambda: engine.backends["s3://other"].update(prod=theirs)
    ran = run("move", "s3://other")
    assert (ran.exit_code, "already exists" in ran.stderr) == (1, True), ran.output
    assert engine.backends["s3://other"] == {"prod": theirs}
    assert sorted(engine.backends["file:///shared"]) == ["dev", "prod"]


def test_a_stack_that_is_deployed_meanwhile_is_kept(project: Project, engine: Engine) -> None:
    engine.before["s3://other init dev"] = lambda: engine.backends["file:///shared"].update(dev=held("a", "b", "new"))
    moved = backend_move.move(project, "s3://other")
    assert moved.kept == ["dev"]
    assert engine.backends["file:///shared"] == {"dev": held("a", "b", "new")}


def test_an_interruption_after_the_move_keeps_what_is_left(project: Project, engine: Engine) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    engine.before["file:///shared rm prod"] = interrupted
    moved = backend_move.move(project, "s3://other")
    assert (engine.url, moved.kept) == ("s3://other", ["prod"])
    assert sorted(engine.backends["s3://other"]) == ["dev", "prod"]


def test_if_pulumi_yaml_cannot_be_written_nothing_has_moved(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = files_of(project)

    def refused(*_: Any) -> str:
        raise OSError("no space left")

    monkeypatch.setattr(backend, "with_url", refused)
    with pytest.raises(OSError, match="no space left"):
        backend_move.move(project, "s3://other")
    assert (files_of(project), engine.backends["s3://other"]) == (files, {})


@pytest.mark.parametrize(
    ("named", "variable", "to", "want"),
    [
        pytest.param(
            "file:///shared", "s3://third", "s3://other", "names another backend than Pulumi.yaml", id="variable"
        ),
        pytest.param("file:///shared", "", "file:///shared/", "are in file:///shared/ already", id="same-folder"),
        pytest.param(backend.LOCAL_URL, "", "local", "already", id="local"),
        pytest.param("https://api.example.org", "", "s3://other", "with a key of its own", id="service"),
    ],
)
def test_projects_that_cannot_be_moved(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch, named: str, variable: str, to: str, want: str
) -> None:
    path = project.root / "Pulumi.yaml"
    path.write_text(backend.with_url(path.read_text(), named))
    if variable:
        monkeypatch.setenv("PULUMI_BACKEND_URL", variable)
    files = files_of(project)
    with pytest.raises(DeployError, match=want) as caught:
        backend_move.move(project, to)
    assert "stack rm" not in str(caught.value.problems[0].fix)
    assert (files_of(project), engine.commands) == (files, [])


def test_all_that_a_killed_move_left_is_named_with_one_command(project: Project, engine: Engine) -> None:
    engine.backends["s3://other"] = dict(engine.backends["file:///shared"])
    with pytest.raises(DeployError, match="has a stack 'dev' already") as caught:
        backend_move.move(project, "s3://other")
    (problem,) = caught.value.problems
    assert problem.what.endswith("so it is with prod")
    removal = "PULUMI_BACKEND_URL='s3://other' pulumi stack rm --force --preserve-config --yes --stack $stack"
    assert f"for stack in dev prod; do {removal}; done" in problem.fix


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
