"""Transforms as they are written in a composition: map, match, math, string and convert.

Everything that can be known before there is a value is checked here: types, what each of them needs, patterns that do
not compile. A `type` that is left out is derived from the other fields, as older engines did; fields that belong to
another type are ignored, as Crossplane does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter

from claimsmith.base import regexp
from claimsmith.base.choice import choice, known_word, refusal
from claimsmith.base.model import JSON, Model

S = TypeVar("S", bound=Sized)

Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


def _check_pattern(pattern: str) -> str:
    try:
        regexp.compiled(pattern)
    except regexp.BadPattern as error:
        shown = f"{pattern[:80]}…" if len(pattern) > regexp.MAX_PATTERN else pattern
        raise refusal(f"{shown!r} is not a regular expression: {error}", "write it in RE2's syntax") from error
    return pattern


def _check_some(items: S) -> S:
    if not len(items):
        raise refusal("there is nothing in it", "add at least one entry")
    return items


def _text_keys(pairs: Any) -> Any:
    """Keys that YAML read as numbers or booleans, as the text they were."""
    if not isinstance(pairs, Mapping):
        return pairs
    return {str(k).lower() if isinstance(k, bool) else str(k) if isinstance(k, int) else k: v for k, v in pairs.items()}


Pattern = Annotated[str, AfterValidator(_check_pattern)]


class MathMultiply(Model):
    """The number, times another."""

    type: Literal["Multiply"] = "Multiply"
    multiply: Int64


class MathClampMin(Model):
    """The number, but not less than a bound."""

    type: Literal["ClampMin"] = "ClampMin"
    clamp_min: Int64


class MathClampMax(Model):
    """The number, but not more than a bound."""

    type: Literal["ClampMax"] = "ClampMax"
    clamp_max: Int64


_math = choice("math transform", "Multiply", Multiply=MathMultiply, ClampMin=MathClampMin, ClampMax=MathClampMax)
Math = Annotated[MathMultiply | MathClampMin | MathClampMax, _math]


class LiteralPattern(Model):
    """Matches text that is exactly this."""

    type: Literal["literal"] = "literal"
    literal: str
    result: JSON = None


class RegexpPattern(Model):
    """Matches text in which this is found."""

    type: Literal["regexp"] = "regexp"
    regexp: Pattern
    result: JSON = None


_match_pattern = choice("match pattern", "literal", literal=LiteralPattern, regexp=RegexpPattern)
MatchPattern = Annotated[LiteralPattern | RegexpPattern, _match_pattern]


FallbackTo = Annotated[Literal["Value", "Input"], BeforeValidator(known_word("fallbackTo", "Value", "Input"))]


class Match(Model):
    """Patterns to try in order, and what to give where none matches."""

    patterns: Annotated[tuple[MatchPattern, ...], Field(strict=False), AfterValidator(_check_some)]
    fallback_value: JSON = None
    fallback_to: FallbackTo = "Value"


class StringFormat(Model):
    """The value put into a Go format string."""

    type: Literal["Format"] = "Format"
    fmt: str


StringConversion = Literal[
    "ToUpper", "ToLower", "ToJson", "ToBase64", "FromBase64", "ToSha1", "ToSha256", "ToSha512", "ToAdler32"
]


class StringConvert(Model):
    """The value's text in another case or encoding, or its hash."""

    type: Literal["Convert"] = "Convert"
    convert: Annotated[StringConversion, BeforeValidator(known_word("string conversion", *get_args(StringConversion)))]


class StringTrimPrefix(Model):
    """The value's text without a prefix."""

    type: Literal["TrimPrefix"] = "TrimPrefix"
    trim: str


class StringTrimSuffix(Model):
    """The value's text without a suffix."""

    type: Literal["TrimSuffix"] = "TrimSuffix"
    trim: str


class RegexpOptions(Model):
    """A pattern, and which of its groups is wanted; 0 is the whole match."""

    match: Annotated[Pattern, AfterValidator(_check_some)]
    group: Annotated[int, Field(ge=0)] = 0


class StringRegexp(Model):
    """What a pattern finds first in the value's text."""

    type: Literal["Regexp"] = "Regexp"
    regexp: RegexpOptions


class JoinOptions(Model):
    """What stands between the items."""

    separator: str = ""


class StringJoin(Model):
    """The items of a list, joined."""

    type: Literal["Join"] = "Join"
    join: JoinOptions


class ReplaceOptions(Model):
    """What is replaced, and by what."""

    search: Annotated[str, AfterValidator(_check_some)]
    replace: str = ""


class StringReplace(Model):
    """The value's text with every occurrence of one text replaced by another."""

    type: Literal["Replace"] = "Replace"
    replace: ReplaceOptions


_string = choice(
    "string transform",
    "Format",
    Format=StringFormat,
    Convert=StringConvert,
    TrimPrefix=StringTrimPrefix,
    TrimSuffix=StringTrimSuffix,
    Regexp=StringRegexp,
    Join=StringJoin,
    Replace=StringReplace,
)
String = Annotated[
    StringFormat | StringConvert | StringTrimPrefix | StringTrimSuffix | StringRegexp | StringJoin | StringReplace,
    _string,
]


ValueType = Literal["string", "int", "int64", "bool", "float64", "object", "array"]
TextFormat = Literal["none", "quantity", "json"]


class Convert(Model):
    """The type wanted, and how a text is to be read."""

    to_type: Annotated[ValueType, BeforeValidator(known_word("toType", *get_args(ValueType)))]
    format: Annotated[TextFormat, BeforeValidator(known_word("format", *get_args(TextFormat)))] = "none"


class MapTransform(Model):
    """The value that a text is mapped to."""

    type: Literal["map"] = "map"
    map: Annotated[dict[str, JSON], AfterValidator(_check_some), BeforeValidator(_text_keys)]


class MatchTransform(Model):
    """The result of the first pattern that a text matches."""

    type: Literal["match"] = "match"
    match: Match


class MathTransform(Model):
    """A number computed from a number."""

    type: Literal["math"] = "math"
    math: Math


class StringTransform(Model):
    """A text formatted from any value."""

    type: Literal["string"] = "string"
    string: String


class ConvertTransform(Model):
    """The same value as another type."""

    type: Literal["convert"] = "convert"
    convert: Convert


_transform = choice(
    "transform",
    None,
    map=MapTransform,
    match=MatchTransform,
    math=MathTransform,
    string=StringTransform,
    convert=ConvertTransform,
)
Transform = Annotated[MapTransform | MatchTransform | MathTransform | StringTransform | ConvertTransform, _transform]


@cache
def _adapter() -> TypeAdapter[Transform]:
    return TypeAdapter(Transform)


def parse_transform(data: Mapping[str, Any]) -> Transform:
    """The transform that the data describes, or a pydantic ValidationError whose locations are paths into the data."""
    return _adapter().validate_python(data)
