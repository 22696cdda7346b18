"""A stand-in for the Kubernetes provider from 4.29 on, which creates objects and never merges into existing ones.

That provider cannot be built from the registries, so the older one runs behind this loopback proxy. It turns the
server-side apply by which the older one creates into the request by which the newer one does (await.go, `Creation`):
a POST with the field manager `pulumi-kubernetes`, which the API server refuses where the object is there already.

An apply of an object that the provider read in this run is an update, any other a creation; the patches of other
people's objects, which the newer provider applies too, have another field manager than ours.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import yaml

from claimsmith.kubernetes.kubeconfig import select

MERGES, CREATES = "creating-merges", "creating-refuses"
both_ways = pytest.mark.parametrize("kubeconfig", [MERGES, CREATES], indirect=True)
"""For a test that must pass with the provider as it was before 4.29 and, by the stand-in, as it is since."""

_PROVIDER = "pulumi-kubernetes/"
_MANAGER = "pulumi-kubernetes"
_OURS = "claimsmith-"
_APPLY = "application/apply-patch+yaml"
_HOP = {"connection", "transfer-encoding", "content-length", "host", "accept-encoding"}


@contextmanager
def creating_provider(kubeconfig: Path, folder: Path) -> Iterator[Path]:
    """A kubeconfig, written to a folder, for the cluster of another one, with the stand-in in between."""
    selected = select(kubeconfig.read_text(), file=kubeconfig.name)
    server = _Server(urlsplit(selected.cluster["server"]).netloc, _trust(selected.cluster, selected.user))
    thread = threading.Thread(target=server.serve_forever, name="creating-provider")
    thread.start()
    try:
        path = folder / "kubeconfig-of-the-stand-in.yaml"
        path.write_text(_kubeconfig(f"http://127.0.0.1:{server.server_address[1]}"))
        yield path
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, upstream: str, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream, self.context = upstream, context
        self.read: set[str] = set()
        """The objects that the provider read in this run and that are there."""
        self.lock = threading.Lock()

    def handle_error(self, *_: Any) -> None:
        """A connection that is cut off in the middle is no news here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        length = int(self.headers.get("Content-Length") or 0)
        self._forward(self.rfile.read(length) if length else b"")

    def _forward(self, body: bytes) -> None:
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _HOP}
        method, target = self.command, self.path
        if self._creates():
            method, target, body = "POST", _collection(self.path), json.dumps(yaml.safe_load(body)).encode()
            headers["Content-Type"] = "application/json"
        upstream = http.client.HTTPSConnection(self.server.upstream, context=self.server.context)
        try:
            upstream.request(method, target, body=body or None, headers=headers)
            answer = upstream.getresponse()
            self._note(answer.status)
            self._answer(answer)
        except (OSError, http.client.HTTPException):
            self.close_connection = True
        finally:
            upstream.close()

    def _creates(self) -> bool:
        url = urlsplit(self.path)
        manager = parse_qs(url.query).get("fieldManager", [""])[0]
        applies = self.command == "PATCH" and self.headers.get("Content-Type") == _APPLY
        with self.server.lock:
            return self._of_provider() and applies and manager.startswith(_OURS) and url.path not in self.server.read

    def _note(self, status: int) -> None:
        """Keep what the provider reads; each run of it begins by asking for the version."""
        path = urlsplit(self.path).path
        if self.command != "GET" or not self._of_provider():
            return
        with self.server.lock:
            if path == "/version":
                self.server.read.clear()
            elif status == 200:
                self.server.read.add(path)
            else:
                self.server.read.discard(path)

    def _of_provider(self) -> bool:
        return self.headers.get("User-Agent", "").startswith(_PROVIDER)

    def _answer(self, answer: http.client.HTTPResponse) -> None:
        self.send_response_only(answer.status)
        for key, value in answer.getheaders():
            if key.lower() not in _HOP:
                self.send_header(key, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        # Piece by piece, as it comes: a watch never ends.
        while piece := answer.read1(65536):
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


def _collection(target: str) -> str:
    """Where an object is created that would be applied at a target."""
    url = urlsplit(target)
    options = {k: v[0] for k, v in parse_qs(url.query).items() if k == "dryRun"}
    return f"{url.path.rpartition('/')[0]}?{urlencode({**options, 'fieldManager': _MANAGER})}"


def _trust(cluster: dict[str, Any], user: dict[str, Any]) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    with tempfile.NamedTemporaryFile() as file:
        for key in ("client-certificate-data", "client-key-data"):
            file.write(base64.b64decode(user[key]))
        file.flush()
        context.load_cert_chain(file.name)
    return context


def _kubeconfig(server: str) -> str:
    context = {"cluster": "stand-in", "user": "stand-in"}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "stand-in", "cluster": {"server": server}}],
            "users": [{"name": "stand-in", "user": {}}],
            "contexts": [{"name": "stand-in", "context": context}],
            "current-context": "stand-in",
        }
    )
