"""One value by one verb of Go's fmt, with its flags, width and precision."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from claimsmith.base.errors import Problem, TransformError
from claimsmith.golang import strconv
from claimsmith.golang.kinds import Int, Struct

_BASES = {"d": 10, "v": 10, "b": 2, "o": 8, "O": 8, "x": 16, "X": 16}
_DIGITS = {2: "b", 8: "o", 10: "d", 16: "x"}
_SHARP = {2: "0b", 16: "0x"}


@dataclass
class Spec:
    """What stands between a `%` and its verb."""

    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    sharp_v: bool = False
    width: int | None = None
    precision: int | None = None

    def pad(self, text: str, *, zero: bool | None = None) -> str:
        """The text filled up to the width, on the left unless a flag changes that."""
        fill = "0" if (self.zero if zero is None else zero) and not self.minus else " "
        width = self.width or 0
        return text.ljust(width, fill) if self.minus else text.rjust(width, fill)

    def truncate(self, text: str) -> str:
        """The text cut to the precision."""
        return text if self.precision is None else text[: self.precision]


def type_name(value: Any) -> str:
    """The Go type that the value has."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case Int():
            return "int"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case list() | tuple():
            return "[]interface {}"
        case Struct():
            return value.type_name
        case dict():
            return "map[string]interface {}"
        case _:
            raise TransformError(
                Problem(f"cannot format a {type(value).__name__}", fix="give text, numbers, lists or objects")
            )


def typed(value: Any) -> str:
    """The value with its type, as in an error text."""
    return "<nil>" if value is None else f"{type_name(value)}={text_of(Spec(), 'v', value)}"


def text_of(spec: Spec, verb: str, value: Any) -> str:
    """One argument by its verb."""
    if value is None:
        return spec.pad("<nil>") if verb in "Tv" else f"%!{verb}(<nil>)"
    if verb == "T":
        return spec.pad(spec.truncate(type_name(value)))
    if verb == "p" and isinstance(value, dict | list | tuple):
        raise TransformError(Problem("%p prints a memory address", fix="use %v"))
    return _format_value(spec, verb, value)


def _format_value(spec: Spec, verb: str, value: Any) -> str:
    """A value, or an item inside one, for which null is always `<nil>`."""
    match value:
        case None:
            return "interface {}(nil)" if spec.sharp_v else "<nil>"
        case bool():
            text = spec.pad("true" if value else "false") if verb in "tv" else None
        case int():
            text = _integer(spec, verb, value)
        case float():
            text = _float(spec, verb, value)
        case str():
            text = _string(spec, verb, value)
        case Struct():
            text = _string(spec, verb, value.text)
        case dict() | list() | tuple() if verb == "w":
            text = None
        case list() | tuple():
            items = _within(_format_value(spec, verb, item) for item in value)
            return f"{type_name(value)}{{{', '.join(items)}}}" if spec.sharp_v else f"[{' '.join(items)}]"
        case dict():
            pairs = _within(
                f"{_format_value(spec, verb, key)}:{_format_value(spec, verb, value[key])}"
                for key in sorted(value, key=str)
            )
            return f"{type_name(value)}{{{', '.join(pairs)}}}" if spec.sharp_v else f"map[{' '.join(pairs)}]"
        case _:
            text = None
    return text if text is not None else f"%!{verb}({type_name(value)}={_format_value(spec, 'v', value)})"


def _within(parts: Iterable[str]) -> list[str]:
    """The parts, as long as they are not too long together."""
    found: list[str] = []
    length = 0
    for part in parts:
        length = strconv.fits(length + len(part))
        found.append(part)
    return found


def _string(spec: Spec, verb: str, value: str) -> str | None:
    if verb == "q" or (verb == "v" and spec.sharp_v):
        value = spec.truncate(value)
        if spec.sharp and strconv.can_backquote(value):
            return spec.pad(f"`{value}`")
        return spec.pad(strconv.quote(value, ascii_only=spec.plus))
    if verb in "sv":
        return spec.pad(spec.truncate(value))
    return _hex_bytes(spec, verb, value) if verb in "xX" else None


