"""Points in time and durations: what Go's package time makes of the same."""

from __future__ import annotations

import pytest

from claimsmith.golang import dates


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
    assert dates.duration_text(nanos) == want


@pytest.mark.parametrize("text", ["", "1", "x", "1h x", "1d", "-", "9999999999h"])
def test_no_duration(text: str) -> None:
    assert dates.duration(text) is None


def test_a_month_after_the_31st_is_in_the_next_but_one() -> None:
    start = dates.parse("2006-01-02", "2024-01-31")
    assert start
    assert start.plus_dates(0, 1, 0).format("2006-01-02") == "2024-03-02"
