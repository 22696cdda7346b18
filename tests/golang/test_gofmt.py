"""Go's fmt, strconv and encoding/json: every expected text here was printed by Go itself."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from claimsmith.base.errors import TransformError
from claimsmith.golang import fmt as gofmt
from claimsmith.golang import json as gojson
from claimsmith.golang import strconv

FORMATS = [
    pytest.param(["%s", "x"], "x", id="string"),
    pytest.param(["%5s|", "ab"], "   ab|", id="string-width"),
    pytest.param(["%-5s|", "ab"], "ab   |", id="string-left"),
    pytest.param(["%05s", "ab"], "000ab", id="string-zero-padded"),
    pytest.param(["%.2s", "abc"], "ab", id="string-cut"),
    pytest.param(["%4s", "日本"], "  日本", id="string-wide-runes"),
    pytest.param(["%v", "x"], "x", id="string-value"),
    pytest.param(["%q", 'a"b\n'], '"a\\"b\\n"', id="quoted"),
    pytest.param(["%q", "é\u200b"], '"é\\u200b"', id="quoted-unicode"),
    pytest.param(["%+q", "é😀"], '"\\u00e9\\U0001f600"', id="quoted-ascii"),
    pytest.param(["%#q", "a\\b"], "`a\\b`", id="quoted-raw"),
    pytest.param(["%#q", "a`b"], '"a`b"', id="quoted-raw-impossible"),
    pytest.param(["%x", "héy"], "68c3a979", id="hex-of-text"),
    pytest.param(["%X", "hi"], "6869", id="hex-of-text-upper"),
    pytest.param(["% x", "abc"], "61 62 63", id="hex-of-text-spaced"),
    pytest.param(["%#x", "abc"], "0x616263", id="hex-of-text-prefixed"),
    pytest.param(["%# x", "abc"], "0x61 0x62 0x63", id="hex-of-text-both"),
    pytest.param(["%3x|", ""], "   |", id="hex-of-nothing"),
    pytest.param(["%d", "x"], "%!d(string=x)", id="text-as-number"),
    pytest.param(["%t", "x"], "%!t(string=x)", id="text-as-bool"),
    pytest.param(["%5d", "x"], "%!d(string=    x)", id="text-keeps-width-in-error"),
    pytest.param(["%d", 5], "5", id="integer"),
    pytest.param(["%05d", -42], "-0042", id="integer-negative-zeros"),
    pytest.param(["%+d", 5], "+5", id="integer-plus"),
    pytest.param(["% d", 5], " 5", id="integer-space"),
    pytest.param(["%-5d|", 42], "42   |", id="integer-left"),
    pytest.param(["%.5d", 42], "00042", id="integer-precision"),
    pytest.param(["%8.5d|", -42], "  -00042|", id="integer-width-precision"),
    pytest.param(["%3.0d|", 0], "   |", id="integer-zero-with-precision-zero"),
    pytest.param(["%v", 1000000], "1000000", id="integer-value"),
    pytest.param(["%s", 5], "%!s(int64=5)", id="integer-as-text"),
    pytest.param(["%4s", 5], "%!s(int64=   5)", id="integer-as-text-keeps-width"),
    pytest.param(["%x", 255], "ff", id="integer-hex"),
    pytest.param(["%#X", 255], "0XFF", id="integer-hex-upper-sharp"),
    pytest.param(["%x", -255], "-ff", id="integer-negative-hex"),
    pytest.param(["%o", 8], "10", id="integer-octal"),
    pytest.param(["%#o", 8], "010", id="integer-octal-sharp"),
    pytest.param(["%O", 8], "0o10", id="integer-octal-prefix"),
    pytest.param(["%b", 5], "101", id="integer-binary"),
    pytest.param(["%#b", 5], "0b101", id="integer-binary-sharp"),
    pytest.param(["%c", 128512], "😀", id="integer-char"),
    pytest.param(["%c", -1], "�", id="integer-char-invalid"),
    pytest.param(["%c", 55296], "�", id="integer-char-surrogate"),
    pytest.param(["%q", 65], "'A'", id="integer-quoted-char"),
    pytest.param(["%q", 10], "'\\n'", id="integer-quoted-control"),
    pytest.param(["%U", 233], "U+00E9", id="integer-unicode"),
    pytest.param(["%#U", 128512], "U+1F600 '😀'", id="integer-unicode-sharp"),
    pytest.param(["%f", 5], "%!f(int64=5)", id="integer-as-float"),
    pytest.param(["%d", 9223372036854775807], "9223372036854775807", id="integer-largest"),
    pytest.param(["%d", -9223372036854775808], "-9223372036854775808", id="integer-smallest"),
    pytest.param(["%v", 1.5], "1.5", id="float-value"),
    pytest.param(["%v", 5.0], "5", id="float-whole"),
    pytest.param(["%v", 999999.0], "999999", id="float-999999"),
    pytest.param(["%v", 1000000.0], "1e+06", id="float-million"),
    pytest.param(["%v", 1234567.0], "1.234567e+06", id="float-seven-digits"),
    pytest.param(["%v", 0.0001], "0.0001", id="float-small"),
    pytest.param(["%v", 1e-05], "1e-05", id="float-smaller"),
    pytest.param(["%v", 1e21], "1e+21", id="float-huge"),
    pytest.param(["%v", 0.1], "0.1", id="float-shortest"),
    pytest.param(["%v", -0.0], "-0", id="float-negative-zero"),
    pytest.param(["%d", 5.0], "%!d(float64=5)", id="float-as-integer"),
    pytest.param(["%s", 1.5], "%!s(float64=1.5)", id="float-as-text"),
    pytest.param(["%f", 3.14159], "3.141590", id="float-f"),
    pytest.param(["%5.2f|", 3.14159], " 3.14|", id="float-f-2"),
    pytest.param(["%.0f", 2.5], "2", id="float-f-rounds-half-even"),
    pytest.param(["%08.3f", -3.14159], "-003.142", id="float-f-zeros"),
    pytest.param(["%+.1f", 3.0], "+3.0", id="float-f-plus"),
    pytest.param(["% .1f", 3.0], " 3.0", id="float-f-space"),
    pytest.param(["%F", 1.0], "1.000000", id="float-F"),
    pytest.param(["%e", 123456.789], "1.234568e+05", id="float-e"),
    pytest.param(["%.2E", 123456.789], "1.23E+05", id="float-E"),
    pytest.param(["%g", 100000.0], "100000", id="float-g"),
    pytest.param(["%g", 1000000.0], "1e+06", id="float-g-million"),
    pytest.param(["%.3g", 1234.5], "1.23e+03", id="float-g-3"),
    pytest.param(["%G", 1e-10], "1E-10", id="float-G"),
    pytest.param(["%#g", 1.0], "1.00000", id="float-sharp-g"),
    pytest.param(["%#.0f", 1.0], "1.", id="float-sharp-f"),
    pytest.param(["%x", 3.75], "0x1.ep+01", id="float-hex"),
    pytest.param(["%.1x", 3.99], "0x1.0p+02", id="float-hex-precision"),
    pytest.param(["%X", -1.0], "-0X1P+00", id="float-hex-upper"),
    pytest.param(["%b", 1.0], "4503599627370496p-52", id="float-binary"),
    pytest.param(["%-8.2f|", 3.14159], "3.14    |", id="float-left"),
    pytest.param(["%t", True], "true", id="bool"),
    pytest.param(["%v", False], "false", id="bool-value"),
    pytest.param(["%6t|", True], "  true|", id="bool-width"),
    pytest.param(["%s", True], "%!s(bool=true)", id="bool-as-text"),
    pytest.param(["%d", True], "%!d(bool=true)", id="bool-as-number"),
    pytest.param(["%v", None], "<nil>", id="null-value"),
    pytest.param(["%s", None], "%!s(<nil>)", id="null-text"),
    pytest.param(["%d", None], "%!d(<nil>)", id="null-number"),
    pytest.param(["%T", None], "<nil>", id="null-type"),
    pytest.param(["%v", ["a", 1, None, 1.5, True]], "[a 1 <nil> 1.5 true]", id="list"),
    pytest.param(["%s", ["a", 1]], "[a %!s(int64=1)]", id="list-text"),
    pytest.param(["%d", [1, "a"]], "[1 %!d(string=a)]", id="list-number"),
    pytest.param(["%s", [None]], "[<nil>]", id="list-null-any-verb"),
    pytest.param(["%3d", [1, 2]], "[  1   2]", id="list-width"),
    pytest.param(["%v", []], "[]", id="list-empty"),
    pytest.param(["%#v", ["a", None]], '[]interface {}{"a", interface {}(nil)}', id="list-go-syntax"),
    pytest.param(["%w", []], "%!w([]interface {}=[])", id="list-wrap"),
    pytest.param(["%v", {"b": 1, "a": ["x", None]}], "map[a:[x <nil>] b:1]", id="map"),
    pytest.param(["%s", {"a": 1}], "map[a:%!s(int64=1)]", id="map-text"),
    pytest.param(["%d", {"a": 1}], "map[%!d(string=a):1]", id="map-number"),
    pytest.param(
        ["%#v", {"a": "x", "n": None}], 'map[string]interface {}{"a":"x", "n":interface {}(nil)}', id="map-go-syntax"
    ),
    pytest.param(["%v", {}], "map[]", id="map-empty"),
    pytest.param(["%T", "x"], "string", id="type-string"),
    pytest.param(["%T", 1], "int64", id="type-int"),
    pytest.param(["%T", 1.5], "float64", id="type-float"),
    pytest.param(["%T", True], "bool", id="type-bool"),
    pytest.param(["%T", []], "[]interface {}", id="type-list"),
    pytest.param(["%T", {}], "map[string]interface {}", id="type-map"),
    pytest.param(["%s-%s", "a", "b"], "a-b", id="two"),
    pytest.param(["%s-%s", "a"], "a-%!s(MISSING)", id="two-missing"),
    pytest.param(["%d"], "%!d(MISSING)", id="missing"),
    pytest.param(["x", "b"], "x%!(EXTRA string=b)", id="extra"),
    pytest.param(["%s", "a", 1, None, 2.5], "a%!(EXTRA int64=1, <nil>, float64=2.5)", id="extra-several"),
    pytest.param(["%[1]s", "a", "b"], "a", id="extra-none-when-indexed"),
    pytest.param(["%[2]s %[1]s", "a", "b"], "b a", id="index"),
    pytest.param(["%[2]d %d", 1, 2, 3], "2 3", id="index-goes-on"),
    pytest.param(["%[1]s %[1]q", "a"], 'a "a"', id="index-repeats"),
    pytest.param(["%[0]s", "a"], "%!s(BADINDEX)", id="index-zero"),
    pytest.param(["%[5]s", "a"], "%!s(BADINDEX)", id="index-too-high"),
    pytest.param(["%[x]s", "a"], "%!s(BADINDEX)", id="index-not-a-number"),
    pytest.param(["%[]s", "a"], "%!s(BADINDEX)", id="index-empty"),
    pytest.param(["%[1s", "a"], "%!s(BADINDEX)", id="index-unclosed"),
    pytest.param(["%[1]5d", 3], "%!d(BADINDEX)", id="index-before-width"),
    pytest.param(["%[1].2f", 1.5], "%!f(BADINDEX)", id="index-then-precision"),
    pytest.param(["%[3]*.[2]*[1]f", 12.0, 2, 6], " 12.00", id="index-width-precision"),
    pytest.param(["%*d", 5, 42], "   42", id="star-width"),
    pytest.param(["%*d|", -5, 42], "42   |", id="star-width-negative"),
    pytest.param(["%*d", "x", 42], "%!(BADWIDTH)42", id="star-width-not-a-number"),
    pytest.param(["%.*f", 2, 3.14159], "3.14", id="star-precision"),
    pytest.param(["%.*f", -2, 3.14159], "%!(BADPREC)3.141590", id="star-precision-negative"),
    pytest.param(["%*d", 2000000, 1], "%!(BADWIDTH)1", id="star-width-beyond-go"),
    pytest.param(["100%%"], "100%", id="percent"),
    pytest.param(["%d%%", 5], "5%", id="percent-takes-no-value"),
    pytest.param(["%5%"], "%", id="percent-with-width"),
    pytest.param(["%"], "%!(NOVERB)", id="noverb"),
    pytest.param(["50%", 1], "50%!(NOVERB)%!(EXTRA int64=1)", id="noverb-after-text"),
    pytest.param(["%-05", "x"], "%!(NOVERB)%!(EXTRA string=x)", id="noverb-after-flags"),
    pytest.param(["%z", "x"], "%!z(string=x)", id="unknown-verb"),
    pytest.param(["%é", 5], "%!é(int64=5)", id="unknown-verb-unicode"),
    pytest.param(["%!", "x"], "%!!(string=x)", id="bang"),
    pytest.param(["%!"], "%!!(MISSING)", id="bang-missing"),
    pytest.param(["%.f", 2.5], "2", id="point-without-digits"),
    pytest.param(["%w", "x"], "%!w(string=x)", id="wrap-verb"),
    pytest.param(["%p", "x"], "%!p(string=x)", id="pointer-of-text"),
    pytest.param(["%+v", 5], "5", id="plus-v"),
    pytest.param([""], "", id="empty-format"),
    pytest.param(["é%sé", "日"], "é日é", id="unicode-around"),
]


@pytest.mark.parametrize(("arguments", "want"), FORMATS)
def test_sprintf(arguments, want):
    assert gofmt.sprintf(*arguments) == want


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["%999999999s", "x"], id="absurd-width"),
        pytest.param(["%99999999999999999999999s", "x"], id="width-of-many-digits"),
        pytest.param(["%.20000f", 1.5], id="absurd-precision"),
        pytest.param(["%*d", 500_000, 1], id="absurd-star-width"),
        pytest.param(["%d", 2**63], id="integer-beyond-int64"),
        pytest.param(["%d", 10**400], id="integer-beyond-floats"),
        pytest.param(["%[1]s%[1]s", "x" * 600_000], id="text-beyond-all-use"),
        pytest.param(["%10000v", ["x"] * 200], id="list-beyond-all-use"),
        pytest.param(["%v", [-(2**63) - 1]], id="integer-beyond-int64-in-a-list"),
        pytest.param(["%p", {}], id="address-of-an-object"),
        pytest.param(["%v", object()], id="no-json-value"),
    ],
)
def test_sprintf_refuses(arguments):
    with pytest.raises(TransformError) as caught:
        gofmt.sprintf(*arguments)
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(math.inf, "+Inf", id="infinity"),
        pytest.param(-math.inf, "-Inf", id="minus-infinity"),
        pytest.param(math.nan, "NaN", id="nan"),
    ],
)
def test_numbers_that_are_none_are_not_padded_with_zeros(value, want):
    assert gofmt.sprintf("%v", value) == want
    assert gofmt.sprintf("%06.1f", value) == want.rjust(6)


def test_default_text_is_the_text_itself():
    assert gofmt.default_text("50%") == "50%"


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param({"b": [1, 1.5, None], "a": True}, '{"a":true,"b":[1,1.5,null]}', id="sorted-no-spaces"),
        pytest.param("<a>&", '"\\u003ca\\u003e\\u0026"', id="html-escaped"),
        pytest.param("é日", '"é日"', id="non-ascii-raw"),
        pytest.param("\u2028\u2029", '"\\u2028\\u2029"', id="line-separators-escaped"),
        pytest.param('\x01\b\f\n\r\t"\\/\x7f', '"\\u0001\\b\\f\\n\\r\\t\\"\\\\/\x7f"', id="control-characters"),
        pytest.param("\ud800", '"\\ufffd"', id="half-a-surrogate-pair"),
        pytest.param(1e21, "1e+21", id="float-exponent"),
        pytest.param(1e20, "100000000000000000000", id="float-plain"),
        pytest.param(1e-7, "1e-7", id="float-small-exponent"),
        pytest.param(0.000001, "0.000001", id="float-small-plain"),
        pytest.param(5.0, "5", id="float-whole"),
        pytest.param(-0.0, "-0", id="float-negative-zero"),
    ],
)
def test_json_is_written_as_go_does(value, want):
    assert gojson.dumps(value) == want


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, 2**63, {1: 2}, object()],
    ids=["nan", "inf", "beyond-int64", "number-as-key", "no-json"],
)
def test_json_refuses_to_write(value):
    with pytest.raises(TransformError):
        gojson.dumps(value)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("[1, 2.5, 1e3]", [1, 2.5, 1000.0], id="integers-stay-integers"),
        pytest.param("[12345678901234567890]", [1.2345678901234567e19], id="beyond-int64-is-a-float"),
        pytest.param('{"a":1,"a":2}', {"a": 2}, id="last-of-two-keys"),
        pytest.param('["\\ud800"]', ["\ufffd"], id="half-a-surrogate-pair"),
        pytest.param('["\\ud83d\\ude00"]', ["😀"], id="whole-surrogate-pair"),
    ],
)
def test_json_is_read_as_go_does(text, want):
    got = gojson.loads(text)
    assert got == want
    assert repr(got) == repr(want)


@pytest.mark.parametrize("text", ["", "[1,]", "{a:1}", "[NaN]", "[-Infinity]", "[1e999]", "[01]", "{} x", '["\t"]'])
def test_json_refuses_to_read(text):
    with pytest.raises(TransformError):
        gojson.loads(text)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("1e3", 1000.0, id="exponent"),
        pytest.param(".5", 0.5, id="no-whole-part"),
        pytest.param("5.", 5.0, id="no-fraction"),
        pytest.param("1_0", 10.0, id="underscore"),
        pytest.param("0x1.8p1", 3.0, id="hexadecimal"),
        pytest.param("0x_1p4", 16.0, id="underscore-after-prefix"),
        pytest.param("-INFINITY", -math.inf, id="infinity-any-case"),
        pytest.param("1e-999", 0.0, id="underflow-is-zero"),
        pytest.param("0e99999999", 0.0, id="zero-with-a-huge-exponent"),
    ],
)
def test_parse_float(text, want):
    assert strconv.parse_float(text) == want


def test_parse_float_reads_nan():
    assert math.isnan(strconv.parse_float("nAn"))


REFUSED_FLOATS = [
    "",
    " 1",
    "1 ",
    "1__0",
    "_1",
    "1_",
    "1_.5",
    "1e",
    "0x1",
    "0xp1",
    "1e999",
    "+nan",
    "infinit",
    "٣",
    "0b1",
]


@pytest.mark.parametrize("text", REFUSED_FLOATS)
def test_parse_float_refuses(text):
    with pytest.raises(TransformError):
        strconv.parse_float(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=200)
def test_floats_are_written_so_that_they_read_back(value):
    for verb in "efgx":
        assert strconv.parse_float(strconv.format_float(value, verb)) == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.text(alphabet="%sdvqxtfeg[]12*.+-# 0é", max_size=12), st.lists(json_values, max_size=3))
@settings(max_examples=200)
@example("%*", [10001])
def test_any_format_gives_text_or_is_refused(fmt, values):
    with contextlib.suppress(TransformError):  # a width or precision beyond the bound
        assert isinstance(gofmt.sprintf(fmt, *values), str)


@given(st.text(alphabet=st.characters(exclude_characters="%"), max_size=20))
@settings(max_examples=50)
def test_a_format_without_percent_is_itself(fmt):
    assert gofmt.sprintf(fmt) == fmt
