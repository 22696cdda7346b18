"""Where files are read and written: below the project, whatever names and links say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith.base.errors import EngineError, LoadError
from claimsmith.cli.app import app
from claimsmith.deploy.program import load_component
from claimsmith.project.components import component_problems
from claimsmith.project.project import Project
from claimsmith.tools.generate import generate
from tests.support.refusal_files import CLAIM, CLASS, FILES, PATH_BINDINGS, PATH_CLAIM, PATH_CLASS
from tests.support.samples import contents, write_files

COMPONENT = "components/x/component.py"
GIVEN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hunter2}\n"
BIND, GENERATE, RENDER = ["bind", "dev"], ["generate"], ["render", "dev"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project, beside a folder that has a class, a claim and a file of each kind that a link could lead to."""
    elsewhere = {
        "class.yaml": CLASS.replace("name: small", "name: hunter2"),
        "claims/c.yaml": CLAIM,
        "given.yaml": GIVEN,
    }
    for name, text in {**elsewhere, "bindings.yaml": "bindings: []\n", "component.py": "hunter2 = 1\n"}.items():
        path = tmp_path / "outside" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "outside" / "empty" / "claims").mkdir(parents=True)
    return write_files(tmp_path / "project", FILES)


def linked(root: Path, link: str, to: str) -> None:
    path = root / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(root.parent / to)


@pytest.mark.parametrize(
    ("link", "to", "command"),
    [
        pytest.param("components/y", "outside", GENERATE, id="folder-of-classes"),
        pytest.param("components/x/y", "outside", GENERATE, id="folder-below-a-class"),
        pytest.param("components/y", "project/components/x", GENERATE, id="folder-of-the-project-itself"),
        pytest.param("components/y/class.yaml", "outside/class.yaml", GENERATE, id="class"),
        pytest.param("components/references.yaml", "outside/class.yaml", GENERATE, id="reference-table"),
        pytest.param("components/bindable.yaml", "outside/class.yaml", RENDER, id="table-of-what-may-serve"),
        pytest.param("stacks/dev/claims/d.yaml", "outside/given.yaml", RENDER, id="claim"),
        pytest.param("stacks/dev/claims/more", "outside", RENDER, id="folder-of-claims"),
        pytest.param("stacks/dev/resources/d.yaml", "outside/given.yaml", RENDER, id="given-resource"),
        pytest.param("stacks/dev/resources/more", "outside", RENDER, id="folder-of-given-resources"),
        pytest.param("stacks/prod", "outside", ["render", "prod"], id="stack"),
        pytest.param("stacks/prod/claims", "outside", ["bind", "prod"], id="claims-of-a-stack"),
        pytest.param("stacks/prod", "outside/empty", ["bind", "prod"], id="stack-without-claims"),
        pytest.param(PATH_BINDINGS, "outside/bindings.yaml", BIND, id="bindings"),
        pytest.param(PATH_BINDINGS, "outside/not-there.yaml", BIND, id="bindings-that-are-not-there-yet"),
        pytest.param(PATH_BINDINGS, "project/Pulumi.yaml", BIND, id="bindings-inside-the-project"),
        pytest.param(PATH_BINDINGS, "outside/bindings.yaml", RENDER, id="bindings-read"),
        pytest.param(COMPONENT, "outside/component.py", GENERATE, id="component"),
        pytest.param(COMPONENT, "outside/not-there.py", GENERATE, id="component-that-is-not-there-yet"),
        pytest.param(COMPONENT, "project/stacks/__main__.py", GENERATE, id="component-inside-the-project"),
        pytest.param("Pulumi.yaml", "outside/class.yaml", RENDER, id="the-project-itself"),
    ],
)
def test_a_link_is_refused(root: Path, link: str, to: str, command: list[str]) -> None:
    linked(root, link, to)
    before = contents(root.parent)
    result = CliRunner().invoke(app, ["--project", str(root), *command])
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error: {link}" in result.stderr
    assert "fix: " in result.stderr
    assert "hunter2" not in result.output
    assert contents(root.parent) == before


@pytest.mark.parametrize(
    ("link", "to", "command"),
    [
        pytest.param("out", "outside", ["review", "-o", "out/review.md"], id="review-in-a-folder"),
        pytest.param("out", "outside", ["review", "-o", "out/a/b/review.md"], id="review-below-a-folder"),
        pytest.param("out", "outside", ["review", "-o", "out/../review.md"], id="review-beside-what-a-folder-leads-to"),
        pytest.param("out.md", "outside/class.yaml", ["review", "-o", "out.md"], id="review"),
        pytest.param("out.md", "outside/not-there", ["review", "-o", "out.md"], id="review-that-is-not-there-yet"),
        pytest.param("out", "project/stacks", ["review", "-o", "out/review.md"], id="review-inside-the-project"),
        pytest.param("out", "outside", ["graph", "dev", "-o", "out/dev.svg"], id="graph-in-a-folder"),
        pytest.param("out.svg", "outside/class.yaml", ["graph", "dev", "-o", "out.svg"], id="graph"),
        pytest.param("out", "outside", ["convert", "--output-dir", "out"], id="converted-files"),
        pytest.param("out/components", "outside", ["convert", "--output-dir", "out"], id="folder-of-converted-files"),
    ],
)
def test_nothing_is_written_through_a_link(root: Path, link: str, to: str, command: list[str]) -> None:
    linked(root, link, to)
    before = contents(root.parent)
    result = CliRunner().invoke(app, ["--project", str(root), *command])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is a link of the repository" in result.stderr
    assert "fix: " in result.stderr
    assert contents(root.parent) == before


