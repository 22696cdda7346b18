"""How a coverage-guided fuzzer's bytes become an input: texts as they are, transforms by picking and filling in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fuzz.targets import Transformed

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

    made = tuple(
        _MAKERS[kind % len(_MAKERS)](word(2 * i + 1), word(2 * i + 2), kind) for i, kind in enumerate(kinds[1:4])
    )
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


_MAKERS: tuple[Callable[[str, str, int], dict[str, Any]], ...] = (
    lambda a, b, k: {"type": "string", "string": {"type": "Format", "fmt": a + b}},
    lambda a, b, k: {"type": "string", "string": {"type": "Format", "fmt": a}},
    lambda a, b, k: {"type": "string", "string": {"type": "Regexp", "regexp": {"match": a, "group": k % 3}}},
    lambda a, b, k: {"type": "convert", "convert": {"toType": "float64", "format": "quantity"}},
    lambda a, b, k: {"type": "convert", "convert": {"toType": _TYPES[k % 7], "format": "none"}},
    lambda a, b, k: {"type": "convert", "convert": {"toType": _TYPES[5 + k % 2], "format": "json"}},
    lambda a, b, k: {"type": "string", "string": {"type": "Convert", "convert": _CONVERSIONS[k % 9]}},
    lambda a, b, k: {"type": "string", "string": {"type": "Replace", "replace": {"search": a, "replace": b}}},
    lambda a, b, k: {"type": "math", "math": {"type": "Multiply", "multiply": _number(a)}},
    lambda a, b, k: {"type": "math", "math": {"type": "ClampMax", "clampMax": _number(a)}},
    lambda a, b, k: {"type": "match", "match": {"patterns": [{"type": "regexp", "regexp": a, "result": b}]}},
    lambda a, b, k: {"type": "map", "map": {a: b}},
    lambda a, b, k: {"type": "string", "string": {"type": "Join", "join": {"separator": a}}},
)
