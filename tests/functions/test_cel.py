"""CEL expressions: values, refusals, limits."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import ComposeError
from claimsmith.functions import cel, cel_view, worker
from claimsmith.functions.cel import OMIT, AbsentValue
from claimsmith.functions.protocol import Ready, Request, Resource, State

VALUES: dict[str, Any] = {
    "s": {"text": "x", "n": 3, "half": 0.5, "m": {"k": 1}, "none": None},
    "items": [{"id": "b"}, {"id": "a"}],
    "secret": {"apiVersion": "v1", "kind": "Secret", "data": {"password": "aGVsbG8="}},
}


def evaluate(text: str, **values: Any) -> Any:
    return cel.expression(text, ("s", "secret"), ("items",)).evaluate(values or VALUES)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("s.text == 'x'", True),
        ("s.n + 1", 4),
        ("s.half", 0.5),
        ("s.none", None),
        ("s.?absent.orValue('default')", "default"),
        ("has(s.absent)", False),
        ("items.map(i, i.id)", ["b", "a"]),
        ("items.map(i, i.id).sort().join(', ')", "a, b"),
        ("items.exists(i, i.id == 'a')", True),
        ("s.m.all(k, v, v == 1)", True),
        ("{'a': 1}.merge({'b': 2})", {"a": 1, "b": 2}),
        ("json.unmarshal('{\"a\": [1]}').a", [1]),
        ("json.marshal({'b': 1, 'a': [true]})", '{"a":[true],"b":1}'),
        ("lists.setAtIndex([1, 2], 0, 5)", [5, 2]),
        ("lists.insertAtIndex([1, 2], 2, 3)", [1, 2, 3]),
        ("lists.removeAtIndex([1, 2], 0)", [2]),
        ("[1, 2].sum()", 3),
        ("'a1b22'.findAll('[0-9]+')", ["1", "22"]),
        ("string(secret.data.password)", "hello"),
        ("{'a': 1, 'b': 2}.transformMap(k, v, k + string(v))", {"a": "a1", "b": "b2"}),
        ("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v)", {"b": 2}),
        ("s.m.transformMap(k, v, [v, {'k': k}])", {"k": [1, {"k": "k"}]}),
        ("['x', 'y'].transformMap(i, v, v)[1]", "y"),
        ("{'a': '@mapInsert'}.transformMap(k, v, v)", {"a": "@mapInsert"}),
        ("s.?text", "x"),
        ("s.?absent", None),
        ("s.?n // with a remark", 3),
        ("optional.of(s.n)", 3),
        ("bytes('hello')", "aGVsbG8="),
        ("duration('90m')", "1h30m0s"),
        ("duration('1500ms')", "1.5s"),
        ("timestamp('2024-02-03T04:05:06.789Z')", "2024-02-03T04:05:06Z"),
        ("timestamp('2024-01-01T10:00:00Z').getHours('Europe/Berlin')", 11),
        ("items.transformMapEntry(i, v, {v.id: i})", {"b": 0, "a": 1}),
        ("items.transformMapEntry(i, v, i > 0, {v.id: i})", {"a": 1}),
        ("items.transformList(i, v, v.id + string(i))", ["b0", "a1"]),
        ("omit()", OMIT),
        ("{'a': omit()}", {"a": OMIT}),
        ("s.n > 2 ? s.text : omit()", "x"),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert evaluate(text) == value


def test_random_values_depend_on_their_seed_only() -> None:
    assert evaluate("random.seededString(12, 'a')") == evaluate("random.seededString(12, 'a')")
    assert evaluate("random.seededString(12, 'a')") != evaluate("random.seededString(12, 'b')")
    assert 5 <= evaluate("random.seededInt(5, 9, 'a')") < 9


@pytest.mark.parametrize("text", ["s.absent", "s.m.absent == 1", "items[7]", "items[7].id"])
def test_what_is_not_there(text: str) -> None:
    with pytest.raises(AbsentValue) as caught:
        evaluate(text)
    assert "orValue" in caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1 +", "is invalid"),
        ("unknown.field", "undeclared reference to 'unknown"),
        ("1 + 'a'", "is invalid"),
        ("s.text + 1", "No matching overloads"),
        ("1 / 0", "divide by zero"),
        ("['x', 'x'].transformMapEntry(i, v, {v: i})", "key 'x' already exists"),
        ("['x', 'y'].transformMap(i, v, v)", "which no document can hold"),
        ("lists.setAtIndex([1, 2], 0, 'x')", "found no matching overload for 'lists.setAtIndex'"),
        ("{'a': 1}.merge({'b': 'x'})", "found no matching overload for 'merge'"),
        ("quantity('1')", "returns a Quantity, which no document can hold"),
        ("'a' + string(omit())", "uses omit() inside a text"),
        ("type(1)", "which no document can hold"),
        ("lists.setAtIndex([1], 5, 1)", "index 5 is not between"),
        ("'x' + '" + "a" * 10_000 + "'", "the most is 10000"),
        ("(" * 500 + "1" + ")" * 500, "recursion limit"),
        ("lists.range(1000).map(a, lists.range(1000).map(b, lists.range(1000).map(c, 1)))", "budget"),
    ],
)
def test_refused(text: str, what: str) -> None:
    with pytest.raises(ComposeError) as caught:
        evaluate(text)
    assert not isinstance(caught.value, AbsentValue)
    assert what in caught.value.problems[0].what
    assert caught.value.problems[0].fix or "no document" in what


def test_an_expression_cannot_take_all_memory() -> None:
    """A text of the claim that multiplies another one: the process ends or refuses, and the next call works."""
    with pytest.raises(ComposeError):
        evaluate("s.a.replace('a', s.b)", s={"a": "a" * 500_000, "b": "b" * 500_000})
    assert evaluate("1 + 1") == 2


@pytest.mark.parametrize(
    ("text", "returns"), [("s.n == 3", "BOOL"), ("s.n", "DYN"), ("'a'", "STRING"), ("[1]", "LIST<INT>")]
)
def test_types(text: str, returns: str) -> None:
    assert cel.expression(text, ("s",)).returns() == returns


def test_a_condition_must_be_a_boolean() -> None:
    with pytest.raises(ComposeError) as caught:
        cel.expression("s.n", ("s",)).is_true(VALUES)
    assert "must return a boolean, but returns dyn" in caught.value.problems[0].what


def test_the_package_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    worker.stop_all()
    monkeypatch.setattr(worker, "find_spec", lambda _: None)
    with pytest.raises(ComposeError) as caught:
        evaluate("1 + 1")
    assert caught.value.problems[0].fix == "pip install 'claimsmith[cel]'"


def test_a_request_as_expressions_see_it() -> None:
    state = State(Resource({"spec": {"n": 3}}), {"a": Resource({"kind": "A"}, {"user": b"u"}, Ready.true)})
    values = cel_view.values(Request(state, context={"k": 1}))
    for text in (
        "observed.composite.resource.spec.n * 2.0 == 6.0",
        "observed.resources['a'].ready == 1",
        "observed.resources.a.connection_details.user == 'u'",
        "desired.composite.ready == 0 && size(desired.resources) == 0",
        "context.k == 1",
    ):
        assert cel_view.condition(text).is_true(values), text
