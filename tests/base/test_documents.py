from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.documents import MAX_DEPTH, Document, read_documents
from claimsmith.base.errors import LoadError, Source


def one(text: str) -> Document:
    [document] = read_documents(text, file="f.yaml")
    return document


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("no", "no", id="no-is-a-word"),
        pytest.param("yes", "yes", id="yes-is-a-word"),
        pytest.param("on", "on", id="on-is-a-word"),
        pytest.param("true", True, id="true"),
        pytest.param("FALSE", False, id="false-in-capitals"),
        pytest.param("2024-01-01", "2024-01-01", id="a-date-is-text"),
        pytest.param("2024-01-01 10:00:00", "2024-01-01 10:00:00", id="a-moment-is-text"),
        pytest.param("12:30:45", "12:30:45", id="sexagesimal-is-text"),
        pytest.param("0o17", "0o17", id="octal-is-text"),
        pytest.param("017", "017", id="old-octal-is-text"),
        pytest.param("0x1F", "0x1F", id="hexadecimal-is-text"),
        pytest.param("1_000", "1_000", id="underscores-are-text"),
        pytest.param("10", 10, id="int"),
        pytest.param("-3", -3, id="negative-int"),
        pytest.param("1.16", 1.16, id="float"),
        pytest.param("1.5e+3", 1500.0, id="exponent"),
        pytest.param("12e45", "12e45", id="a-short-hash-is-no-exponent"),
        pytest.param("1.0e+400", "1.0e+400", id="beyond-floats-with-a-sign-is-text"),
        pytest.param("1.10", "1.10", id="a-version-does-not-lose-its-zero"),
        pytest.param("2.00", "2.00", id="nor-two-zeros"),
        pytest.param("0.0", 0.0, id="zero-stays-a-number"),
        pytest.param("1e400", "1e400", id="beyond-floats-is-text"),
        pytest.param(".inf", ".inf", id="infinity-is-text"),
        pytest.param(".nan", ".nan", id="nan-is-text"),
        pytest.param("~", None, id="tilde-is-null"),
        pytest.param("null", None, id="null"),
        pytest.param("", None, id="nothing-is-null"),
        pytest.param('"10"', "10", id="quoted-number-is-text"),
        pytest.param("'~'", "~", id="quoted-tilde-is-text"),
        pytest.param('"true"', "true", id="quoted-truth-is-text"),
        pytest.param("|\n  10\n", "10\n", id="block-text"),
        pytest.param("!!str 10", "10", id="tagged-text"),
        pytest.param("99999999999999999999999", 99999999999999999999999, id="int-beyond-64-bits"),
        pytest.param("9" * 70, "9" * 70, id="absurdly-long-int-is-text"),
    ],
)
def test_scalars(text: str, want: Any) -> None:
    value = one(f"a: {text}\n").data["a"]
    assert (value, type(value)) == (want, type(want))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("# only\n# comments\n", [], id="comments-only"),
        pytest.param("---\n---\n", [], id="empty-documents"),
        pytest.param("a: 1\n---\n# nothing\n---\nb: 2\n", [(1, {"a": 1}), (5, {"b": 2})], id="several-with-a-gap"),
        pytest.param("a: 1\n...\n---\nb: 2\n", [(1, {"a": 1}), (4, {"b": 2})], id="ended-by-dots"),
        pytest.param("\ufeffa: 1\n", [(1, {"a": 1})], id="byte-order-mark"),
        pytest.param("a: 1\r\n---\r\nb: 2\r\n", [(1, {"a": 1}), (3, {"b": 2})], id="windows-lines"),
        pytest.param("1: x\ntrue: y\n", [(1, {"1": "x", "true": "y"})], id="keys-are-text"),
        pytest.param("a: &x {b: 1}\nc: *x\n", [(1, {"a": {"b": 1}, "c": {"b": 1}})], id="aliases-are-followed"),
    ],
)
def test_documents_of_a_text(text: str, want: list[tuple[int, Any]]) -> None:
    assert [(d.line, d.data) for d in read_documents(text, file="f.yaml")] == want


def test_aliases_share_nothing() -> None:
    data = one("a: &x {b: 1}\nc: *x\n").data
    data["a"]["b"] = 2
    assert data["c"] == {"b": 1}


