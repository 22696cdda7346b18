"""A stack's kubeconfig is read in one place, and nothing of it is printed, whatever is wrong with it."""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith.base.errors import ConnectionError_, ControlPlaneError, DeployError, EngineError
from claimsmith.kubernetes import kubeconfig
from claimsmith.kubernetes.client import Cluster
from claimsmith.project import workspace
from claimsmith.project.project import Project
from tests.support.malformed_kubeconfigs import (
    MALFORMED,
    ONE_LINE,
    PLANTED,
    TOKEN,
    UNUSABLE,
    block,
    config,
    on_one_line,
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def said(error: EngineError) -> str:
    """All that could be printed of an error, by a person's debugging too."""
    return "".join([*traceback.format_exception(error), json.dumps([p.to_dict() for p in error.problems])])


def hidden(text: str) -> bool:
    return not any(secret in text for secret in PLANTED)


def flow_style(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).rstrip()


def indented(value: Any) -> str:
    return json.dumps(value, indent=2)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(block, id="lines"),
        pytest.param(on_one_line, id="json-on-one-line"),
        pytest.param(indented, id="json-of-many-lines"),
        pytest.param(flow_style, id="flow-style-on-one-line"),
    ],
)
def test_a_text_is_taken_in_every_form(project: Project, form: Callable[[Any], str]) -> None:
    cluster = workspace.stack_cluster(project, form(config()), None)
    selected = kubeconfig.select(cluster.kubeconfig, file=cluster.file)
    assert selected.user["token"] == TOKEN
    assert cluster.file == "claimsmith:kubeconfig"


@pytest.mark.parametrize("name", ["config", "with space: and colon", "folder/config.json"])
def test_a_path_is_taken(project: Project, name: str) -> None:
    path = project.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(block(config()))
    assert workspace.read_kubeconfig(project, name) == (block(config()), name)
    assert workspace.read_kubeconfig(project, str(path)) == (block(config()), name)


def test_without_a_setting_it_is_kubectls(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "one").write_text(block(config()))
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'one'}:{tmp_path / 'two'}")
    assert workspace.read_kubeconfig(project, None) == (block(config()), "one")


@pytest.mark.parametrize(("text", "place"), [pytest.param(*row, id=name) for name, row in MALFORMED.items()])
def test_what_is_malformed_is_refused_by_its_place(project: Project, text: str, place: str) -> None:
    with pytest.raises(ConnectionError_) as caught:
        workspace.stack_cluster(project, text, None)
    [problem] = caught.value.problems
    assert f"claimsmith:kubeconfig{place}" in str(problem)
    assert problem.fix
    assert hidden(said(caught.value))


@pytest.mark.parametrize("text", [pytest.param(row[0], id=name) for name, row in MALFORMED.items()])
def test_a_malformed_file_is_refused_as_the_text_is(project: Project, text: str) -> None:
    (project.root / "config").write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(EngineError) as caught:
        workspace.stack_cluster(project, "config", None)
    assert hidden(said(caught.value))


@pytest.mark.parametrize("text", [pytest.param(row[0], id=name) for name, row in MALFORMED.items()])
def test_a_cluster_of_any_origin_refuses_it(text: str) -> None:
    with pytest.raises(ConnectionError_) as caught:
        Cluster(text, file="the state of dev").identity()
    assert hidden(said(caught.value))


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in UNUSABLE.items()])
def test_what_nobody_can_log_in_with_is_refused(
    project: Project, text: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with pytest.raises(ControlPlaneError) as caught:
        workspace.stack_cluster(project, text, None).identity()
    assert caught.value.problems[0].fix
    assert hidden(said(caught.value))
    assert [*temporary.iterdir()] == []  # No key waits in a file for the next garbage collection.


@pytest.mark.parametrize("setting", [pytest.param(text, id=name) for name, text in ONE_LINE.items()])
def test_what_is_neither_text_nor_file_is_not_shown(project: Project, setting: str) -> None:
    with pytest.raises(ConnectionError_) as caught:
        workspace.stack_cluster(project, setting, None)
    [problem] = caught.value.problems
    assert "claimsmith:kubeconfig is neither" in problem.what
    assert problem.fix
    assert hidden(said(caught.value))


@pytest.mark.parametrize("named", [pytest.param(t, id=n) for n, t in ONE_LINE.items() if "character" not in n])
def test_what_kubectls_variable_holds_is_not_shown(
    project: Project, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("KUBECONFIG", named)
    with pytest.raises(DeployError) as caught:
        workspace.stack_cluster(project, None, None)
    assert hidden(said(caught.value))


def test_a_context_that_is_not_there_is_not_shown(project: Project) -> None:
    with pytest.raises(ConnectionError_) as caught:
        workspace.stack_cluster(project, block(config()), TOKEN)
    assert hidden(said(caught.value))


@pytest.mark.parametrize("text", [pytest.param(row[0], id=name) for name, row in MALFORMED.items()])
def test_the_local_control_plane_s_own(tmp_path: Path, text: str) -> None:
    (tmp_path / "kubeconfig").write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(EngineError) as caught, Cluster.of_file(tmp_path / "kubeconfig") as cluster:
        cluster.identity()
    assert caught.value.problems[0].fix
    assert hidden("".join(traceback.format_exception(caught.value)))
