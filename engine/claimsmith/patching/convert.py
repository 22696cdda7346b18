"""The convert transform: one value as another type, by the pairs that Crossplane knows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from claimsmith.base.errors import Problem, TransformError
from claimsmith.golang import json as gojson
from claimsmith.golang import quantity, strconv

TYPES: Final = ("string", "int", "int64", "bool", "float64", "object", "array")
FORMATS: Final = ("none", "quantity", "json")


def convert(to_type: str, value: Any, format: str = "none") -> Any:
    """The value as that type. A value that has it already stays, whatever the format."""
    source = _type_of(value)
    target = "int64" if to_type == "int" else to_type
    if source == target:
        return value
    conversion = _CONVERSIONS.get((source, target, format))
    if conversion is None:
        what = f"conversion from {source} to {target} is not supported with format {format}"
        raise TransformError(Problem(what, fix=_way_out(source, target)))
    return conversion(value)


def is_known(source: str, to_type: str, format: str) -> bool:
    """Whether a value of one type can become one of another."""
    target = "int64" if to_type == "int" else to_type
    return source == target or (source, target, format) in _CONVERSIONS


def _type_of(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int() if value in strconv.INT64:
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case _:
            kind = {dict: "an object", list: "an array", type(None): "null", int: "an integer of over 64 bits"}
            what = f"invalid input type for convert: {kind.get(type(value), type(value).__name__)}"
            raise TransformError(Problem(what, fix="give it text, a number or a boolean"))


def _way_out(source: str, target: str) -> str:
    ways = [f"{t} with format {f}" for s, t, f in _CONVERSIONS if s == source]
    here = [f"format: {f}" for s, t, f in _CONVERSIONS if (s, t) == (source, target)]
    return f"use {' or '.join(here)}" if here else f"a {source} can become {', '.join(ways)}"


def _truncated(value: float) -> int:
    if not math.isfinite(value) or math.trunc(value) not in strconv.INT64:
        raise TransformError(Problem(f"the number {value} does not fit into 64 bits", fix="convert it to string"))
    return math.trunc(value)


def _json_of(kind: type[Any], name: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = gojson.loads(text)
        if value is not None and not isinstance(value, kind):
            raise TransformError(Problem(f"the JSON text is not {name}", fix="convert it to the type that it holds"))
        return value

    return read


_CONVERSIONS: Final[dict[tuple[str, str, str], Callable[[Any], Any]]] = {
    ("string", "int64", "none"): strconv.parse_int,
    ("string", "bool", "none"): strconv.parse_bool,
    ("string", "float64", "none"): strconv.parse_float,
    ("string", "float64", "quantity"): quantity.to_float,
    ("string", "object", "json"): _json_of(dict, "an object"),
    ("string", "array", "json"): _json_of(list, "an array"),
    ("int64", "string", "none"): str,
    ("int64", "bool", "none"): lambda value: value == 1,
    ("int64", "float64", "none"): float,
    ("bool", "string", "none"): lambda value: "true" if value else "false",
    ("bool", "int64", "none"): int,
    ("bool", "float64", "none"): float,
    ("float64", "string", "none"): lambda value: strconv.format_float(value, "f"),
    ("float64", "int64", "none"): _truncated,
    ("float64", "bool", "none"): lambda value: value == 1.0,
}
