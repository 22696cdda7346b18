"""Checks JSON answers of commands against the schemas in docs/reference/schemas.

The checker knows the keywords of draft 2020-12 that these schemas use, and refuses a schema with another one: nothing
in a schema is left unchecked.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.support.paths import ROOT

SCHEMAS = ROOT / "docs" / "reference" / "schemas"
SUFFIX = ".schema.json"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

COMMANDS: dict[tuple[str, ...], str] = {
    ("accept",): "accept",
    ("backend",): "backend",
    ("backend", "set"): "backend-set",
    ("bind",): "bind",
    ("classes",): "classes",
    ("classes", "--usage"): "classes-usage",
    ("convert",): "convert",
    ("crds",): "crds",
    ("crds", "add"): "crds-add",
    ("destroy",): "fleet",
    ("drift",): "drift",
    ("explain",): "explain",
    ("explain", "--child"): "explain-child",
    ("explain", "--field"): "explain-field",
    ("generate",): "generate",
    ("local", "down"): "local-down",
    ("local", "status"): "local-status",
    ("local", "up"): "local-up",
    ("local", "up", "--postgresql"): "local-up-postgresql",
    ("preview",): "fleet",
    ("recover",): "recover",
    ("refresh",): "fleet",
    ("render",): "render",
    ("review",): "review",
    ("rollout",): "rollout",
    ("shard",): "shard",
    ("status",): "status",
    ("toolchain",): "toolchain",
    ("toolchain", "install"): "toolchain",
    ("up",): "fleet",
    ("validate",): "validate",
}
"""The schema of each command's answer, by the command and the flags that select another answer."""
PROBLEMS = "problems"
"""The schema of the answer of a command that failed."""


def answer(words: Sequence[str], text: str) -> dict[str, Any]:
    """What a command printed for `--output json`, checked against its schema."""
    found = json.loads(text)
    assert isinstance(found, dict), f"no object, but {type(found).__name__}"
    name = PROBLEMS if set(found) == {"format", "problems"} else schema_of(words)
    assert problems(found, name) == [], name
    return found


def problems(value: Any, name: str) -> list[str]:
    """Where a value differs from the schema of this name."""
    return list(_differences(value, load(name), name, "$"))


@functools.cache
def load(name: str) -> Schema:
    """The schema of this name."""
    found: Schema = json.loads((SCHEMAS / f"{name}{SUFFIX}").read_text(encoding="utf-8"))
    return found


def schema_of(words: Sequence[str]) -> str:
    """The schema of a command: that of the longest row of which it has all words."""
    rows = [row for row in COMMANDS if row[0] == words[0] and set(row) <= set(words)]
    return COMMANDS[max(rows, key=len)]


def _differences(value: Any, schema: Schema, file: str, at: str) -> Iterator[str]:
    for keyword, rule in schema.items():
        match keyword:
            case "$schema" | "$defs" | "title" | "description":
                pass
            case "required":
                yield from (f"{at}: {key} is missing" for key in rule if isinstance(value, dict) and key not in value)
            case "$ref":
                yield from _differences(value, *resolved(rule, file), at)
            case "anyOf":
                found = [list(_differences(value, one, file, at)) for one in rule]
                if all(found):
                    yield from min(found, key=len)
            case "type":
                if not any(_is(value, kind) for kind in ([rule] if isinstance(rule, str) else rule)):
                    yield f"{at}: {value!r} is not of the type {rule}"
            case "const" | "enum":
                allowed = [rule] if keyword == "const" else rule
                if not any(type(value) is type(one) and value == one for one in allowed):
                    yield f"{at}: {value!r} is none of {allowed}"
            case "minimum":
                if _is(value, "number") and value < rule:
                    yield f"{at}: {value} is less than {rule}"
            case "minItems" | "maxItems":
                if isinstance(value, list) and not (
                    len(value) >= rule if keyword == "minItems" else len(value) <= rule
                ):
                    yield f"{at}: {len(value)} items, but {keyword} is {rule}"
            case "items":
                for index, item in enumerate(value if isinstance(value, list) else ()):
                    yield from _differences(item, rule, file, f"{at}[{index}]")
            case "properties":
                for key in rule.keys() & _object(value).keys():
                    yield from _differences(value[key], rule[key], file, f"{at}.{key}")
            case "additionalProperties":
                for key in _object(value).keys() - schema.get("properties", {}).keys():
                    if rule is False:
                        yield f"{at}: {key} is not in the schema"
                    else:
                        yield from _differences(value[key], rule, file, f"{at}.{key}")
            case _:
                raise AssertionError(f"{file}: the checker does not know the keyword {keyword}")


def _object(value: Any) -> dict[str, Any]:
    """The value, if it is an object; `type` reports one that is not."""
    return value if isinstance(value, dict) else {}


def resolved(reference: str, file: str) -> tuple[Schema, str]:
    """The schema that a reference names, and its file."""
    other, _, place = reference.partition("#/")
    file = other.removesuffix(SUFFIX) or file
    found = load(file)
    for step in place.split("/") if place else ():
        found = found[step]
    return found, file


def _is(value: Any, kind: str) -> bool:
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "null": type(None),
        "integer": int,
        "number": (int, float),
    }
    return isinstance(value, kinds[kind]) and (kind == "boolean" or not isinstance(value, bool))
