"""Field paths: the grammar, reading, writing, deleting and wildcards."""

from __future__ import annotations

import contextlib
import copy
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError, NotFound


@dataclass(frozen=True)
class Leaf:
    """Something that is neither object nor array, like a reference to another resource."""

    name: str


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("metadata.name", ("metadata", "name"), id="fields"),
        pytest.param("a.b[0].c", ("a", "b", 0, "c"), id="index"),
        pytest.param("a[b.c]", ("a", "b.c"), id="dot-in-brackets"),
        pytest.param("a['b.c']", ("a", "b.c"), id="single-quotes"),
        pytest.param('a["b.c"]', ("a", "b.c"), id="double-quotes"),
        pytest.param("a['0']", ("a", "0"), id="quoted-digits-are-a-field"),
        pytest.param("a.0", ("a", "0"), id="digits-after-a-dot-are-a-field"),
        pytest.param("a[007]", ("a", 7), id="leading-zeros"),
        pytest.param("a[-1]", ("a", "-1"), id="negative-is-a-field"),
        pytest.param("a[1.5]", ("a", "1.5"), id="fraction-is-a-field"),
        pytest.param("a[4294967295]", ("a", 4294967295), id="largest-index"),
        pytest.param("a[4294967296]", ("a", "4294967296"), id="larger-is-a-field"),
        pytest.param("a[" + "9" * 5000 + "]", ("a", "9" * 5000), id="absurdly-large-is-a-field"),
        pytest.param("a[٣]", ("a", "٣"), id="other-digits-are-a-field"),
        pytest.param("a[ 0 ]", ("a", " 0 "), id="spaces-are-kept"),
        pytest.param("''a\"", ("a",), id="unbalanced-quotes-are-stripped"),
        pytest.param("a['']", ("a", ""), id="empty-field"),
        pytest.param("a[0]b", ("a", 0, "b"), id="no-dot-after-a-bracket"),
        pytest.param("[0]", (0,), id="index-first"),
        pytest.param("a[*].b", ("a", "*", "b"), id="wildcard"),
        pytest.param("", (), id="empty"),
        pytest.param(".metadata.uid", ("metadata", "uid"), id="one-leading-dot-is-accepted"),
    ],
)
def test_parse(text, want):
    assert fieldpath.parse(text) == want


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(".", "unexpected '.' at position 0", id="only-a-dot"),
        pytest.param("..a", "unexpected '.' at position 1", id="two-leading-dots"),
        pytest.param("a.", "unexpected '.' at position 1", id="trailing-dot"),
        pytest.param("a..b", "unexpected '.' at position 2", id="double-dot"),
        pytest.param("a.[0]", "unexpected '[' at position 2", id="bracket-after-dot"),
        pytest.param(".[0]", "unexpected '[' at position 1", id="bracket-after-leading-dot"),
        pytest.param("a[b[0]]", "unexpected '[' at position 3", id="nested-brackets"),
        pytest.param("a[]", "unexpected ']' at position 2", id="empty-brackets"),
        pytest.param("a]", "unexpected ']' at position 1", id="stray-bracket"),
        pytest.param("a[0", "unterminated '[' at position 1", id="unterminated"),
    ],
)
def test_parse_refuses(text, why):
    with pytest.raises(FieldPathError) as caught:
        fieldpath.parse(text)
    assert caught.value.problems[0].what == f'cannot parse path "{text}": {why}'
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param(("a", 0, "b"), "a[0].b", id="plain"),
        pytest.param(("a", "b.c"), "a[b.c]", id="dotted-in-brackets"),
        pytest.param(("a", "*"), "a[*]", id="wildcard-in-brackets"),
        pytest.param((".config",), "[.config]", id="dotted-first"),
        pytest.param(("a", ""), "a['']", id="empty-field"),
        pytest.param((), "", id="empty"),
    ],
)
def test_to_text(path, want):
    assert fieldpath.to_text(path) == want


segments = st.one_of(
    st.integers(0, 2**32 - 1),
    st.text(min_size=1, max_size=8).filter(lambda s: not set(s) & set("[]") and s.strip("'\"") == s),
)


