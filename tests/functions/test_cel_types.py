"""Types of CEL variables from schemas: what the checker refuses, and the twin that it accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from claimsmith.functions import cel, cel_types, worker
from claimsmith.functions.cel_types import ANY, Types

TEXT, TEXTS = {"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}
ZONE = {"type": "object", "properties": {"name": TEXT, "max_size": {"type": "integer"}, "maxSize": {"type": "integer"}}}
FIELDS: dict[str, Any] = {
    "size": {"type": "integer"},
    "ratio": {"type": "number"},
    "name": TEXT,
    "public": {"type": "boolean"},
    "tags": TEXTS,
    "zones": {"type": "array", "items": ZONE},
    "grid": {"type": "array", "items": {"type": "array", "items": TEXT}},
    "port": {"x-kubernetes-int-or-string": True},
    "note": {**TEXT, "nullable": True},
    "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "data": {**TEXT, "format": "byte"},
    "odd-name": TEXT,
}


@pytest.fixture(autouse=True, scope="module")
def _stopped() -> Iterator[None]:
    yield
    worker.stop_all()


def problems(text: str) -> list[tuple[str, str]]:
    types = Types()
    types.declare("metadata", cel_types.metadata())
    types.declare("spec", {"type": "object", "properties": FIELDS})
    types.declare("zones", ZONE, listed=True)
    types.declare("anything", None)
    return cel.expression(text, types.variables).type_problems(types)


@pytest.mark.parametrize(
    ("text", "what", "twin"),
    [
        ("spec.size > '5'", "> does not take int and string", "spec.size > 5"),
        ("spec.siz > 5", "there is no field 'siz'", "spec.size > 5"),
        ("spec.name + 1 == 'a'", "+ does not take string and int", "spec.name + '1' == 'a'"),
        ("spec.size + 1.5 > 2.0", "+ does not take int and double", "double(spec.size) + 1.5 > 2.0"),
        ("spec.ratio == 'a'", "== does not take int and string", "spec.ratio == 1"),
        ("spec.name.foo()", "there is no function or variable 'foo'", "spec.name.lowerAscii() == 'a'"),
        ("spec.name.startsWith(5)", "startsWith does not take string and int", "spec.name.startsWith('5')"),
        ("spec.public == 'true'", "== does not take bool and string", "spec.public == true"),
        ("!spec.size", "! does not take int", "!spec.public"),
        ("spec.tags.a == 1", "== does not take string and int", "spec.tags.a == '1'"),
        ("spec.zones.exists(z, z.nam == 'a')", "there is no field 'nam'", "spec.zones.exists(z, z.name == 'a')"),
        ("zones.all(z, z.max_size > 'a')", "> does not take int and string", "zones.all(z, z.maxSize > 1)"),
        ("spec.?name.orValue(5) == 5", "orValue does not take", "spec.?name.orValue('5') == '5'"),
        ("metadata.labels.a == 1", "== does not take string and int", "metadata.labels.a == '1'"),
        ("metadata.nam == 'a'", "there is no field 'nam'", "metadata.name == 'a'"),
        ("spec.name in [1, 2]", "in does not take string and list(int)", "spec.name in ['a']"),
        ("other.a == 1", "there is no function or variable 'other", "anything.a == 1"),
    ],
)
def test_checked(text: str, what: str, twin: str) -> None:
    [found, *_] = problems(text)
    assert what in found[0]
    assert found[1]
    assert problems(twin) == []


@pytest.mark.parametrize(
    "text",
    [
        "spec.size > 1.5",
        "spec.ratio > 1 && spec.ratio * 2 > 1 && spec.ratio < 1.5",
        "spec['size'] == 3 || 'size' in spec || size(spec) > 1 || spec.exists(k, k == 'a')",
        "spec.grid[0][0] == 1",
        "spec.port == 80 || spec.port == 'http'",
        "spec.note == null || spec.note == 'a'",
        "spec.open.a.b > 3",
        "spec['odd-name'] == 'a'",
        "base64.encode(spec.data) == 'a'",
        "has(spec.tags.a) && spec.zones[0].?name.hasValue()",
        "anything.a.b == 1 && anything[0] == 'a'",
    ],
)
def test_what_evaluation_permits_is_no_problem(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(
    ("schema", "want"),
    [
        pytest.param({"oneOf": [TEXT]}, ANY, id="alternatives"),
        pytest.param({"type": "object"}, ANY, id="open-object"),
        pytest.param({"type": "object", "additionalProperties": True}, ANY, id="any-fields"),
        pytest.param({"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT}, ANY, id="both"),
        pytest.param({"type": "array"}, {"list": ANY}, id="list-of-anything"),
        pytest.param(TEXTS, {"map": "string"}, id="map"),
        pytest.param({"properties": {"a": TEXT}}, {"object": 0}, id="object"),
        pytest.param(None, ANY, id="no-schema"),
    ],
)
def test_types_of_schemas(schema: Any, want: Any) -> None:
    types = Types()
    types.declare("x", schema)
    assert types.variables == {"x": want}
