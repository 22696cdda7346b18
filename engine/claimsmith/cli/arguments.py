"""Values of flags that are more than one word: KEY=VALUE pairs, and durations as Go writes them."""

from __future__ import annotations

import re

import typer

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")


def pairs(values: list[str] | None, flag: str) -> dict[str, str]:
    """The pairs of a flag, in the order in which they are written; a later one wins."""
    found: dict[str, str] = {}
    for text in values or ():
        key, sign, value = text.partition("=")
        if not key or not sign:
            raise typer.BadParameter(f"write KEY=VALUE, not {text!r}", param_hint=flag)
        found[key] = value
    return found


def seconds(text: str | None, flag: str) -> float | None:
    """The seconds of a duration such as 90s or 1m30s; None where there is none."""
    if text is None:
        return None
    if not text or _DURATION.sub("", text):
        raise typer.BadParameter(f"write a duration such as 90s or 1m30s, not {text!r}", param_hint=flag)
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text))