@given(st.lists(segments, max_size=5).map(tuple))
@settings(max_examples=200)
def test_what_is_printed_parses_back(path):
    assert fieldpath.parse(fieldpath.to_text(path)) == path


@given(st.text(alphabet="ab.[]0'\"*é", max_size=12))
@settings(max_examples=200)
def test_parse_raises_nothing_else(text):
    with contextlib.suppress(FieldPathError):
        assert all(isinstance(segment, str | int) for segment in fieldpath.parse(text))


@pytest.mark.parametrize(
    ("path", "want"),
    [("a[*]", True), ("a[*].b", True), ("a.*", False), ("a", False), (("a", "*"), True), (("a", "b"), False)],
)
def test_has_wildcard(path, want):
    assert fieldpath.has_wildcard(path) is want


@pytest.mark.parametrize(
    ("data", "path", "want"),
    [
        pytest.param({"a": {"b": 1}}, "a.b", 1, id="field"),
        pytest.param({"a": [1, 2]}, "a[1]", 2, id="element"),
        pytest.param({"a": None}, "a", None, id="null-is-found"),
        pytest.param({"a": {"b": 1}}, ("a",), {"b": 1}, id="parsed-path"),
        pytest.param({"a": {"*": 1}}, "a[*]", 1, id="wildcard-is-a-key-when-reading"),
        pytest.param({"a": 1}, "", None, id="empty-path"),
        pytest.param({"a": Leaf("x")}, "a", Leaf("x"), id="opaque-leaf"),
    ],
)
def test_get(data, path, want):
    assert fieldpath.get(data, path) == want


@pytest.mark.parametrize(
    ("data", "path", "why"),
    [
        pytest.param({}, "x.y", "x: no such field", id="missing-parent"),
        pytest.param({"x": {}}, "x.y", "x.y: no such field", id="missing-field"),
        pytest.param({"x": [1]}, "x[3]", "x[3]: no such element", id="past-the-end"),
        pytest.param({"x": None}, "x.y", "x: expected map, got nil", id="field-of-null"),
        pytest.param({"x": {"y": None}}, "x.y.z", "x.y: expected map, got nil", id="field-of-nested-null"),
    ],
)
def test_get_finds_nothing(data, path, why):
    with pytest.raises(NotFound) as caught:
        fieldpath.get(data, path)
    assert caught.value.problems[0].what == why
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("data", "path", "why"),
    [
        pytest.param({"x": {}}, "x[0]", "x: not an array", id="index-of-an-object"),
        pytest.param({"x": None}, "x[0]", "x: not an array", id="index-of-null"),
        pytest.param({"x": "s"}, "x[0]", "x: not an array", id="index-of-text"),
        pytest.param({"x": 1}, "x.y", "x: not an object", id="field-of-a-number"),
        pytest.param({"x": []}, "x.y", "x: not an object", id="field-of-an-array"),
        pytest.param({"x": [1]}, "x[*]", "x: not an object", id="wildcard-over-an-array-when-reading"),
        pytest.param({"x": Leaf("x")}, "x.name", "x: not an object", id="field-of-an-opaque-leaf"),
        pytest.param({}, "[0]", "the document: not an array", id="index-at-the-root"),
    ],
)
def test_get_refuses(data, path, why):
    with pytest.raises(FieldPathError) as caught:
        fieldpath.get(data, path)
    assert not isinstance(caught.value, NotFound)
    assert caught.value.problems[0].what == why
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("data", "path", "value", "want"),
    [
        pytest.param({}, "a.b", 1, {"a": {"b": 1}}, id="makes-objects"),
        pytest.param({}, "a[1].b", 1, {"a": [None, {"b": 1}]}, id="makes-arrays"),
        pytest.param({}, "a[0][0]", 1, {"a": [[1]]}, id="makes-arrays-of-arrays"),
        pytest.param({"a": [1]}, "a[2]", 3, {"a": [1, None, 3]}, id="grows-arrays-with-nulls"),
        pytest.param({"a": [[1]]}, "a[0][2]", 3, {"a": [[1, None, 3]]}, id="grows-inner-arrays"),
        pytest.param({"a": [None]}, "a[0].b", 1, {"a": [{"b": 1}]}, id="replaces-a-null-element"),
        pytest.param({"a": [None]}, "a[0][1]", 1, {"a": [[None, 1]]}, id="replaces-a-null-element-by-an-array"),
        pytest.param({"a": 1}, "a", {"b": 2}, {"a": {"b": 2}}, id="replaces-a-value"),
        pytest.param({"a": None}, "a", 1, {"a": 1}, id="replaces-a-null-at-the-end"),
        pytest.param({"a": 1}, "a", None, {"a": None}, id="writes-null"),
        pytest.param({"a": {}}, "a[*]", 1, {"a": {"*": 1}}, id="wildcard-is-a-key"),
        pytest.param({"a": 1}, "", 2, {"a": 1}, id="empty-path-writes-nothing"),
        pytest.param({}, "a[1024]", 1, {"a": [None] * 1024 + [1]}, id="largest-index"),
        pytest.param({}, "a", Leaf("x"), {"a": Leaf("x")}, id="opaque-leaf"),
    ],
)
def test_put(data, path, value, want):
    fieldpath.put(data, path, value)
    assert data == want


