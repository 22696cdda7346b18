"""function-environment-configs: what its environment consists of."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import environment_configs
from claimsmith.functions.protocol import ENVIRONMENT
from claimsmith.functions.requirements import Sources, settled
from tests.support.function_calls import place, request

FUNCTION = "function-environment-configs"


def config(name: str, rank: Any = None, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"all": "yes"}, "annotations": {"rank": rank}}
    head = {"apiVersion": "apiextensions.crossplane.io/v1beta1", "kind": "EnvironmentConfig", "metadata": metadata}
    return {**head, **more}


def environment(*sources: dict[str, Any], there: tuple[dict[str, Any], ...], **more: Any) -> dict[str, Any]:
    spec = {"environmentConfigs": list(sources), **more}
    data = {"apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1", "kind": "Input", "spec": spec}
    function = environment_configs.bind(place(FUNCTION, data))
    found = settled(function, request(data, context={ENVIRONMENT: {"before": 1}}), Sources(there)).context[ENVIRONMENT]
    return {k: v for k, v in found.items() if k not in ("apiVersion", "kind")}


ONE = {"ref": {"name": "one"}}


def multiple(path: str) -> dict[str, Any]:
    labels = [{"key": "all", "type": "Value", "value": "yes"}]
    return {"type": "Selector", "selector": {"mode": "Multiple", "matchLabels": labels, "sortByFieldPath": path}}


@pytest.mark.parametrize(
    ("source", "data", "want"),
    [
        pytest.param(ONE, {"data": {"a": 1}}, {"before": 1, "a": 1}, id="data"),
        pytest.param(ONE, {"data": {"before": {"x": 1}}}, {"before": {"x": 1}}, id="over-what-was-there"),
        pytest.param(ONE, {"data": None}, {"before": 1}, id="null"),
        pytest.param({**ONE, "toFieldPath": "a.b"}, {"data": {"c": 1}}, {"before": 1, "a": {"b": {"c": 1}}}, id="path"),
        pytest.param({**ONE, "toFieldPath": "a"}, {}, {"before": 1, "a": None}, id="no-data-at-a-path-is-null"),
    ],
)
def test_environment(source: dict[str, Any], data: dict[str, Any], want: dict[str, Any]) -> None:
    assert environment(source, there=(config("one", **data),)) == want


def test_defaults_are_below_all() -> None:
    found = environment(ONE, there=(config("one", data={"a": 1}),), defaultData={"a": 0, "before": 0, "last": 0})
    assert found == {"before": 1, "a": 1, "last": 0}


@pytest.mark.parametrize(
    ("ranks", "last"),
    [
        pytest.param((1, 3, 2), "b", id="numbers"),
        pytest.param((1, 2.5, 2), "b", id="whole-numbers-and-others"),
        pytest.param((0.5, 1.5, None), "b", id="missing"),
        pytest.param(("z", "b", "c"), "a", id="texts"),
    ],
)
def test_sorted(ranks: tuple[Any, ...], last: str) -> None:
    there = tuple(config(name, rank, data={"last": name}) for name, rank in zip("abc", ranks, strict=True))
    assert environment(multiple("metadata.annotations.rank"), there=there)["last"] == last


def test_a_single_config_needs_no_order() -> None:
    assert environment(multiple("metadata.labels"), there=(config("one", data={"a": 1}),))["a"] == 1


@pytest.mark.parametrize(
    ("source", "there"),
    [
        pytest.param(ONE, (config("one"),), id="no-data"),
        pytest.param(ONE, (), id="absent"),
        pytest.param(multiple("metadata.annotations.rank"), (config("a", 1), config("b", "x")), id="number-and-text"),
        pytest.param(multiple("metadata.annotations.rank"), (config("a", True), config("b", True)), id="booleans"),
    ],
)
def test_refused(source: dict[str, Any], there: tuple[dict[str, Any], ...]) -> None:
    with pytest.raises(EngineError) as caught:
        environment(source, there=there)
    assert caught.value.problems[0].fix
