"""A class as one claim gets it: elements and conditions resolved, identity by key."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError
from claimsmith.compose.unrolling import MOST, holds, unrolled
from claimsmith.dialects.common.klass import Class, Template
from tests.support.samples import BUCKET, claim_data, class_data, documents_of, one_class, patch

ZONES = {"each": "zone", "in": "spec.zones", "key": "name"}
NETWORK = class_data(
    "c",
    {"name": "network", "base": BUCKET},
    {
        "name": "subnet",
        "previousName": "net",
        "forEach": ZONES,
        "base": BUCKET,
        "patches": [patch("zone.cidr", "spec.cidr"), patch("spec.region", "spec.region")],
    },
)


def of_claim(klass: Class, **spec: Any) -> list[Template]:
    [document] = documents_of(claim_data(**spec), file="claim.yaml")
    return [*unrolled(klass, document.data, document).templates]


def test_a_class_without_loops_stays_as_it_is() -> None:
    klass = one_class(class_data())
    assert unrolled(klass, {}, Document({}, "claim.yaml")) is klass


def test_an_element_is_one_template_that_reads_it_by_its_place() -> None:
    klass = one_class(NETWORK)
    network, first, second = of_claim(klass, zones=[{"name": "a"}, {"name": "b"}])
    assert (network.name, first.name, second.name) == ("network", "subnet-a", "subnet-b")
    assert [p.reads for p in second.patches] == [("spec.zones[1].cidr",), ("spec.region",)]
    assert (second.previous_name, second.element, second.loop) == ("net-b", ("subnet", "b"), None)


def test_the_names_follow_the_keys_and_not_the_places() -> None:
    klass = one_class(NETWORK)
    before = {t.name for t in of_claim(klass, zones=[{"name": "a"}, {"name": "c"}])}
    after = {t.name for t in of_claim(klass, zones=[{"name": "c"}, {"name": "b"}, {"name": "a"}])}
    assert after - before == {"subnet-b"}
    assert before <= after


def test_the_digest_stays_that_of_the_class() -> None:
    klass = one_class(NETWORK)
    [document] = documents_of(claim_data(zones=[{"name": "a"}]))
    assert unrolled(klass, document.data, document).digest() == klass.digest()


@pytest.mark.parametrize("spec", [{}, {"zones": None}, {"zones": []}], ids=["absent", "null", "empty"])
def test_no_elements_are_no_children(spec: dict[str, Any]) -> None:
    assert [t.name for t in of_claim(one_class(NETWORK), **spec)] == ["network"]


def test_siblings_of_one_element_refer_to_each_other() -> None:
    password = {"type": "random:RandomPassword", "properties": {"length": 24}}
    role = {
        "type": "postgresql:Role",
        "properties": {"password": "${password.result}", "name": "${prefix.id}"},
        "options": {"dependsOn": ["password", "prefix"]},
    }
    klass = one_class(
        class_data(
            "c",
            {"name": "prefix", "base": {"type": "random:RandomPet"}},
            {"name": "password", "base": password, "forEach": ZONES},
            {"name": "role", "base": role, "forEach": ZONES},
        )
    )
    [found] = [t for t in of_claim(klass, zones=[{"name": "a"}, {"name": "b"}]) if t.name == "role-b"]
    assert {k: str(v) for k, v in found.base["properties"].items()} == {
        "password": "${password-b.result}",
        "name": "${prefix.id}",
    }
    assert found.base["options"]["dependsOn"] == ["password-b", "prefix"]


@pytest.mark.parametrize(
    ("zones", "paths"),
    [
        pytest.param("a", ["spec.zones"], id="no-list"),
        pytest.param([{"name": "a"}, {"name": "a"}], ["spec.zones[1].name"], id="a-key-twice"),
        pytest.param([{}, {"name": None}], ["spec.zones[0].name", "spec.zones[1].name"], id="no-key"),
        pytest.param([{"name": "A"}], ["spec.zones[0].name"], id="upper-case"),
        pytest.param([{"name": "a/b"}], ["spec.zones[0].name"], id="a-slash"),
        pytest.param([{"name": "../a"}], ["spec.zones[0].name"], id="a-path"),
        pytest.param([{"name": "a" * 41}], ["spec.zones[0].name"], id="too-long"),
        pytest.param([{"name": 1}], ["spec.zones[0].name"], id="a-number"),
        pytest.param([{"name": "a\n"}], ["spec.zones[0].name"], id="a-line-break"),
        pytest.param([{"name": f"n{i}"} for i in range(MOST + 1)], ["spec.zones"], id="too-many"),
    ],
)
def test_elements_that_are_refused(zones: Any, paths: list[str]) -> None:
    with pytest.raises(ComposeError) as caught:
        of_claim(one_class(NETWORK), zones=zones)
    assert [p.path for p in caught.value.problems] == paths
    assert all(p.fix and p.where and p.where.file == "claim.yaml" for p in caught.value.problems)


def test_an_element_cannot_take_the_name_of_another_template() -> None:
    klass = one_class(class_data("c", {"name": "subnet-a", "base": BUCKET}, {**NETWORK["spec"]["resources"][1]}))
    with pytest.raises(ComposeError) as caught:
        of_claim(klass, zones=[{"name": "a"}])
    assert [p.path for p in caught.value.problems] == ["spec.resources[1]"]


CLAIM = {"metadata": {"name": "sql"}, "spec": {"size": 3, "on": True, "off": False, "tags": [], "zero": 0}}


@pytest.mark.parametrize(
    ("condition", "want"),
    [
        pytest.param("spec.on", True, id="true"),
        pytest.param("spec.off", False, id="false"),
        pytest.param("spec.zero", False, id="zero"),
        pytest.param("spec.tags", False, id="an-empty-list"),
        pytest.param("spec.missing.deep", False, id="absent"),
        pytest.param("spec.size > 2", True, id="cel-comparison"),
        pytest.param("!has(spec.missing)", True, id="cel-absent"),
        pytest.param("metadata.name.startsWith('s') && !spec.off", True, id="cel-of-both-sides"),
    ],
)
def test_conditions(condition: str, want: bool) -> None:
    assert holds(condition, CLAIM) is want


@pytest.mark.parametrize("condition", ["spec.size +", "spec.size + 1", "spec.missing > 1", "other > 1"])
def test_conditions_that_are_refused(condition: str) -> None:
    klass = one_class(class_data("c", {"base": BUCKET, "when": f"has(spec.size) && ({condition})"}))
    with pytest.raises(ComposeError) as caught:
        of_claim(klass, size=3)
    assert [p.path for p in caught.value.problems] == ["spec.resources[0].when"]
    assert all(p.fix for p in caught.value.problems)
