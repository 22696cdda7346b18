"""URLs as Go reads them: their parts, and what is none."""

from __future__ import annotations

import pytest

from claimsmith.base.errors import TransformError
from claimsmith.golang import url


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("https://u:p@h.example:80/a%20b?x=1#f", ("https", "h.example:80", "h.example", "80", "/a%20b")),
        ("HTTP://H", ("http", "H", "H", "", "")),
        ("/path?q=1", ("", "", "", "", "/path")),
        ("//host/path", ("", "host", "host", "", "/path")),
        ("https:///path", ("https", "", "", "", "/path")),
        ("https://[::1]:80/x", ("https", "[::1]:80", "::1", "80", "/x")),
        ("https://example.com:/x", ("https", "example.com:", "example.com", "", "/x")),
        ("postgres://a:1,b:2/db", ("postgres", "a:1,b:2", "a:1,b", "2", "/db")),
        ("https://h/<é>", ("https", "h", "h", "", "/%3C%C3%A9%3E")),
        ("urn:x:y", ("urn", "", "", "", "")),
        ("*", ("", "", "", "", "*")),
    ],
)
def test_parts(text: str, parts: tuple[str, ...]) -> None:
    read = url.parse_request(text)
    assert (read.scheme, read.host, read.hostname, read.port, read.escaped_path) == parts


@pytest.mark.parametrize(
    "text",
    ["", "relative", ":foo", "#f", "?a", "http://%zz", "http://h:abc/", "http://a:1,b:2/", "http://a b/", "http://h/%zz",
     "http://[::1", "http://[1.2.3.4]/", "http://[::1]x/", "http://[::1%25]/", "http://u<@h/", "http://h\x7f/"],
)  # fmt: skip
def test_refused(text: str) -> None:
    with pytest.raises(TransformError):
        url.parse_request(text)
