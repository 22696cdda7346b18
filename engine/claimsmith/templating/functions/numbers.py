"""sprig's functions on numbers, and those that turn values into numbers or text.

As in sprig, text that is no number counts as 0, and integers have 64 bits and wrap.
"""

from __future__ import annotations

import math
import re
from typing import Any

from claimsmith.base.errors import TransformError
from claimsmith.golang import strconv
from claimsmith.templating import golex
from claimsmith.templating.functions.builtins import text_of
from claimsmith.templating.functions.lists import strings
from claimsmith.templating.functions.registry import Family, deep
from claimsmith.templating.problems import refusal

FAMILY = Family("numbers")
CONVERSION = Family("conversion")

_ZERO_DECIMALS = re.compile(r"\.0+$")


def _wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


@CONVERSION.add("int64 any")
@CONVERSION.add("int any")
def to_int(value: Any) -> int:
    """The value as an integer: the whole part of a float, 0 where it is none."""
    match value:
        case bool() | int():
            return _wrapped(int(value))
        case float():
            if not -(2.0**63) <= value < 2.0**63:
                raise refusal(f"{value} does not fit an integer of 64 bits", "keep it a float")
            return int(value)
        case str():
            number = golex.integer(_ZERO_DECIMALS.sub("", value))
            return number if number is not None and number in strconv.INT64 else 0
        case _:
            return 0


@CONVERSION.add("float64 any")
def to_float(value: Any) -> float:
    """The value as a float, 0 where it is none."""
    match value:
        case bool() | int() if abs(value) < 2**1000:
            return float(value)
        case float():
            return value
        case str():
            try:
                return strconv.parse_float(value)
            except TransformError:
                return 0.0
        case _:
            return 0.0


@CONVERSION.add("atoi str")
def atoi(text: str) -> int:
    """The decimal integer that the text is, else 0."""
    try:
        return strconv.parse_int(text)
    except TransformError:
        return 0


@CONVERSION.add("toDecimal any", cost=deep)
def to_decimal(value: Any) -> int:
    """The octal integer that the text is, else 0."""
    text = text_of(value)
    octal = re.fullmatch(r"[+-]?[0-7]{1,400}", text)
    number = int(text, 8) if octal else 0
    return number if number in strconv.INT64 else 0


@CONVERSION.add("toString any", cost=deep)
def to_string(value: Any) -> str:
    """The value as text."""
    return text_of(value)


@CONVERSION.add("toStrings any", cost=deep)
def to_strings(value: Any) -> list[str]:
    """The items of a list as texts, without nulls."""
    return strings(value)


@FAMILY.add("add any...")
def add(*values: Any) -> int:
    """The sum."""
    return _wrapped(sum(map(to_int, values)))


@FAMILY.add("add1 any")
def add1(value: Any) -> int:
    """One more."""
    return _wrapped(to_int(value) + 1)


@FAMILY.add("sub any any")
def sub(first: Any, second: Any) -> int:
    """The first less the second."""
    return _wrapped(to_int(first) - to_int(second))


@FAMILY.add("mul any any...")
def mul(*values: Any) -> int:
    """The product."""
    product = 1
    for value in values:
        product = _wrapped(product * to_int(value))
    return product


@FAMILY.add("div any any")
def div(first: Any, second: Any) -> int:
    """The whole part of the quotient."""
    number, divisor = to_int(first), _divisor(second)
    quotient = abs(number) // abs(divisor)
    return _wrapped(quotient if (number < 0) == (divisor < 0) else -quotient)


@FAMILY.add("mod any any")
def mod(first: Any, second: Any) -> int:
    """The rest of the division, with the sign of the first."""
    number, divisor = to_int(first), _divisor(second)
    rest = abs(number) % abs(divisor)
    return -rest if number < 0 else rest


def _divisor(value: Any) -> int:
    divisor = to_int(value)
    if divisor == 0:
        raise refusal("division by zero", "give a divisor that is a number other than 0")
    return divisor


@FAMILY.add("max any any...")
def max_(*values: Any) -> int:
    """The largest integer."""
    return max(map(to_int, values))


@FAMILY.add("min any any...")
def min_(*values: Any) -> int:
    """The smallest integer."""
    return min(map(to_int, values))


@FAMILY.add("ceil any")
def ceil(value: Any) -> float:
    """The number rounded up, as a float."""
    number = to_float(value)
    return float(math.ceil(number)) if math.isfinite(number) else number


@FAMILY.add("floor any")
def floor(value: Any) -> float:
    """The number rounded down, as a float."""
    number = to_float(value)
    return float(math.floor(number)) if math.isfinite(number) else number


@FAMILY.add("round any int")
def round_(value: Any, places: int) -> float:
    """The number rounded to so many decimal places; a half goes up."""
    number = to_float(value)
    if not -300 <= places <= 300:
        raise refusal(f"cannot round to {places} places", "give at most 300 places")
    scaled = number * math.pow(10, places)
    if not math.isfinite(scaled):
        raise refusal(f"{number} cannot be rounded to {places} places", "give fewer places")
    fraction = math.modf(scaled)[0]
    return float(math.ceil(scaled) if fraction >= 0.5 else math.floor(scaled)) / math.pow(10, places)
