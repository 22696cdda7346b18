"""sprig's functions on dates, for composition functions: all that can be computed without a clock.

What Go computes from the time of now is refused: a render must not differ from the one before it.
"""

from __future__ import annotations

import re
from typing import Any

from claimsmith.golang import dates, durations, inputs
from claimsmith.golang.dates import Moment
from claimsmith.golang.kinds import Int, Struct
from claimsmith.templating.functions.registry import Family, Function
from claimsmith.templating.problems import TemplateError, refusal

FAMILY = Family("dates")
_HTML = "2006-01-02"
_ROUNDED = (("y", 365 * 24), ("mo", 30 * 24), ("d", 24), ("h", 1))


class Time(Struct):
    """A point in time, with the fields and methods of Go's that templates use."""

    __slots__ = ("moment",)

    def __init__(self, moment: Moment) -> None:
        wall = moment.wall
        fields: dict[str, Any] = {
            "Year": Int(wall.year),
            "Day": Int(wall.day),
            "YearDay": Int(wall.timetuple().tm_yday),
            "Hour": Int(wall.hour),
            "Minute": Int(wall.minute),
            "Second": Int(wall.second),
            "Nanosecond": Int(moment.nanos),
            "Unix": moment.unix,
            "UnixMilli": moment.unix * 1000 + moment.nanos // 10**6,
            "IsZero": moment.unix == dates.ZERO.unix and not moment.nanos,
            "String": moment.text,
            "Format": Function("Format", FAMILY.name, ("str",), moment.format),
            "AddDate": Function("AddDate", FAMILY.name, ("int", "int", "int"), lambda *by: _dated(moment, *by)),
            "Before": Function("Before", FAMILY.name, ("any",), lambda other: _order(moment) < _order(_moment(other))),
            "After": Function("After", FAMILY.name, ("any",), lambda other: _order(moment) > _order(_moment(other))),
            "Equal": Function("Equal", FAMILY.name, ("any",), lambda other: _order(moment) == _order(_moment(other))),
        }
        super().__init__(fields, type_name="time.Time", text=moment.text, written=moment.rfc3339)
        self.moment = moment


def _order(moment: Moment) -> tuple[int, int]:
    return moment.unix, moment.nanos


def _dated(moment: Moment, *by: int) -> Time:
    try:
        return Time(moment.plus_dates(*by))
    except (ValueError, OverflowError):
        raise _too_far() from None


def _too_far() -> TemplateError:
    return refusal("the date is before the year 1 or after the year 9999", "stay within these years")


def _moment(value: Any) -> Moment:
    """A time that a function is given as such."""
    if isinstance(value, Time):
        return value.moment
    raise refusal(f"a time is needed, got {inputs.kind_of(value)}", "read the text with toDate first")


def _given(name: str, value: Any) -> Moment:
    """The time that a date function shows; Go takes the time of now for what is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return dates.of_unix(value)
        except OverflowError:
            raise _too_far() from None
    if isinstance(value, Time):
        return value.moment
    what = f"{name} shows the time of now for {inputs.kind_of(value)}, and a template has no clock"
    raise refusal(what, 'give it a time, as toDate reads it: toDate "2006-01-02" …, or seconds since 1970')


@FAMILY.add("toDate str str")
def to_date(layout: str, text: str) -> Time:
    """The time that the text is by the layout; the year 1 where it is none."""
    return Time(dates.parse(layout, text) or dates.ZERO)


@FAMILY.add("mustToDate str str")
def must_to_date(layout: str, text: str) -> Time:
    """The time that the text is by the layout."""
    found = dates.parse(layout, text)
    if found is None:
        raise refusal(f"{text!r} is no time by the layout {layout!r}", "write it by the layout")
    return Time(found)


@FAMILY.add("date str any")
def date(layout: str, value: Any) -> str:
    """A time, or seconds since 1970, by the layout."""
    return date_in_zone(layout, value, "UTC")


@FAMILY.add("dateInZone str any str")
@FAMILY.add("date_in_zone str any str")
def date_in_zone(layout: str, value: Any, zone: str) -> str:
    """The same in a time zone."""
    return _given("date", value).within(dates.zone(zone)).format(layout)


@FAMILY.add("htmlDate any")
def html_date(value: Any) -> str:
    """The day of a time."""
    return date_in_zone(_HTML, value, "UTC")


@FAMILY.add("htmlDateInZone any str")
def html_date_in_zone(value: Any, zone: str) -> str:
    """The same in a time zone."""
    return date_in_zone(_HTML, value, zone)


@FAMILY.add("dateModify str any")
@FAMILY.add("date_modify str any")
def date_modify(by: str, value: Any) -> Time:
    """The time so much later; the same time where that is no duration."""
    nanos = durations.parse(by)
    return _later(value, 0 if nanos is None else nanos)


@FAMILY.add("mustDateModify str any")
@FAMILY.add("must_date_modify str any")
def must_date_modify(by: str, value: Any) -> Time:
    """The time so much later."""
    nanos = durations.parse(by)
    if nanos is None:
        raise refusal(f"{by!r} is no duration", "write one such as 1h30m")
    return _later(value, nanos)


def _later(value: Any, nanos: int) -> Time:
    moment = _moment(value)
    try:
        return Time(moment.plus(nanos))
    except OverflowError:
        raise _too_far() from None


@FAMILY.add("unixEpoch any")
def unix_epoch(value: Any) -> str:
    """The seconds since 1970, as text."""
    return str(_moment(value).unix)


@FAMILY.add("duration any")
def duration(seconds: Any) -> str:
    """So many seconds as `1h0m5s`. As in sprig, a number of the template counts as 0: write it as text."""
    number = 0
    if isinstance(seconds, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", seconds):
        number = int(seconds)
    elif isinstance(seconds, int) and not isinstance(seconds, bool | Int):
        number = seconds
    nanos = (number * durations.NS["s"] + 2**63) % 2**64 - 2**63
    return durations.text_of(nanos)


@FAMILY.add("durationRound any")
def duration_round(value: Any) -> str:
    """A duration in its largest unit only."""
    if isinstance(value, Time):
        raise refusal("durationRound counts from now, and a template has no clock", "give it a duration: 2h10m")
    nanos = 0
    if isinstance(value, str):
        nanos = abs(durations.parse(value) or 0)
    elif isinstance(value, int) and not isinstance(value, bool | Int):
        nanos = abs(value)
    units = [
        *((name, hours * durations.NS["h"]) for name, hours in _ROUNDED),
        ("m", durations.NS["m"]),
        ("s", durations.NS["s"]),
    ]
    return next((f"{nanos // unit}{name}" for name, unit in units if nanos > unit), "0s")
