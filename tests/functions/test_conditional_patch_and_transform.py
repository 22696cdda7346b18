"""function-conditional-patch-and-transform."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import conditional_patch_and_transform
from tests.support.function_calls import call

BASE = {"apiVersion": "v1", "kind": "Thing"}


def names(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    data = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": list(resources), **more}
    response = call(conditional_patch_and_transform, "acme-function-conditional-patch-and-transform", data)
    return {name: r.document for name, r in response.desired.resources.items()}


def test_resources_by_their_conditions() -> None:
    made = names(
        {"name": "eu", "base": BASE, "condition": "observed.composite.resource.spec.region == 'eu'"},
        {"name": "us", "base": BASE, "condition": "observed.composite.resource.spec.region == 'us'"},
        {"name": "any", "base": BASE},
    )
    assert list(made) == ["eu", "any"]


def test_one_name_for_resources_of_which_conditions_choose() -> None:
    made = names(
        {"name": "x", "base": {**BASE, "kind": "One"}, "condition": "observed.composite.resource.spec.count > 5"},
        {"name": "x", "base": {**BASE, "kind": "Two"}, "condition": "observed.composite.resource.spec.count < 5"},
    )
    assert made == {"x": {**BASE, "kind": "Two"}}


@pytest.mark.parametrize(("condition", "count"), [("true", 1), ("1 == 2", 0)])
def test_a_condition_of_the_step(condition: str, count: int) -> None:
    assert len(names({"name": "a", "base": BASE}, condition=condition)) == count


@pytest.mark.parametrize(
    ("resources", "path"),
    [
        ([{"name": "a", "base": BASE, "condition": "nonsense("}], "resources[0].condition"),
        ([{"name": "a", "base": BASE, "condition": "observed.composite.resource.spec.x"}], "resources[0].condition"),
        ([{"name": "a", "base": BASE}, {"name": "a", "base": BASE}], "resources[1].name"),
    ],
    ids=["invalid", "no boolean", "one name twice"],
)
def test_refused(resources: list[dict[str, Any]], path: str) -> None:
    with pytest.raises(EngineError) as caught:
        names(*resources)
    problem = caught.value.problems[0]
    assert problem.path.endswith(path)
    assert problem.where
    assert problem.fix


def test_warnings_are_worded_as_the_function_words_them() -> None:
    patch = {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": "spec.absent",
        "toFieldPath": "spec.a",
        "policy": {"fromFieldPath": "Required"},
    }
    data = {"apiVersion": "conditional-pt.fn.crossplane.io/v1beta1", "kind": "Resources"}
    resources = [{"name": "a", "base": BASE, "patches": [patch]}]
    response = call(
        conditional_patch_and_transform, "function-conditional-patch-and-transform", {**data, "resources": resources}
    )
    [result] = response.results
    assert result.message.startswith(
        'cannot render patches for composed resource "a": cannot apply the "FromCompositeFieldPath" patch at index 0: '
    )
