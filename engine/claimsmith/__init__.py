"""claimsmith: claims and compositions for Pulumi.

The public Python interface is `claimsmith.deploy`, which components and Pulumi programs import
(docs/reference/api.md), and the names listed here. All other modules may change in any release.

This module imports nothing: `claimsmith --help` must not wait for Pulumi.
"""

__all__ = ["__version__"]

__version__ = "0.2.0"
"""The one place of the version: pyproject.toml reads it."""
