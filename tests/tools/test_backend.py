"""Where the state of a project is: what can be shared, what is refused, and how somebody joins or leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import EngineError
from claimsmith.cli.app import app
from claimsmith.project.project import Project
from claimsmith.tools import backend
from tests.support.shared_projects import SETTINGS, shared_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return shared_project(tmp_path, monkeypatch)


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


def test_a_backend_without_stacks_has_no_empty_table(project: Project) -> None:
    (project.root / "stacks" / "Pulumi.dev.yaml").unlink()
    ran = run()
    assert (ran.exit_code, ran.stdout) == (0, "state: file:///shared\n")
    assert "no stack has state here yet" in ran.stderr


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


def test_leaving_removes_secrets_within_settings(project: Project) -> None:
    nested = "  shop:db:\n    hosts: [{secure: v1:abc}]\n  shop:plain: {a: [1]}\n"
    (project.root / "stacks" / "Pulumi.dev.yaml").write_text(SETTINGS + nested)
    assert backend.leave(project).removed == ["dev: shop:password", "dev: shop:db"]
    left = yaml.safe_load((project.root / "stacks" / "Pulumi.dev.yaml").read_text())
    assert left == {"config": {"shop:size": "small", "shop:plain": {"a": [1]}}}
