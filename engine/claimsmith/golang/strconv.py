"""Numbers and quoted text written and read as Go's strconv does.

Compositions were written for an engine in Go, and its way of writing a float or reading an integer shows in the
values that they make. Everything here is text to value or value to text; what cannot be read is a `TransformError`.
"""

from __future__ import annotations

import math
import re
import struct
import unicodedata
from typing import Final

from claimsmith.base.errors import Problem, TransformError

INT64: Final = range(-(2**63), 2**63)
MAX_TEXT: Final = 1024 * 1024
"""The longest text that a transform returns: what an API server takes as a whole object."""

_DECIMAL = re.compile(r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?")
_HEX = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F_]+\.?[0-9a-fA-F_]*|\.[0-9a-fA-F_]+)[pP][+-]?[0-9_]+")
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,19})")
_SURROGATES = re.compile("[\ud800-\udfff]")
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def fits(length: int) -> int:
    """The length, if a text may have it; call this before creating the text."""
    if length > MAX_TEXT:
        raise TransformError(Problem(f"the text would be longer than {MAX_TEXT} characters", fix="make it shorter"))
    return length


def parse_int(text: str) -> int:
    """The integer in base 10: a sign is fine; spaces, underscores, points and prefixes are not."""
    found = _INTEGER.fullmatch(text)
    if found and int(found[1] + found[2]) in INT64:
        return int(found[1] + found[2])
    raise _unreadable(text, "an integer", "write digits only, within 64 bits: 42 or -7")


def parse_bool(text: str) -> bool:
    """The boolean, in one of the six spellings of each."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _unreadable(text, "a boolean", "write true or false")


def parse_float(text: str) -> float:
    """The float: decimal or hexadecimal, with underscores between digits, or inf or nan in any case."""
    if _INFINITY.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    if text.lower() == "nan":
        return math.nan
    value = math.inf
    if _underscores_separate_digits(text):
        plain = text.replace("_", "")
        if _DECIMAL.fullmatch(text):
            value = float(plain)
        elif _HEX.fullmatch(text):
            value = _from_hex(plain)
    if math.isinf(value):
        raise _unreadable(text, "a number", "write a number such as 5, -0.5 or 1e3")
    return value


def format_float(value: float, verb: str, precision: int = -1) -> str:
    """The float by a verb of strconv: e, f, g, b, x or upper case; precision -1 is as many digits as it needs."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    match verb.lower():
        case "b":
            return _binary(value)
        case "x":
            text = _hexadecimal(value, precision)
        case kind if precision >= 0:
            text = format(value, f".{precision}{kind}")
        case kind:
            text = _shortest(value, kind)
    return text.upper() if verb.isupper() else text


def quote(text: str, mark: str = '"', *, ascii_only: bool = False) -> str:
    """The text as a Go literal within the marks."""
    return mark + "".join(_quoted(c, mark, ascii_only) for c in scrubbed(text)) + mark


def is_print(char: str) -> bool:
    """Whether Go prints the character as it is: letters, marks, numbers, punctuation, symbols and the ASCII space."""
    return char == " " or unicodedata.category(char)[0] in "LMNPS"


def can_backquote(text: str) -> bool:
    """Whether the text can stand in a raw Go literal."""
    return all(c == "\t" or (c >= " " and c not in "`\x7f\ufeff") for c in scrubbed(text))


def scrubbed(text: str) -> str:
    """The text with U+FFFD for halves of surrogate pairs, which are no characters and have no bytes."""
    return _SURROGATES.sub("\ufffd", text)


# Reading


def _unreadable(text: str, kind: str, fix: str) -> TransformError:
    shown = text if len(text) <= 80 else text[:80] + "…"
    return TransformError(Problem(f"cannot read {shown!r} as {kind}", fix=fix))


def _underscores_separate_digits(text: str) -> bool:
    if "_" not in text:
        return True
    body = text.lstrip("+-")
    prefixed = body[:2].lower() == "0x"
    digit = r"[0-9a-fA-F]" if prefixed else r"[0-9]"
    body = "0" + body[2:] if prefixed else body
    return all(re.fullmatch(rf".*{digit}", head, re.S) for head in body.split("_")[:-1]) and all(
        re.fullmatch(rf"{digit}.*", tail, re.S) for tail in body.split("_")[1:]
    )


def _from_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except (OverflowError, ValueError):  # a huge exponent overflows, or is itself too long to read
        return math.inf


# Writing


def _shortest(value: float, kind: str) -> str:
    """The fewest digits that give the same float back. `g` turns to an exponent below 1e-4 and from 1e6 up."""
    sign, digits, point = _decimal_digits(value)
    exponent = point - 1
    if kind == "e" or (kind == "g" and not -4 <= exponent < 6):
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{exponent:+03d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    whole = digits[:point].ljust(point, "0")
    fraction = digits[point:]
    return f"{sign}{whole}.{fraction}" if fraction else sign + whole


def _decimal_digits(value: float) -> tuple[str, str, int]:
    """Sign, significant digits, and the place of the point among them."""
    sign = "-" if math.copysign(1, value) < 0 else ""
    if value == 0:
        return sign, "0", 1
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    point = len(whole) - leading_zeros + int(exponent or 0)
    return sign, digits.rstrip("0") or "0", point


def _parts(value: float) -> tuple[str, int, int]:
    """Sign, and mantissa and exponent such that the value is mantissa * 2**exponent."""
    bits = struct.unpack(">Q", struct.pack(">d", value))[0]
    exponent = (bits >> 52) & 0x7FF
    mantissa = bits & (2**52 - 1)
    if exponent:
        mantissa |= 2**52
    return "-" if bits >> 63 else "", mantissa, max(exponent, 1) - 1075


def _binary(value: float) -> str:
    sign, mantissa, exponent = _parts(value)
    return f"{sign}{mantissa}p{exponent:+d}"


def _hexadecimal(value: float, precision: int) -> str:
    sign, mantissa, exponent = _parts(value)
    if mantissa == 0:
        fraction = "." + "0" * precision if precision > 0 else ""
        return f"{sign}0x0{fraction}p+00"
    shift = 53 - mantissa.bit_length()
    mantissa, exponent = mantissa << shift, exponent - shift + 52
    if 0 <= precision < 13:
        dropped = 4 * (13 - precision)
        kept, rest = divmod(mantissa, 1 << dropped)
        half = 1 << (dropped - 1)
        kept += rest > half or (rest == half and kept & 1)
        if kept.bit_length() > 53 - dropped:
            exponent += 1
            kept >>= 1
        mantissa = kept << dropped
    fraction = f"{mantissa & (2**52 - 1):013x}"
    fraction = fraction.rstrip("0") if precision < 0 else fraction.ljust(precision, "0")[:precision]
    return f"{sign}0x1{'.' if fraction else ''}{fraction}p{exponent:+03d}"


def _quoted(char: str, mark: str, ascii_only: bool) -> str:
    if char in (mark, "\\"):
        return "\\" + char
    if is_print(char) and (char < "\x7f" or not ascii_only):
        return char
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
