"""Texts that somebody writes into a claim so that a reader, a terminal, a runner or GitHub takes them for more."""

from __future__ import annotations

import re

MARKDOWN = {
    "link": "[approved](http://evil.example)",
    "reference-link": "[approved][1]\n\n[1]: http://evil.example",
    "image": "![approved](http://evil.example/x.png)",
    "bold": "**approved** __approved__",
    "emphasis": "_approved_ *approved*",
    "strike": "~~approved~~",
    "tag": "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "comment": "<!-- approved",
    "end-of-comment": "--> approved",
    "end-of-details": "</code></summary></details><h1>approved</h1>",
    "end-of-sub": "</sub><a href='http://evil.example'>approved</a>",
    "entity": "&lt;b&gt; &#42;&#42;approved&#42;&#42; &commat;octocat",
    "mention": "@octocat (@octocat) '@octocat'",
    "team": "@org/team",
    "issue": "#1 (#2) GH-1 org/repo#1 org/repo@deadbeef",
    "address": "http://evil.example https://evil.example/x www.evil.example a@b.example xmpp:a@b.example",
    "autolink": "<http://evil.example> <a@b.example>",
    "commit": "deadbeef 'defaced' 0123456789abcdef0123456789abcdef01234567",
    "emoji": ":white_check_mark: :+1:",
    "math": "$x$ $`y`$ $$z$$",
    "code": "`a` ``b`` ``` `",
    "code-alone": "`",
    "blanks": "  two  ",
    "fence": "```\n# approved\n```",
    "long-fence": "``````\n# approved\n``````",
    "tilde-fence": "~~~\n# approved\n~~~",
    "table": "a | b \\| c \\\\| d",
    "heading": "\n\n# approved\n\n",
    "setext": "approved\n======",
    "list": "\n\n- approved\n\n1. approved",
    "rule": "\n\n---\n\n",
    "html-block": "\n\n<div>approved</div>\n\n",
    "footnote": "approved[^1]\n\n[^1]: approved",
    "alert": "\n\n> [!NOTE]\n> approved",
    "task": "- [x] approved",
    "backslash": "\\*\\*approved\\*\\* \\",
    "markup-of-rich": "[bold red]approved[/] [link=http://evil.example]approved[/link]",
}
TERMINAL = {
    "newline": "a\nerror: approved",
    "carriage-return": "a\rapproved",
    "both": "a\r\napproved",
    "tab": "a\tb",
    "clear-screen": "\x1b[2J\x1b[1;31mapproved",
    "cursor": "a\x1b[1A\x1b[2Kapproved",
    "hyperlink": "\x1b]8;;http://evil.example\x07approved\x1b]8;;\x07",
    "title": "\x1b]0;approved\x07",
    "c1": "\x9b31mapproved\x9d0;t\x9c",
    "bell-and-backspace": "a\x07\x08\x7fb",
    "null": "a\x00b",
    "vertical": "a\x0b\x0cb",
    "bidi": "\u202eapproved\u202c \u2066x\u2069 \u200e\u200f\u061c",
    "zero-width": "app\u200broved\u200c\u200d\u2060\ufeff\u00ad",
    "filler": "a\u3164\u115f\u1160\uffa0\u2800\u034fb",
    "variation": "a\ufe0fb\U000e0100",
    "tags": "a\U000e0041\U000e007f",
    "separators": "a\u2028approved\u2029approved\x85approved",
    "blanks-of-other-kinds": "a\xa0b\u3000c\u2003d",
    "private": "a\ue000\U000f0000b",
}
RUNNER = {
    "command": "::error file=x::approved",
    "indented-command": "   ::add-mask::approved",
    "command-on-the-second-line": "a\n::stop-commands::approved",
    "command-behind-a-tab": "a\n\t::stop-commands::approved",
    "command-where-a-line-breaks": " ".join(["::warning::approved"] * 40),
    "old-command": "##[error]approved",
    "old-command-within": "a ##[group]approved",
    "azure": "##vso[task.setvariable variable=x]approved",
    "teamcity": "##teamcity[buildStatus status='SUCCESS']",
    "escaped-newline": "%0A::error::approved%0D%0A##[error]approved",
}
ALL = {**MARKDOWN, **TERMINAL, **RUNNER}

COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
"""What a runner takes for a command."""


def hidden(text: str) -> set[str]:
    """The characters of a text that a reader does not see, but for line breaks."""
    blank = "\u3164\u115f\u1160\uffa0\u2800\u034f\ufe0f\U000e0100"
    return {c for c in text if (not c.isprintable() and c != "\n") or c in blank}


def forged(text: str) -> list[str]:
    """Lines that begin with the attacker's own words, as if they were the command's."""
    return [line for line in text.split("\n") if re.match(r"\s*(?:error: )?approved", line)]
