"""Documents as YAML text, quickly: what `yaml.dump` writes, byte for byte, but for what `printable` makes visible and
for texts that other readers take for numbers.

Most documents are objects, lists and short texts, and these are written here. A document with anything else in it (a
text of several lines, one long enough to be broken, a key that is no plain text) is written by `yaml.dump` itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import yaml

from claimsmith.base import printable
from claimsmith.base.values import mapped

WIDTH = 120
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@-]*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Texts that are written as they are, unless they are words for something else; uids among them."""
_WORDS = frozenset(
    spelt
    for word in ("yes", "no", "true", "false", "on", "off", "null")
    for spelt in (word, word.title(), word.upper())
)

_NUMBER = re.compile(r"[-+]?(?:0o[0-7_]+|\.?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?)")
"""What readers of YAML 1.2, of Go and of Ruby take for a number, and the library not always: it writes 1e5 and 08 as
they are. kubectl and GitLab would read another value than the text."""

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]  # the C class where there is one
    """Writes every value out: no anchors, so that each document reads alone."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class's signature
        return True


class _Blocks(_Dumper):
    """Writes texts of several lines as blocks."""


def _quoted(dumper: Any, text: str) -> Any:
    style = '"' if printable.needs_quotes(text) else "'" if _NUMBER.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _block(dumper: Any, text: str) -> Any:
    if printable.needs_quotes(text) or "\n" not in text:
        return _quoted(dumper, text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")


_Dumper.add_representer(str, _quoted)
_Blocks.add_representer(str, _block)

Shown = Callable[[Any], Any]


def _as_it_is(value: Any) -> Any:
    return value


class _Unusual(Exception):
    """Something that is not written here."""


def text_of(document: Mapping[str, Any], shown: Shown = _as_it_is) -> str:
    """One document as YAML, keys in their order. `shown` returns what to write for values that YAML does not have."""
    lines: list[str] = []
    try:
        _object(document, "", lines, shown)
    except _Unusual:
        return dumped(mapped(dict(document), shown))
    return "".join(lines) or "{}\n"


def dumped(document: Any, *, sort_keys: bool = False, blocks: bool = False) -> str:
    """One document as YAML, by the library; with `blocks`, texts of several lines are written line by line."""
    dumper = _Blocks if blocks else _Dumper
    text = str(yaml.dump(document, Dumper=dumper, sort_keys=sort_keys, width=WIDTH, allow_unicode=True))
    return printable.yaml_safe(text)


def _object(value: Mapping[str, Any], indent: str, lines: list[str], shown: Shown) -> None:
    """Write the lines of an object; the first begins where the caller left off."""
    begin = ""
    for key, item in value.items():
        head = f"{begin}{_key(key)}:"
        begin = indent
        kind = item.__class__
        if kind is dict and item:
            lines.append(f"{head}\n{indent}  ")
            _object(item, f"{indent}  ", lines, shown)
        elif kind is list and item:
            lines.append(f"{head}\n{indent}")
            _list(item, indent, lines, shown)
        else:
            lines.append(f"{head} {_leaf(item, len(head) + len(indent), shown)}\n")


def _list(value: list[Any], indent: str, lines: list[str], shown: Shown) -> None:
    """Write the lines of a list; the first begins where the caller left off."""
    begin = ""
    for item in value:
        kind = item.__class__
        if kind is dict and item:
            lines.append(f"{begin}- ")
            _object(item, f"{indent}  ", lines, shown)
        elif kind is list and item:
            lines.append(f"{begin}- ")
            _list(item, f"{indent}  ", lines, shown)
        else:
            lines.append(f"{begin}- {_leaf(item, len(indent) + 2, shown)}\n")
        begin = indent


def _leaf(value: Any, column: int, shown: Shown) -> str:
    kind = value.__class__
    if kind is str:
        if _PLAIN.fullmatch(value) and value not in _WORDS:
            return value  # type: ignore[no-any-return]
        text = _scalar(value)
    elif kind is bool:
        return "true" if value else "false"
    elif kind is int:
        return str(value)
    elif value is None:
        return "null"
    elif kind is dict and not value:
        return "{}"
    elif kind is list and not value:
        return "[]"
    elif (other := shown(value)) is not value:
        return _leaf(other, column, shown)
    else:
        raise _Unusual
    if column + len(text) >= WIDTH and (" " in text or text.startswith('"')):
        raise _Unusual
    return text


@lru_cache(maxsize=4096)
def _key(key: Any) -> str:
    """A key that stands on one line with what follows it."""
    line, *more = dumped({key: None}).splitlines() if isinstance(key, str) and len(key) < WIDTH else ("", "")
    if more or not line.endswith(": null"):
        raise _Unusual
    return line.removesuffix(": null")


@lru_cache(maxsize=65536)
def _scalar(value: str) -> str:
    """A text on one line, as the library writes it."""
    line, *more = dumped({"k": value}).removeprefix("k: ").splitlines()
    if more or line.startswith(("|", ">")):
        raise _Unusual
    return line
