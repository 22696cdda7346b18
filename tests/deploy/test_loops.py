"""Loops and conditions of a component: plain values of its claim decide, and nothing else."""

from __future__ import annotations

import pulumi
import pytest

from claimsmith.base.errors import ComposeError, DeployError
from claimsmith.deploy.loops import Element, each, holds, is_set

CLAIM = {"metadata": {"name": "sql"}, "spec": {"zones": [{"name": "a", "size": 1}, {"name": "b", "size": 2}]}}


def test_elements_have_the_names_of_their_children() -> None:
    first, second = each(CLAIM, "spec.zones", "name")
    assert (first, second.child("subnet")) == (Element("a", {"name": "a", "size": 1}), "subnet-b")


def test_a_condition_reads_the_claim_and_the_element() -> None:
    assert holds("zone.size > 1 && metadata.name == 'sql'", CLAIM, {"zone": {"size": 2}})
    assert not holds("zone.size > 1", CLAIM, {"zone": {"size": 1}})


def test_an_element_without_a_key_is_refused() -> None:
    with pytest.raises(ComposeError):
        each(CLAIM, "spec.zones", "id")


def test_an_output_cannot_decide_how_many_resources_there_are() -> None:
    later = {"spec": {"zones": pulumi.Output.from_input([{"name": "a"}])}}
    for refused in (lambda: each(later, "spec.zones", "name"), lambda: holds("size(spec.zones) > 0", later, {})):
        with pytest.raises(DeployError) as caught:
            refused()
        assert [p.fix for p in caught.value.problems] == ["pass a plain value"]
    with pytest.raises(DeployError):
        is_set(pulumi.Output.from_input("yes"))
