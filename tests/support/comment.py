"""A comment as GitHub shows it: Markdown by a real parser, then what GitHub looks for in the text that is left."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_LITERAL = {"code", "pre"}
_VOID = {"br", "hr", "img", "input"}
LIVE = re.compile(
    r"""
    (?<![\w/])@[\w-]+                        # a mention
    | (?<!\w)(?:[\w.-]+/[\w.-]+)?\#\d+       # an issue
    | \bGH-\d+                               # an issue, in the old way
    | \b[0-9a-f]{7,40}\b                     # a commit
    | :[\w+-]+:                              # an emoji
    | \$[^$\s][^$]*\$                        # mathematics
    | https?://|www\.|\w@\w                  # an address
    """,
    re.VERBOSE,
)
"""What GitHub makes links, pictures or formulas of, wherever it does not stand in code."""


@dataclass
class Comment:
    """What came out of the Markdown."""

    tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = field(default_factory=list)
    """Every tag but code, with its attributes, in order: the skeleton of the comment."""
    texts: list[str] = field(default_factory=list)
    """Texts outside of code."""
    literal: list[str] = field(default_factory=list)
    """Texts in code."""
    comments: list[str] = field(default_factory=list)

    @property
    def live(self) -> list[str]:
        """What GitHub would make something of."""
        return [found[0] for text in self.texts for found in LIVE.finditer(text)]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.read = Comment()
        self.within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.read.tags += [(tag, tuple(attrs))] * (tag != "code")
        self.within += [tag] * (tag not in _VOID)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self.within[-1:] != [tag]:
            self.read.tags.append((f"stray /{tag}", ()))
            return
        self.within.pop()
        self.read.tags += [(f"/{tag}", ())] * (tag != "code")

    def handle_data(self, data: str) -> None:
        literal = bool(_LITERAL & set(self.within))
        (self.read.literal if literal else self.read.texts).append(data)

    def handle_comment(self, data: str) -> None:
        self.read.comments.append(data)


def shown(markdown: str) -> Comment:
    """The comment that a Markdown text becomes."""
    parser = MarkdownIt("gfm-like", {"html": True, "linkify": True})
    reader = _Reader()
    reader.feed(parser.render(markdown))
    reader.close()
    reader.read.tags += [(f"open {tag}", ()) for tag in reader.within]
    return reader.read
