"""A project's private folder: the layout of local state."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith import toolchain
from claimsmith.base.errors import DeployError
from claimsmith.cli.app import app
from claimsmith.project import workspace
from claimsmith.project.project import Project

OLD_LAYOUT = {".pulumi/stacks/dev.json": "{}"}


def project(root: Path, files: dict[str, str]) -> Project:
    (root / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    for name, text in files.items():
        path = root / ".claimsmith" / "state" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Project(root)


def test_new_state_has_stacks_by_project(tmp_path: Path) -> None:
    workspace.prepare(project(tmp_path, {}))
    assert (tmp_path / ".claimsmith/state/.pulumi/meta.yaml").read_text() == "version: 1\n"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(OLD_LAYOUT, id="old-layout"),
        pytest.param({".pulumi/meta.yaml": "version: 1\nmore: true\n"}, id="current-layout"),
        pytest.param({".pulumi/locks/x.json": "{}"}, id="no-stacks-yet"),
    ],
)
def test_state_that_is_there_is_left_alone(tmp_path: Path, files: dict[str, str]) -> None:
    state = tmp_path / ".claimsmith" / "state"
    workspace.prepare(project(tmp_path, files))
    assert {str(p.relative_to(state)): p.read_text() for p in state.rglob("*.*") if p.is_file()} == files


@pytest.mark.parametrize(
    ("files", "legacy"),
    [
        pytest.param({}, False, id="no-state"),
        pytest.param(OLD_LAYOUT, True, id="stacks-without-projects"),
        pytest.param({".pulumi/stacks/dev.json.gz": "x"}, True, id="compressed"),
        pytest.param({".pulumi/stacks/dev.json": "{}", ".pulumi/meta.yaml": "version: 0\n"}, True, id="version-0"),
        pytest.param({".pulumi/stacks/shop/dev.json": "{}"}, False, id="stacks-of-a-project"),
        pytest.param({".pulumi/stacks/dev.json": "{}", ".pulumi/meta.yaml": "version: 1\n"}, False, id="upgraded"),
    ],
)
def test_legacy_layout(tmp_path: Path, files: dict[str, str], legacy: bool) -> None:
    project(tmp_path, files)
    assert workspace.is_legacy(tmp_path / ".claimsmith" / "state") == legacy


def test_state_of_the_old_layout_is_refused_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "require", lambda *_: None)
    with pytest.raises(DeployError) as caught:
        workspace.pulumi(project(tmp_path, OLD_LAYOUT), "stack", "ls")
    [problem] = caught.value.problems
    assert "the state in .claimsmith/state has the layout from before stacks belonged to projects" in problem.what
    assert "PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=true pulumi state upgrade --yes" in problem.fix


def test_refusal_of_another_backend_is_told_with_the_way_out() -> None:
    said = "error: \n=====\nLegacy DIY state is deprecated, please upgrade your state to project mode using:\n"
    [problem] = workspace.unreadable("dev", said).problems
    assert "layout from before stacks belonged to projects" in problem.what
    assert "pulumi state upgrade" in problem.fix


def test_state_that_a_killed_run_left_unreadable_leads_to_recover() -> None:
    [problem] = workspace.unreadable("dev", "error: failed to load checkpoint: EOF\n").problems
    assert problem.fix == "if a run was killed, see what it left behind: claimsmith recover dev"


def test_drift_of_a_stack_that_was_never_created_names_the_way_to_create_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = subprocess.CompletedProcess([], 255, "", "error: no stack named 'dev' found\n")
    monkeypatch.setattr(workspace, "pulumi", lambda *_: refused)
    with pytest.raises(DeployError) as caught:
        workspace.refresh_preview(project(tmp_path, {}), "dev")
    [problem] = caught.value.problems
    assert problem.what == "the stack 'dev' cannot be read: no stack named 'dev' found"
    assert problem.fix.startswith("create it: pulumi stack select dev --create")


def test_settings_for_the_upgrade_are_printed_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, OLD_LAYOUT).root)
    ran = CliRunner().invoke(app, ["env"])
    assert ran.exit_code == 0, ran.output
    assert "export PULUMI_CONFIG_PASSPHRASE_FILE=" in ran.stdout
    assert ran.stderr.startswith("warning: the state in .claimsmith/state")


IN_POSTGRESQL = "postgres://me@db/state?table=shop"


@pytest.mark.parametrize(
    ("file", "env", "want"),
    [
        pytest.param("", {}, None, id="here"),
        pytest.param(f"backend: {{url: '{IN_POSTGRESQL}'}}\n", {}, "1", id="in-pulumi-yaml"),
        pytest.param("", {"PULUMI_BACKEND_URL": IN_POSTGRESQL}, "1", id="by-the-variable"),
        pytest.param(
            f"backend: {{url: '{IN_POSTGRESQL}'}}\n", {"PULUMI_BACKEND_URL": "s3://b"}, None, id="the-variable-wins"
        ),
        pytest.param("", {"PULUMI_BACKEND_URL": IN_POSTGRESQL, workspace.PARALLEL: "4"}, "4", id="the-users-own"),
    ],
)
def test_stacks_in_postgresql_are_read_one_by_one(
    tmp_path: Path, file: str, env: dict[str, str], want: str | None
) -> None:
    """The engine's connections run out otherwise, and it waits for ever."""
    found = project(tmp_path, {})
    with (tmp_path / "Pulumi.yaml").open("a") as more:
        more.write(file)
    env = {"PATH": "/bin", "HOME": str(tmp_path), **env}
    assert workspace.environment(found, env).get(workspace.PARALLEL) == want
