"""The command line: `claimsmith`."""

from claimsmith.cli.app import main

__all__ = ["main"]
