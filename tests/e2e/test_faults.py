"""What goes wrong around a run, on the real engine and API server: kills, two runs at once, a cluster that says no."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable

import pytest

from claimsmith import local
from tests.e2e.faults import VICTIMS, Estate
from tests.e2e.rig import Rig

pytestmark = pytest.mark.e2e


@pytest.fixture
def estate(rig: Rig, control_plane: local.Status) -> Estate:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    return Estate(rig, control_plane.kubeconfig.parents[2], random.Random(seed))


@pytest.mark.parametrize("victim", VICTIMS)
def test_killed_at_a_random_moment(estate: Estate, victim: str) -> None:
    took = estate.begin(4)
    estate.check_whole()
    for _ in range(2):
        estate.change()
        estate.hit(victim, estate.chance.uniform(0.3, took))
        estate.mend()
        estate.check_whole()
