"""Many stacks on a real Dask cluster whose workers share nothing but the state in a real PostgreSQL server."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from claimsmith import toolchain
from claimsmith.lab import postgresql
from tests.e2e import dask_cluster
from tests.e2e.dask_cluster import Dask
from tests.e2e.faults import left_in
from tests.e2e.rig import Ran, Rig, eventually
from tests.e2e.test_shared_state import PETS, Shared, ids, pets, pets_class

pytestmark = pytest.mark.e2e
STACKS = ("one", "three", "two")
PASSPHRASE = "not-the-one-of-the-project"
# The stack `one` is held in the middle of its `up`, until the test lets it go.
PROGRAM = """\
import asyncio
import os
import pathlib

import pulumi

from claimsmith.deploy import program

gate = pathlib.Path(os.environ["GATE"])


async def held() -> str:
    gate.with_suffix(".reached").touch()
    while not gate.exists():
        await asyncio.sleep(0.05)
    return "open"


program.run()
if pulumi.get_stack() == "one":
    pulumi.export("gate", pulumi.Output.from_input(held()))
"""
