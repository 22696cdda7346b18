"""Where a user's cache is."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.base.user_folders import cache_folder


@pytest.mark.parametrize(
    ("env", "want"),
    [
        pytest.param({"CLAIMSMITH_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/c", id="our-own"),
        pytest.param({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/claimsmith", id="xdg"),
        pytest.param({"HOME": "/h"}, "/h/.cache/claimsmith", id="home"),
    ],
)
def test_cache_folder(env: dict[str, str], want: str) -> None:
    assert cache_folder(env) == Path(want)
