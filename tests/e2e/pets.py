"""A class of pets, which need no server and no cluster, and where state is in a PostgreSQL server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claimsmith.lab import postgresql
from tests.e2e.rig import Rig

PETS = 8


def state_in(folder: Path, name: str) -> tuple[str, str]:
    """The address of a table for the state, in the server of a folder, and the password for it."""
    server = postgresql.status(folder)
    place = f"{server.user}@{server.host}:{server.port}/postgres"
    return f"postgres://{place}?sslmode=disable&table=state_{name}", server.password_file.read_text().strip()


def pets_class() -> dict[str, Any]:
    return {
        "apiVersion": "infrastructure.crossplane.io/v1alpha1",
        "kind": "CompositeResourceClass",
        "metadata": {"name": "pets"},
        "spec": {
            "claim": {"apiVersion": "example.org/v1alpha1", "kind": "Pets"},
            "resources": [
                {"name": f"pet-{n}", "base": {"type": "random:RandomPet", "properties": {"length": 2}}}
                for n in range(PETS)
            ],
        },
    }


def pets() -> dict[str, Any]:
    reference = {**{key: pets_class()[key] for key in ("apiVersion", "kind")}, "name": "pets"}
    metadata = {"namespace": "default", "name": "mine"}
    return {"apiVersion": "example.org/v1alpha1", "kind": "Pets", "metadata": metadata, "spec": {"classRef": reference}}


def ids(rig: Rig, stack: str) -> dict[str, str]:
    """The pets in a stack's state."""
    return {r["urn"]: r["id"] for r in rig.state(stack) if r["type"] == "random:index/randomPet:RandomPet"}
