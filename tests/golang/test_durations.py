"""Durations: what Go's package time makes of the same."""

from __future__ import annotations

import pytest

from claimsmith.golang import durations


@pytest.mark.parametrize(
    ("nanos", "want"),
    [
        pytest.param(0, "0s", id="zero"),
        pytest.param(1500, "1.5µs", id="microseconds"),
        pytest.param(95 * 10**9, "1m35s", id="minutes"),
        pytest.param(3600 * 10**9, "1h0m0s", id="hours"),
        pytest.param(-95 * 10**9, "-1m35s", id="negative"),
    ],
)
def test_duration_text(nanos: int, want: str) -> None:
    assert durations.text_of(nanos) == want


@pytest.mark.parametrize("text", ["", "1", "x", "1h x", "1d", "-", "9999999999h"])
def test_no_duration(text: str) -> None:
    assert durations.parse(text) is None
