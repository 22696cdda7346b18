"""State that many share, in a real PostgreSQL server: stacks at once, locks, a restart on the way, and moves."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claimsmith.lab import postgresql
from tests.e2e.databases import psql
from tests.e2e.faults import Run, eventually
from tests.e2e.rig import Rig

pytestmark = pytest.mark.e2e
STACKS = ("one", "two", "three")
PETS = 12


def pets_class() -> dict[str, Any]:
    names = [f"pet-{number}" for number in range(PETS)]
    return {
        "apiVersion": "infrastructure.crossplane.io/v1alpha1",
        "kind": "CompositeResourceClass",
        "metadata": {"name": "pets"},
        "spec": {
            "claim": {"apiVersion": "example.org/v1alpha1", "kind": "Pets"},
            "resources": [{"name": n, "base": {"type": "random:RandomPet", "properties": {"length": 2}}} for n in names],
        },
    }
