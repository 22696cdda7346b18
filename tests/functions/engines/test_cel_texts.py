"""CEL's functions of texts. The values are what cel-go evaluates."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.functions.engines import cel_engine


def answer(text: str) -> Any:
    return cel_engine.answer({"text": text, "variables": [], "lists": [], "values": {}})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'%s and %d, %%'.format(['x', 1])", "x and 1, %"),
        ("'%s'.format([1000000.0])", "1000000"),
        ("'%s'.format([1e21])", "1000000000000000000000"),
        ("'%d'.format([1.5])", "1.5"),
        ("'%s'.format([[1, 'a', 2.5, null, true]])", "[1, a, 2.5, null, true]"),
        ("'%s'.format([{'b': 1, 'a': [1]}])", "{a: [1], b: 1}"),
        ("'%s %s'.format([duration('90s'), timestamp('2024-01-01T00:00:00Z')])", "90s 2024-01-01T00:00:00Z"),
        ("'%s'.format([b'abc'])", "abc"),
        ("'%.3f %f %e'.format([1.23456, 1, 1234.5678])", "1.235 1.000000 1.234568e+03"),
        ("'%b %b %o'.format([5, true, 8])", "101 1 10"),
        ("'%x %X %x %x'.format([255, 255, 'hello', b'\\x00\\xff'])", "ff FF 68656c6c6f 00ff"),
        ("'%f'.format([double('Infinity')])", "Infinity"),
        ("['x', 'y'].join('-') + [].join()", "x-y"),
        ("'gums'.reverse()", "smug"),
        ("[1, 2].reverse()", [2, 1]),
        ("strings.quote('a\"b\\n\\\\')", '"a\\"b\\n\\\\"'),
        ("'tacocat'.substring(4) + 'a b c'.split(' ', 2)[1] + ' x '.trim()", "catb cx"),
        ("'abc 123'.find('[0-9]+')", "123"),
        ("'123 abc 456'.findAll('[0-9]+')", ["123", "456"]),
        ("'123 abc 456'.findAll('[0-9]+', 1)", ["123"]),
        ("'123 abc 456'.findAll('[0-9]+', 0)", []),
        ("'123 abc 456'.findAll('[0-9]+', -1)", ["123", "456"]),
        ("'baac'.findAll('a*')", ["", "aa", ""]),
    ],
)
def test_values(text: str, value: Any) -> None:
    found = answer(text)
    assert found.get("value", found) == value


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("'%s %s'.format(['a'])", "fewer values than clauses"),
        ("'%d'.format(['a'])", "does not take a str"),
        ("'%z'.format([1])", "unrecognized formatting clause"),
        ("'%10s'.format(['a'])", "unrecognized formatting clause"),
        ("[1].join()", "no matching overload for 'join'"),
        ("[dyn(1)].join()", "join takes texts"),
        ("'a'.find('(')", "the pattern '(' is invalid"),
    ],
)
def test_refused(text: str, what: str) -> None:
    found = answer(text)
    assert what in (found.get("invalid") or found["failed"])