def _hex_bytes(spec: Spec, verb: str, value: str) -> str:
    data = strconv.scrubbed(value).encode()[: spec.precision]
    prefix = f"0{verb}" if spec.sharp else ""
    pairs = [f"{byte:02{verb}}" for byte in data]
    if spec.space:
        return spec.pad(" ".join(prefix + pair for pair in pairs))
    return spec.pad(prefix + "".join(pairs) if pairs else "")


def _integer(spec: Spec, verb: str, value: int) -> str | None:
    if int(value) not in strconv.INT64:  # a range goes through all numbers to find a subclass of int
        raise TransformError(Problem("an integer needs more than 64 bits", fix="write it as text"))
    if verb in "cqU":
        return _rune(spec, verb, value)
    if verb not in _BASES:
        return None
    base = _BASES[verb]
    sign = "-" if value < 0 else "+" if spec.plus else " " if spec.space else ""
    digits = format(abs(value), _DIGITS[base])
    if spec.precision is not None:
        if spec.precision == 0 and value == 0:
            return " " * (spec.width or 0)
        digits = digits.rjust(spec.precision, "0")
    elif spec.zero and not spec.minus and spec.width is not None:
        digits = digits.rjust(spec.width - len(sign), "0")
    if spec.sharp and base == 8 and digits[0] != "0":
        digits = "0" + digits
    prefix = _SHARP.get(base, "") if spec.sharp else ""
    prefix = f"0o{prefix}" if verb == "O" else prefix
    text = prefix + digits
    return spec.pad(sign + (text.upper() if verb == "X" else text), zero=False)


def _rune(spec: Spec, verb: str, value: int) -> str:
    """An integer as the character of that number."""
    valid = 0 <= value <= 0x10FFFF
    char = chr(value) if valid and not 0xD800 <= value <= 0xDFFF else "\ufffd"
    if verb == "c":
        return spec.pad(char)
    if verb == "q":
        return spec.pad(strconv.quote(char, "'", ascii_only=spec.plus))
    digits = format(value % 2**64, "X").rjust(max(spec.precision or 0, 4), "0")
    shown = f" '{chr(value)}'" if spec.sharp and valid and strconv.is_print(chr(value)) else ""
    return spec.pad(f"U+{digits}{shown}", zero=False)


def _float(spec: Spec, verb: str, value: float) -> str | None:
    if verb not in "vbgGxXfFeE":
        return None
    kind = {"v": "g", "F": "f"}.get(verb, verb)
    precision = spec.precision if spec.precision is not None else 6 if kind in "feE" else -1
    text = strconv.format_float(value, kind, precision)
    sign = "-" if text[0] == "-" else " " if spec.space and not spec.plus else "+"
    text = text.lstrip("+-")
    shown = sign if spec.plus or sign != "+" else ""
    if text == "NaN":
        return spec.pad((sign if spec.plus or spec.space else "") + text, zero=False)
    if text == "Inf":
        return spec.pad((sign if spec.plus or spec.space or sign == "-" else "+") + text, zero=False)
    if spec.sharp and kind != "b":
        text = _with_point(text, kind, precision)
    if spec.zero and not spec.minus and spec.width is not None:
        return shown + text.rjust(spec.width - len(shown), "0")
    return spec.pad(shown + text)


def _with_point(text: str, kind: str, precision: int) -> str:
    """A number with its decimal point, and for `%#g` its trailing zeros."""
    mark = next((c for c in ("pP" if kind in "xX" else "eEpP") if c in text), "")
    number, _, exponent = text.partition(mark) if mark else (text, "", "")
    wanted = (6 if precision == -1 else precision) if kind in "gGx" else 0
    significant = number.replace(".", "").lstrip("0")
    missing = wanted - len(significant)
    if "." not in number:
        missing -= number == "0"
        number += "."
    return number + "0" * missing + mark + exponent
