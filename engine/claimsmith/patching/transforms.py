"""What transforms do to a value: each is a plain function, so that generated code reads as if written by hand.

`call_of` gives the function and the constants of a transform; `apply` calls it. The
functions take the value last, give `ABSENT` back where they are given it, and raise nothing but `TransformError`.
Integers stay integers; other values become text the way Go prints them.
"""

from __future__ import annotations

import copy
import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, assert_never

from claimsmith.base import errors
from claimsmith.base import transform as models
from claimsmith.base.errors import Problem, TransformError
from claimsmith.base.transform import Transform
from claimsmith.golang import base64 as gobase64
from claimsmith.golang import fmt as gofmt
from claimsmith.golang import inputs, strconv
from claimsmith.golang import json as gojson
from claimsmith.patching import convert as conversion

_KEYS = 12
"""How many keys of a map an error lists."""

AT = " transform at index"
"""What the problem of a transform has in its text, before its index."""

Value = Any
Arguments = tuple[Any, ...]
Options = dict[str, Any]


def apply(transform: Transform, value: Value) -> Value:
    """The value after one transform."""
    function, arguments, options = _call(transform)
    return function(*arguments, value, **options)


def apply_all(transforms: Iterable[Transform], value: Value) -> Value:
    """The value after all of them, in order."""
    for index, transform in enumerate(transforms):
        with errors.at(None, suffix=f" ({transform.type}{AT} {index})"):
            value = apply(transform, value)
    return value


def prepared(transform: Transform) -> Callable[[Value], Value]:
    """A function that gives the value after one transform, for many values."""
    function, arguments, options = _call(transform)
    if options:
        return lambda value: function(*arguments, value, **options)
    return lambda value: function(*arguments, value)


def call_of(transform: Transform) -> tuple[str, Arguments, Options]:
    """The name of the function that the transform stands for, its arguments before the value, and its options."""
    function, arguments, options = _call(transform)
    return function.__name__, arguments, options


# map and match


@inputs.value_last
def lookup(pairs: Mapping[str, Value], value: Value) -> Value:
    """What the text is mapped to."""
    if not isinstance(value, str):
        raise inputs.refused("text", value, "map")
    if value not in pairs:
        listed = ", ".join([*pairs][:_KEYS]) + (", …" if len(pairs) > _KEYS else "")
        fix = errors.suggest(value, pairs, f"add {value!r} to the map of the patch, if it should be allowed")
        raise TransformError(Problem(f"{value!r} is not allowed; use one of {listed}", fix=fix))
    if pairs[value] is None:
        raise TransformError(Problem(f"{value!r} is mapped to null", fix="map it to a value, or use a match transform"))
    return copy.deepcopy(pairs[value])


@inputs.value_last
def matched(
    patterns: Sequence[tuple[str, str, Value]], value: Value, *, fallback: Value = None, fallback_to_input: bool = False
) -> Value:
    """The result of the first pattern that matches the text, each being ("literal" or "regexp", text, result)."""
    for index, (kind, text, result) in enumerate(patterns):
        if not isinstance(value, str):
            raise inputs.refused("text", value, f"match pattern at index {index}")
        if value == text if kind == "literal" else inputs.search(text, value):
            return copy.deepcopy(result)
    if fallback_to_input and fallback is not None:
        raise TransformError(
            Problem("cannot set both a fallback value and the fallback to input", fix="drop one of the two")
        )
    return value if fallback_to_input else copy.deepcopy(fallback)


# math


@inputs.value_last
def multiply(factor: int, value: Value) -> Value:
    """The number times the factor: an integer of 64 bits, wrapping as Go's does, or a float where it was one."""
    number = inputs.number(value)
    if isinstance(number, float):
        return number * float(factor)
    return (number * factor + 2**63) % 2**64 - 2**63


@inputs.value_last
def clamp_min(bound: int, value: Value) -> Value:
    """The number, or the bound where its whole part is less."""
    return bound if inputs.whole_part(value) < bound else value


@inputs.value_last
def clamp_max(bound: int, value: Value) -> Value:
    """The number, or the bound where its whole part is more: 5.9 is not more than 5."""
    return bound if inputs.whole_part(value) > bound else value


# string


@inputs.value_last
def formatted(fmt: str, *values: Value) -> Value:
    """The values put into a format of Go's."""
    return gofmt.sprintf(fmt, *values)


@inputs.value_last
def to_upper(value: Value) -> Value:
    """The text in upper case, letter by letter: "ß" stays."""
    return "".join(map(inputs.upper, gofmt.default_text(value)))


@inputs.value_last
def to_lower(value: Value) -> Value:
    """The text in lower case, letter by letter."""
    return "".join(char.lower()[0] for char in gofmt.default_text(value))


@inputs.value_last
def to_json(value: Value) -> Value:
    """The value as JSON."""
    return gojson.dumps(value)


@inputs.value_last
def to_base64(value: Value) -> Value:
    """The text in base64."""
    return gobase64.encoded(value)


@inputs.value_last
def from_base64(value: Value) -> Value:
    """The text that was in base64."""
    return gobase64.decoded(value)


@inputs.value_last
def sha1(value: Value) -> Value:
    """The SHA-1 of the text, or of the JSON of another value, in hexadecimal."""
    return hashlib.sha1(inputs.hashed_bytes(value), usedforsecurity=False).hexdigest()


