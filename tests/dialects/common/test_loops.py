"""`forEach` and `when` of a template: how they are read, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import CatalogError
from claimsmith.dialects.common.klass import Loop
from claimsmith.dialects.common.loops import claim_reads, is_path
from tests.support.samples import BUCKET, class_data, one_class, patch

ZONES = {"each": "zone", "in": "spec.zones", "key": "name"}
PASSWORD = {"type": "random:RandomPassword", "properties": {"length": 24}}


def test_a_loop_and_a_condition_are_part_of_the_class() -> None:
    klass = one_class(class_data("c", {"base": BUCKET, "forEach": ZONES, "when": " zone.public "}))
    [template] = klass.templates
    assert (template.loop, template.when) == (Loop("zone", "spec.zones", "name"), "zone.public")
    others = ({"forEach": ZONES}, {"when": "spec.public"}, {"forEach": {**ZONES, "key": "id"}, "when": "zone.public"})
    assert klass.digest() not in {one_class(class_data("c", {"base": BUCKET, **o})).digest() for o in others}


@pytest.mark.parametrize(
    ("resource", "path"),
    [
        pytest.param({"forEach": {**ZONES, "each": "spec"}}, "spec.resources[0].forEach.each", id="a-reserved-word"),
        pytest.param({"forEach": {**ZONES, "each": "a zone"}}, "spec.resources[0].forEach.each", id="no-name"),
        pytest.param({"forEach": {**ZONES, "in": "status.zones"}}, "spec.resources[0].forEach.in", id="a-status"),
        pytest.param({"forEach": {**ZONES, "in": "spec.zones[*].x"}}, "spec.resources[0].forEach.in", id="a-wildcard"),
        pytest.param({"forEach": {**ZONES, "key": "a..b"}}, "spec.resources[0].forEach.key", id="no-field-path"),
        pytest.param({"forEach": {**ZONES, "of": "x"}}, "spec.resources[0].forEach.of", id="an-unknown-field"),
        pytest.param({"when": "1 < 2"}, "spec.resources[0].when", id="a-condition-that-reads-nothing"),
        pytest.param({"when": "status.ready"}, "spec.resources[0].when", id="a-condition-on-status"),
        pytest.param(
            {"forEach": ZONES, "connectionDetails": [{"fromConnectionSecretKey": "a"}]},
            "spec.resources[0].connectionDetails",
            id="details-of-each-element",
        ),
    ],
)
def test_what_is_refused(resource: dict[str, Any], path: str) -> None:
    with pytest.raises(CatalogError) as caught:
        one_class(class_data("c", {"base": BUCKET, **resource}))
    [problem] = caught.value.problems
    assert problem.path == path
    assert problem.fix


@pytest.mark.parametrize(
    ("repeated", "referring", "refused"),
    [
        pytest.param({"forEach": ZONES}, {}, True, id="one-refers-to-several"),
        pytest.param({"forEach": ZONES}, {"forEach": {**ZONES, "key": "id"}}, True, id="of-another-loop"),
        pytest.param({"forEach": ZONES}, {"forEach": ZONES}, False, id="of-the-same-element"),
        pytest.param({"when": "spec.a"}, {}, True, id="one-that-may-be-missing"),
        pytest.param({"when": "spec.a"}, {"when": "spec.a"}, False, id="under-the-same-condition"),
        pytest.param({}, {"forEach": ZONES}, False, id="several-refer-to-one"),
    ],
)
def test_references_to_repeated_siblings(repeated: dict[str, Any], referring: dict[str, Any], refused: bool) -> None:
    role = {"type": "postgresql:Role", "properties": {"password": "${password.result}"}}
    data = class_data(
        "c", {"name": "password", "base": PASSWORD, **repeated}, {"name": "role", "base": role, **referring}
    )
    try:
        one_class(data)
        problems: tuple[Any, ...] = ()
    except CatalogError as error:
        problems = error.problems
    assert [p.path for p in problems] == ["spec.resources[1].base.properties.password"] * refused


@pytest.mark.parametrize(
    ("condition", "want"),
    [
        pytest.param("spec.replica", True, id="a-field"),
        pytest.param("spec.tags['a/b']", True, id="a-quoted-field"),
        pytest.param("zone.public", True, id="a-field-of-an-element"),
        pytest.param("spec.replicas > 1", False, id="a-comparison"),
        pytest.param("!has(spec.a)", False, id="a-negation"),
        pytest.param("true", False, id="a-literal"),
    ],
)
def test_paths_and_expressions_are_told_apart(condition: str, want: bool) -> None:
    assert is_path(condition) is want


def test_what_is_read_of_a_claim() -> None:
    resource = {"base": BUCKET, "forEach": ZONES, "when": "zone.size > spec.least && 'spec.x' != metadata.name"}
    [template] = one_class(class_data("c", {**resource, "patches": [patch("zone.cidr", "spec.cidr")]})).templates
    want = ["spec.zones[*].name", "spec.zones[*].size", "spec.least", "metadata.name"]
    assert list(claim_reads(template)) == want
