"""The base of a review is read from git: from anywhere in a repository, and nothing in the user's tree changes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claimsmith.base.errors import LoadError
from claimsmith.cli.app import app
from claimsmith.project.git import checked_out
from tests.support.review_files import CLASS, SQL, base, changed, committed, git, put, set_file, sql, write

STAYS = put(SQL, "spec/size", 20)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is bound, generated and committed, and the folder that commands run in."""
    root = tmp_path / "repository"
    root.mkdir()
    write(root, {**base(), ".gitignore": ".claimsmith/\n"})
    monkeypatch.chdir(root)
    assert run("generate").exit_code == 0
    return committed(root, {})


def run(*words: str):
    return CliRunner().invoke(app, list(words))


def snapshot(root: Path) -> dict[str, Any]:
    files = (p for p in sorted(root.rglob("*")) if p.is_file())
    return {str(p.relative_to(root)): (p.read_bytes(), p.stat().st_mtime_ns) for p in files}


def ready(root: Path, files: Any) -> None:
    write(root, files)
    assert run("generate").exit_code == 0


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        pytest.param([], 0, "Nothing changes", id="nothing"),
        pytest.param([STAYS], 10, "Changes: nothing is deleted or replaced", id="changes"),
        pytest.param(
            [put(CLASS, "spec/resources/1", None)], 11, "Destructive changes: 1 danger in dev", id="destructive-changes"
        ),
        pytest.param([set_file(CLASS, "a: [")], 1, "the working tree cannot be read", id="errors"),
    ],
)
def test_exit_codes(project: Path, change: list[Any], code: int, said: str) -> None:
    write(project, changed(*change))
    run("generate")
    ran = run("review")
    assert ran.exit_code == code, ran.output
    assert said in ran.stdout


def test_a_stale_component_is_refused(project: Path) -> None:
    write(project, changed(put(CLASS, "spec/resources/0/base/spec/location", "x")))
    ran = run("review", "--output", "json")
    assert ran.exit_code == 1
    [stack] = json.loads(ran.stdout)["stacks"]
    assert [p["fix"] for p in stack["refusals"]] == ["run: claimsmith generate"]
    assert stack["claims"][0]["resources"][0]["fields"][0]["path"] == "spec.location"


def test_nothing_in_the_tree_changes(project: Path) -> None:
    ready(project, changed(STAYS))
    before = snapshot(project)
    for output in ("terminal", "markdown", "json", "html"):
        assert run("review", "--output", output).exit_code == 10
    assert snapshot(project) == before


@pytest.mark.parametrize("name", ["HEAD", "main", "HEAD~0", "v1"])
def test_revisions_by_any_name(project: Path, name: str) -> None:
    git(project, "tag", "-a", "v1", "-m", "annotated")
    ready(project, changed(STAYS))
    ran = run("review", "--base", name, "--output", "json")
    assert ran.exit_code == 10
    assert json.loads(ran.stdout)["commit"] == git(project, "rev-parse", "HEAD").strip()


def test_uncommitted_and_untracked_files_are_the_working_tree(project: Path) -> None:
    ready(project, {"stacks/dev/claims/more.yaml": sql("more")})
    [claim] = json.loads(run("review", "--output", "json").stdout)["stacks"][0]["claims"]
    assert (claim["change"], claim["claim"].rpartition("/")[2]) == ("added", "more")


def test_a_project_in_a_folder_of_its_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "a" / "b c"
    root.mkdir(parents=True)
    write(root, base())
    monkeypatch.chdir(root)
    assert run("generate").exit_code == 0
    git(tmp_path, "init", "--quiet", "--initial-branch", "main", ".")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "base")
    assert run("review").exit_code == 0
    write(root, changed(STAYS))
    monkeypatch.chdir(root / "stacks")
    assert run("review").exit_code == 10


def test_a_base_without_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README").write_text("nothing yet")
    git(tmp_path, "init", "--quiet", "--initial-branch", "main", ".")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "base")
    root = tmp_path / "platform"
    root.mkdir()
    monkeypatch.chdir(root)
    ready(root, base())
    found = json.loads(run("review", "--output", "json").stdout)
    assert [c["change"] for s in found["stacks"] for c in s["claims"]] == ["added"]


def test_a_stack_that_is_gone_is_told(project: Path) -> None:
    (project / SQL).unlink()
    (project / SQL).parent.rmdir()
    ran = run("review", "--output", "json")
    assert ran.exit_code == 11
    [stack] = json.loads(ran.stdout)["stacks"]
    assert stack["warnings"][0]["rule"] == "stack-removed"


