"""sprig's functions for values that may be missing, and those that return the type of a value."""

from __future__ import annotations

from typing import Any

from claimsmith.golang import verbs
from claimsmith.templating.functions.builtins import truth
from claimsmith.templating.functions.registry import Family
from claimsmith.templating.problems import refusal

FAMILY = Family("defaults")
KINDS = Family("kinds")

_KINDS = {bool: "bool", int: "int64", float: "float64", str: "string", list: "slice", dict: "map"}


@FAMILY.add("default any any...", lenient=True)
def default(fallback: Any, *given: Any) -> Any:
    """The given value, or the first one where it is missing or empty."""
    return given[0] if given and truth(given[0]) else fallback


@FAMILY.add("empty any", lenient=True)
def empty(value: Any) -> bool:
    """Whether the value is null, false, zero or empty."""
    return not truth(value)


@FAMILY.add("coalesce any...", lenient=True)
def coalesce(*values: Any) -> Any:
    """The first value that is not empty, else null."""
    return next((value for value in values if truth(value)), None)


@FAMILY.add("ternary any any bool", lenient=True)
def ternary(yes: Any, no: Any, condition: bool) -> Any:
    """The first value where the last is true, else the second."""
    return yes if condition else no


@FAMILY.add("fail str")
def fail(message: str) -> str:
    """Stop with the message."""
    raise refusal(message or "the template failed", "give it what its author asks for")


@FAMILY.add("required str any", lenient=True)
def required(message: str, value: Any) -> Any:
    """The value, or stop with the message where it is missing, null or an empty text."""
    if value is None or value == "":
        raise refusal(message or "a required value is missing", "set the field that the template asks for")
    return value


@KINDS.add("kindOf any", lenient=True)
def kind_of(value: Any) -> str:
    """What the value is: string, int64, float64, bool, slice, map, or invalid for null."""
    return _KINDS.get(type(value), "invalid")


@KINDS.add("kindIs str any", lenient=True)
def kind_is(kind: str, value: Any) -> bool:
    """Whether the value is of the kind; `int` and `int64` are one."""
    return kind_of(value) == ("int64" if kind == "int" else kind)


@KINDS.add("typeOf any", lenient=True)
def type_of(value: Any) -> str:
    """The value's type in Go."""
    return verbs.type_name(value)
