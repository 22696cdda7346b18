"""Durations as Go writes them: 90s, 1h30m0s, 1.5h."""

from __future__ import annotations

import re

_DURATION = re.compile(r"[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)")


def is_duration(text: str) -> bool:
    """Whether `time.ParseDuration` reads the text, but for its limits."""
    return _DURATION.fullmatch(text) is not None
