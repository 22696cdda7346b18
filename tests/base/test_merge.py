"""Merge policies: the cases were measured with the library that Crossplane uses."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimsmith.base.errors import FieldPathError
from claimsmith.base.merge import MergePolicy, merge

REPLACE = MergePolicy.Replace
KEEP = MergePolicy.MergeObjects
KEEP_APPEND = MergePolicy.MergeObjectsAppendArrays
FORCE = MergePolicy.ForceMergeObjects
FORCE_APPEND = MergePolicy.ForceMergeObjectsAppendArrays
POLICIES = (KEEP, KEEP_APPEND, FORCE, FORCE_APPEND)

CASES = {
    "both-objects": ({"a": 1, "b": 2}, {"a": 9, "c": 3}, {"a": 1, "b": 2, "c": 3}, ..., {"a": 9, "b": 2, "c": 3}, ...),
    "nested-objects": (
        {"o": {"a": 1}},
        {"o": {"a": 9, "b": 2}},
        {"o": {"a": 1, "b": 2}},
        ...,
        {"o": {"a": 9, "b": 2}},
        ...,
    ),
    "dst-key-zero": ({"a": 0}, {"a": 5}, {"a": 5}, ..., ..., ...),
    "dst-key-empty-text": ({"a": ""}, {"a": "x"}, {"a": "x"}, ..., ..., ...),
    "dst-key-false": ({"a": False}, {"a": True}, {"a": True}, ..., ..., ...),
    "dst-key-empty-array": ({"a": []}, {"a": [1]}, {"a": [1]}, ..., ..., ...),
    "dst-key-null": ({"a": None}, {"a": 1}, {"a": 1}, ..., ..., ...),
    "src-key-zero": ({"a": 5}, {"a": 0}, {"a": 5}, ..., {"a": 0}, ...),
    "src-key-false": ({"a": True}, {"a": False}, {"a": True}, ..., {"a": False}, ...),
    "src-key-null": ({"a": 5}, {"a": None}, {"a": 5}, ..., {"a": None}, ...),
    "src-key-empty-array": ({"a": [1]}, {"a": []}, {"a": [1]}, {"a": [1]}, {"a": []}, {"a": [1]}),
    "src-key-empty-object": ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}, ..., ..., ...),
    "new-key-null": ({"a": 1}, {"b": None}, {"a": 1}, ..., {"a": 1, "b": None}, ...),
    "empty-object-takes-all-even-nulls": ({"a": {}}, {"a": {"b": None}}, {"a": {"b": None}}, ..., ..., ...),
    "array-in-object": (
        {"l": [1, 2]},
        {"l": [2, 3]},
        {"l": [1, 2]},
        {"l": [1, 2, 2, 3]},
        {"l": [2, 3]},
        {"l": [1, 2, 2, 3]},
    ),
    "array-at-the-path": ([1, 2], [2, 3], [1, 2], [1, 2, 3], [2, 3], [1, 2, 3]),
    "array-dedupe-against-dst-only": ([5, 5], [6, 6, 5], [5, 5], [5, 5, 6, 6], [6, 6, 5], [5, 5, 6, 6]),
    "array-dedupe-by-content": (
        [{"a": [1]}],
        [{"a": [1]}, {"a": [2]}],
        [{"a": [1]}],
        [{"a": [1]}, {"a": [2]}],
        [{"a": [1]}, {"a": [2]}],
        [{"a": [1]}, {"a": [2]}],
    ),
    "array-true-is-not-one": ([1], [True], [1], [1, True], [True], [1, True]),
    "empty-array-at-the-path": ([], [1, 1], [1, 1], ..., ..., ...),
    "scalar-at-the-path": (1, 2, 1, ..., 2, ...),
    "empty-scalar-at-the-path": ("", "x", "x", ..., ..., ...),
    "object-then-scalar": ({"a": 1}, "s", {"a": 1}, ..., "s", ...),
    "scalar-then-object": ("s", {"a": 1}, "s", ..., {"a": 1}, ...),
    "array-then-object": ([1], {"a": 1}, [1], ..., {"a": 1}, ...),
    "dst-null": (None, {"a": None}, {"a": None}, ..., ..., ...),
    "src-null": ({"a": 1}, None, None, ..., ..., ...),
}


def rows():
    """Each case once per policy; an ellipsis stands for the same as to its left."""
    for name, (dst, src, *wants) in CASES.items():
        want = ...
        for policy, given_want in zip(POLICIES, wants, strict=True):
            want = want if given_want is ... else given_want
            yield pytest.param(dst, src, policy, want, id=f"{name}-{policy.value}")


@pytest.mark.parametrize(("dst", "src", "policy", "want"), list(rows()))
def test_merge(dst, src, policy, want):
    before = copy.deepcopy((dst, src))
    got = merge(dst, src, policy)
    assert got == want
    assert repr(got) == repr(want)  # true is not 1
    assert (dst, src) == before


@pytest.mark.parametrize("policy", [KEEP_APPEND, FORCE_APPEND])
@pytest.mark.parametrize(
    ("dst", "src"),
    [
        pytest.param({"a": 1}, [1], id="object-then-array"),
        pytest.param("s", [1], id="text-then-array"),
        pytest.param("", [1], id="empty-text-then-array"),
        pytest.param({"l": {"a": 1}}, {"l": [1]}, id="inside-an-object"),
    ],
)
def test_appending_to_what_is_no_array_is_refused(dst, src, policy):
    with pytest.raises(FieldPathError) as caught:
        merge(dst, src, policy)
    assert caught.value.problems[0].what == "failed to merge values: cannot append two slices with different type"
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("policy", "want"), [pytest.param(KEEP, {"a": 1}, id="kept"), pytest.param(FORCE, [1], id="forced")]
)
def test_object_then_array_without_appending(policy, want):
    assert merge({"a": 1}, [1], policy) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        *[(policy.value, policy) for policy in MergePolicy],
        pytest.param("MergeObject", KEEP, id="deprecated-MergeObject"),
        pytest.param("AppendArray", FORCE_APPEND, id="deprecated-AppendArray"),
    ],
)
def test_policy_from_text(text, want):
    assert MergePolicy.from_text(text) is want


def test_unknown_policy_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'MergeObjects'"):
        MergePolicy.from_text("mergeobjects")


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, FORCE),
        ({"keep_map_values": True}, KEEP),
        ({"append_slice": True}, FORCE_APPEND),
        ({"keep_map_values": True, "append_slice": True}, KEEP_APPEND),
    ],
)
def test_policy_from_the_older_options(options, want):
    assert MergePolicy.from_options(**options) is want


@dataclass(frozen=True)
class Leaf:
    name: str


def test_opaque_leaves_are_scalars_that_are_never_empty():
    assert merge({"a": Leaf("dst")}, {"a": Leaf("src")}, KEEP) == {"a": Leaf("dst")}
    assert merge({"a": Leaf("dst")}, {"a": Leaf("src")}, FORCE) == {"a": Leaf("src")}


values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


@given(values, values, st.sampled_from(MergePolicy))
@settings(max_examples=200)
def test_merge_changes_and_shares_nothing(dst, src, policy):
    before = copy.deepcopy((dst, src))
    try:
        got = merge(dst, src, policy)
    except FieldPathError:
        got = None
    assert (dst, src) == before
    for container in (got, *(got.values() if isinstance(got, dict) else ())):
        assert not isinstance(container, dict | list) or (container is not dst and container is not src)


@given(values, values)
@settings(max_examples=50)
def test_replace_gives_the_source(dst, src):
    assert merge(dst, src, REPLACE) == src


@given(objects, objects, st.sampled_from([KEEP, FORCE]))
@settings(max_examples=200)
def test_merging_twice_is_merging_once(dst, src, policy):
    once = merge(dst, src, policy)
    assert merge(once, src, policy) == once


@given(objects, objects)
@settings(max_examples=100)
def test_keeping_loses_no_key(dst, src):
    assert dst.keys() <= merge(dst, src, KEEP).keys()
