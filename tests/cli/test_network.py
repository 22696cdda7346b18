"""Nothing but the toolchain and a deployment uses the network: the commands run with every door shut."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.platform_files import PLATFORM
from tests.support.refusal_files import KEY
from tests.support.samples import write_files

SHUT = """
import sys
from pathlib import Path

DOORS = {
    "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo",
    "socket.bind", "socket.sendto", "socket.sendmsg", "urllib.Request", "ftplib.connect", "smtplib.connect",
}

def watch(event, arguments):
    if event in DOORS:
        raise RuntimeError(f"the network is used: {event} {arguments[1:]}")
    if event == "subprocess.Popen" and not Path(str(arguments[0])).name.startswith("ruff"):
        raise RuntimeError(f"a program is run: {arguments[0]}")

sys.addaudithook(watch)
"""
RUN = f"{SHUT}\nfrom claimsmith.cli import main\nmain()\n"
ENVIRONMENT = {"PATH": "", "PYTHONPATH": str(ROOT / "engine"), "HOME": "/nonexistent", "TERM": "dumb"}
CROSSPLANE = ROOT / "tests" / "golden" / "crossplane-namespaced"


def run(code: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(tmp_path, PLATFORM)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["--help"], id="help"),
        pytest.param(["generate"], id="generate"),
        pytest.param(["bind", "dev"], id="bind"),
        pytest.param(["render", "dev"], id="render"),
        pytest.param(["validate", "dev"], id="validate"),
        pytest.param(["explain", "dev", KEY], id="explain"),
        pytest.param(["classes"], id="classes"),
        pytest.param(["crds"], id="crds"),
        pytest.param(["render", str(CROSSPLANE / "claim.yaml"), str(CROSSPLANE / "platform.yaml")], id="render-files"),
    ],
)
def test_the_network_is_not_used(root: Path, command: list[str]) -> None:
    done = run(RUN, *command, cwd=root)
    assert "is used" not in done.stdout + done.stderr
    assert "is run" not in done.stdout + done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import socket; socket.create_connection(('127.0.0.1', 9))", id="connection"),
        pytest.param("import socket; socket.getaddrinfo('localhost', 80)", id="name"),
        pytest.param("import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')", id="address"),
        pytest.param(
            "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))", id="datagram"
        ),
        pytest.param("import subprocess; subprocess.run(['/bin/true'])", id="program"),
    ],
)
def test_a_door_that_is_tried_is_seen(tmp_path: Path, code: str) -> None:
    done = run(f"{SHUT}\n{code}", cwd=tmp_path)
    assert done.returncode == 1
    assert "the network is used" in done.stderr or "a program is run" in done.stderr