def test_put_writes_whole_floats_as_integers():
    data = {}
    fieldpath.put(data, "a", [5.0, 1.5, -0.0, 1e19, True])
    assert repr(data) == "{'a': [5, 1.5, 0, 1e+19, True]}"


def test_put_shares_nothing_with_the_value():
    value = {"list": [{}]}
    data = {}
    fieldpath.put(data, "a", value)
    data["a"]["list"][0]["x"] = 1
    assert value == {"list": [{}]}


@pytest.mark.parametrize(
    ("data", "path", "why"),
    [
        pytest.param({"spec": None}, "spec.a", "spec is not an object", id="null-field-is-not-replaced"),
        pytest.param({"spec": None}, "spec[0]", "spec is not an array", id="null-field-is-not-replaced-by-an-array"),
        pytest.param({"x": {}}, "x[0]", "x is not an array", id="index-of-an-object"),
        pytest.param({"x": []}, "x.y", "x is not an object", id="field-of-an-array"),
        pytest.param({"x": "s"}, "x.y.z", "x is not an object", id="field-of-text"),
        pytest.param({"x": Leaf("x")}, "x.y", "x is not an object", id="field-of-an-opaque-leaf"),
        pytest.param({}, "[0]", "the document is not an array", id="index-at-the-root"),
        pytest.param({}, "x[1025]", "index 1025 is greater than max allowed index 1024", id="index-too-large"),
        pytest.param({}, "x[5000].y", "index 5000 is greater than max allowed index 1024", id="inner-index-too-large"),
    ],
)
def test_put_refuses_and_changes_nothing(data, path, why):
    before = copy.deepcopy(data)
    with pytest.raises(FieldPathError) as caught:
        fieldpath.put(data, path, 1)
    assert caught.value.problems[0].what == why
    assert caught.value.problems[0].fix
    assert data == before


def test_put_without_an_index_limit():
    data = {}
    fieldpath.put(data, "x[1025]", 1, max_index=None)
    assert len(data["x"]) == 1026


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]], ids=["nan", "nested-infinity"])
def test_put_refuses_what_json_cannot_hold(value):
    with pytest.raises(FieldPathError):
        fieldpath.put({}, "a", value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from("abc"), json_values, max_size=3)
paths = st.tuples(st.sampled_from("abc")).flatmap(
    lambda head: st.lists(st.sampled_from(["a", "b", "c", "d.e", 0, 1, 3]), max_size=4).map(lambda tail: (*head, *tail))
)


@given(objects, paths, json_values)
@settings(max_examples=200)
def test_what_is_put_can_be_got(data, path, value):
    try:
        fieldpath.put(data, path, value)
    except FieldPathError:
        return
    assert fieldpath.get(data, path) == value
    assert fieldpath.expand(data, path) == [path]
    fieldpath.delete(data, path)


