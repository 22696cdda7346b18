"""YAML text as the library writes it, byte for byte, whichever of the two writes it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from claimsmith.base import yaml_text
from claimsmith.base.yaml_text import dumped, text_of

TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="abz09 .:-_/@'\"#&*!|>%?,[]{}~=<\n\t\\é€", max_size=160),
    st.sampled_from(
        [
            "yes",
            "No",
            "ON",
            "null",
            "~",
            "1e3",
            "08",
            "0o17",
            "0x1f",
            "1_000",
            "2024-01-01",
            "1:30",
            ".5",
            "-",
            "",
            " x",
        ]
    ),
    st.uuids().map(str),
)
LEAVES = st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_it_is_what_the_library_writes(document: dict[str, Any]) -> None:
    assert text_of(document) == dumped(document)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"a": {}, "b": [], "c": [{}, []]}, id="empty-containers"),
        pytest.param({"a": [[1, [2]], {"b": {"c": [3]}}]}, id="lists-in-lists"),
        pytest.param({"a": "x" * 200, "b": "y z " * 40}, id="a-long-text-is-broken-at-spaces"),
        pytest.param({"a": {"b": {"c": "word " * 21}}}, id="the-column-counts"),
        pytest.param({"a": "one\ntwo\n"}, id="several-lines"),
        pytest.param({"k" * 140: 1}, id="a-long-key"),
        pytest.param({2: "a", True: "b", None: "c"}, id="keys-that-are-no-text"),
        pytest.param({"a": [0.0, -0.0, 1.0, 1e300, float("inf")]}, id="floats"),
        pytest.param({"a": "yes", "yes": "a", "b": "NULL", "c": "Off"}, id="words-for-something-else"),
    ],
)
def test_what_is_easily_missed(document: dict[Any, Any]) -> None:
    assert text_of(document) == dumped(document)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"a": {"b": ["c", 1, True, None, "two words", "12:30"]}}, id="plain-documents"),
        pytest.param({"a": "0123abcd-0123-0123-0123-0123456789ab"}, id="uids"),
    ],
)
def test_plain_documents_are_written_here(document: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = dumped(document)
    text_of(document)
    monkeypatch.setattr(yaml_text, "dumped", None)
    assert text_of(document) == wanted


@pytest.mark.parametrize("shown", ["text", {"a": [1]}, [], None], ids=["text", "object", "nothing", "null"])
def test_what_is_shown_for_a_value_is_written(shown: Any) -> None:
    later = object()
    assert text_of({"x": [later]}, lambda v: shown if v is later else v) == dumped({"x": [shown]})


@pytest.mark.parametrize(
    "text",
    ["1e5", "08", "0o17", "12e03", "123e4567", "1_2e3", ".5e3", "+1e3", "-1E-3", "1.e5", "0o7_7"],
)
def test_texts_that_other_readers_take_for_numbers_have_quotes(text: str) -> None:
    """YAML 1.2 and the readers of kubectl and GitLab know more numbers than this library: a name would become one."""
    assert text_of({"k": [text], text: 1}) == f"k:\n- '{text}'\n'{text}': 1\n"
    assert yaml.safe_load(text_of({"k": text})) == {"k": text}


@pytest.mark.parametrize("text", ["1e", "e5", "0o9", "v1e5", "1e5x", "12a"])
def test_texts_that_nobody_takes_for_numbers_have_none(text: str) -> None:
    assert text_of({"k": text}) == f"k: {text}\n"