@inputs.value_last
def sha256(value: Value) -> Value:
    """The SHA-256 of the text, or of the JSON of another value, in hexadecimal."""
    return hashlib.sha256(inputs.hashed_bytes(value)).hexdigest()


@inputs.value_last
def sha512(value: Value) -> Value:
    """The SHA-512 of the text, or of the JSON of another value, in hexadecimal."""
    return hashlib.sha512(inputs.hashed_bytes(value)).hexdigest()


@inputs.value_last
def adler32(value: Value) -> Value:
    """The Adler-32 checksum of the text, or of the JSON of another value, in decimal."""
    return str(zlib.adler32(inputs.hashed_bytes(value)))


@inputs.value_last
def trim_prefix(prefix: str, value: Value) -> Value:
    """The text without the prefix, taken off once."""
    return gofmt.default_text(value).removeprefix(prefix)


@inputs.value_last
def trim_suffix(suffix: str, value: Value) -> Value:
    """The text without the suffix, taken off once."""
    return gofmt.default_text(value).removesuffix(suffix)


@inputs.value_last
def regexp(pattern: str, value: Value, *, group: int = 0) -> Value:
    """What the group of the pattern found first in the text; group 0 is the whole match."""
    groups = inputs.search(pattern, gofmt.default_text(value))
    if groups is None or not 0 <= group < len(groups):
        what = f"regexp {strconv.quote(pattern)} had no matches for group {group}"
        raise TransformError(Problem(what, fix="fix the pattern or the group, or give a value that matches"))
    return groups[group]


@inputs.value_last
def joined(separator: str, value: Value) -> Value:
    """The items of a list as text, with the separator between them."""
    if not isinstance(value, list | tuple):
        raise inputs.refused("a list", value, "join")
    texts: list[str] = []
    length = 0
    for item in value:
        texts.append(gofmt.default_text(item))
        length = strconv.fits(length + len(texts[-1]) + len(separator))
    return separator.join(texts)


@inputs.value_last
def replaced(search: str, replacement: str, value: Value) -> Value:
    """The text with every occurrence of one text replaced by another."""
    text = gofmt.default_text(value)
    strconv.fits(len(text) + text.count(search) * max(0, len(replacement) - len(search)))
    return text.replace(search, replacement)


# convert


@inputs.value_last
def converted(to_type: str, value: Value, *, format: str = "none") -> Value:
    """The value as another type: string, int, int64, bool, float64, object or array."""
    return conversion.convert(to_type, value, format)


# Which function a transform is


def _call(transform: Transform) -> tuple[Callable[..., Value], Arguments, Options]:
    match transform:
        case models.MapTransform(map=pairs):
            return lookup, (pairs,), {}
        case models.MatchTransform(match=match):
            return matched, (tuple(map(_pattern, match.patterns)),), _fallback(match)
        case models.MathTransform(math=math_):
            return _math_call(math_)
        case models.StringTransform(string=string):
            return _string_call(string)
        case models.ConvertTransform(convert=convert):
            return converted, (convert.to_type,), {} if convert.format == "none" else {"format": convert.format}
        case _:
            assert_never(transform)


def _math_call(transform: models.Math) -> tuple[Callable[..., Value], Arguments, Options]:
    match transform:
        case models.MathMultiply(multiply=factor):
            return multiply, (factor,), {}
        case models.MathClampMin(clamp_min=bound):
            return clamp_min, (bound,), {}
        case models.MathClampMax(clamp_max=bound):
            return clamp_max, (bound,), {}
        case _:
            assert_never(transform)


def _string_call(transform: models.String) -> tuple[Callable[..., Value], Arguments, Options]:
    match transform:
        case models.StringFormat(fmt=fmt):
            return formatted, (fmt,), {}
        case models.StringConvert(convert=convert):
            return _STRING_CONVERSIONS[convert], (), {}
        case models.StringTrimPrefix(trim=trim):
            return trim_prefix, (trim,), {}
        case models.StringTrimSuffix(trim=trim):
            return trim_suffix, (trim,), {}
        case models.StringRegexp(regexp=found):
            return regexp, (found.match,), {"group": found.group} if found.group else {}
        case models.StringJoin(join=join):
            return joined, (join.separator,), {}
        case models.StringReplace(replace=replace):
            return replaced, (replace.search, replace.replace), {}
        case _:
            assert_never(transform)


_STRING_CONVERSIONS: dict[str, Callable[..., Value]] = {
    "ToUpper": to_upper,
    "ToLower": to_lower,
    "ToJson": to_json,
    "ToBase64": to_base64,
    "FromBase64": from_base64,
    "ToSha1": sha1,
    "ToSha256": sha256,
    "ToSha512": sha512,
    "ToAdler32": adler32,
}


def _pattern(pattern: models.LiteralPattern | models.RegexpPattern) -> tuple[str, str, Value]:
    text = pattern.literal if isinstance(pattern, models.LiteralPattern) else pattern.regexp
    return pattern.type, text, pattern.result


def _fallback(match: models.Match) -> Options:
    options: Options = {} if match.fallback_value is None else {"fallback": match.fallback_value}
    return options | ({"fallback_to_input": True} if match.fallback_to == "Input" else {})
