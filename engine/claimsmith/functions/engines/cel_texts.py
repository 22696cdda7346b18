"""Functions of texts in CEL, as cel-go has them: its `format` prints numbers otherwise than the engine's."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # it ships no types

from claimsmith.functions.engines.cel_declared import Declared, function, method
from claimsmith.golang import strconv

_LONGEST_PATTERN, _MOST_DIGITS = 1000, 100
_CLAUSE = re.compile(r"%(?:(%)|(?:\.([0-9]+))?([a-zA-Z])|)")
_QUOTED: Final = {**{c: f"\\{e}" for c, e in zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True)}, "\\": "\\\\", '"': '\\"'}


def formatted(text: str, values: list[Any]) -> str:
    """`format`: `%s` and its like, each with the next value."""
    left = iter(values)

    def written(clause: re.Match[str]) -> str:
        percent, precision, verb = clause.groups()
        if percent:
            return "%"
        does = _CLAUSES.get(verb or "")
        if does is None or (precision and verb not in "ef"):
            raise ValueError(f"could not parse formatting clause: unrecognized formatting clause {clause[0]!r}")
        try:
            value = next(left)
        except StopIteration:
            raise ValueError("index out of range: fewer values than clauses") from None
        return does(value, min(int(precision or 6), _MOST_DIGITS))

    return _CLAUSE.sub(written, text)


def _text(value: Any, _: int = 0) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case str():
            return value
        case bytes() | bytearray():
            return value.decode("utf-8", "replace")
        case datetime.timedelta():
            return f"{_number(value.total_seconds())}s"
        case datetime.datetime():
            return _time(value)
        case list():
            return f"[{', '.join(map(_text, value))}]"
        case dict():
            pairs = sorted((_text(key), _text(item)) for key, item in value.items())
            return f"{{{', '.join(f'{key}: {item}' for key, item in pairs)}}}"
        case _:
            return str(value)


def _time(value: datetime.datetime) -> str:
    """RFC 3339, with a fraction where there is one."""
    fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
    return f"{value.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"


def _number(value: float) -> str:
    if math.isfinite(value):
        return strconv.format_float(value, "f")
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _decimal(value: Any, _: int) -> str:
    return _text(_checked(value, int, float))


def _binary(value: Any, _: int) -> str:
    return format(int(value) if isinstance(value, bool) else _checked(value, int), "b")


def _octal(value: Any, _: int) -> str:
    return format(_checked(value, int), "o")


def _hexadecimal(value: Any, _: int) -> str:
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return value.encode().hex() if isinstance(value, str) else format(_checked(value, int), "x")


def _float(verb: str) -> Callable[[Any, int], str]:
    def written(value: Any, precision: int) -> str:
        number = float(_checked(value, int, float))
        return strconv.format_float(number, verb, precision) if math.isfinite(number) else _number(number)

    return written


def _checked(value: Any, *types: type) -> Any:
    if isinstance(value, types) and not isinstance(value, bool):
        return value
    raise ValueError(f"error during formatting: the clause does not take a {type(value).__name__}")


_CLAUSES: Final[Mapping[str, Callable[[Any, int], str]]] = {
    "s": _text,
    "d": _decimal,
    "b": _binary,
    "o": _octal,
    "x": _hexadecimal,
    "X": lambda value, precision: _hexadecimal(value, precision).upper(),
    "e": _float("e"),
    "f": _float("f"),
}


def _find(text: str, pattern: str) -> str:
    found = _pattern(pattern).search(text)
    return str(found.group(0)) if found else ""


def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found: list[str] = []
    end = -1
    for match in _pattern(pattern).finditer(text):
        if len(found) == most:
            break
        if match.end() == match.start() == end:
            continue  # as in Go, what is empty right after a match is none
        end = match.end()
        found.append(match.group(0))
    return found


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


def _joined(items: list[Any], between: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise ValueError("no such overload: join takes texts")
    return between.join(items)


FORMATS: Final[tuple[Declared, ...]] = (
    method("format", "string", "string", "list<dyn>", does=formatted),
    method("join", "string", "list<string>", does=_joined),
    method("join", "string", "list<string>", "string", does=_joined),
    method("reverse", "string", "string", does=lambda text: text[::-1]),
    function("strings.quote", "string", "string", does=lambda text: f'"{"".join(_QUOTED.get(c, c) for c in text)}"'),
)
"""What the engine declares, and does otherwise than cel-go."""

PATTERNS: Final[tuple[Declared, ...]] = (
    method("find", "string", "string", "string", does=_find),
    method("findAll", "list<string>", "string", "string", does=_find_all),
    method("findAll", "list<string>", "string", "string", "int", does=_find_all),
)
