"""Evaluates CEL expressions: each is compiled once for the variables that it may use.

The engine counts iterations and nesting itself; memory and time are limits of this process.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import math
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]  # it ships no types
from cel_expr_python import cel  # type: ignore[import-untyped]  # it ships no marker of its types

from claimsmith.functions.engines.child import Engine

_EXTENSIONS = ("strings", "lists", "sets", "math", "optional", "bindings", "encoders", "two-var-comprehensions")
_OMIT = f"\ue000omit-{secrets.token_hex(8)}\ue001"
"""Stands for the value of `omit()`; no input can contain it."""
_ABSENT = re.compile(r"[A-Z_]+: (Key not found|No value with name|Index error|no such|no_matching_key)")
"""How messages about something absent begin; what follows may be text of a claim."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_EVERY = tuple(
    getattr(cel.Type, name) for name in ("STRING", "INT", "DOUBLE", "BOOL", "NULL", "LIST", "MAP", "UINT", "BYTES")
)
_DEFINED = {
    b"cel.@mapInsert": b"maps.withEntry",
    b"@mapInsert_map_key_value": b"claimsmith_map_withEntry",
    b"@mapInsert_map_map": b"claimsmith_map_map",
}
"""What transformMap and transformMapEntry become in a checked expression, which the engine declares and does not
define, and our functions of the same length: so the lengths that the serialized expression contains stay true."""
_LONGEST_PATTERN, _LONGEST_DRAWN = 1000, 10_000


def start(folders: Sequence[str], confined: bool) -> Engine:  # noqa: ARG001 - every engine is started alike
    """The engine; it reads no files."""
    return answer


def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The value of an expression, or why it has none."""
    kinds = tuple(sorted((name, "list" if name in request["lists"] else "dyn") for name in request["variables"]))
    try:
        compiled, returns = _compiled(request["text"], kinds)
    except RuntimeError as error:
        return {"invalid": str(error)}
    if "values" not in request:
        return {"returns": returns}
    values = {name: _with_bytes(value) for name, value in request["values"].items()}
    try:
        result = compiled.eval(data=values)
    except RuntimeError as error:
        return {"failed": str(error), "absent": False}
    if result.type() == cel.Type.ERROR:
        message = str(result.plain_value())
        return {"failed": message, "absent": bool(_ABSENT.match(message))}
    return {"value": _plain(result.plain_value()), "returns": returns, "omit": _OMIT}


@lru_cache(maxsize=4096)
def _compiled(text: str, kinds: tuple[tuple[str, str], ...]) -> tuple[Any, str]:
    environment = _environment(kinds)
    expression = environment.compile(text)
    returns = str(expression.return_type().name())
    checked = expression.serialize()
    if b"@mapInsert" not in checked:
        return expression, returns
    if "@mapInsert" in text:
        raise RuntimeError("INVALID_ARGUMENT: an expression cannot contain the text @mapInsert")
    for declared, defined in _DEFINED.items():
        checked = checked.replace(declared, defined)
    return environment.deserialize(checked), returns


@lru_cache(maxsize=256)
def _environment(kinds: tuple[tuple[str, str], ...]) -> Any:
    types = {"list": cel.Type.List(cel.Type.DYN), "dyn": cel.Type.DYN}
    return cel.NewEnv(config=config(), variables={n: types[k] for n, k in kinds}, functions=functions())


def config() -> Any:
    """The libraries that expressions may use."""
    extensions = "".join(f"  - name: {name}\n" for name in _EXTENSIONS)
    return cel.NewEnvConfigFromYaml(f"name: functions\nextensions:\n{extensions}")


def _with_bytes(value: Any) -> Any:
    """The data of a Secret as bytes, which is its type in the schema of Kubernetes."""
    if isinstance(value, list):
        return [_with_bytes(item) for item in value]
    if isinstance(value, dict) and value.get("kind") == "Secret" and value.get("apiVersion") == "v1":
        data = value.get("data")
        if isinstance(data, dict):
            return {**value, "data": {k: base64.b64decode(v) if isinstance(v, str) else v for k, v in data.items()}}
    return value


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    match value:
        case dict():
            return {str(k): _plain(v) for k, v in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case bytes() | bytearray():
            return bytes(value).decode("utf-8", "replace")
        case datetime.datetime():
            return value.isoformat().replace("+00:00", "Z")
        case datetime.timedelta():
            return f"{value.total_seconds():g}s"
        case float() if not math.isfinite(value):
            raise ValueError("the expression returns a number that is not finite")
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise TypeError(f"the expression returns a {type(value).__name__}, which no document can hold")


def functions() -> list[Any]:
    """What kro adds to them."""
    kind = cel.Type
    dyn, text, number, items = kind.DYN, kind.STRING, kind.INT, kind.List(kind.DYN)
    objects = kind.Map(kind.STRING, kind.DYN)
    return [
        _declared("omit", dyn, [], lambda: _OMIT),
        _declared("merge", objects, [objects, objects], lambda a, b: {**a, **b}, member=True),
        _declared("json.unmarshal", dyn, [text], json.loads),
        _declared("json.marshal", text, [dyn], lambda v: json.dumps(_plain(v), separators=(",", ":"), sort_keys=True)),
        _declared("lists.setAtIndex", items, [items, number, dyn], _set_at),
        _declared("lists.insertAtIndex", items, [items, number, dyn], _insert_at),
        _declared("lists.removeAtIndex", items, [items, number], _remove_at),
        _declared("random.seededString", text, [number, text], seeded_string),
        _declared("random.seededInt", number, [number, number, text], seeded_int),
        _declared("find", text, [text, text], _find, member=True),
        _declared("findAll", kind.List(text), [text, text], _find_all, member=True),
        _declared("sum", dyn, [items], sum, member=True),
        _declared("min", dyn, [items], min, member=True),
        _declared("max", dyn, [items], max, member=True),
        cel.FunctionDecl("maps.withEntry", [*_entries(), _merging()]),
    ]


def _entries() -> list[Any]:
    """One entry more, for each type of key and value, since calls are dispatched by the types of values."""
    kind = cel.Type
    keys = (kind.STRING, kind.INT, kind.UINT, kind.BOOL)
    return [
        cel.Overload(
            f"claimsmith_map_withEntry{n or ''}",
            return_type=kind.MAP,
            parameters=[kind.MAP, key, value],
            impl=lambda there, k, v: _with_new(there, {k: v}),
        )
        for n, (key, value) in enumerate((key, value) for key in keys for value in _EVERY)
    ]


def _merging() -> Any:
    kind = cel.Type
    return cel.Overload("claimsmith_map_map", return_type=kind.MAP, parameters=[kind.MAP, kind.MAP], impl=_with_new)


def _with_new(there: dict[Any, Any], more: dict[Any, Any]) -> dict[Any, Any]:
    for key in more:
        if key in there:
            raise ValueError(f"insert failed: key '{key}' already exists")
    return {**there, **more}


def _declared(name: str, returns: Any, takes: list[Any], does: Callable[..., Any], *, member: bool = False) -> Any:
    """A function; a parameter of any type gets an overload for each type, since calls are dispatched by the value's."""
    kind = cel.Type
    every = _EVERY[:7]
    last_is_any = bool(takes) and takes[-1] is kind.DYN
    variants = [[*takes[:-1], each] for each in every] if last_is_any else [takes]
    overloads = [
        cel.Overload(
            f"claimsmith_{name.replace('.', '_')}_{n}", return_type=returns, parameters=v, is_member=member, impl=does
        )
        for n, v in enumerate(variants)
    ]
    return cel.FunctionDecl(name, overloads)