def test_a_link_of_the_user_is_followed(root: Path) -> None:
    (root.parent / "home").symlink_to(root.parent / "outside")
    words = ["--project", str(root), "graph", "dev", "-o", str(root.parent / "home" / "dev.svg")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert (root.parent / "outside" / "dev.svg").is_file()


def test_a_link_in_the_place_of_a_half_written_file_is_not_written_through(root: Path) -> None:
    linked(root, f".dev.svg.{os.getpid()}.partial", "outside/class.yaml")
    before = contents(root.parent / "outside")
    assert CliRunner().invoke(app, ["--project", str(root), "graph", "dev", "-o", "dev.svg"]).exit_code == 0
    assert contents(root.parent / "outside") == before
    assert (root / "dev.svg").is_file()
    assert not (root / "dev.svg").is_symlink()


def test_a_component_behind_a_link_is_not_run(root: Path) -> None:
    project = Project(root)
    generate(project)
    [klass] = project.catalog().classes.values()
    real = root / COMPONENT
    real.rename(root.parent / "outside" / "component.py")
    linked(root, COMPONENT, "outside/component.py")
    with pytest.raises(LoadError, match="link that leads out"):
        component_problems(project, [klass])
    with pytest.raises(LoadError, match="link that leads out"):
        load_component(project, klass)


def test_a_link_to_a_file_inside_the_project_is_read(root: Path) -> None:
    linked(root, "stacks/prod/claims/c.yaml", f"project/{PATH_CLAIM}")
    assert CliRunner().invoke(app, ["--project", str(root), "render", "prod"]).exit_code == 0


@pytest.mark.parametrize(
    "name",
    [
        "../up",
        "/etc/up",
        "a/b",
        "a\\b",
        "..",
        ".",
        "~",
        "a\x00b",
        "$HOME",
        "C:x",
        "-rf",
        "a\nb",
        "a%2fb",
        "٣",
        "a" * 300,
    ],
)
@pytest.mark.parametrize(
    ("path", "old", "command"),
    [
        pytest.param(PATH_CLAIM, "  name: sql\nspec", BIND, id="claim"),
        pytest.param(PATH_CLAIM, "  name: sql\nspec", RENDER, id="claim-rendered"),
        pytest.param(PATH_CLAIM, "namespace: default", BIND, id="namespace"),
        pytest.param(PATH_CLASS, "  name: small", GENERATE, id="class"),
        pytest.param(PATH_CLAIM, "    name: sql\n", BIND, id="secret"),
    ],
)
def test_a_name_that_would_lead_elsewhere_is_refused(
    root: Path, path: str, old: str, command: list[str], name: str
) -> None:
    field = old.partition(":")[0]
    text = FILES[path].replace(old, f"{field}: {_quoted(name)}\n" + ("spec" if old.endswith("spec") else ""), 1)
    (root / path).write_text(text)
    before = contents(root.parent)
    result = CliRunner().invoke(app, ["--project", str(root), *command])
    assert result.exit_code == 1
    assert f"error: {path}" in result.stderr
    assert contents(root.parent) == before


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace("\n", "\\n").replace("\x00", "\\0") + '"'


@pytest.mark.parametrize(
    "name", ["../outside/empty", "/", "..", ".", "", "dev/claims", "dev/", "./dev", "dev\x00", "DEV"]
)
@pytest.mark.parametrize("command", ["bind", "render", "validate"])
def test_a_stack_is_a_folder_of_the_project(root: Path, command: str, name: str) -> None:
    before = contents(root.parent)
    result = CliRunner().invoke(app, ["--project", str(root), command, name])
    assert result.exit_code in (1, 2)
    assert "there is no stack" in result.stderr or "Invalid value" in result.stderr
    assert contents(root.parent) == before


@pytest.mark.parametrize(
    "folder", ["a b", "-rf", "..x", "a'\"b", "{{ x }}", "a\nimport os", "é\u202e", "a#b", "$(x)", "x.py"]
)
def test_a_component_stands_beside_its_class_whatever_the_folder_is_called(root: Path, folder: str) -> None:
    write_files(root, {f"components/{folder}/class.yaml": CLASS.replace("name: small", "name: other")})
    before = contents(root.parent)
    generate(Project(root))
    made = {name for name in contents(root.parent) if name not in before}
    assert made == {f"project/{COMPONENT}", f"project/components/{folder}/component.py"}


def test_components_of_folders_with_like_names_are_not_taken_for_each_other(root: Path) -> None:
    other = CLASS.replace("kind: Database", "kind: Cache").replace("location: West US", "location: North")
    write_files(root, {"components/a/x_y/class.yaml": CLASS, "components/a/x-y/class.yaml": other})
    (root / PATH_CLASS).unlink()
    project = Project(root)
    generate(project)
    found = {load_component(project, klass).CLAIM.kind for klass in project.catalog().classes.values()}
    assert found == {"Database", "Cache"}


def test_a_loop_of_links_ends(root: Path) -> None:
    (root / "components" / "loop").symlink_to(root / "components")
    with pytest.raises(EngineError, match="link to a folder"):
        Project(root).catalog()
