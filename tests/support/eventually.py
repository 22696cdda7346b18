"""Waiting for what another process does."""

from __future__ import annotations

import time
from typing import Any


def eventually(check: Any) -> Any:
    """The first true result of a check, however long it takes: a hang meets the time limit of all tests."""
    while not (result := check()):
        time.sleep(0.1)
    return result
