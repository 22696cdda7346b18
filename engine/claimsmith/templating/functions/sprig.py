"""Functions that composition functions have as sprig does, where our own templates have them otherwise or not at all.

Our own templates refuse what cannot be read, and know one kind of integer; Go goes on with an empty or an odd value.
"""

from __future__ import annotations

import base64
import binascii
import html as html_
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from claimsmith.base.errors import EngineError
from claimsmith.golang import base64 as gobase64
from claimsmith.golang import inputs, url, verbs
from claimsmith.golang import json as gojson
from claimsmith.golang.kinds import Int, Struct
from claimsmith.templating import limits
from claimsmith.templating.functions import FUNCTIONS, lists, regex, remaining, versions
from claimsmith.templating.functions.builtins import print_
from claimsmith.templating.functions.registry import Family, Function, deep
from claimsmith.templating.problems import refusal

FAMILY = Family("sprig")
_KINDS = {bool: "bool", Int: "int", int: "int64", float: "float64"}
_OF_INT = ("int", "atoi", "len", "until", "untilStep")
"""Functions that return Go's `int`; the others return an `int64`."""


def _as_int(function: Function) -> Function:
    def call(*arguments: Any) -> Any:
        result = function.call(*arguments)
        return [Int(item) for item in result] if isinstance(result, list) else Int(result)

    return replace(function, call=call)


FAMILY.functions.update(
    {name: _as_int((FUNCTIONS | remaining.FAMILY.functions)[name]) for name in _OF_INT},
)


@FAMILY.add("hello")
def hello() -> str:
    """What sprig says."""
    return "Hello!"


@FAMILY.add("kindOf any", lenient=True)
def kind_of(value: Any) -> str:
    """What the value is in Go."""
    if isinstance(value, Struct):
        return value.kind
    names: tuple[tuple[type, str], ...] = ((str, "string"), (list, "slice"), (dict, "map"))
    found = _KINDS.get(type(value))
    return found or next((name for kind, name in names if isinstance(value, kind)), "invalid")


@FAMILY.add("kindIs str any", lenient=True)
def kind_is(kind: str, value: Any) -> bool:
    """Whether the value is of the kind."""
    return kind_of(value) == kind


@FAMILY.add("typeIsLike str any")
def type_is_like(name: str, value: Any) -> bool:
    """Whether the value is of the type in Go, or points to one."""
    return verbs.type_name(value) in (name, f"*{name}")


@FAMILY.add("rest list")
def rest(items: list[Any]) -> list[Any]:
    """All but the first item; null as JSON where there is none."""
    return lists.rest(items) if items else gojson.NilList()


@FAMILY.add("initial list")
def initial(items: list[Any]) -> list[Any]:
    """All but the last item; null as JSON where there is none."""
    return lists.initial(items) if items else gojson.NilList()


@FAMILY.add("concat list...")
def concat(*items: list[Any]) -> list[Any]:
    """The lists as one; null as JSON where there is no item."""
    return lists.concat(*items) or gojson.NilList()


@FAMILY.add("slice list any...")
def slice_(items: list[Any], *bounds: Any) -> Any:
    """The items from the first bound to the second, which may be texts."""
    return lists.slice_(items, *(FUNCTIONS["int"].call(bound) for bound in bounds))


@FAMILY.add("chunk int list")
def chunk(size: int, items: list[Any]) -> list[list[Any]]:
    """The list in parts of a size."""
    if size < 1:
        raise refusal(f"cannot cut a list into parts of {size}", "give a size of 1 or more")
    return remaining.chunk(size, items)


@FAMILY.add("round any int float...")
def round_(value: Any, places: int, *on: float) -> float:
    """The number rounded to so many decimal places; up from a half, or from the third argument."""
    if len(on) > 1:
        raise refusal("round takes at most 3 arguments", "write: round any int float")
    if not on:
        return float(FUNCTIONS["round"].call(value, places))
    power = 10.0 ** max(min(places, 300), -300)
    scaled = float(FUNCTIONS["float64"].call(value)) * power
    down = float(FUNCTIONS["floor"].call(scaled))
    fraction = scaled - (down if scaled >= 0 else float(FUNCTIONS["ceil"].call(scaled)))
    return float(FUNCTIONS["ceil"].call(scaled) if fraction >= on[0] else down) / power


