"""As much of GitHub's API as the comment of a review needs, on loopback; it remembers what it was asked."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

MARK = "<!-- claimsmith review -->"
HEAD, MAIN, OLD = "a" * 40, "b" * 40, "c" * 40
REVIEW = f"{MARK}\n### Review of `shop`\n"
BOT = {"login": "github-actions[bot]", "type": "Bot"}


def zipped(files: dict[str, bytes]) -> bytes:
    """An artifact."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


@dataclass
class GitHub:
    """A repository: its requests, trees, artifacts and comments."""

    requests: list[dict[str, Any]] = field(default_factory=lambda: [{"number": 7, "head": {"sha": HEAD}}])
    code: dict[str, str | None] = field(default_factory=lambda: {HEAD: "same", MAIN: "same"})
    """The digest of .github/ in each commit."""
    artifact: bytes | None = field(default_factory=lambda: zipped({"review.md": REVIEW.encode()}))
    comments: list[dict[str, Any]] = field(default_factory=list)
    size: int | None = None
    """What GitHub says of the artifact's size; the truth where it is not set."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: dict[str, str | None] = field(default_factory=dict)
    """The token that each path was asked with."""
    address: str = ""

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        match method, path.removeprefix("/repos/org/shop/").split("/"):
            case "GET", ["pulls"]:
                assert query["head"] == ["somebody:branch"]
                return self.requests
            case "GET", ["git", "commits", commit]:
                return {"tree": {"sha": f"tree-{commit}"}}
            case "GET", ["git", "trees", tree]:
                code = self.code[tree.removeprefix("tree-")]
                entries = [{"path": "stacks", "sha": "x"}, {"path": ".github", "sha": code}]
                return {"tree": [e for e in entries if e["sha"]]}
            case "GET", ["actions", "runs", "42", "artifacts"]:
                size = len(self.artifact or b"") if self.size is None else self.size
                one = {"id": 5, "name": "comment", "expired": False, "size_in_bytes": size}
                return {"artifacts": [one] if self.artifact is not None else []}
            case "GET", ["issues", "7", "comments"]:
                page, many = int(query["page"][0]), int(query["per_page"][0])
                return self.comments[(page - 1) * many : page * many]
            case "POST", ["issues", "7", "comments"]:
                self.comments.append({"id": len(self.comments) + 1, "user": BOT, **body})
                return {}
            case "PATCH", ["issues", "comments", number]:
                next(c for c in self.comments if c["id"] == int(number)).update(body)
                return {}
        raise AssertionError(f"{method} {path} was not expected")


@contextmanager
def served(github: GitHub) -> Iterator[GitHub]:
    """The API, listening for as long as it is needed."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def do_PATCH(self) -> None:
            self._answer("PATCH")

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

        def _answer(self, method: str) -> None:
            url = urlsplit(self.path)
            github.asked.append((method, url.path))
            github.tokens[url.path] = self.headers.get("Authorization")
            if url.path.endswith("/zip"):
                self._send(302, b"", {"Location": f"{github.address}/storage"})
            elif url.path == "/storage":
                self._send(200, github.artifact or b"")
            else:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                self._send(200, json.dumps(github.answer(method, url.path, parse_qs(url.query), body)).encode())

        def _send(self, code: int, content: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(code)
            for name, value in {**(headers or {}), "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    github.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
