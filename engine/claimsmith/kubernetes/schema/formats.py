"""The formats of texts that an API server looks at, as leniently as it does; any other format has no rule."""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Final

from claimsmith.golang import durations

_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")
_PART = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)")
_UNIT = re.compile(
    r"ns|nano(second)?s?|us|µs|micro(second)?s?|ms|milli(second)?s?|s|sec(ond)?s?|m|min(ute)?s?|h|hrs?|hours?|d|days?|w|wks?|weeks?",
    re.IGNORECASE,
)
_IPV4 = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_URI = re.compile(r"(/|[A-Za-z][A-Za-z0-9+.-]*:)[^\x00-\x1f\x7f]*")


def fits(text: str, form: str) -> bool:
    """Whether a text is of a format; yes where the format is not one that is looked at."""
    test = _TESTS.get(form)
    return test is None or test(text)


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def _is_date_time(text: str) -> bool:
    day, _, time = text.lower().partition("t")
    clock = _TIME.fullmatch(time)
    return _is_date(day) and clock is not None and clock[1] <= "23" and clock[2] <= "59" and clock[3] <= "59"


def _is_duration(text: str) -> bool:
    if durations.parse(text) is not None:
        return True
    parts = _PART.findall(text)
    return bool(parts) and all(_UNIT.fullmatch(unit) for _, unit in parts)


def _is_ipv4(text: str) -> bool:
    # Leading zeros are taken, as Kubernetes does.
    return bool(_IPV4.fullmatch(text)) and all(int(part) < 256 for part in text.split("."))


def _is_ipv6(text: str) -> bool:
    try:
        return "%" not in text and bool(ipaddress.IPv6Address(text))
    except ValueError:
        return False


def _is_cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    most = 32 if _is_ipv4(address) else 128 if _is_ipv6(address) else -1
    return bool(slash) and bits.isascii() and bits.isdecimal() and int(bits) <= most


_TESTS: Final[Mapping[str, Callable[[str], bool]]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "duration": _is_duration,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "cidr": _is_cidr,
    "byte": lambda text: bool(_BASE64.fullmatch(text)),
    "uuid": lambda text: bool(_UUID.fullmatch(text)),
    "uri": lambda text: bool(_URI.fullmatch(text)),
}
