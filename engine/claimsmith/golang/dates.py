"""Points in time and durations, read and written by Go's layouts: `2006-01-02T15:04:05Z07:00`.

No clock is read, and the local zone is UTC, as it is in the image of a composition function.
"""

from __future__ import annotations

import re
import zoneinfo
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final

_TOKEN = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|__2|_2(?!006)|2|3|4|5|PM|pm|"
    r"[-Z]070000|[-Z]07:00:00|[-Z]0700|[-Z]07:00|[-Z]07|[.,](?:0+|9+)(?![0-9])"
)
"""What stands for a part of the time in a layout, the longest first."""
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ZONE_NAME = r"(?:UTC|ChST|MeST|GMT(?:[+-][0-9]{1,2}+)?|(?:WITA|[A-Z]{4}T|[A-Z]{3}T|[A-Z]{3})(?![A-Z]))"
_ONE_OR_TWO = "[0-9]{1,2}+"
_FRACTION = "(?:[.,][0-9]+)?"
_NANOS: Final = 10**9
_STRING: Final = "2006-01-02 15:04:05.999999999 -0700 MST"
RFC3339: Final = "2006-01-02T15:04:05.999999999Z07:00"


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, in a zone: whole seconds, and the nanoseconds after them."""

    wall: datetime
    nanos: int = 0

    @property
    def unix(self) -> int:
        """The seconds since 1970."""
        return (self.wall - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)

    @property
    def text(self) -> str:
        """The time as Go prints it."""
        return self.format(_STRING)

    @property
    def rfc3339(self) -> str:
        """The time as JSON has it."""
        return self.format(RFC3339)

    def plus(self, nanos: int) -> Moment:
        """The time so much later."""
        seconds, rest = divmod(self.nanos + nanos, _NANOS)
        moved = self.wall.astimezone(UTC) + timedelta(seconds=seconds)
        return Moment(moved.astimezone(self.wall.tzinfo), rest)

    def plus_dates(self, years: int, months: int, days: int) -> Moment:
        """The time so many years, months and days later; the 31st of a shorter month is in the next one."""
        count = self.wall.year * 12 + self.wall.month - 1 + years * 12 + months
        first = self.wall.replace(year=count // 12, month=count % 12 + 1, day=1)
        return replace(self, wall=first + timedelta(days=self.wall.day - 1 + days))

    def within(self, zone: tzinfo) -> Moment:
        """The same time in a zone."""
        return replace(self, wall=self.wall.astimezone(zone))

    def format(self, layout: str) -> str:
        """The time by a layout."""
        return _TOKEN.sub(lambda token: self._part(token.group()), layout)

    def _part(self, token: str) -> str:
        if token[0] in "-Z" and token != "Z":
            return _offset(self.wall, token)
        if token[0] in ".,":
            return _fraction(self.nanos, token)
        return _written(self.wall, token)


ZERO: Final = Moment(datetime(1, 1, 1, tzinfo=UTC))
"""Go's zero time."""


def of_unix(seconds: int) -> Moment:
    """The time so many seconds after 1970."""
    return Moment(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))


def zone(name: str) -> tzinfo:
    """The time zone of that name; UTC where there is none, as sprig has it."""
    if name in ("", "UTC", "Local"):
        return UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return UTC


def _written(wall: datetime, token: str) -> str:
    hour = wall.hour % 12 or 12
    parts = {
        "2006": f"{wall.year:04}",
        "06": f"{wall.year % 100:02}",
        "January": _MONTHS[wall.month - 1],
        "Jan": _MONTHS[wall.month - 1][:3],
        "01": f"{wall.month:02}",
        "1": str(wall.month),
        "Monday": _DAYS[wall.weekday()],
        "Mon": _DAYS[wall.weekday()][:3],
        "02": f"{wall.day:02}",
        "_2": f"{wall.day:2}",
        "2": str(wall.day),
        "002": f"{wall.timetuple().tm_yday:03}",
        "__2": f"{wall.timetuple().tm_yday:3}",
        "15": f"{wall.hour:02}",
        "03": f"{hour:02}",
        "3": str(hour),
        "04": f"{wall.minute:02}",
        "4": str(wall.minute),
        "05": f"{wall.second:02}",
        "5": str(wall.second),
        "PM": "PM" if wall.hour >= 12 else "AM",
        "pm": "pm" if wall.hour >= 12 else "am",
        "MST": wall.tzname() or "UTC",
    }
    return parts[token]


