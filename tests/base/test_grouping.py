"""Items in groups, by key and by pairs."""

from __future__ import annotations

import pytest

from claimsmith.base.grouping import grouped, joined


def test_groups_keep_the_order_of_keys_and_items() -> None:
    assert list(grouped(["b2", "a1", "b1"], lambda item: item[0]).items()) == [("b", ["b2", "b1"]), ("a", ["a1"])]


@pytest.mark.parametrize(
    ("pairs", "want"),
    [
        pytest.param([], [["a"], ["b"], ["c"], ["d"]], id="none"),
        pytest.param([("c", "a")], [["a", "c"], ["b"], ["d"]], id="one"),
        pytest.param([("a", "b"), ("c", "d"), ("d", "b")], [["a", "b", "c", "d"]], id="through-others"),
        pytest.param([("a", "b"), ("b", "a"), ("a", "a")], [["a", "b"], ["c"], ["d"]], id="a-circle"),
    ],
)
def test_no_pair_is_in_two_groups(pairs: list[tuple[str, str]], want: list[list[str]]) -> None:
    assert joined("abcd", pairs) == want
