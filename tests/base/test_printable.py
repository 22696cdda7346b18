"""Text of others, made safe for each medium: nothing is hidden, nothing is live, and nothing is lost."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from claimsmith.base import printable, yaml_text
from claimsmith.base.errors import Problem, Source
from tests.support import comment, hostile

ROWS = [pytest.param(text, id=name) for name, text in hostile.ALL.items()]
TEXTS = st.text(max_size=40) | st.lists(st.sampled_from([*hostile.ALL.values(), " ", "x"]), max_size=3).map("".join)
LAYOUTS = [
    pytest.param("a {} b\n", id="in-a-paragraph"),
    pytest.param("- {}\n- b\n", id="in-a-list"),
    pytest.param("- **{}**.\n", id="in-bold"),
    pytest.param("  <br><sub>{}</sub>\n", id="in-sub"),
    pytest.param("### {}\n", id="in-a-heading"),
    pytest.param("{}\n\nb\n", id="at-the-beginning"),
]


@pytest.mark.parametrize("text", ROWS)
def test_visible_text_is_one_line_without_hidden_characters_or_commands(text: str) -> None:
    shown = printable.visible(text)
    assert hostile.hidden(shown) == set()
    assert "\n" not in shown
    assert not hostile.COMMAND.search(shown)
    assert printable.visible(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("größer → “so”, 数据 ✓", "größer → “so”, 数据 ✓", id="ordinary-text-of-any-language-stays"),
        pytest.param("a\nb\tc", r"a\nb\tc", id="line-breaks-and-tabs"),
        pytest.param("\x1b[31m", r"\x1b[31m", id="escape-sequences"),
        pytest.param("\u202ex", r"\u202ex", id="bidi"),
        pytest.param("\U000e0041", r"\U000e0041", id="tags"),
        pytest.param("a::b ::1", "a::b ::1", id="colons-within-a-line-stay"),
        pytest.param(" ::warning::x", r" \x3a:warning::x", id="a-command-at-the-beginning"),
        pytest.param("a ##[x] ##vso[y] ## [z]", r"a #\x23[x] #\x23vso[y] ## [z]", id="a-command-anywhere"),
        pytest.param("\ud800", r"\ud800", id="half-a-character"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert printable.visible(text) == shown


def test_a_line_of_ours_stays_one_line() -> None:
    assert printable.lines(["a\nb", "::c"]) == "a\\nb\n\\x3a:c\n"


@pytest.mark.parametrize("text", ROWS)
def test_a_problem_has_the_lines_that_it_is_made_of(text: str) -> None:
    problem = Problem(text, Source(text, 2, 3), text, text)
    assert len(str(problem).split("\n")) == 3
    assert hostile.hidden(str(problem)) == set()
    assert not hostile.COMMAND.search(str(problem))


@given(TEXTS)
def test_json_says_the_same_without_hidden_characters_or_commands(text: str) -> None:
    written = printable.json_text({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert hostile.hidden(written) == set()
    assert not hostile.COMMAND.search(written)


def yaml_texts() -> st.SearchStrategy[str]:
    """What a YAML file can hold: everything but halves of characters."""
    return TEXTS.filter(lambda t: not any("\ud800" <= c <= "\udfff" for c in t))


@given(yaml_texts(), st.booleans())
def test_yaml_says_the_same_without_hidden_characters_or_commands(text: str, blocks: bool) -> None:
    document: dict[str, Any] = {"a": {"b": [text, {"c": text}]}, text: text}
    for written in (yaml_text.text_of(document), yaml_text.dumped(document, blocks=blocks)):
        assert yaml.safe_load(written) == document
        assert hostile.hidden(written) <= {"\t"}
        assert not hostile.COMMAND.search(written)


@pytest.mark.parametrize(
    "name",
    ["link", "image", "bold", "emphasis", "strike", "tag", "end-of-sub", "entity", "mention", "team", "issue",
     "address", "autolink", "commit", "emoji", "math", "fence", "tilde-fence", "heading", "list", "rule",
     "html-block"],
)  # fmt: skip
def test_the_reader_of_comments_sees_what_is_live(name: str) -> None:
    found = comment.shown(f"a {hostile.MARKDOWN[name]} b\n")
    assert found.live or found.tags != [("p", ()), ("/p", ())]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("text", ROWS)
def test_code_is_literal(text: str, layout: str) -> None:
    found = comment.shown(layout.format(printable.code(text)))
    assert found.tags == comment.shown(layout.format("`x`")).tags
    assert found.live == []
    assert "".join(found.literal) == printable.visible(text)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("text", ROWS)
def test_prose_has_words_and_code_alone(text: str, layout: str) -> None:
    found = comment.shown(layout.format(printable.prose(f"see {text!r}, or {text}")))
    assert found.tags == comment.shown(layout.format("x")).tags
    assert found.live == []


@pytest.mark.parametrize("make", [printable.code, printable.prose])
@pytest.mark.parametrize("text", ROWS)
def test_a_cell_stays_a_cell(text: str, make: Any) -> None:
    table = "| a | b |\n| --- | --- |\n| {} | c |\n"
    found = comment.shown(table.format(make(f"a {text}", cell=True)))
    assert found.tags == comment.shown(table.format("x")).tags
    assert found.live == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("There are changes; nothing is deleted.", "There are changes; nothing is deleted.", id="words"),
        pytest.param("3 claims, 'so' (or not)", "3 claims, 'so' (or not)", id="numbers-quotes-and-brackets"),
        pytest.param("MySQLServer a-b: spec.x → spec.y, z", "MySQLServer `a-b`: `spec.x` → `spec.y`, z", id="names"),
        pytest.param("run claimsmith bind dev --check now", "run claimsmith bind dev `--check` now", id="flags"),
        pytest.param("a.b c.d", "`a.b c.d`", id="what-stands-together-is-one"),
    ],
)
def test_prose_reads_well(text: str, written: str) -> None:
    assert printable.prose(text) == written


@pytest.mark.parametrize("text", ROWS)
def test_a_fence_is_closed_by_us_alone(text: str) -> None:
    found = comment.shown(printable.fenced([f"+{text}", text, "b"], "diff"))
    assert [name for name, _ in found.tags] == ["pre", "/pre"]
    assert "".join(found.literal).count("\n") == 3


@pytest.mark.parametrize("text", ROWS)
def test_html_has_no_tag_of_a_value(text: str) -> None:
    written = printable.html(printable.visible(text))
    assert not set('<>"') & set(written)
    assert unescape(written) == printable.visible(text)


@pytest.mark.parametrize(
    ("number", "word", "want"),
    [
        pytest.param(0, "claim", "0 claims", id="none"),
        pytest.param(1, "class", "1 class", id="one"),
        pytest.param(2, "class", "2 classes", id="hissing"),
        pytest.param(2, "patch", "2 patches", id="hissing-by-two-letters"),
        pytest.param(1, "more line", "1 more line", id="one-of-two-words"),
        pytest.param(2, "more line", "2 more lines", id="two-words"),
    ],
)
def test_counted(number: int, word: str, want: str) -> None:
    assert printable.counted(number, word) == want
