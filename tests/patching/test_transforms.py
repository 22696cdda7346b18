"""Transforms: what each makes of a value, what it refuses, and how each is written in a composition."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from claimsmith.base.absent import ABSENT
from claimsmith.base.errors import TransformError
from claimsmith.base.transform import MathMultiply, MathTransform, Transform, parse_transform
from claimsmith.patching import transforms


def string(**options):
    return {"type": "string", "string": options}


def convert(to_type, text_format="none"):
    return {"type": "convert", "convert": {"toType": to_type, "format": text_format}}


def match(*patterns, **options):
    return {"type": "match", "match": {"patterns": list(patterns), **options}}


def literal(text, result):
    return {"type": "literal", "literal": text, "result": result}


def regexp(text, result):
    return {"type": "regexp", "regexp": text, "result": result}


KIB = {"type": "math", "math": {"type": "Multiply", "multiply": 1024}}
AT_LEAST_5 = {"type": "math", "math": {"type": "ClampMin", "clampMin": 5}}
AT_MOST_5 = {"type": "math", "math": {"type": "ClampMax", "clampMax": 5}}
SIZES = {"type": "map", "map": {"small": 1, "large": {"cpu": 8}, "none": None}}


APPLIED = [
    pytest.param(SIZES, "small", 1, id="map"),
    pytest.param(SIZES, "large", {"cpu": 8}, id="map-to-an-object"),
    pytest.param({"type": "map", "map": {1: "a", 2: "b"}}, "1", "a", id="map-key-that-yaml-read-as-a-number"),
    pytest.param({"type": "map", "map": {8: "a", True: "b"}}, "true", "b", id="map-key-that-yaml-read-as-a-boolean"),
    pytest.param(match(literal("a", 1), literal("a", 2)), "a", 1, id="match-first-wins"),
    pytest.param(match(regexp("b", 1)), "abc", 1, id="match-regexp-is-unanchored"),
    pytest.param(match(regexp("^b", 1)), "abc", None, id="match-nothing-is-null"),
    pytest.param(match(literal("a", 1), fallbackValue={"x": 1}), "b", {"x": 1}, id="match-fallback-value"),
    pytest.param(match(literal("a", 1), fallbackTo="Input"), "b", "b", id="match-fallback-to-input"),
    pytest.param(match({"type": "literal", "literal": "a"}), "a", None, id="match-without-a-result"),
    pytest.param(match(literal("a", 1), fallbackTo="Input", fallbackValue=2), "a", 1, id="match-two-fallbacks-unused"),
    pytest.param(KIB, 2, 2048, id="multiply-integer"),
    pytest.param(KIB, 1.5, 1536.0, id="multiply-keeps-float"),
    pytest.param(KIB, 2**62, 0, id="multiply-wraps"),
    pytest.param({"math": {"multiply": 2}}, 2**63 - 1, -2, id="multiply-wraps-to-negative"),
    pytest.param(AT_LEAST_5, 4, 5, id="clamp-min"),
    pytest.param(AT_LEAST_5, 4.9, 5, id="clamp-min-float-becomes-the-bound"),
    pytest.param(AT_LEAST_5, 7, 7, id="clamp-min-within"),
    pytest.param(AT_MOST_5, 6, 5, id="clamp-max"),
    pytest.param(AT_MOST_5, 5.9, 5.9, id="clamp-max-compares-the-whole-part"),
    pytest.param(AT_MOST_5, 6.1, 5, id="clamp-max-float-becomes-the-bound"),
    pytest.param(AT_MOST_5, 1e30, 5, id="clamp-max-beyond-int64"),
    pytest.param(string(type="Format", fmt="db-%s"), "x", "db-x", id="format"),
    pytest.param(string(type="Format", fmt="%d"), 5, "5", id="format-integers-stay-integers"),
    pytest.param(string(type="Format", fmt="%v"), 1000000, "1000000", id="format-integer-without-exponent"),
    pytest.param(string(type="Format", fmt="%v"), 1e6, "1e+06", id="format-float-with-exponent"),
    pytest.param(string(type="Format", fmt="%s"), None, "%!s(<nil>)", id="format-null"),
    pytest.param(string(type="Convert", convert="ToUpper"), "straße ᾳ", "STRAßE ᾼ", id="to-upper-per-letter"),
    pytest.param(string(type="Convert", convert="ToLower"), "İΣ", "iσ", id="to-lower-per-letter"),
    pytest.param(string(type="Convert", convert="ToUpper"), True, "TRUE", id="to-upper-of-a-boolean"),
    pytest.param(
        string(type="Convert", convert="ToJson"), {"b": "<", "a": [1]}, '{"a":[1],"b":"\\u003c"}', id="to-json"
    ),
    pytest.param(string(type="Convert", convert="ToJson"), "a", '"a"', id="to-json-of-text"),
    pytest.param(string(type="Convert", convert="ToBase64"), "é", "w6k=", id="to-base64"),
    pytest.param(string(type="Convert", convert="ToBase64"), 5, "NQ==", id="to-base64-of-a-number"),
    pytest.param(string(type="Convert", convert="FromBase64"), "w6k=", "é", id="from-base64"),
    pytest.param(string(type="Convert", convert="FromBase64"), "w6\nk=\r\n", "é", id="from-base64-with-line-breaks"),
    pytest.param(
        string(type="Convert", convert="ToSha1"), "a", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8", id="sha1-of-text"
    ),
    pytest.param(
        string(type="Convert", convert="ToSha1"), ["a"], "6b38d42036dacdcf081b8d1d0ee0c97b407c56c6", id="sha1-of-json"
    ),
    pytest.param(
        string(type="Convert", convert="ToSha256"),
        1,
        "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
        id="sha256-of-a-number",
    ),
    pytest.param(string(type="Convert", convert="ToAdler32"), "abc", "38600999", id="adler32"),
    pytest.param(string(type="TrimPrefix", trim="a"), "aab", "ab", id="trim-prefix-once"),
    pytest.param(string(type="TrimSuffix", trim="b"), "abb", "ab", id="trim-suffix-once"),
    pytest.param(string(type="TrimSuffix", trim="0"), 50, "5", id="trim-a-number"),
    pytest.param(string(type="Regexp", regexp={"match": "[0-9]+"}), "a12b3", "12", id="regexp-first-match"),
    pytest.param(string(type="Regexp", regexp={"match": "(a)(b)?", "group": 1}), "xa", "a", id="regexp-group"),
    pytest.param(string(type="Regexp", regexp={"match": "(a)(b)?", "group": 2}), "xa", "", id="regexp-unused-group"),
    pytest.param(string(type="Regexp", regexp={"match": "a$"}), "ba", "a", id="regexp-end"),
    pytest.param(string(type="Regexp", regexp={"match": r"é(\pL)", "group": 1}), "日éü", "ü", id="regexp-unicode"),
    pytest.param(string(type="Join", join={"separator": ", "}), ["a", "b"], "a, b", id="join-cuts-nothing"),
    pytest.param(
        string(type="Join", join={"separator": "-"}), ["a", 1, None, 1.5], "a-1-<nil>-1.5", id="join-any-items"
    ),
    pytest.param(string(type="Join", join={"separator": ","}), [], "", id="join-nothing"),
    pytest.param(string(type="Replace", replace={"search": ".", "replace": "-"}), "a.b.c", "a-b-c", id="replace-all"),
    pytest.param(string(type="Replace", replace={"search": ".*", "replace": ""}), "a.*", "a", id="replace-is-literal"),
]


@pytest.mark.parametrize(("written", "value", "want"), APPLIED)
def test_apply(written, value, want):
    got = transforms.apply(parse_transform(written), value)
    assert got == want
    assert type(got) is type(want)


CONVERTED = [
    pytest.param("string", "none", "x", "x", id="text-stays"),
    pytest.param("string", "json", "x", "x", id="same-type-whatever-the-format"),
    pytest.param("int", "quantity", 5, 5, id="integer-stays"),
    pytest.param("int64", "none", "-42", -42, id="text-to-integer"),
    pytest.param("int", "none", "+007", 7, id="text-to-integer-sign-and-zeros"),
    pytest.param("int", "none", "-" + "0" * 5000 + "7", -7, id="text-to-integer-very-many-zeros"),
    pytest.param("float64", "none", "1e3", 1000.0, id="text-to-float"),
    pytest.param("float64", "none", "1_0", 10.0, id="text-to-float-underscore"),
    pytest.param("float64", "quantity", "1000m", 1.0, id="quantity-milli"),
    pytest.param("float64", "quantity", "1.5Gi", 1610612736.0, id="quantity-binary"),
    pytest.param("float64", "quantity", "2k", 2000.0, id="quantity-kilo"),
    pytest.param("float64", "quantity", "1E", 1e18, id="quantity-exa"),
    pytest.param("float64", "quantity", "1e3", 1000.0, id="quantity-exponent"),
    pytest.param("float64", "quantity", "3.3", 3.3000000000000003, id="quantity-is-multiplied-as-kubernetes-does"),
    pytest.param("float64", "quantity", "0.1n", 1e-9, id="quantity-rounds-up-to-a-nano"),
    pytest.param("float64", "quantity", "9999Ei", 9.223372036854775807e18, id="quantity-binary-is-capped"),
    pytest.param("float64", "quantity", "-2.5", -2.5, id="quantity-negative"),
    pytest.param("bool", "none", "t", True, id="text-to-true"),
    pytest.param("bool", "none", "FALSE", False, id="text-to-false"),
    pytest.param("object", "json", '{"a": [1, 2.5]}', {"a": [1, 2.5]}, id="json-to-object"),
    pytest.param("array", "json", "[1]", [1], id="json-to-array"),
    pytest.param("object", "json", "null", None, id="json-null"),
    pytest.param("string", "none", 5, "5", id="integer-to-text"),
    pytest.param("float64", "none", 5, 5.0, id="integer-to-float"),
    pytest.param("bool", "none", 1, True, id="one-is-true"),
    pytest.param("bool", "none", 2, False, id="two-is-not-true"),
    pytest.param("string", "none", 1e21, "1000000000000000000000", id="float-to-text-never-has-an-exponent"),
    pytest.param("string", "none", 5.0, "5", id="whole-float-to-text"),
    pytest.param("int64", "none", -1.9, -1, id="float-to-integer-truncates"),
    pytest.param("bool", "none", 1.0, True, id="float-one-is-true"),
    pytest.param("bool", "none", 1.1, False, id="float-other-is-false"),
    pytest.param("string", "none", True, "true", id="boolean-to-text"),
    pytest.param("int", "none", True, 1, id="boolean-to-integer"),
    pytest.param("float64", "none", False, 0.0, id="boolean-to-float"),
    pytest.param("bool", "json", True, True, id="boolean-stays"),
]


@pytest.mark.parametrize(("to_type", "text_format", "value", "want"), CONVERTED)
def test_converted(to_type, text_format, value, want):
    got = transforms.apply(parse_transform(convert(to_type, text_format)), value)
    assert got == want
    assert type(got) is type(want)


REFUSED = [
    pytest.param(SIZES, "smal", id="map-missing-key"),
    pytest.param(SIZES, 1, id="map-number"),
    pytest.param(SIZES, None, id="map-null"),
    pytest.param(match(literal("a", 1), fallbackValue=1), 5, id="match-number-never-reaches-the-fallback"),
    pytest.param(match(regexp("a", 1), fallbackTo="Input"), None, id="match-null-never-reaches-the-fallback"),
    pytest.param(match(literal("a", 1), fallbackTo="Input", fallbackValue=2), "b", id="match-two-fallbacks"),
    pytest.param(KIB, "2", id="multiply-numeric-text"),
    pytest.param(KIB, True, id="multiply-boolean"),
    pytest.param(KIB, None, id="multiply-null"),
    pytest.param(KIB, 2**63, id="multiply-beyond-int64"),
    pytest.param(AT_LEAST_5, "2", id="clamp-text"),
    pytest.param(AT_LEAST_5, False, id="clamp-boolean"),
    pytest.param(AT_MOST_5, math.nan, id="clamp-nan"),
    pytest.param(string(type="Format", fmt="%999999999s"), "x", id="format-absurd-width"),
    pytest.param(string(type="Format", fmt="%s"), object(), id="format-no-json-value"),
    pytest.param(string(type="Convert", convert="ToJson"), math.nan, id="to-json-nan"),
    pytest.param(string(type="Convert", convert="ToSha256"), {1: 2}, id="hash-of-no-json-value"),
    pytest.param(string(type="Convert", convert="FromBase64"), "a", id="from-base64-cut"),
    pytest.param(string(type="Convert", convert="FromBase64"), "YQ", id="from-base64-without-padding"),
    pytest.param(string(type="Convert", convert="FromBase64"), "YQ==YQ==", id="from-base64-twice"),
    pytest.param(string(type="Convert", convert="FromBase64"), "-_==", id="from-base64-of-the-url-alphabet"),
    pytest.param(string(type="Convert", convert="FromBase64"), "/w==", id="from-base64-not-text"),
    pytest.param(string(type="Regexp", regexp={"match": "x"}), "a", id="regexp-no-match"),
    pytest.param(string(type="Regexp", regexp={"match": "(a)", "group": 2}), "a", id="regexp-no-such-group"),
    pytest.param(string(type="Regexp", regexp={"match": "a$"}), "a\n", id="regexp-end-is-the-very-end"),
    pytest.param(string(type="Regexp", regexp={"match": r"\d"}), "٣", id="regexp-digits-are-ascii"),
    pytest.param(string(type="Join", join={"separator": ","}), "ab", id="join-text"),
    pytest.param(string(type="Join", join={"separator": ","}), {"a": 1}, id="join-object"),
    pytest.param(convert("int64"), "5.0", id="integer-with-a-point"),
    pytest.param(convert("int64"), " 5", id="integer-with-a-space"),
    pytest.param(convert("int64"), "1_0", id="integer-with-an-underscore"),
    pytest.param(convert("int64"), "0x5", id="integer-hexadecimal"),
    pytest.param(convert("int64"), "9223372036854775808", id="integer-overflow"),
    pytest.param(convert("int64"), "9" * 5000, id="integer-of-many-digits"),
    pytest.param(convert("int64"), 1e19, id="float-too-large-for-an-integer"),
    pytest.param(convert("int64"), math.inf, id="infinity-to-integer"),
    pytest.param(convert("float64"), "1e999", id="float-overflow"),
    pytest.param(convert("bool"), "yes", id="yes-is-no-boolean"),
    pytest.param(convert("float64", "quantity"), "1.5Zi", id="quantity-unknown-suffix"),
    pytest.param(convert("float64", "quantity"), "", id="quantity-empty"),
    pytest.param(convert("float64", "quantity"), "1e999999999", id="quantity-absurd-exponent"),
    pytest.param(convert("int64", "quantity"), "1", id="quantity-to-integer"),
    pytest.param(convert("object"), "{}", id="object-without-format-json"),
    pytest.param(convert("object", "json"), "[]", id="json-array-to-object"),
    pytest.param(convert("array", "json"), "{}", id="json-object-to-array"),
    pytest.param(convert("array", "json"), "[" * 100_000, id="json-nested-without-end"),
    pytest.param(convert("object", "json"), {"a": 1}, id="object-to-object"),
    pytest.param(convert("array", "json"), [1], id="array-to-array"),
    pytest.param(convert("string"), None, id="null-to-text"),
    pytest.param(convert("string"), 2**64, id="beyond-int64-to-text"),
    pytest.param(convert("array", "json"), 5, id="integer-to-array"),
]


@pytest.mark.parametrize(("written", "value"), REFUSED)
def test_apply_refuses(written, value):
    with pytest.raises(TransformError) as caught:
        transforms.apply(parse_transform(written), value)
    assert caught.value.problems[0].fix


def test_apply_all_runs_in_order():
    written = [KIB, string(fmt="%dMi"), string(type="TrimSuffix", trim="Mi"), convert("int64")]
    assert transforms.apply_all(map(parse_transform, written), 2) == 2048


def test_apply_all_of_none_gives_the_value():
    assert transforms.apply_all([], {"a": 1}) == {"a": 1}


def test_apply_all_says_which_failed():
    with pytest.raises(TransformError) as caught:
        transforms.apply_all([parse_transform(KIB), parse_transform(SIZES)], 2)
    what = caught.value.problems[0].what
    assert what == "map needs text, got a number (map transform at index 1)"


def test_a_key_that_is_mapped_to_null_has_no_value():
    with pytest.raises(TransformError, match="'small' is mapped to null"):
        transforms.lookup({"small": None}, "small")


def test_a_missing_key_names_the_nearest_and_the_others():
    with pytest.raises(TransformError) as caught:
        transforms.lookup({"small": 1, "large": 2}, "smal")
    [problem] = caught.value.problems
    assert (problem.what, problem.fix) == ("'smal' is not allowed; use one of small, large", "did you mean 'small'?")


@pytest.mark.parametrize(
    ("written", "value", "fix"),
    [
        pytest.param(KIB, "20", "remove the quotes: 20", id="a-number-in-quotes"),
        pytest.param(KIB, "many", "write a number, or convert the value with a convert transform before", id="a-word"),
        pytest.param(SIZES, 2, 'write it in quotes: "2"', id="a-number-without-quotes"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_how_to_write_it(written, value, fix):
    with pytest.raises(TransformError) as caught:
        transforms.apply(parse_transform(written), value)
    assert caught.value.problems[0].fix == fix


@pytest.mark.parametrize("written", [SIZES, match(literal("large", {"cpu": 8}))], ids=["map", "match"])
def test_results_are_copies(written):
    transform = parse_transform(written)
    transforms.apply(transform, "large")["cpu"] = 0
    assert transforms.apply(transform, "large") == {"cpu": 8}


CALLS = [
    pytest.param(SIZES, ("lookup", (SIZES["map"],), {}), id="map"),
    pytest.param(
        match(literal("a", 1), regexp("b", 2)),
        ("matched", ((("literal", "a", 1), ("regexp", "b", 2)),), {}),
        id="match",
    ),
    pytest.param(
        match(literal("a", 1), fallbackValue=2), ("matched", ((("literal", "a", 1),),), {"fallback": 2}), id="fallback"
    ),
    pytest.param(
        match(literal("a", 1), fallbackTo="Input"),
        ("matched", ((("literal", "a", 1),),), {"fallback_to_input": True}),
        id="fallback-to-input",
    ),
    pytest.param(KIB, ("multiply", (1024,), {}), id="multiply"),
    pytest.param(AT_LEAST_5, ("clamp_min", (5,), {}), id="clamp-min"),
    pytest.param(AT_MOST_5, ("clamp_max", (5,), {}), id="clamp-max"),
    pytest.param(string(fmt="%s"), ("formatted", ("%s",), {}), id="format"),
    pytest.param(string(convert="ToSha256"), ("sha256", (), {}), id="sha256"),
    pytest.param(string(type="TrimPrefix", trim="a"), ("trim_prefix", ("a",), {}), id="trim-prefix"),
    pytest.param(string(type="TrimSuffix", trim="a"), ("trim_suffix", ("a",), {}), id="trim-suffix"),
    pytest.param(string(regexp={"match": "a"}), ("regexp", ("a",), {}), id="regexp"),
    pytest.param(string(regexp={"match": "(a)", "group": 1}), ("regexp", ("(a)",), {"group": 1}), id="regexp-group"),
    pytest.param(string(join={"separator": ","}), ("joined", (",",), {}), id="join"),
    pytest.param(string(replace={"search": "a", "replace": "b"}), ("replaced", ("a", "b"), {}), id="replace"),
    pytest.param(convert("int"), ("converted", ("int",), {}), id="convert"),
    pytest.param(
        convert("float64", "quantity"), ("converted", ("float64",), {"format": "quantity"}), id="convert-format"
    ),
]


@pytest.mark.parametrize(("written", "want"), CALLS)
def test_call_of(written, want):
    assert transforms.call_of(parse_transform(written)) == want


EVERY = [*(row.values[0] for row in APPLIED), *(row.values[0] for row in REFUSED)]


@pytest.mark.parametrize("written", EVERY, ids=lambda written: written.get("type", "math"))
def test_nothing_comes_of_nothing(written):
    assert transforms.apply(parse_transform(written), ABSENT) is ABSENT


def test_a_format_of_several_values_needs_them_all():
    assert transforms.formatted("%s-%s", "a", ABSENT) is ABSENT
    assert transforms.formatted("%s-%s", "a", "b") == "a-b"


def test_absent_is_one_thing():
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"
    assert copy.deepcopy({"a": ABSENT})["a"] is ABSENT
    assert copy.copy(ABSENT) is ABSENT
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT


WRITTEN = [
    pytest.param(
        {"type": "math", "math": {"multiply": 2}}, MathTransform(math=MathMultiply(multiply=2)), id="math-type"
    ),
    pytest.param({"math": {"multiply": 2}}, MathTransform(math=MathMultiply(multiply=2)), id="own-type"),
    pytest.param(
        {"type": "", "math": {"type": "", "multiply": 2}}, parse_transform({"math": {"multiply": 2}}), id="empty"
    ),
    pytest.param({"math": {"clampMin": 5}}, parse_transform(AT_LEAST_5), id="clamp-min"),
    pytest.param({"math": {"multiply": 1024, "clampMin": 5}}, parse_transform(KIB), id="multiply-is-the-default"),
    pytest.param(
        {"type": "math", "math": {"type": "Multiply", "multiply": 1024, "clampMin": 5}, "string": {"fmt": "x"}},
        parse_transform(KIB),
        id="fields-of-other-types-are-passed-over",
    ),
    pytest.param(
        {"type": "math", "math": {"type": "Multiply", "multiply": 1024, "clampMin": None}, "map": None},
        parse_transform(KIB),
        id="nulls-are-passed-over",
    ),
    pytest.param({"string": {"fmt": "%s"}}, parse_transform(string(type="Format", fmt="%s")), id="format"),
    pytest.param(
        {"string": {"convert": "ToUpper"}}, parse_transform(string(type="Convert", convert="ToUpper")), id="string"
    ),
    pytest.param(match({"literal": "a", "result": 1}), parse_transform(match(literal("a", 1))), id="literal"),
    pytest.param(match({"regexp": "a", "result": 1}), parse_transform(match(regexp("a", 1))), id="regexp"),
    pytest.param({"convert": {"toType": "int"}}, parse_transform(convert("int")), id="convert-without-format"),
]


@pytest.mark.parametrize(("written", "want"), WRITTEN)
def test_types_are_told_from_the_fields(written, want):
    assert parse_transform(written) == want


MISWRITTEN = [
    pytest.param({}, ("type",), id="nothing"),
    pytest.param({"type": "mth", "math": {}}, ("type",), id="unknown-type"),
    pytest.param({"type": 5}, ("type",), id="type-is-a-number"),
    pytest.param({"map": {"a": 1}, "math": {"multiply": 2}}, ("type",), id="two-and-no-type"),
    pytest.param({"type": "map", "map": {"a": 1}, "extra": 1}, ("extra",), id="unknown-field"),
    pytest.param({"type": "map"}, ("map",), id="map-missing"),
    pytest.param({"type": "map", "map": {}}, ("map",), id="map-empty"),
    pytest.param({"type": "map", "map": None}, ("map",), id="map-null"),
    pytest.param({"type": "map", "map": ["a"]}, ("map",), id="map-is-a-list"),
    pytest.param({"type": "match"}, ("match",), id="match-missing"),
    pytest.param({"type": "match", "match": {}}, ("match", "patterns"), id="patterns-missing"),
    pytest.param(match(), ("match", "patterns"), id="no-patterns"),
    pytest.param(match({}), ("match", "patterns", 0, "literal"), id="pattern-empty"),
    pytest.param(match({"type": "regexp"}), ("match", "patterns", 0, "regexp"), id="regexp-missing"),
    pytest.param(match({"type": "glob", "literal": "a"}), ("match", "patterns", 0, "type"), id="pattern-type-unknown"),
    pytest.param(match(regexp("(?=a)", 1)), ("match", "patterns", 0, "regexp"), id="pattern-with-lookahead"),
    pytest.param(match(literal("a", 1), regexp("[a", 1)), ("match", "patterns", 1, "regexp"), id="pattern-broken"),
    pytest.param(match(regexp(r"\C", 1)), ("match", "patterns", 0, "regexp"), id="pattern-that-go-does-not-know"),
    pytest.param(match(literal(5, 1)), ("match", "patterns", 0, "literal"), id="literal-is-a-number"),
    pytest.param(match(literal("a", 1), fallbackTo="input"), ("match", "fallbackTo"), id="fallback-unknown"),
    pytest.param({"type": "math"}, ("math",), id="math-missing"),
    pytest.param({"type": "math", "math": {}}, ("math", "multiply"), id="math-empty"),
    pytest.param({"type": "math", "math": {"type": "ClampMax"}}, ("math", "clampMax"), id="clamp-max-missing"),
    pytest.param({"type": "math", "math": {"type": "Divide"}}, ("math", "type"), id="math-type-unknown"),
    pytest.param({"type": "math", "math": {"multiply": "2"}}, ("math", "multiply"), id="multiply-is-text"),
    pytest.param({"type": "math", "math": {"multiply": 1.5}}, ("math", "multiply"), id="multiply-is-a-float"),
    pytest.param({"type": "math", "math": {"multiply": True}}, ("math", "multiply"), id="multiply-is-a-boolean"),
    pytest.param({"type": "math", "math": {"multiply": 2**63}}, ("math", "multiply"), id="multiply-beyond-int64"),
    pytest.param({"type": "string"}, ("string",), id="string-missing"),
    pytest.param(string(), ("string", "fmt"), id="format-missing"),
    pytest.param(string(type="Something"), ("string", "type"), id="string-type-unknown"),
    pytest.param(string(type="Convert"), ("string", "convert"), id="string-convert-missing"),
    pytest.param(string(convert="ToUper"), ("string", "convert"), id="string-convert-unknown"),
    pytest.param(string(trim="a"), ("string", "type"), id="trim-could-be-either"),
    pytest.param(string(type="TrimPrefix"), ("string", "trim"), id="trim-missing"),
    pytest.param(string(type="Regexp"), ("string", "regexp"), id="string-regexp-missing"),
    pytest.param(string(regexp={"match": ""}), ("string", "regexp", "match"), id="string-regexp-empty"),
    pytest.param(string(regexp={"match": "[a-z"}), ("string", "regexp", "match"), id="string-regexp-broken"),
    pytest.param(string(regexp={"match": "a", "group": -1}), ("string", "regexp", "group"), id="group-negative"),
    pytest.param(string(type="Join"), ("string", "join"), id="join-missing"),
    pytest.param(string(type="Replace"), ("string", "replace"), id="replace-missing"),
    pytest.param(string(replace={"search": ""}), ("string", "replace", "search"), id="replace-search-empty"),
    pytest.param({"type": "convert"}, ("convert",), id="convert-missing"),
    pytest.param(convert("integer"), ("convert", "toType"), id="to-type-unknown"),
    pytest.param(convert("int", "wrong"), ("convert", "format"), id="format-unknown"),
]


@pytest.mark.parametrize(("written", "loc"), MISWRITTEN)
def test_miswritten_transforms_are_refused_where_they_are_wrong(written, loc):
    with pytest.raises(ValidationError) as caught:
        parse_transform(written)
    assert [error["loc"] for error in caught.value.errors()] == [loc]


def test_what_is_no_object_is_refused():
    with pytest.raises(ValidationError) as caught:
        parse_transform(["map"])
    assert [error["loc"] for error in caught.value.errors()] == [()]


def test_all_mistakes_are_located_in_a_list():
    written = [{"type": "math", "math": {"multipy": 2}}, match(regexp("[", 1), {"type": "literal"}), {"type": "strin"}]
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[Transform]).validate_python(written)
    assert [error["loc"] for error in caught.value.errors()] == [
        (0, "math", "multiply"),
        (0, "math", "multipy"),
        (1, "match", "patterns", 0, "regexp"),
        (1, "match", "patterns", 1, "literal"),
        (2, "type"),
    ]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        pytest.param({"type": "mth"}, "did you mean 'math'?", id="transform"),
        pytest.param(string(convert="ToUper"), "did you mean 'ToUpper'?", id="string-conversion"),
        pytest.param(convert("integer"), "use one of: string, int, int64", id="to-type"),
    ],
)
def test_the_nearest_word_is_suggested(written, hint):
    with pytest.raises(ValidationError) as caught:
        parse_transform(written)
    assert hint in caught.value.errors()[0]["ctx"]["fix"]


def test_a_transform_is_written_as_it_is_read():
    transform = parse_transform({"math": {"clampMin": 5}})
    assert transform.model_dump(by_alias=True) == AT_LEAST_5
    assert parse_transform(transform) is transform


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800") | st.just("5"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(EVERY), json_values)
@settings(max_examples=500)
def test_transforms_raise_nothing_but_transform_errors(written, value):
    before = repr(value)
    transform = parse_transform(written)
    name, arguments, options = transforms.call_of(transform)
    with contextlib.suppress(TransformError):
        got = transforms.apply(transform, value)
        assert repr(getattr(transforms, name)(*arguments, value, **options)) == repr(got)
    assert repr(value) == before


@given(st.text(max_size=20))
@settings(max_examples=100)
def test_base64_there_and_back(text):
    assert transforms.from_base64(transforms.to_base64(text)) == text


@given(st.text(max_size=12, alphabet="0123456789.eEnumkKMGTPi+-"))
@settings(max_examples=200)
def test_any_text_is_a_quantity_or_refused(text):
    with contextlib.suppress(TransformError):
        assert isinstance(transforms.converted("float64", text, format="quantity"), float)
