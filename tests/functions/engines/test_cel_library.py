"""CEL's functions of kro and Kubernetes for lists, maps, JSON and hashes. The values are what cel-go evaluates."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.functions.engines import cel_engine

VALUES = {"s": {"l": ["b", "a"], "nums": [3, 1, 2], "none": None, "m": {"k": 1}}}


def answer(text: str) -> Any:
    return cel_engine.answer({"text": text, "variables": ["s"], "lists": [], "values": VALUES})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2].isSorted() && ['a', 'b'].isSorted() && [].isSorted()", True),
        ("s.nums.isSorted() || [true, false].isSorted()", False),
        ("[duration('1s'), duration('2m')].isSorted()", True),
        ("s.nums.sum() + [1.5, 0.5].map(x, int(x)).sum()", 7),
        ("[1.5, 2.0].sum()", 3.5),
        ("s.nums.max() - s.nums.min()", 2),
        ("['b', 'a'].max() + s.l.min()", "ba"),
        ("[true, false].max()", True),
        ("[b'b', b'a'].max()", "Yg=="),
        ("[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)", 2),
        ("s.l.indexOf('a') - s.l.indexOf('z')", 2),
        ("[[1]].indexOf([1]) + 'abc'.indexOf('c') + 'abcb'.lastIndexOf('b')", 5),
        ("[1, true].indexOf(true)", 1),
        ("{'a': 1}.merge({'a': 2, 'b': 3})", {"a": 2, "b": 3}),
        ("{true: 1}.merge({false: 2}).size()", 2),
        ("{'a': {'b': 1}, 'l': [1]}.deepMerge({'a': {'c': 2}, 'l': [2]})", {"a": {"b": 1, "c": 2}, "l": [2]}),
        ("lists.insertAtIndex(s.l, 0, s.none)", [None, "b", "a"]),
        ("lists.setAtIndex(s.l, 0, 'z')", ["z", "a"]),
        ("[1, 2].first().orValue(0) + [].last().orValue(7)", 8),
        ("json.marshal('a<b>&c')", '"a\\u003cb\\u003e\\u0026c"'),
        ("json.marshal({'b': 1.0, 'a': [1e20, 1e-7, 3u]})", '{"a":[100000000000000000000,1e-7,3],"b":1}'),
        ("json.marshal([b'abc', duration('90s'), timestamp('2024-01-01T00:00:00Z')])",
         '["YWJj","1m30s","2024-01-01T00:00:00Z"]'),
        ("json.unmarshal('{\"a\": 1}').a + 1.0", 2),
        ("json.unmarshal('null')", None),
        ("base64.encode(hash.sha256('a'))", "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="),
        ("'%x'.format([hash.md5('a')])", "0cc175b9c0f1b6a831c399e269772661"),
        ("'%x'.format([hash.fnv64a('a')])", "af63dc4c8601ec8c"),
        ("random.seededString(10, 'a')", "2q3xwip32q"),
        ("random.seededInt(30000, 32768, 'a')", 31146),
    ],
)  # fmt: skip
def test_values(text: str, value: Any) -> None:
    found = answer(text)
    assert found.get("value", found) == value


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[1, 2.5].sum()", "sum takes numbers of one type"),
        ("['a'].sum()", "no matching overload for 'sum'"),
        ("[].min()", "min called on empty list"),
        ("[dyn(null)].max()", "max takes values of one type that has an order"),
        ("{1: 2}.merge({'a': 2})", "no matching overload for 'merge'"),
        ("lists.removeAtIndex([], 0)", "index 0 is not between"),
        ("json.unmarshal('NaN')", "NaN is no JSON"),
        ("json.marshal({1: 2})", "which no document can hold"),
        ("random.seededInt(5, 5, 'b')", "min must be less than max"),
        ("random.seededString(0, 'b')", "length must be positive"),
    ],
)
def test_refused(text: str, what: str) -> None:
    found = answer(text)
    assert what in (found.get("invalid") or found["failed"])
