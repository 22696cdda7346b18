"""How a coverage-guided fuzzer's bytes become an input: texts as they are, transforms by picking and filling in."""

from __future__ import annotations

import json
from typing import Any

from tests.fuzz.targets import Transformed

_TYPES = ("string", "int", "int64", "bool", "float64", "object", "array")
_CONVERSIONS = ("ToUpper", "ToLower", "ToJson", "ToBase64", "FromBase64", "ToSha1", "ToSha256", "ToSha512", "ToAdler32")


def text_of(data: bytes) -> str:
    """The bytes as text; what is no text is replaced."""
    return data.decode("utf-8", "replace")


def transforms_of(data: bytes) -> Transformed:
    """One or two transforms and a value: a byte picks each kind, the parts between zero bytes fill in the texts."""
    kinds, *words = data.split(b"\x00")
    texts = [text_of(w) for w in words] or [""]

    def word(number: int) -> str:
        return texts[number % len(texts)]

    made = tuple(_transform(kind, word(2 * i + 1), word(2 * i + 2)) for i, kind in enumerate(kinds[1:4]))
    return Transformed(made, _value(texts[0], kinds[0] if kinds else 0))


def _value(text: str, kind: int) -> Any:
    match kind % 5:
        case 0 | 1:
            return text
        case 2:
            return _number(text)
        case 3:
            return [text, _number(text), None]
        case _:
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                return {"a": text}


def _number(text: str) -> int | float:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return len(text)


def _string(**options: Any) -> dict[str, Any]:
    return {"type": "string", "string": options}


def _transform(kind: int, first: str, second: str) -> dict[str, Any]:
    match kind % 13:
        case 0:
            return _string(type="Format", fmt=first + second)
        case 1:
            return _string(type="Format", fmt=first)
        case 2:
            return _string(type="Regexp", regexp={"match": first, "group": kind % 3})
        case 3:
            return {"type": "convert", "convert": {"toType": "float64", "format": "quantity"}}
        case 4:
            return {"type": "convert", "convert": {"toType": _TYPES[kind % 7], "format": "none"}}
        case 5:
            return {"type": "convert", "convert": {"toType": _TYPES[5 + kind % 2], "format": "json"}}
        case 6:
            return _string(type="Convert", convert=_CONVERSIONS[kind % 9])
        case 7:
            return _string(type="Replace", replace={"search": first, "replace": second})
        case 8:
            return {"type": "math", "math": {"type": "Multiply", "multiply": _number(first)}}
        case 9:
            return {"type": "math", "math": {"type": "ClampMax", "clampMax": _number(first)}}
        case 10:
            return {"type": "match", "match": {"patterns": [{"type": "regexp", "regexp": first, "result": second}]}}
        case 11:
            return {"type": "map", "map": {first: second}}
        case _:
            return _string(type="Join", join={"separator": first})
