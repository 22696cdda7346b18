"""function-pythonic as the tests run it: a program in an environment of its own, which `make` installs."""

from __future__ import annotations

import os

import pytest

from claimsmith.functions import grpc_caller
from claimsmith.functions.registry import Bind
from tests.support.paths import ROOT

PROGRAM = ROOT / ".venv" / "pythonic" / "bin" / "function-pythonic"
"""Where scripts/pythonic.sh installs it."""
LIMITS = grpc_caller.Limits(seconds=120, start_seconds=120)
"""More than a user's: a busy machine starts its imports slowly."""
ARGUMENTS = ("grpc", "--insecure", "--address=127.0.0.1:{port}")


def require(name: str) -> Bind:
    """The function, by that name; the test is skipped without its program, and fails in CI."""
    if PROGRAM.is_file():
        return grpc_caller.of_function(name, grpc_caller.Program(str(PROGRAM), ARGUMENTS), LIMITS)
    why = "function-pythonic is not installed: run `make pythonic`, which needs Python 3.12 or newer"
    if os.environ.get("CI"):
        pytest.fail(f"{why}; this is CI")
    pytest.skip(why)