TWO = """\
# a comment
kind: First
---
kind: Second
spec:
  list:
  - name: one
  - name: two
    deep: {x: 1, "y.z": 2}
  empty:
"""


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        pytest.param("", 4, 1, id="the-document"),
        pytest.param("kind", 4, 1, id="a-key"),
        pytest.param("spec.list", 6, 3, id="a-nested-key"),
        pytest.param("spec.list[1]", 8, 5, id="an-index"),
        pytest.param("spec.list[1].deep.x", 9, 12, id="inside-a-flow-mapping"),
        pytest.param("spec.list[1].deep['y.z']", 9, 18, id="a-key-with-a-dot"),
        pytest.param("spec.list[7]", 6, 3, id="missing-index-gives-the-list"),
        pytest.param("spec.nowhere", 5, 1, id="missing-key-gives-its-parent"),
        pytest.param("spec.empty.below", 10, 3, id="below-nothing"),
        pytest.param("nowhere.at.all", 4, 1, id="missing-gives-the-document"),
        pytest.param(("spec", "list", 0, "name"), 7, 5, id="parsed-path"),
    ],
)
def test_source_of(path: Any, line: int, column: int) -> None:
    document = read_documents(TWO, file="f.yaml")[1]
    assert document.source_of(path) == Source("f.yaml", line, column)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        pytest.param("a: 1\n---\na: 2\nb: 3\n", 4, 1, id="plain"),
        pytest.param("a: 'äö€𝄞'\n# 𝄞\n---\na: ü\nb: 3\n", 5, 1, id="letters-of-several-bytes"),
        pytest.param("a: 1\r\n---\r\na: 2\r\nb: 3\r\n", 4, 1, id="carriage-returns"),
        pytest.param("a: 1\n---\n\n  # indented\n  a: 2\n  b: 3\n", 6, 3, id="indented"),
        pytest.param("a: 1\n--- {a: 2, b: 3}\n", 2, 12, id="beside-the-dashes"),
        pytest.param("a: 1\n--- # b\n...\n---\n---\na: 2\nb: 3\n---\nc: 1\n", 7, 1, id="empty-ones-before"),
        pytest.param("%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\na: 2\nb: 3\n", 8, 1, id="directives"),
        pytest.param("\ufeffa: 1\n---\na: 2\nb: 3\n", 4, 1, id="byte-order-mark"),
    ],
)
def test_source_of_in_the_second_document(text: str, line: int, column: int) -> None:
    document = read_documents(text, file="f.yaml")[1]
    assert document.data == {"a": document.data["a"], "b": 3}
    assert document.source_of("b") == Source("f.yaml", line, column)


def test_source_of_missing_steps_does_not_skip_ahead() -> None:
    document = one("a: 1\nspec:\n  name: x\nname: y\n")
    assert document.source_of("nowhere.name") == Source("f.yaml", 1, 1)


def test_document_without_its_text_knows_its_line() -> None:
    assert Document({"a": 1}, "f.yaml", 12).source_of("a") == Source("f.yaml", 12)


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", 3, "'a' occurs twice", id="duplicate-key"),
        pytest.param("s:\n  x: 1\n  'x': 2\n", 3, "'x' occurs twice", id="duplicate-key-quoted"),
        pytest.param("- a\n- b\n", 1, "mapping, not a list", id="list"),
        pytest.param("just words\n", 1, "mapping, not a text", id="text"),
        pytest.param("a: 1\n---\n12\n", 3, "mapping, not a number", id="number-in-the-second"),
        pytest.param("a: !secret x\n", 1, "!secret", id="tag-on-a-text"),
        pytest.param("a: !Sub {x: 1}\n", 1, "!Sub", id="tag-on-a-mapping"),
        pytest.param("a: !List [x]\n", 1, "!List", id="tag-on-a-list"),
        pytest.param("a: !!python/object:os.system x\n", 1, "python", id="tag-of-a-language"),
        pytest.param("a: !!binary aGk=\n", 1, "binary", id="binary"),
        pytest.param("b: &b {x: 1}\na:\n  <<: *b\n", 3, "merge keys", id="merge-key"),
        pytest.param("? [1, 2]\n: 3\n", 1, "plain text", id="key-that-is-a-list"),
        pytest.param(BOMB, 1, "too large", id="alias-bomb"),
        pytest.param("a: &a [*a]\n", 1, "too deep", id="alias-of-itself"),
        pytest.param("a: " + "[" * 70 + "]" * 70, 1, "too deep", id="too-deep"),
        pytest.param("a: " + "[" * 300_000 + "]" * 300_000, 1, "too deep", id="deep-enough-to-end-the-process"),
        pytest.param("- " * 300_000 + "x", 1, "too deep", id="deep-in-block-style"),
        pytest.param("a: [1\nb: 2\n", 2, "not valid YAML", id="unclosed"),
        pytest.param("a: 1\n\tb: 2\n", 2, "not valid YAML", id="tab"),
        pytest.param("a: *nothing\n", 1, "not valid YAML", id="alias-of-nothing"),
        pytest.param("a: \x07\n", 1, "not valid YAML", id="control-character"),
        pytest.param("a: 1\nb: \ud800\n", 2, "half of a character", id="half-of-a-surrogate-pair"),
    ],
)
def test_refusals(text: str, line: int, word: str) -> None:
    with pytest.raises(LoadError) as caught:
        read_documents(text, file="f.yaml")
    problem = caught.value.problems[0]
    assert word in problem.what
    assert (problem.where.file, problem.where.line) == ("f.yaml", line)
    assert problem.fix


def test_all_problems_of_a_text_are_told_at_once() -> None:
    with pytest.raises(LoadError) as caught:
        read_documents("a: 1\na: 2\n---\n- x\n---\nb: !t x\n", file="f.yaml")
    assert [p.where.line for p in caught.value.problems] == [2, 4, 6]


def test_the_deepest_that_is_read() -> None:
    depth = MAX_DEPTH - 1
    assert one("a: " + "[" * depth + "]" * depth).data


def test_plain_texts_are_those_of_yaml_1_2() -> None:
    [document] = read_documents("a: N\nb: yes\nc: off\nd: 010\ne: true\n", file="x.yaml")
    assert document.data == {"a": "N", "b": "yes", "c": "off", "d": "010", "e": True}
