"""`claimsmith local`: what is shown of the servers on this machine, and what is refused before they start."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from claimsmith import lab
from claimsmith.cli.app import app
from claimsmith.lab import control_plane, postgresql
from tests.support.refusal_files import FILES
from tests.support.samples import write_files

PLANE = "kube-apiserver"
SERVER = "PostgreSQL:"
START_PLANE = "to start it: claimsmith local up\n"
START_SERVER = "to start it: claimsmith local up --postgresql"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    return tmp_path


@pytest.mark.parametrize("words", [[], ["--postgresql"]], ids=["control-plane", "postgresql"])
def test_nothing_starts_for_an_unknown_stack(project: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    for module in (lab, postgresql):
        monkeypatch.setattr(module, "up", lambda *_, **__: pytest.fail("a server was started"))
    ran = CliRunner().invoke(app, ["local", "up", "--stack", "devv", *words])
    assert (ran.exit_code, "there is no stack 'devv'" in ran.stderr) == (1, True)


@pytest.mark.parametrize(
    ("plane", "server", "shown", "hidden"),
    [
        pytest.param(None, None, [PLANE, START_PLANE], [SERVER], id="neither-was-started"),
        pytest.param(False, None, [PLANE, START_PLANE], [SERVER], id="control-plane-stopped"),
        pytest.param(True, None, [PLANE, "API server:"], [SERVER], id="control-plane-runs"),
        pytest.param(None, False, [SERVER, START_SERVER], [PLANE, START_PLANE], id="server-stopped"),
        pytest.param(None, True, [SERVER, "127.0.0.1:2"], [PLANE, START_PLANE], id="server-runs"),
        pytest.param(False, True, [SERVER, "127.0.0.1:2"], [PLANE, START_PLANE], id="only-the-server-runs"),
        pytest.param(False, False, [PLANE, START_PLANE, SERVER, START_SERVER], [], id="both-stopped"),
        pytest.param(True, True, [PLANE, "API server:", "127.0.0.1:2"], [], id="both-run"),
    ],
)
def test_status_shows_what_the_project_uses(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    plane: bool | None,
    server: bool | None,
    shown: list[str],
    hidden: list[str],
) -> None:
    kubeconfig, log = project / "plane" / "kubeconfig", project / "server" / "server.log"
    for state, file in ((plane, kubeconfig), (server, log)):
        if state is not None:
            file.parent.mkdir()
            file.touch()
    part = control_plane.Part(PLANE, bool(plane), 1, 2, project / "plane.log")
    status = lab.Status(bool(plane), (part,), "https://127.0.0.1:1", kubeconfig, "id")
    monkeypatch.setattr(lab, "status", lambda _: status)
    found = postgresql.Server(bool(server), 1, 2, log, project / "password")
    monkeypatch.setattr(postgresql, "status", lambda _: found)
    ran = CliRunner().invoke(app, ["local", "status"])
    assert ran.exit_code == (0 if plane or server else 1)
    assert [text for text in shown if text not in ran.output] == []
    assert [text for text in hidden if text in ran.output] == []
