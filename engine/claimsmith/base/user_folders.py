"""Folders of the user, from environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(env: Mapping[str, str] = os.environ) -> Path:
    """The user's folder for what we install or remember; it need not exist."""
    if own := env.get("CLAIMSMITH_CACHE"):
        return Path(own).expanduser().absolute()
    base = env.get("XDG_CACHE_HOME")
    return (Path(base) if base else home(env) / ".cache").absolute() / "claimsmith"


def home(env: Mapping[str, str]) -> Path:
    """The user's home folder."""
    return Path(env["HOME"]) if env.get("HOME") else Path.home()
