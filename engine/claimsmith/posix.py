"""What only Linux and macOS have, imported in one place, so that elsewhere one sentence says so.

File locks, process groups and signals hold the toolchain, the local control plane, recovery and with them every run of
the engine together. What reads and writes the project's files needs none of it.
"""

from __future__ import annotations

from claimsmith.errors import PlatformError, Problem

try:
    import fcntl
except ImportError as error:
    raise PlatformError(
        Problem(
            "the toolchain, the local control plane and deployments need Linux or macOS",
            fix="on Windows, run this in WSL; validate, bind, render, generate, review and explain work here too",
        )
    ) from error

__all__ = ["fcntl"]
