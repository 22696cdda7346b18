"""function-cel-filter."""

from __future__ import annotations

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import cel_filter
from claimsmith.functions.protocol import Ready
from tests.support.function_calls import call

DESIRED = dict.fromkeys(("bucket", "bucket-2", "table"), Ready.true)


def names(*filters: dict[str, str]) -> list[str]:
    data = {"apiVersion": "cel.fn.crossplane.io/v1beta1", "kind": "Filters", "filters": list(filters)}
    return list(call(cel_filter, "function-cel-filter", data, desired=DESIRED).desired.resources)


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ([{"name": "bucket", "expression": "observed.composite.resource.spec.region == 'us'"}], ["bucket-2", "table"]),
        ([{"name": "bucket.*", "expression": "false"}], ["table"]),
        ([{"name": "bucket.*", "expression": "true"}], list(DESIRED)),
        ([{"name": "t.*", "expression": "true"}, {"name": "table", "expression": "1 > 2"}], ["bucket", "bucket-2"]),
        ([], list(DESIRED)),
    ],
    ids=["name", "pattern", "true", "all must hold", "none"],
)
def test_filters(filters: list[dict[str, str]], kept: list[str]) -> None:
    assert names(*filters) == kept


@pytest.mark.parametrize(
    ("filters", "path"),
    [
        ([{"name": "a", "expression": "observed.composite.resource.spec.absent == 1"}], "filters[0].expression"),
        ([{"name": "a", "expression": "observed.composite.resource.spec.region"}], "filters[0].expression"),
        ([{"name": "(", "expression": "true"}], "filters[0].name"),
        ([{"name": "a"}], "filters[0].expression"),
        ([{"name": "a", "expresion": "true"}], "filters[0]"),
    ],
    ids=["absent", "no boolean", "pattern", "missing", "unknown"],
)
def test_refused(filters: list[dict[str, str]], path: str) -> None:
    with pytest.raises(EngineError) as caught:
        names(*filters)
    assert any(path in p.path for p in caught.value.problems)
    assert all(p.where and p.fix for p in caught.value.problems)
