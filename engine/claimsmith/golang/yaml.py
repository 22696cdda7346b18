"""Plain scalars of YAML as Go's libraries read them: `0440` is a number, and to Kubernetes `yes` is true.

Parsers are elsewhere: `base/documents.py` and the loaders of templates ask here what a scalar without quotes and tag
stands for.
"""

from __future__ import annotations

import re
from typing import Any, Final

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS: Final = {spelling: value for value in (True, False) for spelling in (f"{value}", f"{value}".lower())} | {
    "TRUE": True,
    "FALSE": False,
}
_OLD_BOOLS: Final = {
    spelling: value
    for value, words in ((True, ("y", "yes", "on")), (False, ("n", "no", "off")))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}
"""Truth values of YAML 1.1, which Kubernetes still reads."""
_INTEGER: Final = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_BEGINS: Final = frozenset("0123456789+-.")
_BASES: Final = {"x": 16, "b": 2, "o": 8}
_LONGEST: Final = 400
"""A number with more digits is beyond what a float can hold."""


def of_kubernetes(text: str) -> Any:
    """The value of a plain scalar in a manifest."""
    return _OLD_BOOLS[text] if text in _OLD_BOOLS else of_yaml(text)


def of_yaml(text: str) -> Any:
    """The value of a plain scalar, as the newer library has it."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    digits = text.replace("_", "")
    if text[0] not in _BEGINS or len(digits) > _LONGEST:
        return text
    if _INTEGER.fullmatch(digits):
        return _integer(digits)
    if _FLOAT.fullmatch(digits) or _SPECIAL.fullmatch(digits):
        value = float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
        return text if _FLOAT.fullmatch(digits) and value in (float("inf"), float("-inf")) else value
    return text


def _integer(digits: str) -> int | float:
    sign, plain = (-1, digits[1:]) if digits[0] == "-" else (1, digits.removeprefix("+"))
    base = _BASES.get(plain[1:2].lower(), 8) if plain[0] == "0" and len(plain) > 1 else 10
    value = sign * int(plain[2:] if plain[1:2].isalpha() else plain, base)
    if -(1 << 63) <= value < 1 << 63:
        return value
    # More digits than a number can have: it is a number all the same, and refused as one.
    return float(value) if value.bit_length() < 1024 else float("inf") * sign
