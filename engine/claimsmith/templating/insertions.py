"""What a template prints of the data stays in its place: a value never becomes part of the document around it.

A template is text, and so is what it makes: a claim whose region is "eu", a line end and `deletionPolicy: Orphan` would
add a field to the resource. So every text that is printed is marked, and where YAML has another opinion of where it
begins and ends, the output is refused. `toYaml` and `toJson` write whole values, which need no mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from claimsmith.base.errors import Source
from claimsmith.templating.problems import refusal

# Halves of surrogate pairs: no document can hold them.
_OPEN, _CLOSE, _OWN = "\udce0", "\udce1", "\udce2"
_DIGITS = "\udcf0\udcf1\udcf2\udcf3\udcf4\udcf5\udcf6\udcf7\udcf8\udcf9"
_ANY = f"[{_OPEN}{_CLOSE}{_OWN}{_DIGITS}]"
_MARKED = re.compile(f"{_OPEN}({_OWN}?)([{_DIGITS}]*)([^{_ANY[1:-1]}]*){_CLOSE}")
_SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of pairs: they have no bytes for a parser to read."""
_MARKS = re.compile(_ANY)
_HARMLESS = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_./+@ -]*[A-Za-z0-9])?")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Written(str):
    """A text that is YAML by itself, however it is indented."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Inserted:
    """Where a printed text is in the output."""

    start: int
    end: int
    number: int | None = field(default=None, compare=False)
    """The number that it was given, to find it again."""
    own: bool = field(default=False, compare=False)
    """Whether it is a text of the template, which is followed but may be anything."""


@dataclass(frozen=True, slots=True)
class _Node:
    start: int
    end: int
    style: str
    scalar: bool
    decorated: bool


def marked(text: str) -> str:
    """The text with marks around it, as it is printed."""
    if isinstance(text, Written):
        return text
    return f"{_OPEN}{_MARKS.sub('?', text)}{_CLOSE}"


def numbered(text: str, number: int) -> str:
    """A printed text with a number in its mark, or in a new one; unchanged if only parts of it are marked."""
    digits = "".join(_DIGITS[int(digit)] for digit in str(number))
    if not _MARKS.search(text):
        return f"{_OPEN}{_OWN}{digits}{text}{_CLOSE}"
    whole = _MARKED.fullmatch(text)
    return f"{_OPEN}{whole[1]}{digits}{whole[3]}{_CLOSE}" if whole else text


def without_marks(text: str) -> str:
    """A text that nobody marked; what looks like a mark in it is none."""
    return _MARKS.sub("?", text) if _MARKS.search(text) else text


def unmarked(text: str) -> tuple[str, list[Inserted]]:
    """The output without marks, and where they were."""
    parts: list[str] = []
    found: list[Inserted] = []
    length = last = 0
    for match in _MARKED.finditer(text):
        own, digits, inner = match.groups()
        parts += [text[last : match.start()], inner]
        length += match.start() - last
        number = int("".join(str(_DIGITS.index(digit)) for digit in digits)) if digits else None
        found.append(Inserted(length, length + len(inner), number, bool(own)))
        length += len(inner)
        last = match.end()
    return "".join([*parts, text[last:]]), found


def places_of_marks(text: str) -> list[int]:
    """Where the marks are in an output."""
    return [match.start() for match in _MARKS.finditer(text)]


def refuse_strays(text: str, inserted: list[Inserted], file: str) -> None:
    """Refuse an output in which a printed text is more than a value."""
    doubtful = [i for i in inserted if not i.own and not _HARMLESS.fullmatch(text, i.start, i.end)]
    if not doubtful:
        return
    try:
        nodes = list(_nodes(_SURROGATES.sub("?", text)))
    except yaml.YAMLError:
        return  # it is no document at all, which its reader reports
    for place in doubtful:
        if not _in_comment(text, place) and not any(_holds(node, text, _trimmed(text, place)) for node in nodes):
            shown = text[place.start : place.end]
            shown = shown if len(shown) <= 60 else f"{shown[:60]}…"
            where = Source(file, text.count("\n", 0, place.start) + 1)
            what = f"the value {shown!r} would be more than a value in the template's output"
            raise refusal(what, "let the template write it with toJson (jinja2: tojson), or change the value", where)


def _nodes(text: str) -> Iterator[_Node]:
    """Every scalar and collection of the output, by its place."""
    opened: list[tuple[int, bool]] = []
    for event in yaml.parse(text, Loader=_Loader):
        match event:
            case yaml.ScalarEvent():
                decorated = bool(event.anchor or event.tag)
                yield _Node(_index(event.start_mark), _index(event.end_mark), event.style or "", True, decorated)
            case yaml.CollectionStartEvent():
                opened.append((_index(event.start_mark), bool(event.flow_style)))
            case yaml.CollectionEndEvent():
                start, flow = opened.pop()
                if flow and text[start] in "[{":  # `a: b` in a list is an object too, but no value by itself
                    yield _Node(start, _index(event.end_mark), "", scalar=False, decorated=False)


def _index(mark: Any) -> int:
    return int(mark.index)


def _holds(node: _Node, text: str, place: Inserted) -> bool:
    """Whether the text is the whole node, or part of a scalar that neither begins nor ends because of it."""
    if place.start == place.end:
        return True
    if not node.scalar or node.style in ('"', "'"):
        if (node.start, node.end) == (place.start, place.end):
            return True
        closing = {'"': ('"', "\\"), "'": ("'",)}.get(node.style)
        value = text[place.start : place.end]
        return (
            closing is not None
            and node.start < place.start
            and place.end < node.end
            and closing[0] not in value
            and not value.endswith(closing[-1])
        )
    if not node.style and text[node.start : node.end] == "<<":
        return False  # as a key, it would merge the value into the object around it
    begun_here = place.start <= node.start
    within = node.start <= place.start and place.end <= node.end
    if begun_here and node.style in ("|", ">"):
        # As toYaml writes a text of several lines; other blocks would take in what the template writes below them.
        return within and "\n" in text[place.start : place.end] and not text[place.end : node.end].strip()
    return within and not (begun_here and node.decorated)


def _trimmed(text: str, place: Inserted) -> Inserted:
    value = text[place.start : place.end]
    start = place.start + len(value) - len(value.lstrip(" \t"))
    return Inserted(start, max(start, place.start + len(value.rstrip(" \t"))))


def _in_comment(text: str, place: Inserted) -> bool:
    line = text[text.rfind("\n", 0, place.start) + 1 : place.start]
    return line.lstrip().startswith("#") and "\n" not in text[place.start : place.end]
