"""Annotations of the platform's files that would do nothing: refused, or reported with the nearest name."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import CatalogError
from tests.support.crossplane_documents import composition, definition
from tests.support.samples import BUCKET, catalog_of, class_data

PROTECT = "claimsmith.io/protect"


def of_class(**annotations: Any) -> list[dict[str, Any]]:
    return [class_data("c", annotations=annotations)]


def of_base(**annotations: Any) -> list[dict[str, Any]]:
    return [class_data("c", {"base": {**BUCKET, "metadata": {"annotations": annotations}}})]


def of_composition(**annotations: Any) -> list[dict[str, Any]]:
    made = composition(resources=[{"name": "bucket", "base": {**BUCKET, "metadata": {"annotations": annotations}}}])
    return [definition(), made]


PLACES = [
    pytest.param(of_class, "metadata", id="class"),
    pytest.param(of_base, "spec.resources[0].base.metadata", id="base"),
    pytest.param(of_composition, "spec.resources[0].base.metadata", id="composition"),
]


@pytest.mark.parametrize("value", ["True", "yes", "1", "", " true"])
@pytest.mark.parametrize(("documents", "place"), PLACES)
def test_a_value_that_protects_nothing_is_refused(documents: Any, place: str, value: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of(documents(**{PROTECT: value}))
    [problem] = caught.value.problems
    assert (problem.path, problem.fix) == (f"{place}.annotations[{PROTECT}]", 'write "true", or "false"')
    assert problem.where is not None


@pytest.mark.parametrize("value", ["true", "false"])
@pytest.mark.parametrize(("documents", "place"), PLACES)
def test_values_that_mean_something(documents: Any, place: str, value: str) -> None:
    catalog = catalog_of(documents(**{PROTECT: value}))
    assert [w for w in catalog.warnings if place in w.path] == []


@pytest.mark.parametrize(
    ("key", "fixes"),
    [
        pytest.param("claimsmith.io/protct", ["did you mean 'claimsmith.io/protect'?"], id="protect"),
        pytest.param("claimsmith.io/timeuot", ["did you mean 'claimsmith.io/timeout'?"], id="timeout"),
        pytest.param("claimsmith.io/timeout", [], id="known"),
        pytest.param("claimsmith.io/zzz", [], id="like-none"),
        pytest.param("simulated-cloud.claimsmith.io/ready-after", [], id="of-the-simulated-cloud"),
        pytest.param("example.org/protct", [], id="of-somebody-else"),
    ],
)
@pytest.mark.parametrize(("documents", "place"), PLACES)
def test_almost_the_name_of_one_is_reported(documents: Any, place: str, key: str, fixes: list[str]) -> None:
    found = [w for w in catalog_of(documents(**{key: "5m"})).warnings if "annotation" in w.what]
    assert [(w.path, w.fix) for w in found] == [(f"{place}.annotations[{key}]", fix) for fix in fixes]
