"""Durations as Go reads and writes them: 90s, 1h30m0s, 1.5h."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NANOS: Final = 10**9
NS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _NANOS,
    "m": 60 * _NANOS,
    "h": 3600 * _NANOS,
}
"""The units of a duration, in nanoseconds."""
_DURATION = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_PART = re.compile(r"([0-9]*)\.?([0-9]*)(ns|us|µs|μs|ms|s|m|h)")


def parse(text: str) -> int | None:
    """The nanoseconds of a duration such as `1h30m`; None where it is none."""
    if not _DURATION.fullmatch(text):
        return None
    nanos = sum(_nanos_of(*part.groups()) for part in _PART.finditer(text))
    return (-nanos if text[0] == "-" else nanos) if nanos < 2**63 else None


def _nanos_of(whole: str, fraction: str, unit: str) -> int:
    digits = fraction[:18]
    return int(whole[:20] or "0") * NS[unit] + (int(digits) * NS[unit] // 10 ** len(digits) if digits else 0)


def text_of(nanos: int) -> str:
    """A duration as Go prints it: `1h0m5.5s`."""
    if nanos == 0:
        return "0s"
    return ("-" if nanos < 0 else "") + "".join(_duration_parts(abs(nanos)))


def _duration_parts(nanos: int) -> Iterator[str]:
    if nanos < _NANOS:
        unit = "ns" if nanos < 10**3 else "µs" if nanos < 10**6 else "ms"
        yield f"{_decimal(nanos, NS[unit])}{unit}"
        return
    minutes, rest = divmod(nanos, NS["m"])
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        yield f"{hours}h"
    if minutes:
        yield f"{minutes_left}m"
    yield f"{_decimal(rest, _NANOS)}s"


def _decimal(number: int, unit: int) -> str:
    whole, rest = divmod(number, unit)
    fraction = f"{rest:0{len(str(unit)) - 1}}".rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)
