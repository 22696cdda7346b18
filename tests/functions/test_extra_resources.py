"""function-extra-resources: selected, counted and sorted resources in the context."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.dialects.crossplane import composition as compositions
from claimsmith.functions import pipeline
from tests.support.crossplane_documents import XR, document, piped, step

KEY = "apiextensions.crossplane.io/extra-resources"


def config(name: str, rank: Any, **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"x": "y", **labels}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"rank": rank}}


THERE = [config("b", 1), config("a", 2), config("c", 3, region="us")]
THERE[0]["data"]["some"], THERE[2]["data"]["some"] = 1, -1


def source(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "into": "found", **more}


def selector(*labels: dict[str, Any], **more: Any) -> dict[str, Any]:
    given = list(labels) or [{"key": "x", "type": "Value", "value": "y"}]
    return source(type="Selector", selector={"matchLabels": given, **more})


def context(listed: dict[str, Any], **more: Any) -> dict[str, Any]:
    spec = {"extraResources": [listed], **more}
    data = piped(step("function-extra-resources", apiVersion="extra-resources.fn.crossplane.io/v1beta1", spec=spec))
    made = pipeline.render(compositions.read(document(data))[0], XR, extra=THERE)
    return dict(made.outcome.context)


def names(found: dict[str, Any], key: str = KEY) -> list[str]:
    return [d["metadata"]["name"] for d in found[key]["found"]]


@pytest.mark.parametrize(
    ("listed", "want"),
    [
        pytest.param(source(ref={"name": "b"}), ["b"], id="by-name"),
        pytest.param(selector(), ["a", "b", "c"], id="by-labels-sorted-by-name"),
        pytest.param(selector(sortByFieldPath="data.rank"), ["b", "a", "c"], id="sorted-by-a-number"),
        pytest.param(selector(sortByFieldPath="data.some"), ["c", "a", "b"], id="a-missing-number-is-zero"),
        pytest.param(selector(maxMatch=2), ["a", "b"], id="at-most"),
        pytest.param(
            selector(
                {"key": "region", "valueFromFieldPath": "spec", "fromFieldPathPolicy": "Optional"},
                {"key": "x", "type": "Value", "value": "y"},
            ),
            ["a", "b", "c"],
            id="optional-and-not-text",
        ),
        pytest.param(selector({"key": "region", "valueFromFieldPath": "spec.region"}), ["c"], id="from-the-composite"),
    ],
)
def test_resources(listed: dict[str, Any], want: list[str]) -> None:
    assert names(context(listed)) == want


def test_another_key_and_an_optional_resource() -> None:
    assert names(context(source(ref={"name": "b"}), context={"key": "mine"}), "mine") == ["b"]
    assert context(source(ref={"name": "z"}), policy={"resolution": "Optional"})[KEY] == {}


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param(source(ref={"name": "z"}), id="absent"),
        pytest.param(selector(minMatch=4), id="too-few"),
        pytest.param(selector(minMatch=-1), id="a-count-below-zero"),
        pytest.param(selector(mode="Multiple"), id="an-unknown-field"),
        pytest.param(source(ref={"name": "b"}, toFieldPath="a"), id="a-field-of-environments"),
        pytest.param(source(type="Reference"), id="nothing-named"),
        pytest.param(selector(sortByFieldPath="metadata.labels"), id="not-sortable"),
        pytest.param(selector({"key": "region", "valueFromFieldPath": "spec.absent"}), id="a-missing-field"),
        pytest.param(selector({"key": "region", "valueFromFieldPath": "spec"}), id="not-text"),
    ],
)
def test_refused(listed: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as caught:
        context(listed)
    assert caught.value.problems[0].what.startswith("step 'pt': ")
