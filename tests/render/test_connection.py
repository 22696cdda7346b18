"""Connection details as text: read back by a real shell, by JSON and YAML, and as URIs; refusals quote no value."""

from __future__ import annotations

import json
import subprocess
import traceback
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from claimsmith.base.errors import ConnectionError_
from claimsmith.render import connection

PLANTED = "planted-s3cret"
HOSTILE = [
    pytest.param("plain", id="plain"),
    pytest.param("", id="empty"),
    pytest.param("a b", id="a-space"),
    pytest.param('it\'s "quoted"', id="quotes"),
    pytest.param("$(touch hacked) `id` ${HOME} \\", id="what-a-shell-would-run"),
    pytest.param("two\nlines\n", id="lines"),
    pytest.param("; rm -rf x #", id="another-command"),
    pytest.param("-n", id="an-option"),
    pytest.param("p@ss/w:rd%?#&é", id="what-a-uri-would-read"),
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("export", [True, False])
def test_a_shell_reads_back_what_was_written(value: str, export: bool) -> None:
    text = connection.as_env({"pass-word": value}, export=export)
    script = f"set -a\n{text}\nprintf '%s.' \"$PASS_WORD\""
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, env={})
    assert done.stdout == f"{value}."


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_parsers_read_back_what_was_written(value: str, form: str) -> None:
    details = {"password": value, "no": "yes"}
    read: Callable[[str], object] = json.loads if form == "json" else yaml.safe_load
    assert read(connection.FORMATS[form](details)) == details


@pytest.mark.parametrize("value", [p for p in HOSTILE if p.id != "empty"])
def test_a_uri_has_what_was_written(value: str) -> None:
    details = {"scheme": "postgres", "host": "db", "username": value, "password": value, "database": value}
    parts = urlsplit(connection.as_uri(details).removesuffix("\n"))
    assert (unquote(parts.username or ""), unquote(parts.password or "")) == (value, value)
    assert (parts.scheme, parts.hostname, unquote(parts.path)) == ("postgresql", "db", f"/{value}")


FULL = {"host": "db", "port": "5432", "username": "u", "password": "p", "database": "d"}


@pytest.mark.parametrize(
    ("details", "want"),
    [
        pytest.param(FULL, "postgresql://u:p@db:5432/d", id="by-the-port"),
        pytest.param({**FULL, "port": "3306"}, "mysql://u:p@db:3306/d", id="mysql"),
        pytest.param({"host": "r", "port": "6379"}, "redis://r:6379", id="redis-needs-a-host-alone"),
        pytest.param({"host": "r", "password": "p", "scheme": "rediss"}, "rediss://:p@r", id="redis-with-tls"),
        pytest.param({**FULL, "uri": "x://y"}, "x://y", id="a-uri-of-its-own"),
        pytest.param({**FULL, "host": "::1"}, "postgresql://u:p@[::1]:5432/d", id="ipv6"),
        pytest.param(
            {"endpoint": "db:5432", "user": "u", "password": "p", "dbname": "d", "engine": "postgres"},
            "postgresql://u:p@db:5432/d",
            id="other-names",
        ),
        pytest.param({**FULL, "host": "db:1"}, "postgresql://u:p@db:1/d", id="a-host-with-its-port"),
    ],
)
def test_as_uri(details: dict[str, str], want: str) -> None:
    assert connection.as_uri(details) == f"{want}\n"


@pytest.mark.parametrize(
    ("form", "details", "named"),
    [
        pytest.param("uri", {"password": PLANTED}, "scheme, host, username, database are missing", id="nearly-all"),
        pytest.param("uri", {**FULL, "password": "", "port": "5432"}, "password is missing", id="an-empty-password"),
        pytest.param("uri", {**FULL, "port": PLANTED}, "scheme is missing", id="a-port-of-nobody"),
        pytest.param("uri", {**FULL, "scheme": f"{PLANTED} x"}, "scheme is missing", id="a-scheme-that-is-none"),
        pytest.param("env", {"a-b": PLANTED, "a_b": "x"}, "would both be the variable A_B", id="one-variable-for-two"),
        pytest.param("env", {"path": PLANTED}, "which a shell uses itself", id="path"),
        pytest.param("env", {"ld-preload": PLANTED}, "which a shell uses itself", id="the-loader"),
        pytest.param("env", {"": PLANTED}, "which a shell uses itself", id="no-name"),
    ],
)
def test_refusals(form: str, details: dict[str, str], named: str) -> None:
    with pytest.raises(ConnectionError_) as refused:
        connection.FORMATS[form](details)
    (problem,) = refused.value.problems
    assert named in problem.what
    assert problem.fix
    assert PLANTED not in "".join(traceback.format_exception(refused.value))
