"""JSON written and read as Go's encoding/json does, byte for byte: hashes are computed from it."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from claimsmith.base.errors import Problem, TransformError
from claimsmith.golang import strconv
from claimsmith.golang.kinds import Struct

_ESCAPED = re.compile('[\x00-\x1f"\\\\<>&\u2028\u2029\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class NilObject(dict[str, Any]):
    """An object that is not there: Go treats it as an empty one, except that it is null as JSON."""

    __slots__ = ()


class NilList(list[Any]):
    """A list that is not there: Go treats it as an empty one, except that it is null as JSON."""

    __slots__ = ()


def dumps(value: Any) -> str:
    """The value as JSON: sorted keys, no spaces, `<`, `>` and `&` escaped, other text as it is."""
    match value:
        case None | NilObject() | NilList():
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return _integer(value)
        case float():
            return _float(value)
        case str():
            return _text(value)
        case list() | tuple():
            return f"[{','.join(dumps(item) for item in value)}]"
        case Struct():
            return dumps(value.written)
        case dict() if all(isinstance(key, str) for key in value):
            return f"{{{','.join(f'{_text(key)}:{dumps(value[key])}' for key in sorted(value))}}}"
        case _:
            what = f"cannot write a {type(value).__name__} as JSON"
            raise TransformError(Problem(what, fix="give text, numbers, lists or objects"))


def loads(text: str) -> Any:
    """The value of a JSON text. Integers stay integers, unless they need more than 64 bits."""
    try:
        return _cleaned(json.loads(text, parse_int=_read_integer, parse_float=_read_float, parse_constant=_refuse))
    except ValueError as error:
        raise TransformError(Problem(f"not valid JSON: {error}", fix="fix the JSON text")) from error


def _integer(value: int) -> str:
    if int(value) not in strconv.INT64:  # a range goes through all numbers to find a subclass of int
        raise TransformError(Problem("an integer needs more than 64 bits", fix="write it as text"))
    return str(value)


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise TransformError(Problem(f"cannot write {value} as JSON", fix="use a finite number"))
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        return strconv.format_float(value, "f")
    return re.sub(r"e-0(\d)$", r"e-\1", strconv.format_float(value, "e"))


def _text(value: str) -> str:
    return f'"{_ESCAPED.sub(_escape, value)}"'


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    if "\ud800" <= char <= "\udfff":
        return "\\ufffd"
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def _read_integer(text: str) -> int | float:
    if len(text) <= 20 and int(text) in strconv.INT64:
        return int(text)
    return _read_float(text)


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is out of range")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _cleaned(value: Any) -> Any:
    """The value without halves of surrogate pairs, which are no characters."""
    match value:
        case str():
            return strconv.scrubbed(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {_cleaned(key): _cleaned(item) for key, item in value.items()}
        case _:
            return value
