"""Kubernetes quantities: read, added, compared, and which of them Kubernetes takes for an integer."""

from __future__ import annotations

import pytest

from claimsmith.base.errors import TransformError
from claimsmith.golang import quantity


@pytest.mark.parametrize(
    ("text", "value", "integer"),
    [
        ("1", 1.0, True),
        ("1.5Gi", 1610612736.0, False),
        ("2e3", 2000.0, True),
        ("1000m", 1.0, False),
        ("0.0000000001", 1e-09, False),
        ("-1.5Gi", -1610612736.0, False),
        ("9223372036854775807", 9223372036854775807.0, False),
        ("1E", 1e18, True),
    ],
)
def test_values(text: str, value: float, integer: bool) -> None:
    read = quantity.parse(text)
    assert (read.to_float(), read.is_integer) == (value, integer)


@pytest.mark.parametrize(
    ("one", "other", "total", "integer"),
    [
        ("50k", "20", "50020", True),
        ("1", "500m", "1.5", False),
        ("500m", "500m", "1", False),
        ("0", "500m", "0.5", False),
        ("1Ki", "0", "1024", True),
        ("9E", "9E", "18E", False),
    ],
)
def test_sums(one: str, other: str, total: str, integer: bool) -> None:
    found = quantity.parse(one).plus(quantity.parse(other))
    assert (found.number, found.is_integer) == (quantity.parse(total).number, integer)
    assert found.minus(quantity.parse(other)).number == quantity.parse(one).number


@pytest.mark.parametrize("text", ["", "abc", "1 ", "1KI", "--1", "Pi", "1ee3"])
def test_refused(text: str) -> None:
    with pytest.raises(TransformError):
        quantity.parse(text)
