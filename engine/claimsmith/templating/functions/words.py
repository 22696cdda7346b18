"""sprig's functions that take words apart: `HTTPServer` is http and server. They follow github.com/huandu/xstrings."""

from __future__ import annotations

import unicodedata

from claimsmith.golang import inputs
from claimsmith.templating.functions.registry import Family, slow
from claimsmith.templating.functions.strings import SPACES

FAMILY = Family("case")


@FAMILY.add("snakecase str", cost=slow)
def snakecase(text: str) -> str:
    """The words in lower case, joined by `_`."""
    return _lower_case(text, "_")


@FAMILY.add("kebabcase str", cost=slow)
def kebabcase(text: str) -> str:
    """The words in lower case, joined by `-`."""
    return _lower_case(text, "-")


@FAMILY.add("initials str", cost=slow)
def initials(text: str) -> str:
    """The first letters of the words."""
    pairs = zip(" " + text, text, strict=False)
    return "".join(char for before, char in pairs if before in SPACES and char not in SPACES)


@FAMILY.add("camelcase str", cost=slow)
def camelcase(text: str) -> str:
    """The words joined, each with its first letter in upper case."""
    start = next((i for i, char in enumerate(text) if not _connects(char)), len(text))
    if start == len(text):
        return text + text[-1:] * bool(text)  # a slip of xstrings': the last connector comes twice
    out = [text[:start]]
    before, was_upper = inputs.upper(text[start]), _is_upper(text[start])
    for char in text[start + 1 :]:
        if _connects(char) and _connects(before):
            out.append(before)
            continue
        if _connects(before):
            was_upper = _is_upper(char)
            char = inputs.upper(char)
        else:
            was_upper, char = was_upper and _is_upper(char), _lower(char) if was_upper else char
            out.append(before)
        before = char
    return "".join([*out, before])


def _lower_case(text: str, connector: str) -> str:
    """A port of camelCaseToLowerCase: numbers go with the word before them, unless letters follow."""
    words = _words(text)
    out: list[str] = []
    position = 0

    def kind(at: int) -> str:
        return words[at][0] if at < len(words) else ""

    def put(at: int) -> None:
        out.append(_written(*words[at], connector))

    def join_before(at: int) -> None:
        if kind(at) not in ("", "punctuation", "connector"):
            out.append(connector)

    def put_rest(at: int) -> int:
        while kind(at) in ("letters", "number"):
            put(at)
            at += 1
        join_before(at)
        return at

    while position < len(words) - 1:
        current = kind(position)
        put(position)
        position += 1
        if current == "number":
            position = put_rest(position)
        elif current in ("connector", "punctuation"):
            pass
        elif kind(position) != "number":
            join_before(position)
        elif position < len(words) - 1:
            number = position
            position += 1
            if kind(position) == "letters":
                out.append(connector)
                put(number)
                position = put_rest(position)
            else:
                put(number)
                join_before(position)
    if position < len(words):
        put(position)
    return "".join(out)


def _words(text: str) -> list[tuple[str, str]]:
    """The text in runs of one kind; an upper case letter starts a word, and ends a run of them before lower case."""
    words: list[tuple[str, str]] = []
    start = 0
    while start < len(text):
        kind = _kind(text[start])
        end = start + 1
        if kind == "upper" and end < len(text) and _kind(text[end]) == "upper":
            while end < len(text) and _kind(text[end]) == "upper":
                end += 1
            end -= end < len(text) and _kind(text[end]) == "letters"
        else:
            follows = "letters" if kind == "upper" else kind
            while end < len(text) and _kind(text[end]) == follows:
                end += 1
        words.append((kind, text[start:end]))
        start = end
    return words


def _kind(char: str) -> str:
    category = unicodedata.category(char)
    if _connects(char):
        return "connector"
    if category[0] == "P":
        return "punctuation"
    if category == "Lu":
        return "upper"
    if category[0] == "L" and char < "\u3400":  # not the scripts that write no spaces
        return "letters"
    return "number" if category[0] == "N" else "other"


def _written(kind: str, word: str, connector: str) -> str:
    if kind == "connector":
        return connector * len(word)
    return "".join(map(_lower, word)) if kind == "upper" else word


def _connects(char: str) -> bool:
    return char in "-_" or char in SPACES


def _is_upper(char: str) -> bool:
    return unicodedata.category(char) == "Lu"


def _lower(char: str) -> str:
    return char.lower()[0]