@pytest.mark.parametrize(
    ("data", "path", "want"),
    [
        pytest.param({"a": {"b": 1, "c": 2}}, "a.b", {"a": {"c": 2}}, id="field"),
        pytest.param({"a": 1}, "a", {}, id="root-field"),
        pytest.param({"a": [1, 2, 3]}, "a[1]", {"a": [1, 3]}, id="element-later-ones-move-up"),
        pytest.param({"a": [[1, 2]]}, "a[0][0]", {"a": [[2]]}, id="inner-element"),
        pytest.param({"a": {}}, "a.b.c", {"a": {}}, id="nothing-there"),
        pytest.param({"a": []}, "a[0].b", {"a": []}, id="no-such-element"),
        pytest.param({"a": 1}, "", {"a": 1}, id="empty-path"),
    ],
)
def test_delete(data, path, want):
    fieldpath.delete(data, path)
    assert data == want


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param({"a": {}}, "a[0]", id="index-of-an-object"),
        pytest.param({"a": 1}, "a.b", id="field-of-a-number"),
        pytest.param({}, "[0]", id="index-at-the-root"),
    ],
)
def test_delete_refuses(data, path):
    with pytest.raises(FieldPathError):
        fieldpath.delete(data, path)


@pytest.mark.parametrize(
    ("data", "path", "want"),
    [
        pytest.param({"a": [1, 2]}, "a[*]", ["a[0]", "a[1]"], id="array"),
        pytest.param({"a": {"z": 1, "b": 2}}, "a[*]", ["a.z", "a.b"], id="object-in-the-order-of-the-file"),
        pytest.param({"a": [{"b": 1}, {}]}, "a[*].b", ["a[0].b"], id="only-what-exists"),
        pytest.param(
            {"a": [{"b": [1]}, {"b": [2, 3]}]}, "a[*].b[*]", ["a[0].b[0]", "a[1].b[0]", "a[1].b[1]"], id="two"
        ),
        pytest.param({"a": [{"x": 1}]}, "a[*][*]", ["a[0].x"], id="array-then-object"),
        pytest.param({"a": {"*": 1, "b": 2}}, "a[*]", ["a[*]", "a.b"], id="a-key-named-star-is-not-expanded-again"),
        pytest.param({"a": []}, "a[*]", [], id="empty-array"),
        pytest.param({}, "a[*]", [], id="nothing-there"),
        pytest.param({"a": None}, "a.b[*]", [], id="null-on-the-way"),
        pytest.param({"a": 1}, "a", ["a"], id="no-wildcard"),
        pytest.param({"a": {"b.c": 1}}, "a[*]", ["a[b.c]"], id="dotted-key"),
    ],
)
def test_expand(data, path, want):
    assert [fieldpath.to_text(p) for p in fieldpath.expand(data, path)] == want


def test_expand_over_null_finds_nothing():
    with pytest.raises(NotFound):
        fieldpath.expand({"a": None}, "a[*]")


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param({"a": "s"}, "a[*]", id="over-text"),
        pytest.param({"a": Leaf("x")}, "a[*]", id="over-an-opaque-leaf"),
        pytest.param({"a": [1]}, "a[*].b", id="field-of-a-number"),
    ],
)
def test_expand_refuses(data, path):
    with pytest.raises(FieldPathError) as caught:
        fieldpath.expand(data, path)
    assert not isinstance(caught.value, NotFound)
    assert caught.value.problems[0].what.startswith(f'cannot expand wildcards in "{path}"')
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param("spec.a", "spec.a", True, id="the-same"),
        pytest.param("spec", "spec.a", True, id="above"),
        pytest.param("spec.a[0].b", "spec.a", True, id="below"),
        pytest.param("spec.a[*].b", "spec.a[3].b", True, id="a-wildcard"),
        pytest.param("spec.a", "spec.b", False, id="beside"),
        pytest.param("status.a", "spec.a", False, id="elsewhere"),
    ],
)
def test_overlap(one: str, other: str, expected: bool) -> None:
    assert fieldpath.overlap(fieldpath.parse(one), fieldpath.parse(other)) is expected
