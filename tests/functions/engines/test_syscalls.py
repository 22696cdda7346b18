"""Calls that are taken away from a child process. Each case runs in a process of its own."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="no filter for this system"
)

REFUSED = """
import ctypes, os, resource, signal, socket, subprocess, sys, threading, time
from claimsmith.functions.engines import syscalls
assert syscalls.refuse()
"""


def run(attempt: str) -> str:
    code = f"{REFUSED}try:\n    print({attempt})\nexcept OSError as error:\n    print(type(error).__name__)\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("os.fork()", id="fork"),
        pytest.param("os.posix_spawn(sys.executable, ['python', '-c', ''], {})", id="spawn"),
        pytest.param("subprocess.call([sys.executable, '-c', ''])", id="program"),
        pytest.param("os.execv(sys.executable, ['python'])", id="replace"),
        pytest.param("socket.socket()", id="tcp"),
        pytest.param("socket.socket(type=socket.SOCK_DGRAM)", id="udp"),
        pytest.param("socket.socket(socket.AF_UNIX)", id="unix-socket"),
        pytest.param("os.kill(os.getppid(), 0)", id="signal-of-another"),
        pytest.param("os.kill(0, 0)", id="signal-of-a-group"),
        pytest.param("os.setpriority(os.PRIO_PROCESS, 0, 5)", id="priority"),
    ],
)
def test_refused(attempt: str) -> None:
    assert run(attempt) == "PermissionError\n"


@pytest.mark.parametrize(
    ("attempt", "want"),
    [
        pytest.param("ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)", "-1", id="end-with-parent"),
        pytest.param("ctypes.CDLL(None).prctl(15, b'name', 0, 0, 0)", "0", id="own-name"),
        pytest.param("os.kill(os.getpid(), 0)", "None", id="own-signal"),
        pytest.param("len(socket.socketpair())", "2", id="pair"),
        pytest.param("len(resource.getrlimit(resource.RLIMIT_AS))", "2", id="limits-read"),
        pytest.param("threading.Thread(target=time.sleep, args=(0,)).start()", "None", id="thread"),
    ],
)
def test_what_is_left(attempt: str, want: str) -> None:
    assert run(attempt) == f"{want}\n"


def test_limits_stay() -> None:
    """The C library reports a refused call, and Python takes that for a limit that cannot be raised."""
    code = f"{REFUSED}resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "ValueError" in done.stderr
