"""What kro and Kubernetes add to CEL's own functions: JSON, hashes, seeded values, and more for maps and lists."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from claimsmith.functions.engines.cel_declared import Declared, function, method
from claimsmith.functions.engines.cel_kubernetes import OPAQUE
from claimsmith.golang import json as go_json

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LONGEST_DRAWN = 10_000
_SUMMABLE: Final = ("int", "uint", "double")
_COMPARABLE: Final = (*_SUMMABLE, "bool", "string", "bytes")
_FNV_START, _FNV_FACTOR = 0xCBF29CE484222325, 0x100000001B3


def plain(value: Any) -> Any:
    """A value as a document has it, in the way of kro: bytes as base64, times to the second, keys that are texts."""
    match value:
        case dict() if OPAQUE in value:
            raise TypeError(f"the expression returns a {value[OPAQUE]}, which no document can hold: read a part of it")
        case dict():
            for key in value:
                if not isinstance(key, str):
                    raise TypeError(f"the expression returns a map with the key {key!r}, which no document can hold")
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case datetime.datetime():
            return f"{value.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
        case datetime.timedelta():
            return _duration(value)
        case float() if not math.isfinite(value):
            raise ValueError("the expression returns a number that is not finite")
        case float() if value.is_integer() and abs(value) < 2**63:
            return int(value)  # as JSON has it, which does not tell 1.0 from 1
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise TypeError(f"the expression returns a {type(value).__name__}, which no document can hold")


def _duration(value: datetime.timedelta) -> str:
    """A duration as Go prints it: 1h30m0s."""
    micros = round(value / datetime.timedelta(microseconds=1))
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    if micros < 1_000_000:
        return "0s" if not micros else f"{sign}{micros / 1000:g}ms" if micros >= 1000 else f"{sign}{micros}µs"
    minutes, rest = divmod(micros, 60_000_000)
    seconds = f"{rest / 1_000_000:.6f}".rstrip("0").rstrip(".") + "s"
    hours, minutes_left = divmod(minutes, 60)
    return sign + (f"{hours}h{minutes_left}m" if hours else f"{minutes}m" if minutes else "") + seconds


def _unmarshal(text: str) -> Any:
    # As in Go, every number is a double.
    return json.loads(text, parse_int=float, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _deep_merge(one: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:
    both = {k: _deep_merge(one[k], other[k]) for k in one if _is_map(one[k]) and _is_map(other.get(k))}
    return {**one, **other, **both}


def _is_map(value: Any) -> bool:
    return isinstance(value, dict) and OPAQUE not in value


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


def _with_new(there: dict[Any, Any], more: dict[Any, Any]) -> dict[Any, Any]:
    for key in more:
        if key in there:
            raise ValueError(f"insert failed: key '{key}' already exists")
    return {**there, **more}


def _sum(items: list[Any]) -> Any:
    if len({type(item) for item in items}) > 1 or not all(_is_number(item) for item in items):
        raise ValueError("no such overload: sum takes numbers of one type")
    return sum(items)


def _extreme(chosen: Callable[[list[Any]], Any], name: str) -> Callable[[list[Any]], Any]:
    def of(items: list[Any]) -> Any:
        if not items:
            raise ValueError(f"{name} called on empty list")
        _require_order(items, name)
        return chosen(items)

    return of


def _is_sorted(items: list[Any]) -> bool:
    _require_order(items, "isSorted")
    return all(one <= other for one, other in pairwise(items))


def _require_order(items: list[Any], name: str) -> None:
    """Refuse values that CEL does not order."""
    kinds = {"number" if _is_number(item) else type(item).__name__ for item in items}
    if len(kinds) > 1 or not kinds <= {"number", "bool", "str", "bytearray", "datetime", "timedelta"}:
        raise ValueError(f"no such overload: {name} takes values of one type that has an order")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(one: Any, other: Any) -> bool:
    """Equality as CEL has it: true is not 1."""
    match one, other:
        case (bool(), _) | (_, bool()):
            return one is other
        case list(), list():
            return len(one) == len(other) and all(map(_equal, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(_equal(one[k], other[k]) for k in one)
        case _:
            return bool(one == other)


def _index_of(items: list[Any], value: Any) -> int:
    return next((n for n, item in enumerate(items) if _equal(item, value)), -1)


def _last_index_of(items: list[Any], value: Any) -> int:
    found = _index_of(items[::-1], value)
    return found if found < 0 else len(items) - 1 - found


def _fnv64a(text: str) -> bytes:
    value = _FNV_START
    for byte in text.encode():
        value = (value ^ byte) * _FNV_FACTOR % 2**64
    return value.to_bytes(8)


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


LIBRARY: Final[tuple[Declared, ...]] = (
    method("merge", "map<~K,~V>", "map<~K,~V>", "map<~K,~V>", does=lambda one, other: {**one, **other}),
    method("deepMerge", "dyn", "map<~K,~V>", "dyn", does=_deep_merge),
    function("json.unmarshal", "dyn", "string", does=_unmarshal),
    function("json.marshal", "string", "dyn", does=lambda value: go_json.dumps(plain(value))),
    function("lists.setAtIndex", "list<~T>", "list<~T>", "int", "~T", does=_set_at),
    function("lists.insertAtIndex", "list<~T>", "list<~T>", "int", "~T", does=_insert_at),
    function("lists.removeAtIndex", "list<~T>", "list<~T>", "int", does=_remove_at),
    function("random.seededString", "string", "int", "string", does=seeded_string),
    function("random.seededInt", "int", "int", "int", "string", does=seeded_int),
    function("hash.fnv64a", "bytes", "string", does=_fnv64a),
    function("hash.sha256", "bytes", "string", does=lambda text: hashlib.sha256(text.encode()).digest()),
    function(
        "hash.md5", "bytes", "string", does=lambda text: hashlib.md5(text.encode(), usedforsecurity=False).digest()
    ),
    *(method("sum", of, f"list<{of}>", does=_sum) for of in _SUMMABLE),
    *(method("min", of, f"list<{of}>", does=_extreme(min, "min")) for of in _COMPARABLE),
    *(method("max", of, f"list<{of}>", does=_extreme(max, "max")) for of in _COMPARABLE),
    *(method("isSorted", "bool", f"list<{of}>", does=_is_sorted) for of in (*_COMPARABLE, "duration", "timestamp")),
)

POSITIONS: Final[tuple[Declared, ...]] = (
    method("indexOf", "int", "list<~T>", "~T", does=_index_of),
    method("lastIndexOf", "int", "list<~T>", "~T", does=_last_index_of),
)
"""More overloads of functions of the engine, which has them for texts."""

COMPREHENSIONS: Final[tuple[Declared, ...]] = (
    function(
        "cel.@mapInsert", "map<~K,~V>", "map<~K,~V>", "~K", "~V", does=lambda there, k, v: _with_new(there, {k: v})
    ),
    function("cel.@mapInsert", "map<~K,~V>", "map<~K,~V>", "map<~K,~V>", does=_with_new),
)
"""What transformMap and transformMapEntry become: the engine declares it, and does not define it."""