def _set_at(items: list[Any], index: int, value: Any) -> list[Any]:
    _check_index(index, len(items) - 1)
    return [*items[:index], value, *items[index + 1 :]]


def _insert_at(items: list[Any], index: int, value: Any) -> list[Any]:
    _check_index(index, len(items))
    return [*items[:index], value, *items[index:]]


def _remove_at(items: list[Any], index: int) -> list[Any]:
    _check_index(index, len(items) - 1)
    return [*items[:index], *items[index + 1 :]]


def _check_index(index: int, last: int) -> None:
    if not 0 <= index <= last:
        raise ValueError(f"index {index} is not between 0 and {last}")


def _find(text: str, pattern: str) -> str:
    found = _pattern(pattern).search(text)
    return found.group(0) if found else ""


def _find_all(text: str, pattern: str) -> list[str]:
    return [found.group(0) for found in _pattern(pattern).finditer(text)]


def _pattern(text: str) -> Any:
    """An expression of RE2, as in Go: a search takes time linear in the text, whatever a claim contains."""
    if len(text) > _LONGEST_PATTERN:
        raise ValueError(f"a pattern has {len(text)} characters; the most is {_LONGEST_PATTERN}")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        raise ValueError(f"the pattern {text!r} is invalid") from error


def seeded_int(least: int, most: int, seed: str) -> int:
    """A number from `least` to below `most` that only the seed decides."""
    if least >= most:
        raise ValueError("random.seededInt: min must be less than max")
    digest = hashlib.sha256(seed.encode()).digest()
    return least + int.from_bytes(digest[:8]) % (most - least)


def seeded_string(length: int, seed: str) -> str:
    """A text of digits and lower-case letters that only the seed decides."""
    if length <= 0:
        raise ValueError("random.seededString: length must be positive")
    if length > _LONGEST_DRAWN:
        raise ValueError(f"random.seededString: the most is {_LONGEST_DRAWN} characters")
    digest, chosen = hashlib.sha256(seed.encode()).digest(), ""
    for index in range(length):
        start = (index * 4) % len(digest)
        chosen += _DIGITS[int.from_bytes(digest[start : start + 4]) % len(_DIGITS)]
    return chosen
