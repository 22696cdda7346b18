"""sprig's functions on regular expressions: RE2, as Go has them. Unlike sprig's, they refuse a bad pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from claimsmith.base import regexp
from claimsmith.golang import strconv
from claimsmith.templating import limits
from claimsmith.templating.functions.registry import Family
from claimsmith.templating.problems import refusal

FAMILY = Family("regular expressions")

MAX_PATTERN: Final = 1000
"""The longest pattern, in characters."""
MAX_SEARCHED: Final = 64 * 1024
"""The longest text that is searched, in characters."""

_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})")


def _cost(arguments: Any) -> int:
    """Patterns are compiled, and a large one goes through the text slowly."""
    return 64 * 50 + sum(map(limits.width, arguments)) * (16 + len(str(arguments[0])) // 8)


def _matches(pattern: str, text: str, count: int = -1) -> Iterator[Any]:
    """The matches that Go finds: none that is empty right after another one."""
    if len(pattern) > MAX_PATTERN or len(text) > MAX_SEARCHED:
        what = "a pattern or the text that it searches is too long"
        raise refusal(what, f"use at most {MAX_PATTERN} characters of pattern and {MAX_SEARCHED} of text")
    try:
        compiled = regexp.compiled(pattern)
    except regexp.BadPattern as error:
        raise refusal(f"the pattern {pattern!r} cannot be read: {error}", "fix the pattern (RE2)") from error
    end = -1
    for found in compiled.finditer(text):
        if count == 0:
            return
        if found.start() == found.end() == end:
            continue
        end = found.end()
        count -= 1
        yield found


def readable(pattern: str) -> bool:
    """Whether Go can read the pattern. One beyond a limit of ours counts: its use is refused, and is no mismatch."""
    try:
        return len(pattern) > MAX_PATTERN or regexp.compiled(pattern) is not None
    except regexp.BadPattern as error:
        return "too large" in str(error)


@FAMILY.add("regexMatch str str", cost=_cost)
def regex_match(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text."""
    return any(True for _ in _matches(pattern, strconv.scrubbed(text), 1))


@FAMILY.add("regexFind str str", cost=_cost)
def regex_find(pattern: str, text: str) -> str:
    """What the pattern finds first, else an empty text."""
    return next((str(found.group()) for found in _matches(pattern, strconv.scrubbed(text), 1)), "")


@FAMILY.add("regexFindAll str str int", cost=_cost)
def regex_find_all(pattern: str, text: str, count: int) -> list[str]:
    """What the pattern finds, at most so many times; a count below 0 is no limit."""
    return [found.group() for found in _matches(pattern, strconv.scrubbed(text), count)]


@FAMILY.add("regexReplaceAll str str str", cost=_cost)
def regex_replace_all(pattern: str, text: str, replacement: str) -> str:
    """The text with the replacement for each match; `$1` and `${name}` in it stand for what groups found."""
    return _replaced(pattern, text, replacement, literal=False)


@FAMILY.add("regexReplaceAllLiteral str str str", cost=_cost)
def regex_replace_all_literal(pattern: str, text: str, replacement: str) -> str:
    """The text with the replacement, as it is, for each match."""
    return _replaced(pattern, text, replacement, literal=True)


def _replaced(pattern: str, text: str, replacement: str, *, literal: bool) -> str:
    text = strconv.scrubbed(text)
    parts: list[str] = []
    end = written = 0
    for found in _matches(pattern, text):
        new = replacement if literal else _expanded(replacement, found)
        parts += [text[end : found.start()], new]
        end = found.end()
        written = limits.fits(written + len(new))
    return "".join([*parts, text[end:]])


def _expanded(replacement: str, found: Any) -> str:
    names = found.re.groupindex
    groups = (found.group(), *found.groups(default=""))
    limits.fits(len(replacement) + replacement.count("$") * len(groups[0]))

    def put(reference: re.Match[str]) -> str:
        name = reference[1] or reference[2]
        if not name:
            return "$"
        number = int(name[:9]) if name.isascii() and name.isdigit() else names.get(name, -1)
        return str(groups[number]) if 0 <= number < len(groups) else ""

    return _REFERENCE.sub(put, replacement)


@FAMILY.add("regexSplit str str int", cost=_cost)
def regex_split(pattern: str, text: str, count: int) -> list[str]:
    """The parts of the text between the matches, at most so many; a count below 0 is no limit."""
    text = strconv.scrubbed(text)
    if count == 0 or (pattern and not text):
        return [""] if count else []
    parts: list[str] = []
    begin = end = 0
    for found in _matches(pattern, text, count):
        if count > 0 and len(parts) == count - 1:
            break
        end = found.start()
        if found.end() != 0:
            parts.append(text[begin:end])
        begin = found.end()
    return [*parts, text[begin:]] if end != len(text) else parts
