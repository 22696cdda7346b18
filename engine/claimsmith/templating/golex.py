"""A Go template's text in, its tokens out. Spaces inside an action are tokens too: `$x .y` is not `$x.y`."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from claimsmith.golang import strconv
from claimsmith.templating.problems import Place, TemplateError, refusal

KEYWORDS = frozenset(["if", "else", "end", "range", "with", "break", "continue", "define", "template", "block"])

_SPACES = " \t\r\n"
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<declare>:=)|(?P<assign>=)|(?P<pipe>\|)|(?P<comma>,)|(?P<left>\()|(?P<right>\))
    |(?P<string>"(?:\\[^\n]|[^"\\\n])*")|(?P<raw>`[^`]*`)|(?P<char>'(?:\\[^\n]|[^'\\\n])*')
    |(?P<number>[+-]?(?:\.[0-9]|[0-9])(?:[eE][+-]|[pP][+-]|[\w.])*)
    |(?P<variable>\$\w*)|(?P<field>\.\w+)|(?P<dot>\.)|(?P<word>\w+)""",
    re.VERBOSE,
)
_NAMED = frozenset({"variable", "field", "word"})
_AFTER_NAME = frozenset(" \t\r\n.,|:)(")
_FLOAT_MARK = re.compile(r"^[+-]?(?!0[xX][^pP]*$).*[.eEpP]")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|[abfnrtv\\'\"])|\\")
_ESCAPED = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
}


@dataclass(frozen=True, slots=True)
class Token:
    """A kind, what was written, and its offset. The kinds are those of the expression above, and text, open, close."""

    kind: str
    text: str
    pos: int


DELIMITERS = ("{{", "}}")


def tokens(place: Place, delimiters: tuple[str, str] = DELIMITERS) -> list[Token]:
    """The tokens of a template, with trimmed text and without comments; the last is of kind `end`."""
    return [*_scan(place, *delimiters), Token("end", "", len(place.text))]


def _scan(place: Place, left: str, right: str) -> Iterator[Token]:
    text, pos, trimmed = place.text, 0, False
    while pos < len(text):
        start = text.find(left, pos)
        end = len(text) if start < 0 else start
        after = end + len(left)
        trims_left = text[after : after + 1] == "-" and text[after + 1 : after + 2] in tuple(_SPACES)
        plain = text[pos:end].lstrip(_SPACES) if trimmed else text[pos:end]
        begin = end - len(plain)
        plain = plain.rstrip(_SPACES) if trims_left else plain
        if plain:
            yield Token("text", plain, begin)
        if start < 0:
            return
        inside = after + (2 if trims_left else 0)
        if text.startswith("/*", inside):
            pos, trimmed = _comment(place, start, inside, right)
        else:
            yield Token("open", left, start)
            pos = yield from _action(place, start, inside, right)
            closing = pos - len(right)
            trimmed = text[closing - 1 : closing] == "-" and text[closing - 2 : closing - 1] in tuple(_SPACES)
            yield Token("close", right, closing)


def _comment(place: Place, start: int, inside: int, right: str) -> tuple[int, bool]:
    """Where a comment ends, and whether the space after it goes."""
    end = place.text.find("*/", inside + 2)
    if end < 0:
        raise refusal("a comment is not closed", "end it with */}}", place.at(start))
    closed = re.compile(rf"([ \t\r\n]-)?{re.escape(right)}").match(place.text, end + 2)
    if not closed:
        raise refusal("a comment must be alone in its action", "write {{/* … */}}", place.at(start))
    return closed.end(), closed[1] is not None


def _action(place: Place, start: int, pos: int, right: str) -> Generator[Token, None, int]:
    """The tokens between the delimiters; returns the offset after the closing one."""
    text = place.text
    while True:
        if text.startswith(right, pos):
            return pos + len(right)
        if text.startswith(f"-{right}", pos) and text[pos - 1] in _SPACES:
            return pos + 1 + len(right)
        if pos >= len(text):
            raise refusal("an action is not closed", f"end it with {right}", place.at(start))
        found = _TOKEN.match(text, pos)
        if not found or not found.lastgroup:
            raise _unexpected(place, pos)
        if found.lastgroup in _NAMED and not _ends(text, found.end(), right):
            raise _unexpected(place, found.end())
        yield Token(found.lastgroup, found.group(), pos)
        pos = found.end()


def _ends(text: str, pos: int, right: str) -> bool:
    return pos >= len(text) or text[pos] in _AFTER_NAME or text.startswith(right, pos)


def _unexpected(place: Place, pos: int) -> TemplateError:
    char = place.text[pos : pos + 1]
    if char in ('"', "`", "'"):
        return refusal(f"the text that starts with {char} is not closed", f"end it with {char}", place.at(pos))
    fix = "remove it, or quote the text that it is part of"
    return refusal(f"unexpected character {char!r} in an action", fix, place.at(pos))


# Literals


def number(text: str) -> int | float:
    """The number that a literal stands for, by Go's rules: 0x1F, 0b1, 0o7, 017 and 1_000 are integers."""
    if _FLOAT_MARK.match(text):
        return strconv.parse_float(text)
    value = integer(text)
    if value is None or value not in strconv.INT64:
        shown = text if len(text) <= 80 else f"{text[:80]}…"
        raise refusal(f"{shown!r} is not a number that fits 64 bits", "write it as a quoted text")
    return value


def integer(text: str) -> int | None:
    """The integer in the base that its prefix says, if it is one: what Go's ParseInt does with base 0."""
    octal = re.fullmatch(r"([+-]?)0_?([0-7][0-7_]*)", text)
    try:
        return (
            int(f"{octal[1]}0o{octal[2]}", 0)
            if octal
            else int(text, 0)
            if text.isascii() and text.strip() == text
            else None
        )
    except ValueError:
        return None


def unquoted(text: str) -> str:
    """The content of a quoted literal."""
    data = bytearray()
    pos = 1
    for found in _ESCAPE.finditer(text, 1, len(text) - 1):
        data += strconv.scrubbed(text[pos : found.start()]).encode()
        data += _escaped(found[1] or "", text[0])
        pos = found.end()
    data += strconv.scrubbed(text[pos:-1]).encode()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise refusal(f"the literal {text} is not valid UTF-8", r"write characters, or \u and four digits") from error


def _escaped(code: str, mark: str) -> bytes:
    other_mark = {'"': "'", "'": '"'}[mark]
    if code and code[0] == "x":
        return bytes([int(code[1:], 16)])
    if code and code[0] in "uU" and int(code[1:], 16) <= 0x10FFFF and not 0xD800 <= int(code[1:], 16) <= 0xDFFF:
        return chr(int(code[1:], 16)).encode()
    if code.isdigit() and int(code, 8) <= 255:
        return bytes([int(code, 8)])
    if code in _ESCAPED and code != other_mark:
        return _ESCAPED[code].encode()
    raise refusal(f"unknown escape \\{code} in a literal", "double the backslash, or use a `raw` text")


def character(text: str) -> int:
    """The number of the one character between single quotes."""
    value = unquoted(text)
    if len(value) != 1:
        raise refusal(f"{text} is not one character", 'write a text in double quotes: "…"')
    return ord(value)
