"""Loops and conditions in generated code: a plain `for`, a plain `if`, and no word of a class that becomes code."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from claimsmith import generate
from claimsmith.compose.references import Table
from tests.support.samples import BUCKET, class_data, one_class, patch, table

ZONES = {"each": "zone", "in": "spec.zones", "key": "name"}


def source(*resources: dict[str, Any], known: Table | None = None) -> str:
    klass = one_class(class_data("c", *resources))
    return generate.generate([klass], known or table(), source="class.yaml")


def test_siblings_of_one_element_are_found_by_its_key() -> None:
    password = {"type": "random:RandomPassword", "properties": {"length": 24}}
    pet = {"type": "random:RandomPet", "properties": {"prefix": "${password.result}"}}
    klass = one_class(
        class_data(
            "c",
            {"name": "password", "base": password, "forEach": ZONES},
            {"name": "pet", "base": pet, "forEach": ZONES},
        )
    )
    from claimsmith.project.sdks import index_of

    text = generate.generate([klass], table(), source="class.yaml", sdks=index_of)
    assert "password: dict[str, random.RandomPassword] = {}" in text
    assert "password[zone.key] = random.RandomPassword(" in text
    assert "prefix=password[zone.key].result" in text


@pytest.mark.parametrize(
    "word",
    [
        pytest.param({"forEach": {**ZONES, "in": "spec['a\\'); raise SystemExit(\\'b']"}}, id="the-list"),
        pytest.param({"forEach": {**ZONES, "key": "a'); raise SystemExit('b"}}, id="the-key"),
        pytest.param({"when": "spec.a == '\\\\' + \"'); raise SystemExit('\""}, id="the-condition"),
        pytest.param({"name": "a'); raise SystemExit('b", "forEach": ZONES}, id="the-name"),
        pytest.param({"forEach": {**ZONES, "each": "self"}}, id="the-element"),
        pytest.param({"forEach": {**ZONES, "each": "lambda"}}, id="a-keyword"),
    ],
)
def test_hostile_words_stay_words(word: dict[str, Any]) -> None:
    tree = ast.parse(source({"base": BUCKET, "patches": [patch("spec.a", "spec.b")], **word}))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Raise | ast.Lambda)]
    assert "self" not in {ast.unparse(n.target) for n in ast.walk(tree) if isinstance(n, ast.For)}
