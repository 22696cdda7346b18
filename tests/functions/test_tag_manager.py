"""function-tag-manager."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import tag_manager
from claimsmith.functions.protocol import ENVIRONMENT
from tests.support.function_calls import call

XR = {
    "apiVersion": "example.org/v1",
    "kind": "XNetwork",
    "spec": {"tags": {"team": "a", "env": "dev"}, "mixed": {"a": "1", "b": 2}, "keys": ["seen"], "gone": ["old"]},
}


def vpc(tags: dict[str, str] | None, **metadata: Any) -> dict[str, Any]:
    provider = {"region": "eu", **({"tags": tags} if tags is not None else {})}
    return {
        "apiVersion": "ec2.aws.upbound.io/v1beta1",
        "kind": "VPC",
        "metadata": metadata,
        "spec": {"forProvider": provider},
    }


def tags(before: dict[str, Any], *, observed: dict[str, str] | None = None, **more: Any) -> Any:
    data = {"apiVersion": "tag-manager.fn.crossplane.io/v1beta1", "kind": "ManagedTags", **more}
    there = {"vpc": {**before, "status": {"atProvider": {"tags": observed}}}} if observed is not None else {}
    context = {ENVIRONMENT: {"tags": {"cost": "42"}}}
    response = call(
        tag_manager,
        "function-tag-manager",
        data,
        composite=XR,
        desired={"vpc": before},
        observed=there,
        context=context,
    )
    return response.desired.resources["vpc"].document["spec"]["forProvider"].get("tags")


FROM_XR = {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.tags"}


@pytest.mark.parametrize(
    ("before", "more", "after"),
    [
        ({"own": "1"}, {"addTags": [{"tags": {"team": "b"}}]}, {"own": "1", "team": "b"}),
        (None, {"addTags": [{**FROM_XR, "policy": "Replace"}]}, {"team": "a", "env": "dev"}),
        ({"env": "prod"}, {"addTags": [{**FROM_XR, "policy": "Retain"}]}, {"env": "prod", "team": "a"}),
        ({"env": "prod"}, {"addTags": [{**FROM_XR, "policy": "Replace"}]}, {"env": "dev", "team": "a"}),
        ({}, {"addTags": [{"type": "FromEnvironmentFieldPath", "fromFieldPath": "tags"}]}, {"cost": "42"}),
        ({"a": "1"}, {"addTags": [{"type": "FromCompositeFieldPath", "fromFieldPath": "spec.absent"}]}, {"a": "1"}),
        ({"env": ""}, {"addTags": [{**FROM_XR, "policy": "Retain"}]}, {"env": "dev", "team": "a"}),
        ({"env": "prod"}, {"addTags": [{"tags": {"env": ""}}]}, {"env": ""}),
        ({}, {"addTags": [{"tags": {"a": ""}}, {"tags": {"a": "1"}}, {"tags": {"a": "2"}}]}, {"a": "1"}),
        ({}, {"addTags": [{**FROM_XR, "fromFieldPath": "spec.mixed"}]}, {"a": "1", "b": ""}),
        ({"a": 1}, {"addTags": [{"tags": {"b": "2"}}]}, {"a": "", "b": "2"}),
        ({"a": "1", "old": "2"}, {"removeTags": [{"type": "FromValue", "keys": ["old"]}]}, {"a": "1"}),
        (
            {"a": "1", "old": "2"},
            {"removeTags": [{"type": "FromCompositeFieldPath", "fromFieldPath": "spec.gone"}]},
            {"a": "1"},
        ),
    ],
)
def test_tags(before: dict[str, str] | None, more: dict[str, Any], after: dict[str, str]) -> None:
    assert tags(vpc(before), **more) == after


@pytest.mark.parametrize(
    ("observed", "policy", "after"),
    [
        ({"seen": "there", "other": "x"}, "Replace", {"seen": "there"}),
        ({"seen": "there"}, "Retain", {"seen": "ours"}),
        (None, "Replace", {"seen": "ours"}),
        ({"seen": "there", "count": 1}, "Replace", {"seen": "ours"}),
    ],
)
def test_ignored_tags_keep_what_is_there(observed: dict[str, str] | None, policy: str, after: dict[str, str]) -> None:
    ignore = [{"type": "FromCompositeFieldPath", "fromFieldPath": "spec.keys", "policy": policy}]
    assert tags(vpc({"seen": "ours"}), observed=observed, ignoreTags=ignore) == after


IGNORE = {"tag-manager.fn.crossplane.io/ignore-resource": "True"}


@pytest.mark.parametrize(
    "resource",
    [
        vpc({"a": "1"}, annotations=IGNORE),
        vpc({"a": "1"}, labels=IGNORE),
        {**vpc({"a": "1"}), "kind": "VPCPeeringConnectionOptions"},
        {**vpc({"a": "1"}), "apiVersion": "example.org/v1"},
    ],
    ids=["annotation", "label", "kind", "group"],
)
def test_left_alone(resource: dict[str, Any]) -> None:
    assert tags(resource, addTags=[{"tags": {"b": "2"}}]) == {"a": "1"}


def test_a_mark_that_is_no_text_does_not_count() -> None:
    marked = vpc({"a": "1"}, labels={"tag-manager.fn.crossplane.io/ignore-resource": True})
    assert tags(marked, addTags=[{"tags": {"b": "2"}}]) == {"a": "1", "b": "2"}


def test_resources_without_tags_get_none_where_there_are_none_to_add() -> None:
    assert tags(vpc(None), addTags=[{**FROM_XR, "fromFieldPath": "spec.absent"}]) is None


def test_keys_of_all_sources_are_removed() -> None:
    removed = [{**FROM_XR, "fromFieldPath": "spec.gone"}, {**FROM_XR, "fromFieldPath": "spec.keys"}]
    assert tags(vpc({"a": "1", "old": "2", "seen": "3"}), removeTags=removed) == {"a": "1"}


def test_the_table_has_both_providers() -> None:
    table = tag_manager.taggable()
    assert "VPC" in table["ec2.aws.m.upbound.io"]
    assert "ResourceGroup" in table["azure.upbound.io"]


def test_refused() -> None:
    with pytest.raises(EngineError) as caught:
        tags(vpc({}), addTags=[{"type": "FromNowhere"}])
    assert caught.value.problems[0].where
