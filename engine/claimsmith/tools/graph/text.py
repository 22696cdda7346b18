"""Texts in a picture: how wide they are about, how they are cut, and how they are written into XML."""

from __future__ import annotations

import unicodedata
from urllib.parse import urlsplit

from claimsmith.base import printable

_WIDTHS = dict.fromkeys("iljI'|.,:;!` ", 0.37) | dict.fromkeys("frt()[]/\\-", 0.48) | dict.fromkeys("mwMW@%—…", 1.03)
_UPPER, _OTHER, _MONO, _PLAIN = 0.77, 0.69, 0.61, 0.89
_SAFE_SCHEMES = ("", "http", "https", "mailto")


def width(text: str, size: float, *, mono: bool = False, bold: bool = False) -> float:
    """About how wide a text is, by the broadest of the fonts that readers have: nobody knows theirs."""
    ems = sum(_em(c, mono) for c in text)
    return ems * size * (1 if bold or mono else _PLAIN)


def shortened(text: str, size: float, room: float, *, mono: bool = False, bold: bool = False) -> str:
    """The text, or as much of its beginning and end as there is room for."""
    if width(text, size, mono=mono, bold=bold) <= room:
        return text
    for kept in range(len(text) - 1, 1, -1):
        tail = kept // 3
        cut = f"{text[: kept - tail]}…{text[len(text) - tail :]}"
        if width(cut, size, mono=mono, bold=bold) <= room:
            return cut
    return "…"


def escape(text: str) -> str:
    """A text for XML and HTML, in elements and in double-quoted attributes; what XML cannot hold is made visible."""
    return printable.html(text)


def safe_href(href: str | None) -> str | None:
    """The address where a click may lead there; None for one that would run something."""
    if not href:
        return None
    try:
        scheme = urlsplit(href.strip()).scheme
    except ValueError:
        return None
    plain = not any(ord(c) < 33 for c in href)
    return href if plain and scheme in _SAFE_SCHEMES else None


def number(value: float) -> str:
    """A coordinate: one digit behind the point, and none where it is whole."""
    return f"{value:.1f}".removesuffix(".0")


def _em(char: str, mono: bool) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 1.25 if mono else 1.05
    if unicodedata.combining(char):
        return 0
    if mono:
        return _MONO
    return _WIDTHS.get(char, _UPPER if char.isupper() else _OTHER)
