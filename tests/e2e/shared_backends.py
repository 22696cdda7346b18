"""The servers that stacks keep their state in: PostgreSQL and a bucket, each as its administrator sees it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from claimsmith.lab import postgresql
from tests.support import buckets


class Backend(Protocol):
    """The state of one project in a server."""

    @property
    def url(self) -> str:
        """The address for the engine."""

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables by which a client may use it."""

    @property
    def secret(self) -> str:
        """What nobody may print."""

    def locked(self) -> bool:
        """Whether some run holds a lock."""

    def holds(self, stack: str, text: str) -> bool:
        """Whether the state of a stack has a text in it."""

    def kill(self) -> None:
        """End the server as a crash does."""

    def start(self) -> None:
        """Start it again, on its data."""

    def back_up(self) -> None:
        """Keep a copy of the project's state."""

    def empty(self) -> None:
        """Lose all of it."""

    def restore(self) -> None:
        """Bring the copy back."""


@dataclass
class Table:
    """A table of a PostgreSQL server."""

    folder: Path
    name: str
    dump: str = ""

    @property
    def server(self) -> postgresql.Server:
        return postgresql.status(self.folder)

    @property
    def url(self) -> str:
        place = f"{self.server.user}@{self.server.host}:{self.server.port}/postgres"
        return f"postgres://{place}?sslmode=disable&table={self.name}"

    @property
    def secret(self) -> str:
        return self.server.password_file.read_text().strip()

    @property
    def settings(self) -> dict[str, str]:
        return {"PGPASSWORD": self.secret}

    def locked(self) -> bool:
        return self._sql(f"SELECT count(*) FROM {self.name} WHERE key LIKE '%locks%'") != "0"

    def holds(self, stack: str, text: str) -> bool:
        if not self._sql(f"SELECT to_regclass('{self.name}')"):
            return False  # The engine creates the table at its first look.
        # The engine keeps each file as a JSON document with the content in base64.
        content = "convert_from(decode(data->>'data', 'base64'), 'UTF8')"
        return text in self._sql(f"SELECT {content} FROM {self.name} WHERE key LIKE '%stacks/%/{stack}.json'")

    def kill(self) -> None:
        pid = self.server.pid
        assert pid
        os.kill(pid, signal.SIGQUIT)  # its own word for: end at once, and recover at the next start
        postgresql.down(self.folder)

    def start(self) -> None:
        postgresql.up(self.folder)

    def back_up(self) -> None:
        self.dump = self._client(["pg_dump", "-t", self.name])

    def empty(self) -> None:
        self._sql(f"DROP TABLE {self.name}")

    def restore(self) -> None:
        # The engine creates an empty table where there is none.
        self._sql(f"DROP TABLE IF EXISTS {self.name}")
        self._sql(self.dump)

    def _sql(self, statement: str) -> str:
        words = ["psql", "--no-psqlrc", "--tuples-only", "--no-align", "--quiet", "--set", "ON_ERROR_STOP=1"]
        return self._client(words, stdin=statement).strip()

    def _client(self, words: list[str], stdin: str = "") -> str:
        program = [str(postgresql.programs() / words[0]), *words[1:]]
        place = ["-h", self.server.host, "-p", str(self.server.port), "-U", self.server.user, "-d", "postgres"]
        env = {**os.environ, **self.settings}
        ran = subprocess.run([*program, *place], env=env, input=stdin, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


@dataclass
class Bucket:
    """A bucket of an S3 server."""

    server: buckets.Server
    name: str

    def __post_init__(self) -> None:
        self.server.bucket(self.name)

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    @property
    def secret(self) -> str:
        return self.server.secret

    @property
    def settings(self) -> dict[str, str]:
        return self.server.environment

    @property
    def _state(self) -> Path:
        return self.server.folder / self.name / ".pulumi"

    @property
    def _copy(self) -> Path:
        return self.server.folder.with_name(f"{self.name}-copy")

    def locked(self) -> bool:
        return any((self._state / "locks").rglob("*.json"))

    def holds(self, stack: str, text: str) -> bool:
        return any(text in path.read_text() for path in (self._state / "stacks").glob(f"*/{stack}.json"))

    def kill(self) -> None:
        self.server.kill()

    def start(self) -> None:
        self.server.start()

    def back_up(self) -> None:
        shutil.copytree(self._state, self._copy)

    def empty(self) -> None:
        shutil.rmtree(self._state)

    def restore(self) -> None:
        shutil.rmtree(self._state)
        shutil.copytree(self._copy, self._state)
