"""Labels that a selector matches."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.dialects.common.selector import Selector


@pytest.mark.parametrize(
    ("selector", "labels", "want"),
    [
        pytest.param({}, {"a": "b"}, True, id="empty-matches-anything"),
        pytest.param({"matchLabels": {"a": "b"}}, {"a": "b", "c": "d"}, True, id="label"),
        pytest.param({"matchLabels": {"a": "b"}}, {"a": "x"}, False, id="other-value"),
        pytest.param({"matchLabels": {"a": "b"}}, {}, False, id="no-label"),
        pytest.param({"matchLabels": {"a": "b", "c": "d"}}, {"a": "b"}, False, id="all-must-hold"),
    ]
    + [
        pytest.param({"matchExpressions": [{"key": "a", "operator": o, **v}]}, labels, want, id=f"{o}-{name}")
        for o, v, labels, want, name in [
            ("In", {"values": ["b", "c"]}, {"a": "c"}, True, "hit"),
            ("In", {"values": ["b", "c"]}, {}, False, "absent"),
            ("NotIn", {"values": ["b"]}, {"a": "b"}, False, "hit"),
            ("NotIn", {"values": ["b"]}, {}, True, "absent-as-kubernetes-has-it"),
            ("Exists", {}, {"a": ""}, True, "empty-value"),
            ("Exists", {}, {}, False, "absent"),
            ("DoesNotExist", {}, {}, True, "absent"),
            ("DoesNotExist", {}, {"a": "b"}, False, "there"),
        ]
    ],
)
def test_selector(selector: dict[str, Any], labels: dict[str, str], want: bool) -> None:
    assert Selector.model_validate(selector).matches(labels) is want
