"""The pets in a state, and where state is in a PostgreSQL server."""

from __future__ import annotations

from pathlib import Path

from claimsmith.lab import postgresql
from tests.e2e.rig import Rig


def state_in(folder: Path, name: str) -> tuple[str, str]:
    """The address of a table for the state, in the server of a folder, and the password for it."""
    server = postgresql.status(folder)
    place = f"{server.user}@{server.host}:{server.port}/postgres"
    return f"postgres://{place}?sslmode=disable&table=state_{name}", server.password_file.read_text().strip()


def ids(rig: Rig, stack: str) -> dict[str, str]:
    """The pets in a stack's state."""
    return {r["urn"]: r["id"] for r in rig.state(stack) if r["type"] == "random:index/randomPet:RandomPet"}
