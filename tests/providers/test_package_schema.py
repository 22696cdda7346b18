"""What a plugin's schema says of replacements; what it does not say is unknown, never safe."""

from __future__ import annotations

import json
from typing import Any

import pytest

from claimsmith.base import fieldpath
from claimsmith.base.errors import ProviderError
from claimsmith.providers.package_schema import Effect, PackageSchema, effect_of, from_text, read_schema, to_text

MARK = {"type": "string", "willReplaceOnChanges": True}
PLAIN = {"type": "string"}
DATABASE, ROLE = "postgresql:index/database:Database", "postgresql:index/role:Role"
SCHEMA: dict[str, Any] = {
    "name": "postgresql",
    "version": "3.18.2",
    "resources": {
        DATABASE: {
            "inputProperties": {
                "encoding": MARK,
                "name": PLAIN,
                "settings": {"$ref": "#/types/postgresql:index/Settings:Settings"},
                "rules": {"type": "array", "items": {"$ref": "#/types/postgresql:index/Rule:Rule"}},
                "shared": {"$ref": "pulumi.json#/Any"},
            },
            "properties": {"arn": MARK},
        },
        ROLE: {"inputProperties": {"name": PLAIN}},
    },
    "types": {
        "postgresql:index/Settings:Settings": {
            "properties": {
                "tier": MARK,
                "size": PLAIN,
                "inner": {"$ref": "#/types/postgresql:index/Settings:Settings"},
            }
        },
        "postgresql:index/Rule:Rule": {"properties": {"port": {"type": "integer", "replaceOnChanges": True}}},
    },
}
FOUND = read_schema(json.dumps(SCHEMA))
SILENT = PackageSchema("random", "4", {"random:index/randomPet:RandomPet": ()})


def test_the_marks_of_inputs_are_read_with_those_of_nested_types() -> None:
    marks = {DATABASE: (("encoding",), ("settings", "tier"), ("rules", "*", "port")), ROLE: ()}
    assert (FOUND.package, FOUND.version, FOUND.replaced) == ("postgresql", "3.18.2", marks)
    assert FOUND.speaks
    assert not SILENT.speaks


@pytest.mark.parametrize(
    ("path", "token", "schema", "asked", "want"),
    [
        pytest.param("encoding", DATABASE, FOUND, (), Effect.replaced, id="marked"),
        pytest.param("name", DATABASE, FOUND, (), Effect.in_place, id="unmarked"),
        pytest.param("name", ROLE, FOUND, (), Effect.in_place, id="of-a-type-without-marks"),
        pytest.param("settings.tier", DATABASE, FOUND, (), Effect.replaced, id="nested"),
        pytest.param("settings.size", DATABASE, FOUND, (), Effect.in_place, id="nested-unmarked"),
        pytest.param("settings", DATABASE, FOUND, (), Effect.replaced, id="the-object-around-a-mark"),
        pytest.param("rules[3].port", DATABASE, FOUND, (), Effect.replaced, id="in-a-list"),
        pytest.param("name", ROLE, FOUND, ["name"], Effect.replaced, id="asked-for-by-the-class"),
        pytest.param("name", ROLE, None, ["name"], Effect.replaced, id="asked-for-without-a-plugin"),
        pytest.param("name", ROLE, None, (), Effect.unknown, id="no-plugin"),
        pytest.param("length", "random:index/randomPet:RandomPet", SILENT, (), Effect.unknown, id="silent-provider"),
        pytest.param("name", "postgresql:index/new:New", FOUND, (), Effect.unknown, id="type-of-another-version"),
    ],
)
def test_what_a_change_does(
    path: str, token: str, schema: PackageSchema | None, asked: list[str], want: Effect
) -> None:
    assert effect_of(fieldpath.parse(path), token, schema, [fieldpath.parse(p) for p in asked]) is want


def test_what_is_kept_is_read_again() -> None:
    assert from_text(to_text(FOUND)) == FOUND


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("[]", id="a-list"),
        pytest.param("{}", id="no-name"),
        pytest.param('{"name": "x", "resources": [1]}', id="resources-in-a-list"),
    ],
)
def test_what_is_no_schema_is_refused(text: str) -> None:
    assert from_text(text) is None
    with pytest.raises(ProviderError) as refused:
        read_schema(text)
    assert refused.value.problems[0].fix == "install the plugin again"
