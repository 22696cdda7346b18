"""An S3 server on this machine: the Versity gateway, which others store their data in, on loopback and a folder.

Each object is a file of that folder, so that tests see what the engine keeps. The program is the one on PATH, else it
is built from the pinned Go module beside this file: once, into the user's cache. Only tests and benchmarks need it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from claimsmith.base.posix import fcntl
from claimsmith.base.user_folders import cache_folder
from claimsmith.lab import files
from claimsmith.toolchain import parts

NAME = "versitygw"
MODULE = Path(__file__).with_name(NAME)
PACKAGE = "github.com/versity/versitygw/cmd/versitygw"
HOST = "127.0.0.1"
REGION = "us-east-1"
MISSING = f"there is no {NAME} on PATH, and no Go {parts.GO} to build it with"
#: The server ends with the process that holds the other end of this shell's input, however that one ends.
_TIED = '"$@" & read -r _; kill -9 $!; wait'


def program() -> Path | None:
    """The server's program; None where it is neither installed nor can be built."""
    if found := shutil.which(NAME):
        return Path(found)
    pins = b"".join((MODULE / name).read_bytes() for name in ("go.mod", "go.sum"))
    built = cache_folder() / f"{NAME}-{hashlib.sha256(pins).hexdigest()[:12]}" / NAME
    if not built.exists() and shutil.which("go"):
        _build(built)
    return built if built.exists() else None


def _build(built: Path) -> None:
    """Build it; a second test process waits for the first."""
    built.parent.mkdir(parents=True, exist_ok=True)
    with (built.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if built.exists():
            return
        part = built.with_suffix(".part")
        command = ["go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(part)]
        env = {"GOTOOLCHAIN": "local", **os.environ, "GOWORK": "off"}
        subprocess.run([*command, PACKAGE], cwd=MODULE, env=env, check=True)
        part.replace(built)


@dataclass
class Server:
    """One server, its folder and its only user."""

    folder: Path
    program: Path
    port: int = field(default_factory=files.free_port)
    key: str = "tests"
    secret: str = field(default_factory=lambda: secrets.token_hex(20))
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        words = [str(self.program), "--port", f"{HOST}:{self.port}", "--region", REGION, "--quiet", "posix"]
        with self.folder.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", _TIED, "sh", *words, str(self.folder)],
                env={**os.environ, "ROOT_ACCESS_KEY": self.key, "ROOT_SECRET_KEY": self.secret},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while not self._answers():
            assert self.process.poll() is None, self.folder.with_suffix(".log").read_text()
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            socket.create_connection((HOST, self.port), timeout=5).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """End it as a crash does."""
        if self.process and self.process.stdin:
            self.process.stdin.close()
            self.process.wait()

    def bucket(self, name: str) -> Path:
        """The folder of a bucket, which is created if it is missing."""
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path

    def url(self, bucket: str) -> str:
        """The address of a bucket for the engine."""
        return f"s3://{bucket}?endpoint=http://{HOST}:{self.port}&use_path_style=true&region={REGION}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a client that may use it; no settings of the machine's user reach it."""
        none = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_PROFILE": ""}
        own = {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_SESSION_TOKEN": ""}
        return {**none, **own, "AWS_EC2_METADATA_DISABLED": "true"}


@contextmanager
def running(folder: Path) -> Iterator[Server | None]:
    """A server for as long as a `with` block lasts; None where its program cannot be had."""
    found = program()
    if not found:
        yield None
        return
    server = Server(folder, found)
    try:
        server.start()
        yield server
    finally:
        server.kill()
