"""Which SDKs of providers are installed beside the tests: the large ones are not a part of every environment."""

from __future__ import annotations

import pytest

from claimsmith.project import sdks

LARGE = ("aws", "azure-native", "gcp")


def large(*values: object, package: str, id: str) -> object:
    """A row of a table that needs a large SDK: skipped, by name, where that is not installed."""
    missing = package not in sdks.installed()
    reason = f"pulumi-{package} is not installed: make test-sdks installs it"
    return pytest.param(*values, id=id, marks=[pytest.mark.sdks, pytest.mark.skipif(missing, reason=reason)])
