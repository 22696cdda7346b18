"""A project's settings: those of one stack, and those of all stacks that stand in Pulumi.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.project.project import Project
from claimsmith.project.settings import outside_plugins
from claimsmith.tools.review.stack import files_of
from tests.support.paths import ROOT
from tests.support.samples import write_files

STACK = "stacks/Pulumi.dev.yaml"


@pytest.mark.parametrize(
    ("project", "stack", "want"),
    [
        pytest.param("", None, None, id="nowhere"),
        pytest.param("", 'config: {"claimsmith:records": "true"}', "true", id="in-the-stacks-file"),
        pytest.param("", 'config: {"claimsmith:records": true}', "true", id="a-truth-value"),
        pytest.param('config: {"claimsmith:records": "true"}', None, "true", id="for-all-stacks"),
        pytest.param('config: {"claimsmith:records": true}', None, "true", id="a-truth-value-for-all-stacks"),
        pytest.param('config: {"claimsmith:records": {value: true}}', None, "true", id="for-all-stacks-as-value"),
        pytest.param(
            'config: {"claimsmith:records": "true"}',
            'config: {"claimsmith:records": "false"}',
            "false",
            id="the-stacks-own-wins",
        ),
        pytest.param(
            'config: {"claimsmith:records": "true"}', "encryptionsalt: v1:x", "true", id="a-stack-with-a-salt-only"
        ),
        pytest.param("config: stacks", None, None, id="the-old-name-of-stackConfigDir"),
    ],
)
def test_setting(tmp_path: Path, project: str, stack: str | None, want: str | None) -> None:
    own = {} if stack is None else {STACK: stack}
    root = write_files(tmp_path, {"Pulumi.yaml": f"name: shop\nruntime: python\n{project}\n", **own})
    assert Project(root).setting("dev", "records") == want


@pytest.mark.parametrize(
    ("project", "stack", "want"),
    [
        pytest.param("", "{}", False, id="nowhere"),
        pytest.param("", 'config: {"claimsmith:kubeconfig": x}', True, id="a-path"),
        pytest.param("", 'config: {"claimsmith:kubeconfig": {secure: v1:x}}', True, id="a-secret"),
        pytest.param('config: {"claimsmith:kubeconfig": {value: x}}', "{}", True, id="for-all-stacks"),
        pytest.param("", 'config: {"claimsmith:records": "true"}', True, id="records"),
        pytest.param("", 'config: {"claimsmith:context": x}', False, id="a-context-alone"),
    ],
)
def test_stacks_that_name_a_cluster(tmp_path: Path, project: str, stack: str, want: bool) -> None:
    root = write_files(tmp_path, {"Pulumi.yaml": f"name: shop\nruntime: python\n{project}\n", STACK: stack})
    assert Project(root).names_cluster("dev") is want


def test_a_salt_is_no_part_of_what_a_plan_is_made_of(tmp_path: Path) -> None:
    project = Project(write_files(tmp_path, {}))
    before = files_of(project, "dev")
    write_files(tmp_path, {STACK: "encryptionsalt: v1:x\n"})
    assert files_of(project, "dev") == before


def test_a_setting_is_part_of_what_a_plan_is_made_of(tmp_path: Path) -> None:
    project = Project(write_files(tmp_path, {}))
    before = files_of(project, "dev")
    write_files(tmp_path, {STACK: 'encryptionsalt: v1:x\nconfig: {"claimsmith:bind": auto}\n'})
    assert files_of(project, "dev") != before


@pytest.mark.parametrize("ignored", [ROOT / ".gitignore", ROOT / "engine/claimsmith/tools/scaffold/project/gitignore"])
def test_the_files_that_the_engine_writes_a_salt_to_are_ignored(ignored: Path) -> None:
    assert {".claimsmith/", "stacks/Pulumi.*.yaml"} <= set(ignored.read_text(encoding="utf-8").splitlines())


PROGRAM = "pulumi-resource-toy"


@pytest.mark.parametrize(
    ("entry", "want"),
    [
        pytest.param("{name: toy, path: ../../cache/toy}", f"cache/toy/{PROGRAM}", id="a-folder"),
        pytest.param("{name: toy, path: OUTSIDE/cache/toy}", f"cache/toy/{PROGRAM}", id="an-absolute-path"),
        pytest.param(f"{{name: toy, path: ../../cache/toy/{PROGRAM}}}", f"cache/toy/{PROGRAM}", id="a-program"),
        pytest.param("{name: other, path: ../../cache/toy}", None, id="no-program-of-that-name"),
        pytest.param("{name: toy, path: ../../cache/none}", None, id="nothing-there"),
        pytest.param("{name: toy}", None, id="no-path"),
        pytest.param("toy", None, id="no-object"),
        pytest.param("{name: toy, path: plugins}", None, id="of-the-project"),
        pytest.param("{name: toy, path: ../beside}", None, id="of-the-repository"),
        pytest.param("{name: toy, path: OUTSIDE/repository/beside}", None, id="of-the-repository-by-its-whole-path"),
        pytest.param("{name: toy, path: ../../linked}", None, id="of-the-repository-by-a-link"),
        pytest.param("{name: toy, path: link}", f"cache/toy/{PROGRAM}", id="a-link-to-one-outside"),
    ],
)
def test_plugins_that_are_no_file_of_the_repository(tmp_path: Path, entry: str, want: str | None) -> None:
    places = ("cache/toy", "repository/beside", "repository/project/plugins")
    write_files(tmp_path, {f"{place}/{PROGRAM}": "" for place in places})
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "repository" / "beside")
    (tmp_path / "repository" / "project" / "link").symlink_to(tmp_path / "cache" / "toy")
    listed = entry.replace("OUTSIDE", str(tmp_path))
    project = f"name: shop\nruntime: python\nplugins:\n  providers:\n  - {listed}\n"
    root = write_files(tmp_path / "repository" / "project", {"Pulumi.yaml": project})
    assert outside_plugins(root) == ({"toy": (tmp_path / want).resolve()} if want else {})
