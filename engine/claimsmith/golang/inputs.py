"""What transforms require of their input, and how they refuse it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from claimsmith.base import regexp
from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import Problem, TransformError
from claimsmith.golang import json as gojson
from claimsmith.golang import strconv

Value = Any
P = ParamSpec("P")


_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?")


def value_last(function: Callable[P, Value]) -> Callable[P, Value]:
    """Make a function give back ABSENT for ABSENT, and refuse what is nested without end."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Value:
        # By identity: what is equal to ABSENT is ABSENT.
        if ABSENT in args or (kwargs and ABSENT in kwargs.values()):
            return ABSENT
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise TransformError(Problem("the value is nested too deeply", fix="make it flatter")) from None

    return wrapped


def refused(wanted: str, value: Value, where: str) -> TransformError:
    """The error for a value of the wrong kind."""
    return TransformError(Problem(f"{where} needs {wanted}, got {kind_of(value)}", fix=_fix(wanted, value)))


def _fix(wanted: str, value: Value) -> str:
    """How to write a value of the wanted kind; a number in quotes is the usual mistake."""
    if wanted == "a number" and isinstance(value, str) and _NUMBER.fullmatch(value):
        return f"remove the quotes: {value}"
    if wanted == "text" and isinstance(value, int | float) and not isinstance(value, bool):
        return f'write it in quotes: "{value}"'
    return f"write {wanted}, or convert the value with a convert transform before"


def kind_of(value: Value) -> str:
    """What the value is, in words."""
    kinds = {dict: "an object", list: "a list", tuple: "a list", type(None): "null", bool: "a boolean"}
    if isinstance(value, str):
        return "text"
    return kinds.get(type(value)) or ("a number" if isinstance(value, int | float) else f"a {type(value).__name__}")


def number(value: Value) -> int | float:
    """The value, if it is a number that Go could hold. A boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refused("a number", value, "math")
    if isinstance(value, int) and value not in strconv.INT64:
        raise TransformError(Problem("an integer needs more than 64 bits", fix="use a smaller one, or a float"))
    return value


def whole_part(value: Value) -> int:
    """The integer that the value is, or is just past."""
    given = number(value)
    if not math.isfinite(given):
        raise TransformError(Problem(f"cannot compare {given} with a bound", fix="use a finite number"))
    return math.trunc(given)


def search(pattern: str, text: str) -> tuple[str, ...] | None:
    """The first match and its groups, if there is a match."""
    try:
        return regexp.first_match(pattern, text)
    except regexp.BadPattern as error:
        raise TransformError(Problem(f"could not compile regexp: {error}", fix="fix the pattern (RE2)")) from error


def utf8(text: str) -> bytes:
    """The bytes of the text."""
    return strconv.scrubbed(text).encode()


def hashed_bytes(value: Value) -> bytes:
    """What a hash is computed from: the bytes of a text, the JSON of anything else."""
    return utf8(value if isinstance(value, str) else gojson.dumps(value))


def upper(char: str) -> str:
    """One letter in upper case, if that is one letter; else its title case, if that is; else itself."""
    return next((c for c in (char.upper(), char.title()) if len(c) == 1), char)
