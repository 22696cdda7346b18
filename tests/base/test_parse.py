"""Where a problem of a model stands in its file."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.parse import real_path


@pytest.mark.parametrize(
    ("loc", "want"),
    [
        pytest.param(("a", "list", 0, "x"), ("a", "list", 0, "x"), id="all-there"),
        pytest.param(("a", "math", "list", 0), ("a", "list", 0), id="tag-of-a-union-left-out"),
        pytest.param(("a", "list", 3, "x"), ("a", "list"), id="missing-index"),
        pytest.param(("a", "nothing"), ("a",), id="missing-key"),
    ],
)
def test_real_path(loc: tuple[Any, ...], want: tuple[Any, ...]) -> None:
    assert real_path({"a": {"list": [{"x": 1}]}}, loc) == want
