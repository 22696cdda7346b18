"""The connection details of a claim as text: for a shell, as JSON or YAML, or as one URI. Pure.

What is written here is secret. Whoever asks for it decides where it goes; no error quotes a value.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from claimsmith.base.errors import ConnectionError_, Problem
from claimsmith.base.yaml_text import dumped

Details = Mapping[str, str]

_WHOLE = ("uri", "url", "connectionString")
"""Details that are a URI already."""
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "scheme": ("scheme", "protocol", "engine"),
    "host": ("host", "hostname", "endpoint", "address"),
    "port": ("port",),
    "username": ("username", "user"),
    "password": ("password",),
    "database": ("database", "dbname", "db"),
}
"""The parts of a URI, and the details that they may be called."""
_SCHEMES: Final = {"postgres": "postgresql", "mariadb": "mysql", "rediss": "rediss", "valkey": "redis"}
_PORTS: Final = {"5432": "postgresql", "3306": "mysql", "6379": "redis"}
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {"redis": ("host",), "rediss": ("host",)}
_USUAL = ("host", "username", "password", "database")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_RESERVED = re.compile(r"PATH|HOME|IFS|ENV|SHELL|BASH.*|LD_.*|DYLD_.*|PYTHON.*|PROMPT_COMMAND|PS[0-9]")
"""Variables by which a shell or a loader finds what it runs."""


def as_env(details: Details, *, export: bool = True) -> str:
    """The details as variables that a shell can read: `export PASSWORD='…'`, whatever is in a value."""
    names: dict[str, str] = {}
    for key in sorted(details):
        name = _variable(key)
        if name in names:
            what = f"the details {names[name]!r} and {key!r} would both be the variable {name}"
            raise ConnectionError_(Problem(what, fix="read them as JSON: --output json"))
        names[name] = key
    word = "export " if export else ""
    return "".join(f"{word}{name}={shlex.quote(details[key])}\n" for name, key in names.items())


def as_json(details: Details) -> str:
    """The details as a JSON object."""
    return json.dumps(dict(sorted(details.items())), indent=2) + "\n"


def as_yaml(details: Details) -> str:
    """The details as a YAML mapping."""
    return dumped(dict(sorted(details.items())))


def as_uri(details: Details) -> str:
    """The details as one URI: the one among them, else one of host, port, username, password and database."""
    for key in _WHOLE:
        if key in details:
            return f"{details[key]}\n"
    parts = {part: details[key] for part, keys in _PARTS.items() if (key := _first(keys, details))}
    scheme = parts.get("scheme", "").lower() or _PORTS.get(parts.get("port", ""), "")
    scheme = _SCHEMES.get(scheme, scheme)
    missing = [part for part in _REQUIRED.get(scheme, _USUAL) if part not in parts]
    if not _SCHEME.fullmatch(scheme):
        missing = ["scheme", *missing]
    if missing:
        what = f"the details make no URI: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        keys = ", ".join(sorted(details)) or "none"
        raise ConnectionError_(Problem(f"{what}; there are: {keys}", fix=f"let the class offer {_wanted(missing)}"))
    return f"{scheme}://{_user(parts)}{_host(parts)}{_database(parts)}\n"


FORMATS = {"env": as_env, "json": as_json, "yaml": as_yaml, "uri": as_uri}


def _variable(key: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_]", "_", key).upper()
    name = f"_{name}" if name[:1].isdigit() else name
    if not name or _RESERVED.fullmatch(name):
        what = f"the detail {key!r} would be the variable {name or '?'}, which a shell uses itself"
        raise ConnectionError_(Problem(what, fix="read it as JSON: --output json; or let the class call it otherwise"))
    return name


def _first(keys: Sequence[str], details: Details) -> str:
    return next((key for key in keys if details.get(key)), "")


def _wanted(missing: Sequence[str]) -> str:
    return f"details for {', '.join(missing)}, or one named uri"


def _user(parts: Mapping[str, str]) -> str:
    name, password = (quote(parts.get(part, ""), safe="") for part in ("username", "password"))
    return f"{name}:{password}@" if password else f"{name}@" if name else ""


def _host(parts: Mapping[str, str]) -> str:
    host, port = parts["host"], parts.get("port", "")
    # An endpoint may have its port with it; a colon more is an address of IPv6.
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    return host if not port or re.search(r"[^:\]]:[0-9]+$", host) else f"{host}:{quote(port, safe='')}"


def _database(parts: Mapping[str, str]) -> str:
    return f"/{quote(parts['database'], safe='')}" if parts.get("database") else ""
