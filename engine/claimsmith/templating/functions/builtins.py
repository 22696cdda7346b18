"""The functions that Go's text/template has by itself."""

from __future__ import annotations

import re
import urllib.parse
from typing import Any

from claimsmith.golang import fmt as gofmt
from claimsmith.golang import inputs, strconv, verbs
from claimsmith.golang import json as gojson
from claimsmith.golang.kinds import basic
from claimsmith.templating import limits
from claimsmith.templating.functions.registry import Family, deep
from claimsmith.templating.problems import TemplateError, refusal

FAMILY = Family("builtin")

_KINDS = {bool: "bool", int: "int", float: "float", str: "string"}


def truth(value: Any) -> bool:
    """Whether Go takes the value for true: not null, nor false, nor zero, nor empty."""
    return bool(value)


def text_of(value: Any) -> str:
    """The value by `%v`."""
    return gofmt.default_text(value)


# and, or: the evaluator calls them with values only where it must, see `goeval`


@FAMILY.add("and any any...", lenient=True)
def and_(*values: Any) -> Any:
    """The first value that is false, else the last."""
    return next((v for v in values if not truth(v)), values[-1])


@FAMILY.add("or any any...", lenient=True)
def or_(*values: Any) -> Any:
    """The first value that is true, else the last."""
    return next((v for v in values if truth(v)), values[-1])


@FAMILY.add("not any", lenient=True)
def not_(value: Any) -> bool:
    """Whether the value is false."""
    return not truth(value)


@FAMILY.add("eq any any any...")
def eq(first: Any, *others: Any) -> bool:
    """Whether the first value equals one of the others."""
    return any(_equal(first, other) for other in others)


@FAMILY.add("ne any any")
def ne(first: Any, second: Any) -> bool:
    """Whether the values differ."""
    return not _equal(first, second)


@FAMILY.add("lt any any")
def lt(first: Any, second: Any) -> bool:
    """Whether the first is less."""
    return _less(first, second)


@FAMILY.add("le any any")
def le(first: Any, second: Any) -> bool:
    """Whether the first is less or equal."""
    return _less(first, second) or _equal(first, second)


@FAMILY.add("gt any any")
def gt(first: Any, second: Any) -> bool:
    """Whether the first is more."""
    return not le(first, second)


@FAMILY.add("ge any any")
def ge(first: Any, second: Any) -> bool:
    """Whether the first is more or equal."""
    return not _less(first, second)


def _equal(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return _is_nil(first) and _is_nil(second)
    if basic(first) is not basic(second) or basic(first) not in _KINDS:
        raise _incomparable(first, second)
    return bool(first == second)


def _is_nil(value: Any) -> bool:
    return value is None or isinstance(value, gojson.NilObject | gojson.NilList)


def _less(first: Any, second: Any) -> bool:
    if basic(first) is not basic(second) or basic(first) not in _KINDS or isinstance(first, bool):
        raise _incomparable(first, second)
    if isinstance(first, str):
        return strconv.scrubbed(first) < strconv.scrubbed(second)
    return bool(first < second)


def _incomparable(first: Any, second: Any) -> TemplateError:
    what = f"cannot compare {inputs.kind_of(first)} ({_shown(first)}) with {inputs.kind_of(second)} ({_shown(second)})"
    return refusal(what, "convert one of them: toString, int or float64")


def _shown(value: Any) -> str:
    return _KINDS.get(basic(value), "") or verbs.type_name(value)


@FAMILY.add("len any")
def len_(value: Any) -> int:
    """The number of items, or of bytes of a text."""
    match value:
        case str():
            return len(inputs.utf8(value))
        case list() | dict():
            return len(value)
        case _:
            raise refusal(f"{inputs.kind_of(value)} has no length", "give text, a list or an object")


@FAMILY.add("index any any...")
def index(value: Any, *keys: Any) -> Any:
    """The item at the keys, one after the other; null where an object has no such key."""
    if value is None:
        raise refusal("null has no items", "give a list or an object")
    for key in keys:
        match value:
            case dict() if isinstance(key, str):
                value = value.get(key)
            case list() if isinstance(key, int) and not isinstance(key, bool):
                value = _item(value, key)
            case str() if isinstance(key, int) and not isinstance(key, bool):
                value = _item(inputs.utf8(value), key)
            case _:
                what = f"cannot index {inputs.kind_of(value)} with {inputs.kind_of(key)}"
                raise refusal(what, "index a list with an integer, an object with text")
    return value


def _item(value: Any, key: int) -> Any:
    if not 0 <= key < len(value):
        raise refusal(f"index {key} is out of range", f"there are {len(value)} items, counted from 0")
    return value[key]


@FAMILY.add("print any...", cost=deep)
def print_(*values: Any) -> str:
    """The values as text, with a space between two that are both no text."""
    parts: list[str] = []
    for position, value in enumerate(values):
        if position and not isinstance(value, str) and not isinstance(values[position - 1], str):
            parts.append(" ")
        parts.append(text_of(value))
    return "".join(parts)


@FAMILY.add("println any...", cost=deep)
def println(*values: Any) -> str:
    """The values as text with spaces between them and a line end."""
    return " ".join(map(text_of, values)) + "\n"


@FAMILY.add("printf str any...", cost=deep)
def printf(fmt: str, *values: Any) -> str:
    """The values put into a format of Go's."""
    largest = max((limits.size(value) for value in values), default=0)
    limits.fits(len(fmt) + fmt.count("%") * (largest + min(_widest(fmt, values), gofmt.MAX_WIDTH)))
    return gofmt.sprintf(fmt, *values)


def _widest(fmt: str, values: tuple[Any, ...]) -> int:
    """The largest number that could be a width or a precision."""
    written = [int(digits[:6]) for digits in re.findall("[0-9]+", fmt)]
    given = [abs(value) for value in values if isinstance(value, int)] if "*" in fmt else []
    return max([*written, *given], default=0)


@FAMILY.add("urlquery any...", cost=deep)
def urlquery(*values: Any) -> str:
    """The values as text, escaped for the query of a URL."""
    return urllib.parse.quote_plus(inputs.utf8(print_(*values)), safe="")
