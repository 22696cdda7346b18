"""A small client of the Kubernetes API: plain dicts in and out, over one verified connection per thread.

It speaks the way a controller does (whole objects by PUT, watches), needs nothing but the standard library
and knows nothing of what the objects mean.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

from claimsmith.errors import EngineError
from claimsmith.kubeconfig import select

Object = dict[str, Any]


class ApiError(Exception):
    """What the API server answered instead of what was asked for."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


class Unreachable(Exception):
    """The API server could not be spoken to, or broke off."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Where the objects of one kind are served."""

    group: str
    version: str
    plural: str
    namespaced: bool

    def path(self, name: str = "", *, namespace: str = "", sub: str = "") -> str:
        """The path of one object, or of all of a namespace or of the cluster."""
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        parts += [quote(p, safe="") for p in (name, sub) if p]
        return "/".join(parts)


CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", namespaced=False)
NAMESPACES = Resource("", "v1", "namespaces", namespaced=False)
SECRETS = Resource("", "v1", "secrets", namespaced=True)


class Api:
    """A connection to one API server, as one user; a `with` block closes it at its end."""

    def __init__(self, server: str, context: ssl.SSLContext, *, manager: str, timeout: float = 60.0) -> None:
        split = urlsplit(server)
        self._address = (split.hostname or "", split.port or 443)
        self._context = context
        self._manager = manager
        self._timeout = timeout
        self._local = threading.local()

    @classmethod
    def of(cls, kubeconfig: Path, *, manager: str, timeout: float = 60.0) -> Api:
        """The API server and user of a kubeconfig that embeds its certificates; Unreachable where it is not usable."""
        try:
            selected = select(kubeconfig.read_text(), file=kubeconfig.name)
            return cls._of(selected.cluster, selected.user, manager=manager, timeout=timeout)
        except (EngineError, OSError, ValueError, KeyError):
            # TLS errors are OSErrors. None of their texts is passed on: they are of a secret.
            raise Unreachable(f"{kubeconfig.name} is missing or damaged") from None

    @classmethod
    def _of(cls, cluster: Mapping[str, Any], user: Mapping[str, Any], *, manager: str, timeout: float) -> Api:
        context = ssl.create_default_context(cadata=_decode(cluster["certificate-authority-data"]))
        with tempfile.TemporaryDirectory() as folder:
            # ssl reads a client's certificate from files only.
            certificate, key = Path(folder, "crt"), Path(folder, "key")
            for path, field in ((certificate, "client-certificate-data"), (key, "client-key-data")):
                path.touch(mode=0o600)
                path.write_text(_decode(user[field]))
            context.load_cert_chain(certificate, key)
        return cls(cluster["server"], context, manager=manager, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, resource: Resource, name: str, *, namespace: str = "") -> Object | None:
        """The object, or nothing where there is none."""
        try:
            return self.request("GET", resource.path(name, namespace=namespace))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(self, resource: Resource, *, namespace: str = "") -> tuple[list[Object], str]:
        """All objects, and the version of the list to watch from."""
        answer = self.request("GET", resource.path(namespace=namespace))
        return answer.get("items") or [], answer["metadata"]["resourceVersion"]

    def create(self, resource: Resource, body: Object) -> Object:
        """The object as it was made."""
        namespace = body["metadata"].get("namespace", "")
        return self.request("POST", resource.path(namespace=namespace), body, fieldManager=self._manager)

    def replace(self, resource: Resource, body: Object, *, sub: str = "") -> Object:
        """The object as it is after an update of the whole; `sub="status"` for its status alone."""
        meta = body["metadata"]
        path = resource.path(meta["name"], namespace=meta.get("namespace", ""), sub=sub)
        return self.request("PUT", path, body, fieldManager=self._manager)

    def delete(self, resource: Resource, name: str, *, namespace: str = "", policy: str = "Background") -> None:
        """Ask for the object's deletion; gone already is fine."""
        try:
            self.request("DELETE", resource.path(name, namespace=namespace), {"propagationPolicy": policy})
        except ApiError as error:
            if error.code != 404:
                raise

    def request(
        self, method: str, path: str, body: Object | None = None, *, accept: str = "application/json", **query: str
    ) -> Object:
        """The answer to one request as an object; what is not JSON comes as `{"text": …}`."""
        url = f"{path}?{urlencode(query)}" if query else path
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": accept, **({} if data is None else {"Content-Type": "application/json"})}
        reused = getattr(self._local, "connection", None) is not None
        try:
            status, content = self._exchange(method, url, data, headers)
        except Unreachable:
            # A connection that was kept open may have been closed by the server since: nothing was done on it.
            if not reused or method == "POST":
                raise
            status, content = self._exchange(method, url, data, headers)
        return _answer(status, content)

    def watch(self, resource: Resource, version: str, *, seconds: int = 290) -> Iterator[tuple[str, Object]]:
        """Events since a version, until the server ends the watch."""
        query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true", "timeoutSeconds": seconds}
        connection = self._connect(timeout=seconds + 10)
        try:
            connection.request("GET", f"{resource.path()}?{urlencode(query)}", headers={"Accept": "application/json"})
            response = connection.getresponse()
            if response.status != 200:
                _answer(response.status, response.read())
            while line := response.readline():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    told = event["object"]
                    raise ApiError(told.get("code", 500), told.get("reason", ""), told.get("message", ""))
                yield event["type"], event["object"]
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unreachable(str(error)) from error
        finally:
            connection.close()

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def _exchange(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect(timeout=self._timeout)
        try:
            connection.request(method, url, body=data, headers=headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unreachable(str(error) or type(error).__name__) from error

    def _connect(self, *, timeout: float) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(*self._address, context=self._context, timeout=timeout)


def _answer(status: int, content: bytes) -> Object:
    try:
        answer = json.loads(content)
    except ValueError:
        answer = {"text": content.decode(errors="replace")}
    if not isinstance(answer, dict):
        answer = {"text": content.decode(errors="replace")}
    if status >= 400:
        raise ApiError(status, answer.get("reason", ""), answer.get("message") or answer.get("text", ""))
    return answer


def _decode(data: str) -> str:
    return base64.b64decode(data).decode()
