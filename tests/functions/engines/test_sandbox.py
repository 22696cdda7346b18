"""What a child process may do. Each case runs in a process of its own, since rights do not come back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

LANDLOCK = """
import ctypes
print(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


confined = pytest.mark.skipif(
    sys.platform != "linux" or int(run(LANDLOCK).stdout or 0) < 1, reason="the kernel has no Landlock"
)

CONFINED = """
import os, socket, sys
from claimsmith.functions.engines import sandbox
assert sandbox.confine([sys.argv[1]])
"""


@confined
@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/passwd').read()",
        "os.listdir('/')",
        "open(sys.argv[1] + '/new', 'w')",
        "os.remove(sys.argv[1] + '/file')",
        "os.execv('/bin/true', ['true'])",
        "socket.create_connection(('127.0.0.1', 1))",
    ],
    ids=["read", "list", "write", "remove", "execute", "connect"],
)
def test_refused(attempt: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    code = f"{CONFINED}\ntry:\n    {attempt}\nexcept PermissionError:\n    print('refused')"
    assert run(code, str(tmp_path)).stdout == "refused\n"
    assert (tmp_path / "file").exists()


@confined
def test_the_given_folder_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    assert run(f"{CONFINED}\nprint(open(sys.argv[1] + '/file').read())", str(tmp_path)).stdout == "content\n"


LIMITED = """
from claimsmith.functions.engines import sandbox
sandbox.limit(megabytes=512, processor_seconds=1)
"""


@pytest.mark.parametrize(
    ("attempt", "code"),
    [
        ("try:\n    b'x' * (1 << 30)\nexcept MemoryError:\n    raise SystemExit(7)", 7),
        ("while True:\n    pass", -9),
        (
            "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "try:\n    open(sys.argv[1] + '/f', 'wb', 0).write(b'x')\nexcept OSError:\n    raise SystemExit(7)",
            7,
        ),
    ],
    ids=["memory", "processor", "file"],
)
def test_limits(attempt: str, code: int, tmp_path: Path) -> None:
    assert run(LIMITED + attempt, str(tmp_path)).returncode == code
