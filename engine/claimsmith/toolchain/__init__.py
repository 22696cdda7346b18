"""Finds or brings the programs that the engine is made of.

Six parts: the Pulumi engine, its Python language host, its Kubernetes provider, and the three programs of the
local control plane. A part is taken from PATH where a compatible one is there, else from the user's cache folder;
`install` fills that folder with official downloads or, where there is no internet, with programs built from the
pinned Go module. Knows nothing of the command line: progress goes to a function given by the caller.
"""

import claimsmith.posix  # noqa: F401  # Before all that needs Linux or macOS: it says so in one sentence.
from claimsmith.toolchain.discovery import Found, environment, find, find_all, require
from claimsmith.toolchain.installation import install
from claimsmith.toolchain.parts import NAMES

__all__ = ["NAMES", "Found", "environment", "find", "find_all", "install", "require"]