def _offset(wall: datetime, token: str) -> str:
    seconds = int((wall.utcoffset() or timedelta()).total_seconds())
    if token[0] == "Z" and seconds == 0:
        return "Z"
    hours, rest = divmod(abs(seconds), 3600)
    parts = [f"{hours:02}", f"{rest // 60:02}", f"{rest % 60:02}"]
    kept = parts[: len(token.replace(":", "")) // 2]
    return ("-" if seconds < 0 else "+") + (":" if ":" in token else "").join(kept)


def _fraction(nanos: int, token: str) -> str:
    digits = f"{nanos:09}"[: len(token) - 1].ljust(len(token) - 1, "0")
    if token[1] == "0":
        return token[0] + digits
    kept = digits.rstrip("0")
    return token[0] + kept if kept else ""


# Reading


def parse(layout: str, text: str) -> Moment | None:
    """The time that a text has by a layout, None where it does not fit."""
    pattern, tokens = _compiled(layout)
    found = pattern.fullmatch(text)
    if not found:
        return None
    try:
        return _read(dict(zip(tokens, found.groups(), strict=True)))
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=256)
def _compiled(layout: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    tokens = [*_TOKEN.finditer(layout)]
    parts, end = [], 0
    for index, token in enumerate(tokens):
        following = tokens[index + 1].group() if index + 1 < len(tokens) else ""
        parts += [_literal(layout[end : token.start()]), f"({_pattern(token.group(), following)})"]
        end = token.end()
    return re.compile("".join([*parts, _literal(layout[end:])])), tuple(token.group() for token in tokens)


def _literal(text: str) -> str:
    """Text of a layout; a space of it stands for any number of them."""
    return re.sub(r"(?:\\ )+", "(?: +|$)", re.escape(text))


def _pattern(token: str, following: str) -> str:
    match token:
        case "2006":
            return "[0-9]{4}"
        case "January" | "Jan" | "Monday" | "Mon":
            names = _MONTHS if token.startswith("J") else _DAYS
            return f"(?i:{'|'.join(name[: None if len(token) > 3 else 3] for name in names)})"
        case "_2":
            return f" ?{_ONE_OR_TWO}"
        case "002" | "__2":
            return "[0-9]{3}" if token == "002" else " {0,2}+[0-9]{1,3}+"
        case "05" | "5":
            number = "[0-9]{2}" if token == "05" else _ONE_OR_TWO
            return number + ("" if following[:1] in (".", ",") else _FRACTION)
        case "PM" | "pm":
            return "AM|PM" if token == "PM" else "am|pm"
        case "MST":
            return _ZONE_NAME
    if token[0] in ".,":
        return _FRACTION if token[1] == "9" else f"[.,][0-9]{{{len(token) - 1}}}"
    if token[0] in "-Z":
        digits = re.sub("[0-9]{2}", "[0-9]{2}", token[1:])
        return f"Z|[+-]{digits}" if token[0] == "Z" else f"[+-]{digits}"
    return "[0-9]{2}" if len(token) == 2 and token != "15" else _ONE_OR_TWO


def _read(parts: dict[str, str]) -> Moment | None:
    def number(*names: str, otherwise: int) -> int:
        return next((int(re.split("[.,]", parts[name])[0]) for name in names if name in parts), otherwise)

    short = number("06", otherwise=-1)
    year = number("2006", otherwise=short + (1900 if short >= 69 else 2000) if short >= 0 else 0)
    month = number("01", "1", otherwise=_month(parts))
    hour = number("15", "03", "3", otherwise=0)
    if not {"15"} & parts.keys() and hour > 12:
        return None
    half = parts.get("PM", parts.get("pm", "")).upper()
    hour = hour + 12 if half == "PM" and hour < 12 else 0 if half == "AM" and hour == 12 else hour
    wall = datetime(
        year,
        month,
        number("02", "_2", "2", otherwise=1),
        hour,
        number("04", "4", otherwise=0),
        number("05", "5", otherwise=0),
        tzinfo=_zone(parts),
    )
    day = number("002", "__2", otherwise=0)
    if day:
        wall = wall.replace(month=1, day=1) + timedelta(days=day - 1)
    return Moment(wall, _nanos(parts)) if wall.year == year else None


def _month(parts: dict[str, str]) -> int:
    name = parts.get("January", parts.get("Jan", "Jan"))[:3].title()
    return next(index for index, month in enumerate(_MONTHS, 1) if month.startswith(name))


def _nanos(parts: dict[str, str]) -> int:
    fractions = (text for token, text in parts.items() if token[0] in ".," or token in ("05", "5"))
    digits = next((re.split("[.,]", text)[1] for text in fractions if re.search("[.,]", text)), "")
    return int(digits[:9].ljust(9, "0")) if digits else 0


def _zone(parts: dict[str, str]) -> tzinfo:
    written = next((text for token, text in parts.items() if token[0] in "-Z"), None)
    name = parts.get("MST", "")
    if written is None:
        offset = timedelta(hours=int(name[3:] or 0)) if name.startswith("GMT") else timedelta()
        return timezone(offset, name) if name not in ("", "UTC") else UTC
    if written == "Z":
        return UTC
    hours, minutes, seconds = [*(int(part) for part in re.findall("[0-9]{2}", written)), 0, 0][:3]
    if hours > 24 or minutes > 60 or seconds > 60:
        raise ValueError(written)
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if not offset:
        return UTC
    shown = f"{written[0]}{hours:02}{minutes:02}"
    return timezone(-offset if written[0] == "-" else offset, name or shown)
