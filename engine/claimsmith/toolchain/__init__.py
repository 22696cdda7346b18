"""Finds or installs the programs that the engine consists of.

The parts: the Pulumi engine, its Python language host, its providers of Kubernetes, random and PostgreSQL, and the
three programs of the local control plane. A part is taken from PATH where a compatible one is there, else from the
user's cache folder; `install` fills that folder with official downloads or, where there is no internet, with programs
built from the pinned Go modules. Knows nothing of the command line: progress goes to a function of the caller.
"""

import claimsmith.base.posix  # noqa: F401  # Before all that needs Linux or macOS: it refuses others in one sentence.
from claimsmith.toolchain.discovery import InstalledPart, environment, find, find_all, require
from claimsmith.toolchain.installation import install
from claimsmith.toolchain.parts import NAMES, USES

__all__ = ["NAMES", "USES", "InstalledPart", "environment", "find", "find_all", "install", "require"]
