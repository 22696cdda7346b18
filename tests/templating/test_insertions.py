"""What a template prints of a claim stays in its place: values that are taken, and values that would not stay."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith import templating
from claimsmith.templating import TemplateError

HEAD = "apiVersion: v1\nkind: A\n"
GO, JINJA = "go-sprig", "jinja2"
X = {GO: "{{ .x }}", JINJA: "{{ x }}"}
JSON = {GO: "{{ toJson .x }}", JINJA: "{{ x | tojson }}"}


def made(engine: str, body: str, **data: Any) -> Any:
    return templating.render_document(engine, HEAD + body, data)


@pytest.mark.parametrize("engine", [GO, JINJA])
@pytest.mark.parametrize(
    ("body", "value", "want"),
    [
        pytest.param("a: X", "eu-west", {"a": "eu-west"}, id="word"),
        pytest.param("a: X", "two words", {"a": "two words"}, id="words"),
        pytest.param("a: X-suffix", "eu", {"a": "eu-suffix"}, id="part-of-a-word"),
        pytest.param("a: X", "", {"a": None}, id="nothing"),
        pytest.param("a: X", " padded ", {"a": "padded"}, id="spaces-around"),
        pytest.param("a: X", "5", {"a": 5}, id="number-like"),
        pytest.param("a: X", "x:y", {"a": "x:y"}, id="colon-inside"),
        pytest.param("a: X", "https://h/p?q=1#f", {"a": "https://h/p?q=1#f"}, id="address"),
        pytest.param("a: X", "日本", {"a": "日本"}, id="other-letters"),
        pytest.param('a: "X"', "it's", {"a": "it's"}, id="other-quote-in-quotes"),
        pytest.param('a: "X"', "# no comment: {}", {"a": "# no comment: {}"}, id="marks-in-quotes"),
        pytest.param("a: 'X'", 'say "x" \\', {"a": 'say "x" \\'}, id="other-quote-in-single-quotes"),
        pytest.param("a: |\n  X\nz: 1", "b: c # d", {"a": "b: c # d\n", "z": 1}, id="block"),
        pytest.param("a: |\n  X\nz: 1", "b\n  c", {"a": "b\nc\n", "z": 1}, id="block-of-lines"),
        pytest.param("X: 1", "key", {"key": 1}, id="key"),
        pytest.param("a: X", "[1, 2]", {"a": [1, 2]}, id="list-in-its-place"),
        pytest.param("a: X", '"quoted"', {"a": "quoted"}, id="quoted-in-its-place"),
        pytest.param("# X\na: 1", "b: c", {"a": 1}, id="comment"),
        pytest.param("a: JSON", "b\nc: d", {"a": "b\nc: d"}, id="json-of-lines"),
        pytest.param("a: JSON", {"b": ["c\n"]}, {"a": {"b": ["c\n"]}}, id="json-of-an-object"),
        pytest.param("a: X", 5, {"a": 5}, id="number"),
        pytest.param("a: X", -0.5, {"a": -0.5}, id="negative-number"),
    ],
)
def test_a_value_in_its_place(engine: str, body: str, value: Any, want: dict[str, Any]) -> None:
    text = body.replace("X", X[engine]).replace("JSON", JSON[engine])
    assert made(engine, text, x=value) == {"apiVersion": "v1", "kind": "A", **want}


@pytest.mark.parametrize("engine", [GO, JINJA])
@pytest.mark.parametrize(
    ("body", "value"),
    [
        pytest.param("a: X", "b\nc: d", id="another-field"),
        pytest.param("s:\n  a: X", "b\n  c: d", id="another-field-deeper"),
        pytest.param("s:\n  a: X", "b\nc: d", id="another-field-above"),
        pytest.param("a: X", "b\n---\napiVersion: v1\nkind: B", id="another-document"),
        pytest.param("a: X", "b\n", id="line-end"),
        pytest.param("a: Xc", "b\n", id="line-end-before-the-rest"),
        pytest.param("a: X", "b # c", id="comment"),
        pytest.param("a: X", "# c", id="nothing-but-a-comment"),
        pytest.param("a: {b: X, c: d}", "1, e: 2", id="another-field-in-braces"),
        pytest.param("a: {b: X, c: d}", "1}", id="closing-brace"),
        pytest.param("a: [X, c]", "1, 2", id="another-item"),
        pytest.param("a: [X]", "1], b: [2", id="closing-bracket"),
        pytest.param('a: "X"', 'b", c: "d', id="closing-quote"),
        pytest.param('a: "X"\nb: "c"', "\\", id="backslash-before-the-quote"),
        pytest.param("a: 'X'\nb: 'c'", "'", id="quote-that-doubles"),
        pytest.param('a: ["X"]', 'b", "c', id="another-quoted-item"),
        pytest.param("a: X\nb: c\nd: X", '"', id="quotes-around-what-stands-between"),
        pytest.param("a: X\nb: c\nd: X", "'", id="single-quotes-around-what-stands-between"),
        pytest.param("a: |\n  X\nb: c", "d\ne: f", id="out-of-a-block"),
        pytest.param("a:\n- X", "b: c", id="object-for-an-item"),
        pytest.param("a: X", "|", id="block-mark"),
        pytest.param("a: X", "> ", id="folded-mark"),
        pytest.param("a: X", "&b c", id="anchor"),
        pytest.param("b: &b 1\na: X", "*b", id="alias"),
        pytest.param("a: X", "!!str 5", id="tag"),
        pytest.param("a: X", "? b", id="complex-key"),
        pytest.param("X: 1", "b: c\nd", id="key-of-two"),
        pytest.param("# X\na: 1", "b\nc: d", id="out-of-a-comment"),
        pytest.param("a: X", "{b: c}\nd: e", id="object-and-a-field"),
    ],
)
def test_a_value_that_would_be_more(engine: str, body: str, value: str) -> None:
    with pytest.raises(TemplateError) as caught:
        made(engine, body.replace("X", X[engine]), x=value)
    [problem] = caught.value.problems
    assert "would be more than a value" in problem.what or "not valid YAML" in problem.what
    assert problem.fix


@pytest.mark.parametrize(
    ("body", "want"),
    [
        pytest.param(
            "a:\n  {{- toYaml .x | nindent 2 }}", {"a": {"k": "v\nw: z", "l": [1]}}, id="indented-on-a-new-line"
        ),
        pytest.param("a:\n{{ toYaml .x | indent 2 }}", {"a": {"k": "v\nw: z", "l": [1]}}, id="indented"),
        pytest.param("{{ toYaml .x }}", {"k": "v\nw: z", "l": [1]}, id="beside-other-fields"),
        pytest.param("a: {{ toPrettyJson .x | nindent 2 }}", {"a": {"k": "v\nw: z", "l": [1]}}, id="json-of-lines"),
        pytest.param("a: {{ .x.k | quote }}", {"a": "v\nw: z"}, id="quoted"),
    ],
)
def test_whole_values(body: str, want: dict[str, Any]) -> None:
    assert made(GO, body, x={"k": "v\nw: z", "l": [1]}) == {"apiVersion": "v1", "kind": "A", **want}


@pytest.mark.parametrize("engine", [GO, JINJA])
def test_marks_in_a_value_are_not_taken_for_ours(engine: str) -> None:
    assert templating.render(engine, X[engine], {"x": "a\udce0b\udce1"}) == "a?b?"
