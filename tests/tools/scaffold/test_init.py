"""A new project passes its own tests, and is there whole or not at all; new classes and claims are read as written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import EngineError, ProviderError
from claimsmith.cli import scaffold
from claimsmith.cli.app import app
from claimsmith.project import sdks
from claimsmith.project.project import Project
from claimsmith.providers import index
from claimsmith.providers.index import Index
from claimsmith.tools.scaffold import skeleton, starts
from tests.support.paths import ROOT
from tests.support.samples import contents
from tests.support.sdks import large


def run(*words: str, stdin: str | None = None):
    return CliRunner().invoke(app, list(words), input=stdin)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "my-platform"
    # What stands above it is none of its business.
    (folder.parent / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--no-such-option"\n')
    skeleton.init(folder, git=False)
    return folder


# init


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        pytest.param("postgresql", ["RandomPassword", "Role", "Database"], id="postgresql"),
        pytest.param("crossplane", ["Instance"], id="crossplane"),
        large("aws", ["Bucket", "BucketPublicAccessBlock"], package="aws", id="aws"),
        large(
            "azure",
            ["ResourceGroup", "StorageAccount"],
            package="azure-native",
            id="azure",
        ),
        large("gcp", ["Bucket"], package="gcp", id="gcp"),
    ],
)
def test_each_start_is_valid_and_composes_its_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kinds: list[str]
) -> None:
    created = skeleton.init(tmp_path / "shop", start=starts.find(name), git=False)
    monkeypatch.chdir(tmp_path / "shop")
    ran = run("validate", "--strict")
    assert (ran.exit_code, ran.stderr) == (0, "")
    [claim] = Project(Path.cwd()).plan("dev").claims
    assert [child.template.kind for child in claim.children] == kinds
    assert sorted(contents(Path.cwd())) == created.files
    assert not any("@" in line for line in Path("Makefile").read_text().splitlines() if line[:1].isalpha())
    required = Path("requirements.txt").read_text()
    assert all(f"pulumi-{package} >= " in required for package in starts.find(name).packages)
    subprocess.run(["make", "-n", "up", "down"], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("words", "code", "want"),
    [
        pytest.param(["--crossplane", "--provider", "aws"], 2, "use one of", id="two-starts"),
        pytest.param(["--provider", "oracle"], 2, "oracle", id="unknown-provider"),
    ],
)
def test_starts_that_are_refused(tmp_path: Path, words: list[str], code: int, want: str) -> None:
    ran = run("init", str(tmp_path / "x"), *words)
    assert ran.exit_code == code
    assert want in ran.stderr
    assert not (tmp_path / "x").exists()


def test_a_start_whose_sdk_is_missing_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> Index:
        raise ProviderError(index.missing(package))

    monkeypatch.setattr(sdks, "index_of", missing)
    ran = run("init", str(tmp_path / "x"), "--provider", "aws")
    assert ran.exit_code == 1
    assert "pip install pulumi-aws" in ran.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("answer", "folder"),
    [
        pytest.param("\n", "components/database/class.yaml", id="the-default"),
        pytest.param("crossplane\n", "components/database/definition.yaml", id="another"),
    ],
)
def test_a_terminal_is_asked_what_to_begin_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, folder: str
) -> None:
    monkeypatch.setattr(scaffold, "_on_terminal", lambda: True)
    ran = run("init", str(tmp_path / "x"), "--no-git", stdin=answer)
    assert ran.exit_code == 0, ran.output
    assert "What to begin with:" in ran.stderr
    assert folder in ran.stdout.split()


def test_a_flag_is_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaffold, "_on_terminal", lambda: True)
    ran = run("init", str(tmp_path / "x"), "--provider", "postgresql", "--no-git", stdin="")
    assert ran.exit_code == 0, ran.output
    assert "What to begin with" not in ran.stderr


def test_a_new_project_passes_its_own_tests(made: Path, tmp_path: Path) -> None:
    # In a copy: Python may leave compiled files there.
    copy = shutil.copytree(made, tmp_path / "copy")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout


def test_its_own_tests_fail_where_a_stack_makes_something_else(made: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(made, tmp_path / "copy")
    claim = copy / "stacks/dev/claims/orders.yaml"
    claim.write_text(claim.read_text().replace("connections: 20", "connections: 30"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "1 failed, 2 passed" in ran.stdout


def test_a_new_project_is_valid_without_a_warning(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)
    ran = run("validate")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert run("render", "dev").stdout == (made / "tests/golden/dev.yaml").read_text()


def test_its_files_are_named_and_there(made: Path, tmp_path: Path) -> None:
    ran = run("init", str(tmp_path / "other"), "--no-git")
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.split() == sorted(contents(tmp_path / "other"))
    assert {".gitignore", ".github/workflows/platform.yaml", "components/database/component.py"} <= set(
        ran.stdout.split()
    )
    assert "make check" in ran.stderr


def test_the_page_lists_its_files(made: Path) -> None:
    page = (ROOT / "docs" / "tutorial" / "starting.md").read_text(encoding="utf-8")
    shown = page.split("$ claimsmith init my-platform\n")[1].split("\n\n")[0]
    assert shown.split() == sorted(contents(made))


def test_its_make_and_workflow_files_can_be_read(made: Path) -> None:
    printed = subprocess.run(["make", "-n", "check"], cwd=made, capture_output=True, text=True, check=True).stdout
    assert "-m pytest -q" in printed
    workflow = yaml.safe_load((made / ".github/workflows/platform.yaml").read_text())
    assert {"run": "make check"} in workflow["jobs"]["check"]["steps"]
    assert "make review" in str(workflow["jobs"]["check"]["steps"])
    assert workflow["permissions"] == {"contents": "read"}
    assert ".claimsmith/" in (made / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(
    ("files", "installed"),
    [
        pytest.param({}, "-r requirements.txt", id="versions"),
        pytest.param({"requirements.lock": ""}, "--no-deps --require-hashes -r requirements.lock", id="hashes"),
    ],
)
def test_packages_are_installed_by_hash_where_hashes_are_known(
    made: Path, tmp_path: Path, files: dict[str, str], installed: str
) -> None:
    shutil.copytree(made, tmp_path / "project")
    for name, text in files.items():
        (tmp_path / "project" / name).write_text(text)
    words = ["make", "-n", "check"]
    printed = subprocess.run(words, cwd=tmp_path / "project", capture_output=True, text=True, check=True).stdout
    assert f"pip install -q {installed}\n" in printed


def test_the_same_name_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    skeleton.init(tmp_path / "again", "my-platform", git=False)
    assert contents(tmp_path / "again") == contents(made)


@pytest.mark.parametrize(
    ("folder", "want"),
    [
        pytest.param("shop", "shop", id="the-folders-name"),
        pytest.param("My Shop (2)", "My-Shop-2", id="what-the-engine-takes-of-it"),
        pytest.param("数据", "platform", id="nothing-left-of-it"),
    ],
)
def test_a_project_is_named_after_its_folder(tmp_path: Path, folder: str, want: str) -> None:
    skeleton.init(tmp_path / "deep" / folder, git=False)
    assert Project(tmp_path / "deep" / folder).name == want


def test_an_empty_folder_is_filled_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run("init", "--name", "shop").exit_code == 0
    assert Project(Path.cwd()).name == "shop"
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == [".git", ".github", ".gitignore"]


@pytest.mark.parametrize(
    ("there", "words", "want"),
    [
        pytest.param(["x/notes.txt"], ["x"], "is not empty: it holds notes.txt", id="a-file-in-it"),
        pytest.param(["x/.env"], ["x"], "is not empty: it holds .env", id="a-hidden-file-in-it"),
        pytest.param(["x/a", "x/b", "x/c", "x/d"], ["x"], "a, b, c and more", id="many"),
        pytest.param(["x"], ["x"], "is no folder", id="a-file"),
        pytest.param([], ["x", "--name", "a b"], "'a b' is no name for a project", id="a-bad-name"),
        pytest.param([], ["x", "--name", "x" * 101], "is no name for a project", id="a-long-name"),
    ],
)
def test_init_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: list[str], words: list[str], want: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    before = contents(tmp_path)
    ran = run("init", *words)
    assert ran.exit_code == 1
    assert want in ran.stderr
    assert "fix: " in ran.stderr
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", [True, False], ids=["in-an-empty-folder", "in-a-new-one"])
@pytest.mark.parametrize("moment", ["while-writing", "while-moving"])
def test_an_interrupted_init_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, moment: str
) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True) if there else None
    before = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*"))
    calls: list[Path] = []

    def rename(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) > (3 if there else 0):
            raise KeyboardInterrupt
        os.rename(self, target)
        return target

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if moment == "while-writing":
        monkeypatch.setattr(skeleton, "bind", interrupt)
    else:
        monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        skeleton.init(folder)
    assert sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(EngineError) as caught:
        skeleton.init(tmp_path / "file" / "inner")
    assert caught.value.problems[0].fix
