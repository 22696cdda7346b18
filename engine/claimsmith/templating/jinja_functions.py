"""The filters, tests, methods and operators of jinja2 templates, each with a bound on what it may make.

Most are jinja2's own functions. What would make something huge of something small (`center`, `*`, `join`, …) is asked
first how large that would be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from jinja2 import filters as jinja_filters
from jinja2 import tests as jinja_tests
from jinja2.runtime import Undefined

from claimsmith.golang import inputs, strconv
from claimsmith.golang import json as gojson
from claimsmith.templating import limits
from claimsmith.templating.problems import refusal

Guard = Callable[..., None]

_MAX_WIDTH: Final = 1000
_DIRECTIVE = re.compile(r"%(?:%|(?:\(\w+\))?[-+ #0]*[0-9]{0,3}(?:\.[0-9]{0,2})?[sdifFgGeExXoc])")


def _small(number: Any) -> int:
    """A width, count or precision that is not beyond all use."""
    if not isinstance(number, int) or abs(number) > _MAX_WIDTH:
        raise refusal(f"the number {number!r:.40} is too large here, or not an integer", f"use at most {_MAX_WIDTH}")
    return abs(number)


def _guard_indent(text: Any, width: Any = 4, *_: Any, **__: Any) -> None:
    size = len(width) if isinstance(width, str) else _small(width)
    limits.fits(len(str(text)) + size * (1 + str(text).count("\n")))


def _guard_join(items: Any, d: Any = "", attribute: Any = None) -> None:  # noqa: ARG001 - jinja2's signature
    limits.fits(len(str(d)) * sum(1 for _ in items))


def _guard_replace(text: Any, old: Any, new: Any, count: Any = None) -> None:  # noqa: ARG001 - jinja2's signature
    limits.fits(len(str(text)) + len(str(new)) * (str(text).count(str(old)) + 1))


def _guard_format(text: Any, *args: Any, **kwargs: Any) -> None:
    rest = _DIRECTIVE.sub("", str(text))
    if "%" in rest:
        raise refusal(f"the format {str(text)!r:.80} is refused", "use %s, %d, %f, %x and the like, with small widths")
    largest = max((limits.size(value) for value in (*args, *kwargs.values())), default=0)
    limits.fits(len(str(text)) + str(text).count("%") * (2 * largest + _MAX_WIDTH))


def _guard_counts(_: Any, *numbers: Any, **named: Any) -> None:
    for number in (*numbers, *named.values()):
        if not isinstance(number, bool | str) and number is not None:
            _small(number)


def _guard_wordwrap(text: Any, *args: Any, **named: Any) -> None:
    marks = [a for a in (*args, *named.values()) if isinstance(a, str)]
    limits.fits(len(str(text)) * (1 + sum(map(len, marks))))


def _guard_sum(_: Any, attribute: Any = None, start: Any = 0) -> None:  # noqa: ARG001 - jinja2's signature
    if not isinstance(start, int | float):
        raise refusal("sum adds numbers only", "add lists with +")


def _guard_map(_: Any, name: Any = "string", *__: Any, **___: Any) -> None:
    if name not in FILTERS:
        raise refusal(f"there is no filter {name!r:.40} to map with", "name a filter of the subset, or an attribute=")


_GUARDS: Final[dict[str, Guard]] = {
    "batch": _guard_counts,
    "center": _guard_counts,
    "format": _guard_format,
    "indent": _guard_indent,
    "join": _guard_join,
    "map": _guard_map,
    "replace": _guard_replace,
    "round": _guard_counts,
    "slice": _guard_counts,
    "sum": _guard_sum,
    "wordwrap": _guard_wordwrap,
}

_STANDARD_FILTERS = """abs batch capitalize center count d default dictsort first float format indent int items join
    last length list lower map max min reject rejectattr replace reverse round select selectattr slice sort string sum
    title trim truncate unique upper urlencode wordcount wordwrap"""
_STANDARD_TESTS = """boolean defined divisibleby eq equalto even false float ge gt in integer iterable le lower lt
    mapping ne none number odd sequence string true undefined upper"""


def _to_json(value: Any) -> str:
    return gojson.dumps(plain(value))


_ALL_FILTERS: dict[str, Any] = jinja_filters.FILTERS
_ALL_TESTS: dict[str, Any] = jinja_tests.TESTS

FILTERS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _ALL_FILTERS[name] for name in _STANDARD_FILTERS.split()},
    "tojson": _to_json,
}
TESTS: Final[dict[str, Callable[..., Any]]] = {name: _ALL_TESTS[name] for name in _STANDARD_TESTS.split()}


def guard(name: str, value: Any, *args: Any, **kwargs: Any) -> None:
    """Refuse a filter's call that would make something huge."""
    if name in _GUARDS:
        _GUARDS[name](value, *args, **kwargs)


def plain(value: Any) -> Any:
    """The value as plain data: what was a generator or a tuple is a list. A missing value in it is an error."""
    match value:
        case Undefined():
            return str(value)  # raises
        case None | bool() | int() | float():
            return value
        case str():
            return str(value)
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case Iterable():
            return [plain(item) for item in value]
        case _:
            raise refusal(f"{inputs.kind_of(value)} is no plain value", "call it, or read a field of it")


# Methods


def _join(separator: str, items: Any) -> str:
    parts = [str(plain(item)) for item in items]
    limits.fits(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    _guard_replace(text, old, new)
    return text.replace(old, new, count)


_TEXT_METHODS = """capitalize count endswith find isalnum isalpha isdigit islower isspace isupper lower lstrip partition
    removeprefix removesuffix rpartition rsplit rstrip split splitlines startswith strip swapcase title upper"""
METHODS: Final[dict[type, dict[str, Callable[..., Any]]]] = {
    str: {**{name: getattr(str, name) for name in _TEXT_METHODS.split()}, "join": _join, "replace": _replace},
    dict: {"get": dict.get, "items": dict.items, "keys": dict.keys, "values": dict.values},
    list: {"count": list.count, "index": list.index},
    tuple: {"count": tuple.count, "index": tuple.index},
}
LOOP_FIELDS: Final = frozenset(
    {"index", "index0", "revindex", "revindex0", "first", "last", "length", "previtem", "nextitem", "cycle", "changed"}
)


# Operators


def operate(sign: str, left: Any, right: Any) -> Any:
    """What an operator makes of two values; integers stay within 64 bits."""
    for value in (left, right):
        if isinstance(value, Undefined):
            str(value)  # raises
    texts = isinstance(left, str | list | tuple), isinstance(right, str | list | tuple)
    match sign, texts:
        case "*", (True, False):
            _repeated(left, right)
        case "*", (False, True):
            _repeated(right, left)
        case "+", (True, True):
            limits.fits(limits.width(left) + limits.width(right))
        case "%", (True, _):
            raise refusal("% on a text is outside the subset of jinja2", "use the filter format, or ~")
        case "**", _:
            _guard_power(left, right)
    result = _OPERATORS[sign](left, right)
    if isinstance(result, int) and result not in strconv.INT64:
        raise refusal("an integer needs more than 64 bits", "use smaller numbers, or floats")
    return result


def _repeated(value: Any, times: Any) -> None:
    if isinstance(times, int):
        limits.fits(limits.size(value) * max(times, 0))


def _guard_power(base: Any, exponent: Any) -> None:
    if isinstance(exponent, int) and abs(exponent) > 64 and base not in (0, 1, -1):
        raise refusal(f"the power {exponent!r:.40} is too large", "use an exponent of at most 64")


_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
}