def test_a_renamed_project_is_told(project: Path) -> None:
    (project / "Pulumi.yaml").write_text("name: other\nruntime: python\n")
    ran = run("review", "--output", "json")
    assert ran.exit_code == 11
    assert [w["rule"] for w in json.loads(ran.stdout)["warnings"]] == ["project-renamed"]


def test_a_base_that_does_not_load_is_told_as_such(project: Path) -> None:
    (project / CLASS).write_text("a: [")
    git(project, "commit", "--quiet", "--all", "--message", "broken")
    write(project, base())
    ran = run("review")
    assert ran.exit_code == 1
    assert "the base cannot be read" in ran.stdout
    assert f"{CLASS}:2" in ran.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("--base", "nowhere"), "no revision 'nowhere'", id="unknown-revision"),
        pytest.param(("--base", "--output=json"), "no revision", id="a-flag-is-no-revision"),
        pytest.param(("--stack", "deb"), "did you mean 'dev'?", id="unknown-stack"),
    ],
)
def test_refusals(project: Path, words: tuple[str, ...], said: str) -> None:
    ran = run("review", *words)
    assert ran.exit_code == 1
    assert said in ran.stderr
    assert "fix:" in ran.stderr


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path, base()))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    ran = run("review")
    assert ran.exit_code == 1
    assert "in no git repository" in ran.stderr


def test_no_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    ran = run("review")
    assert ran.exit_code == 1
    assert "git is not installed" in ran.stderr


def test_links_are_not_followed_out_of_the_base(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text("secret: hunter2")
    (project / "components" / "link.yaml").symlink_to(outside)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "a link")
    with checked_out(project, "HEAD") as revision:
        assert (revision.root / "components" / "link.yaml").is_symlink()
    ran = run("review")
    assert ran.exit_code == 1
    assert "a link that leads out of the project is not followed" in ran.stdout
    assert "hunter2" not in ran.output


def test_only_what_matters_is_read(project: Path) -> None:
    write(project, {"docs/big.yaml": "a: 1", "components/db/notes.txt": "x", "stacks/Pulumi.dev.yaml": {"config": {}}})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "more")
    with checked_out(project, "HEAD") as revision:
        found = {p.relative_to(revision.root).as_posix() for p in revision.root.rglob("*") if p.is_file()}
        root = revision.root
    assert found == {
        "Pulumi.yaml", "claimsmith.yaml", CLASS, "components/other/class.yaml", "components/db/component.py",
        "components/other/component.py", SQL, "stacks/Pulumi.dev.yaml",
    }  # fmt: skip
    assert not root.exists()


def test_a_commit_that_is_not_in_this_clone(project: Path, tmp_path: Path) -> None:
    git(project, "commit", "--quiet", "--allow-empty", "--message", "more")
    first = git(project, "rev-parse", "HEAD~1").strip()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "1", project.as_uri(), str(clone))
    with pytest.raises(LoadError) as caught, checked_out(clone, first):
        pass
    assert "fetch-depth: 0" in caught.value.problems[0].fix


def test_the_generated_code_is_told_in_short(project: Path) -> None:
    ready(project, changed(put(CLASS, "spec/resources/0/base/spec/location", "East US")))
    [change] = json.loads(run("review", "--output", "json").stdout)["code"]
    assert (change["file"], change["change"]) == ("components/db/component.py", "changed")
    assert change["added"] > 0
    assert any(line.startswith("+") and "East US" in line for line in change["diff"])
    assert not any("digest=" in line for line in change["diff"])


def test_an_environment_whose_files_are_the_same_is_planned_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from claimsmith.tools.review import snapshot

    read: list[Path] = []
    plan = snapshot.read_snapshot
    monkeypatch.setattr(
        snapshot, "read_snapshot", lambda p, stack, **more: read.append(p.root) or plan(p, stack, **more)
    )
    assert run("review").exit_code == 0
    assert read == [project]
    write(project, changed(STAYS))
    assert run("review").exit_code == 10
    assert len(read) == 3


def test_settings_that_git_ignores_are_no_part_of_a_change(project: Path) -> None:
    def rules() -> list[str]:
        answer = json.loads(run("review", "--stack", "dev", "--output", "json").stdout)
        return [warning["rule"] for stack in answer["stacks"] for warning in stack["warnings"]]

    git(project, "rm", "-q", "-f", "--ignore-unmatch", "stacks/Pulumi.dev.yaml")
    committed(project, {})
    write(project, {"stacks/Pulumi.dev.yaml": {"config": {"postgresql:host": "127.0.0.1"}}})
    assert "setting-changed" in rules()
    write(project, {".gitignore": ".claimsmith/\nstacks/Pulumi.*.yaml\n"})
    assert "setting-changed" not in rules()
