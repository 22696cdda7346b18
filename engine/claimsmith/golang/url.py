"""URLs read as Go's net/url does: what is one, and its parts."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, unquote_to_bytes

from claimsmith.base.errors import Problem, TransformError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r":[0-9]*")
_USER = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_HOST = re.compile(r"(?:[^\x00-\x7f]|[A-Za-z0-9._~!$&'()*+,;=:\[\]<>\"-]|%25|%[89A-Fa-f][0-9A-Fa-f])*")
_ZONE = re.compile(r"(?:[^\x00-\x7f]|[A-Za-z0-9._~!$&'()*+,;=:\[\]<>\"-]|%[0-9A-Fa-f]{2})*")
_PATH = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@\[\]/-]|%[0-9A-Fa-f]{2})*")
_PATH_SAFE: Final = "$&+,/:;=@~"
_USER_SAFE: Final = "$&+,;=~"
_HOST_SAFE: Final = "!$&'()*+,;=:[]<>\"~"
_FRAGMENT_SAFE: Final = "$&+,/:;=?@!()*~"


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL; the host is with its port."""

    scheme: str
    host: str
    path: str
    query_text: str
    user: str = ""
    opaque: str = ""

    @property
    def hostname(self) -> str:
        """The host without its port, and an IPv6 address without its brackets."""
        name = self._split()[0]
        return name[1:-1] if name.startswith("[") and name.endswith("]") else name

    @property
    def port(self) -> str:
        """The digits after the host; empty where there are none."""
        return self._split()[1]

    @property
    def escaped_path(self) -> str:
        """The path as it was written, or escaped where it was not."""
        if self.path == "*" or _PATH.fullmatch(self.path):
            return self.path
        return quote(unquote_to_bytes(self.path), safe=_PATH_SAFE)

    @property
    def query(self) -> dict[str, list[str]]:
        """The values of each parameter; a parameter that cannot be read is left out."""
        found: dict[str, list[str]] = {}
        for pair in self.query_text.split("&"):
            if not pair or ";" in pair or _ESCAPE.search(pair):
                continue
            key, _, value = pair.replace("+", " ").partition("=")
            found.setdefault(unquote(key), []).append(unquote(value))
        return found

    def _split(self) -> tuple[str, str]:
        name, colon, port = self.host.rpartition(":")
        return (name, port) if colon and _PORT.fullmatch(colon + port) else (self.host, "")


def parse_request(text: str) -> Url:
    """An absolute URL, or an absolute path; anything else is refused. What follows # is left out."""
    _parts(text)  # with what follows #, which is part of the path or the query to this check
    return _parts(text.partition("#")[0], relative=True)


def _parts(text: str, *, relative: bool = False) -> Url:
    """The parts; with `relative`, a host may stand without a scheme: `//host/path`."""
    if not text or _CONTROL.search(text):
        raise _unreadable(text, "it is empty, or has control characters")
    if text == "*":
        return Url("", "", "*", "")
    found = _SCHEME.fullmatch(text)
    if text.startswith(":"):
        raise _unreadable(text, "its scheme is missing")
    scheme, rest = (found[1].lower(), found[2]) if found else ("", text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if not scheme:
            raise _unreadable(text, "it is neither absolute nor an absolute path")
        return Url(scheme, "", "", query, opaque=rest)
    host = user = ""
    if rest.startswith("//") and (scheme or (relative and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        user, host, rest = authority.rpartition("@")[0], _host(text, scheme, authority), slash + path
    if _ESCAPE.search(rest):
        raise _unreadable(text, "its path has a % that is no escape")
    return Url(scheme, host, rest, query, user)


def _host(text: str, scheme: str, authority: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and (not _USER.fullmatch(user) or _ESCAPE.search(user)):
        raise _unreadable(text, "its user is invalid")
    if "[" in host:
        return _bracketed(text, host)
    _, colon, port = host.partition(":") if scheme in ("http", "https") else host.rpartition(":")
    if colon and not _PORT.fullmatch(colon + port):
        raise _unreadable(text, "its port is invalid")
    if not _HOST.fullmatch(host):
        raise _unreadable(text, "its host is invalid")
    return unquote(host)


def _bracketed(text: str, host: str) -> str:
    address, bracket, port = host.rpartition("]")
    if not host.startswith("[") or not bracket or (port and not _PORT.fullmatch(port)):
        raise _unreadable(text, "its address in brackets is invalid")
    name, percent, zone = address[1:].partition("%25")
    try:
        ipaddress.IPv6Address(name)
    except ValueError as error:
        raise _unreadable(text, "its address in brackets is invalid") from error
    if percent and (not zone or not _ZONE.fullmatch(zone)):
        raise _unreadable(text, "the zone of its address is invalid")
    return f"[{name}{'%' if percent else ''}{unquote(zone)}]{port}"


def _unreadable(text: str, why: str) -> TransformError:
    shown = text if len(text) <= 80 else text[:80] + "…"
    return TransformError(Problem(f"cannot read {shown!r} as a URL: {why}", fix="write it as https://host/path"))


def joined(scheme: str, host: str, path: str, query: str, opaque: str, fragment: str, user: str) -> str:
    """The URL of these parts, the path and the fragment not escaped yet."""
    text = f"{scheme}:" if scheme else ""
    if opaque:
        text += opaque
    else:
        if (scheme or host or user) and (host or path or user):
            text += "//"
        name, colon, password = user.partition(":")
        shown = _escaped(name, _USER_SAFE) + colon + _escaped(password, _USER_SAFE)
        text += f"{shown}@" * bool(user) + _escaped(host, _HOST_SAFE)
        escaped = _escaped(path, _PATH_SAFE)
        text += "/" * bool(host and escaped and not escaped.startswith("/"))
        text += "./" * (not text and ":" in escaped.partition("/")[0])
        text += escaped
    return text + (f"?{query}" if query else "") + (f"#{_escaped(fragment, _FRAGMENT_SAFE)}" if fragment else "")


def _escaped(text: str, safe: str) -> str:
    return quote(text, safe=safe)
