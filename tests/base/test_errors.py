"""Fixes for names that do not exist."""

from __future__ import annotations

import pytest

from claimsmith.base.errors import suggest

MANY = [f"class-{letter}" for letter in "abcdefghijklmn"]


@pytest.mark.parametrize(
    ("word", "candidates", "otherwise", "want"),
    [
        pytest.param("smal", ["small", "large"], "", "did you mean 'small'?", id="nearest"),
        pytest.param("smal", ["small", "large"], "add it", "did you mean 'small'?", id="nearest-before-otherwise"),
        pytest.param("zzz", ["small", "large"], "", "use one of: small, large", id="none-is-close"),
        pytest.param("zzz", ["small", "large"], "add it", "add it", id="otherwise"),
        pytest.param("zzz", [], "", "use one of: none yet", id="no-candidates"),
        pytest.param("zzz", MANY, "", f"use one of: {', '.join(MANY[:12])}, …", id="long-lists-are-cut"),
    ],
)
def test_suggest(word: str, candidates: list[str], otherwise: str, want: str) -> None:
    assert suggest(word, candidates, otherwise) == want
