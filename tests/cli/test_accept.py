"""The command `accept`: it shows the review and asks, and writes everything or nothing."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith.cli import console
from claimsmith.cli.app import app
from tests.support.refusal_files import CLASS, FILES, PATH_CLASS, spoilt
from tests.support.samples import contents, write_files

CHANGED = {PATH_CLASS: spoilt(CLASS, "multiply: 1024", "multiply: 2048")}
COMPONENT = "components/x/component.py"
BINDINGS = "stacks/dev/bindings.yaml"


def run(*words: str, answer: str | None = None):
    return CliRunner().invoke(app, list(words), input=answer)


def commit(folder: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], cwd=folder, check=True)


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A committed project whose class was changed."""
    monkeypatch.chdir(write_files(tmp_path, FILES))
    assert run("bind", "dev").exit_code == run("generate").exit_code == 0
    commit(tmp_path)
    return write_files(tmp_path, CHANGED)


def test_the_review_is_shown_before_it_asks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "interactive", lambda: True)
    before = contents(project)
    declined = run("accept", answer="n\n")
    assert declined.exit_code == 1
    assert "1 claim touched" in declined.stdout
    assert "class changed: small: 1 claim in dev" in declined.stdout
    assert "refused" not in declined.stdout, "the review is that of the files as they will be"
    assert "nothing was written" in declined.stderr
    assert contents(project) == before
    assert run("accept", answer="y\n").exit_code == 0
    assert run("validate").exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "written"),
    [
        pytest.param(["accept"], 2, False, id="not-interactive"),
        pytest.param(["accept", "--check"], 1, False, id="check"),
        pytest.param(["accept", "smal", "--yes"], 1, False, id="unknown-class"),
        pytest.param(["accept", "--base", "nowhere", "--yes"], 1, False, id="unknown-revision"),
        pytest.param(["accept", "--yes"], 0, True, id="yes"),
        pytest.param(["accept", "small", "-y"], 0, True, id="named"),
    ],
)
def test_exit_codes(project: Path, words: list[str], code: int, written: bool) -> None:
    before = contents(project)
    assert run(*words).exit_code == code
    changed = {name for name, content in contents(project).items() if before.get(name) != content}
    assert changed == ({COMPONENT, BINDINGS} if written else set())


def test_as_json(project: Path) -> None:
    found = json.loads(run("accept", "--yes", "--output", "json").stdout)
    assert (found["format"], found["written"], found["files"]) == (1, True, [COMPONENT, BINDINGS])
    assert found["review"]["stacks"][0]["counts"] == {"updated": 1}
    again = json.loads(run("accept", "--yes", "--output", "json").stdout)
    assert (again["written"], again["files"], again["review"]) == (False, [], None)


def test_without_a_repository_there_is_no_review(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    done = run("accept", "--yes")
    assert done.exit_code == 0
    assert "warning: the project is in no git repository" in done.stderr
    assert run("validate").exit_code == 0
