"""Text from files, safe to print: one function for each medium, used everywhere.

A claim's values, names and file names are somebody else's text. Printed as they are, they can move a terminal's cursor,
reverse the order of what a reviewer reads, start a command of a CI runner, or become links and pictures in a comment.
Here such characters become visible escapes (`\\n`, `\\x1b`, `\\u202e`), as `repr` writes them; nothing is dropped.

    visible, lines, one_line    terminals, logs, errors, tables
    json_text, yaml_safe        the same data, with escapes of the format's own
    code, prose                 Markdown
    html                        HTML and SVG

It imports nothing of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

_BLANK: Final = frozenset(
    [
        "\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u2800", "\u3164", "\uffa0", "\U0001d159",
        *map(chr, range(0x180B, 0x1810)),
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    ]
)  # fmt: skip
"""What Python calls printable, but is invisible: fillers, joiners and variation selectors."""
_MARKED: Final = re.compile(r"##(?=\w*\[)")
"""`##[command]` and `##vso[command]`: runners look for them anywhere in a line."""
_LEADING: Final = re.compile(r"^([ \t]*):(?=:)", re.MULTILINE)
"""`::command::`, which counts at the beginning of a line, behind any blanks."""

Escape = Callable[[str], str]


def visible(text: str) -> str:
    """The text on one line: what cannot be seen is written as an escape, and no CI runner reads a command in it."""
    shown = text if _seen(text) else "".join(c if _seen(c) else _escape(c) for c in text)
    return _LEADING.sub(r"\1\\x3a", _MARKED.sub(r"#\\x23", shown))


def counted(number: int, word: str) -> str:
    """`1 class`, `2 classes`."""
    if number == 1:
        return f"1 {word}"
    return f"{number} {word}{'es' if word.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def lines(texts: Iterable[str]) -> str:
    """Lines of ours as one text, each visible: a newline within one of them is an escape, not another line."""
    return "".join(f"{visible(text)}\n" for text in texts)


def paragraphs(text: str) -> str:
    """A text whose line breaks are ours, or a program's whose output is passed on; all else in it is visible."""
    return "\n".join(visible(line) for line in text.split("\n"))


def one_line(text: str) -> str:
    """The output of a program as part of a sentence: its lines one after the other."""
    return visible(" ".join(line.strip() for line in text.splitlines() if line.strip()))


def json_text(value: Any, *, default: Callable[[Any], Any] | None = None, indent: int | None = 2) -> str:
    """A value as JSON for machines and people: the same data, but nothing in it is hidden or a command."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=default)
    return _MARKED.sub(r"#\\u0023", _escaped(text, lambda c: json.dumps(c)[1:-1]))


def needs_quotes(text: str) -> bool:
    """Whether a text must be double-quoted in YAML, so that `yaml_safe` can write escapes in it."""
    hidden = not _seen(text.replace("\n", "").replace("\t", ""))
    return hidden or bool(_MARKED.search(text) or _FOLDED.search(text))


def yaml_safe(text: str) -> str:
    """YAML in which all that `needs_quotes` has quotes: the same data, but nothing in it is hidden or a command."""
    return _LEADING.sub(r"\1\\x3a", _MARKED.sub(r"#\\x23", _escaped(text, _escape, but="\t")))


def code(text: str, *, cell: bool = False) -> str:
    """The text as code in Markdown, literally: no link, mention, reference or emoji is looked for in it.

    In the `cell` of a table a bar is an escape, because parsers do not agree on backslashes before one.
    """
    shown = visible(text) or " "
    shown = shown.replace("|", r"\x7c") if cell else shown
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    # One blank at both ends is taken off again by the reader, if there is anything else between them.
    pad = " " if shown.strip(" ") and (shown[0] in "` " or shown[-1] in "` ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def prose(text: str, *, cell: bool = False) -> str:
    """A sentence in Markdown: words stay words, and whatever could mean something more is code."""
    parts: list[str] = []
    odd: list[str] = []
    for word in visible(text).split():
        if _WORD.fullmatch(word) and not _HEX.fullmatch(word.strip(_MARKS)):
            _close(odd, parts, cell=cell)
            parts.append(word)
        else:
            odd.append(word)
            if word[-1] in ".,;:":
                _close(odd, parts, cell=cell)
    _close(odd, parts, cell=cell)
    return " ".join(parts)


def fenced(texts: Iterable[str], language: str) -> str:
    """Lines as a block of code in Markdown, within a fence that none of them closes."""
    shown = [visible(text) for text in texts]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *shown, fence, ""])


def html(text: str) -> str:
    """The text in HTML or SVG, in elements and double-quoted attributes."""
    from html import escape

    return escape(paragraphs(text), quote=True)


_WORD: Final = re.compile(r"[(\"']*(?:[^\W\d_]+|\d{1,6})[)\"'.,;:?!]*|[→·…–—]")
"""Words and small numbers. What has a digit, dot, slash, dash or sign within may be a name, address or reference."""
_MARKS: Final = "()\"'.,;:?!"
_HEX: Final = re.compile(r"[0-9a-fA-F]{7,}")
"""What may be the beginning of a commit's digest."""
_FOLDED: Final = re.compile(r"(?:^|\s)::")
"""What may come to stand at the beginning of a line, once a long text is broken at its blanks."""


def _seen(text: str) -> bool:
    return text.isprintable() and (text.isascii() or _BLANK.isdisjoint(text))


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _escaped(text: str, escape: Escape, *, but: str = "") -> str:
    """A text of several lines with what cannot be seen escaped, but for its line breaks."""
    if _seen(text.replace("\n", "")):
        return text
    return "".join(c if _seen(c) or c == "\n" or c in but else escape(c) for c in text)


def _close(odd: list[str], parts: list[str], *, cell: bool) -> None:
    """End a run of words that are written as code; a mark of the sentence behind them stays outside."""
    if not odd:
        return
    run = " ".join(odd)
    core = run.rstrip(".,;:") or run
    parts.append(code(core, cell=cell) + run[len(core) :])
    odd.clear()