@FAMILY.add("set dict str any")
def set_(target: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The object, with the value at the key."""
    if isinstance(target, gojson.NilObject):
        raise refusal("set cannot change an object that is not there", "test it with if first, or start with dict")
    target[key] = value
    return target


# Encoding


@FAMILY.add("mustFromJson str")
def must_from_json(text: str) -> Any:
    """The value of a JSON text; its numbers are floats, as in Go."""
    value = _floats(gojson.loads(text))
    limits.size(value)
    return value


@FAMILY.add("fromJson str")
def from_json(text: str) -> Any:
    """The same; null for a text that is not JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return must_from_json(text)


def _floats(value: Any) -> Any:
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case list():
            return [_floats(item) for item in value]
        case dict():
            return {key: _floats(item) for key, item in value.items()}
        case _:
            return value


_STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


@FAMILY.add("b64dec str")
def b64dec(text: str) -> str:
    """The text that was in base64; a text that says what is wrong where there is none, as in sprig."""
    data = text.replace("\r", "").replace("\n", "")
    return _decoded(data, "base64", _STANDARD, 4, gobase64.decoded)


@FAMILY.add("b32dec str")
def b32dec(text: str) -> str:
    """The text that was in base32; a text that says what is wrong where there is none, as in sprig."""
    data = text.replace("\r", "").replace("\n", "")
    return _decoded(data, "base32", _BASE32, 8, lambda given: base64.b32decode(given).decode())


def _decoded(text: str, name: str, alphabet: str, block: int, decode: Callable[[str], str]) -> str:
    body = text.rstrip("=")
    strange = next((index for index, char in enumerate(body) if char not in alphabet), None)
    if strange is None and len(text) % block == 0:
        try:
            return decode(text)
        except (EngineError, binascii.Error):
            pass
        except UnicodeDecodeError:
            raise refusal(f"{name} does not hold text", "decode texts only") from None
    # Go names the byte at which it gave up: a strange one, or where the last whole or started block begins.
    at = strange if strange is not None else len(body) - len(body) % block
    return f"illegal {name} data at input byte {at}"


@FAMILY.add("regexMatch str str", cost=FUNCTIONS["regexMatch"].cost)
def regex_match(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; not for a pattern that cannot be read."""
    if not regex.readable(pattern):
        return False
    return regex.regex_match(pattern, text)


@FAMILY.add("mustRegexMatch str str", cost=FUNCTIONS["regexMatch"].cost)
def must_regex_match(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text."""
    return regex.regex_match(pattern, text)


@FAMILY.add("regexFindAll str str int", cost=FUNCTIONS["regexFindAll"].cost)
def regex_find_all(pattern: str, text: str, count: int) -> list[str]:
    """What the pattern finds; null as JSON where that is nothing."""
    return regex.regex_find_all(pattern, text, count) or gojson.NilList()


@FAMILY.add("regexSplit str str int", cost=FUNCTIONS["regexSplit"].cost)
def regex_split(pattern: str, text: str, count: int) -> list[str]:
    """The parts of the text; null as JSON where there are to be none."""
    return regex.regex_split(pattern, text, count) if count else gojson.NilList()


@FAMILY.add("html any...", cost=deep)
def html(*values: Any) -> str:
    """The values as text, escaped for a web page."""
    text = "<no value>" if values == (None,) else print_(*values)
    return html_.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;").replace("\0", "\ufffd")


@FAMILY.add("js any...", cost=deep)
def js(*values: Any) -> str:
    """The values as text, escaped for a text of JavaScript."""
    text = "<no value>" if values == (None,) else print_(*values)
    return "".join(map(_js_char, text))


def _js_char(char: str) -> str:
    if char in "\\'\"":
        return f"\\{char}"
    return f"\\u{ord(char):04X}" if char in "<>&=" or char < " " else char


# URLs and versions


@FAMILY.add("urlJoin dict")
def url_join(parts: dict[str, Any]) -> str:
    """The URL of such parts as urlParse returns."""
    names = ("scheme", "host", "path", "query", "opaque", "fragment", "userinfo")
    for name in names:
        if not isinstance(parts.get(name, ""), str):
            what = f"urlJoin needs text at {name!r}, got {inputs.kind_of(parts[name])}"
            raise refusal(what, "convert it with toString")
    return url.joined(*(parts.get(name, "") for name in names))


class Version(Struct):
    """A version, with the fields and methods that templates use."""

    __slots__ = ("order",)

    def __init__(self, text: str) -> None:
        read = versions.read(text)
        core = ".".join(map(str, read.numbers))
        shown = core + (f"-{read.pre}" if read.pre else "") + (f"+{read.metadata}" if read.metadata else "")
        major, minor, patch = read.numbers
        order = read.order
        fields: dict[str, Any] = {
            "Major": major,
            "Minor": minor,
            "Patch": patch,
            "Prerelease": read.pre,
            "Metadata": read.metadata,
            "Original": text,
            "String": shown,
            "Compare": _comparing("Compare", lambda other: Int((order > other) - (order < other))),
            "LessThan": _comparing("LessThan", lambda other: order < other),
            "LessThanEqual": _comparing("LessThanEqual", lambda other: order <= other),
            "GreaterThan": _comparing("GreaterThan", lambda other: order > other),
            "GreaterThanEqual": _comparing("GreaterThanEqual", lambda other: order >= other),
            "Equal": _comparing("Equal", lambda other: order == other),
        }
        super().__init__(fields, type_name="*semver.Version", text=shown, written=shown, kind="ptr")
        self.order = order


def _comparing(name: str, compare: Callable[[Any], Any]) -> Function:
    def call(other: Any) -> Any:
        if not isinstance(other, Version):
            raise refusal(f"{name} needs a version, got {inputs.kind_of(other)}", "read the text with semver first")
        return compare(other.order)

    return Function(name, FAMILY.name, ("any",), call)


@FAMILY.add("semver str")
def semver(text: str) -> Version:
    """The version that the text is."""
    return Version(text)
