"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def eventually(check: Callable[[], Any]) -> Any:
    """The first true result of a check, however long it takes: a hang meets the time limit of all tests."""
    while not (result := check()):
        time.sleep(0.02)
    return result
