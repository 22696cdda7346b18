"""The wheel works with the lowest and with the newest versions of the packages that it allows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

pytestmark = pytest.mark.e2e


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("resolution", ["lowest-direct", "highest"])
def test_validate_render_and_generate_in_an_empty_environment(resolution: str) -> None:
    """`make test-versions` runs the unit tests there too."""
    command = ["bash", "scripts/versions.sh", "--quick", resolution]
    env = {**os.environ, "BIN": str(Path(sys.executable).parent)}
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "components/private-mysql-server/component.py     none" in ran.stdout
