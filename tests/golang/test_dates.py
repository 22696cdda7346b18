"""Points in time: what Go's package time makes of the same."""

from __future__ import annotations

from claimsmith.golang import dates


def test_a_month_after_the_31st_is_in_the_next_but_one() -> None:
    start = dates.parse("2006-01-02", "2024-01-31")
    assert start
    assert start.plus_dates(0, 1, 0).format("2006-01-02") == "2024-03-02"
