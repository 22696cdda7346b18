"""Requests to an API server, and the errors reported when it does not answer as expected."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from lightkube.core.exceptions import ConfigError

from claimsmith.base.errors import ControlPlaneError
from claimsmith.base.names import GroupKind
from claimsmith.kubernetes.client import FEW, SECRETS, ApiError, Cluster, controller_of
from claimsmith.kubernetes.connection import Unreachable

Answer = Callable[[httpx.Request], httpx.Response]


def cluster(answer: Answer, *, manager: str = "") -> Cluster:
    created = Cluster("", manager=manager)
    created.__dict__["_http"] = httpx.Client(transport=httpx.MockTransport(answer), base_url="https://cluster")
    return created


def status(code: int, message: str = "its own words") -> Answer:
    return lambda _: httpx.Response(code, json={"message": message})


def raising(error: Exception) -> Answer:
    def answer(_: httpx.Request) -> httpx.Response:
        raise error

    return answer


@pytest.mark.parametrize(
    ("answer", "words", "fix"),
    [
        pytest.param(status(403), "refused to show /api/v1/namespaces/kube-system: its own", "rights", id="forbidden"),
        pytest.param(status(401), "refused to show", "rights", id="unauthorized"),
        pytest.param(status(429), "cannot show /api/v1/namespaces/kube-system now: its own", "wait", id="too-many"),
        pytest.param(status(503), "cannot show", "wait", id="unavailable"),
        pytest.param(lambda _: httpx.Response(500, text="<html>"), "now: 500", "wait", id="no-json"),
        pytest.param(raising(httpx.ConnectError("Connection refused")), "reached: Connection", "running", id="refused"),
        pytest.param(raising(httpx.ReadTimeout("")), "reached: it gave no answer in time", "running", id="slow"),
        pytest.param(status(404), "has no kube-system", "kubeconfig", id="strange"),
        pytest.param(lambda _: httpx.Response(200, text="<html>"), "is not an API server", "server", id="web-page"),
        pytest.param(lambda _: httpx.Response(200, json=["x"]), "is not an API server", "server", id="json-of-others"),
    ],
)
def test_it_is_told_what_is_wrong_and_what_to_do(answer: Answer, words: str, fix: str) -> None:
    with pytest.raises(ControlPlaneError) as caught:
        cluster(answer).identity()
    [problem] = caught.value.problems
    assert words in problem.what
    assert fix in problem.fix


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(httpx.LocalProtocolError("Illegal header value b'Bearer canary'"), id="header-that-is-quoted"),
        pytest.param(httpx.UnsupportedProtocol("canary://"), id="address-that-is-quoted"),
        pytest.param(ConfigError("Exec aws returned 1: canary"), id="words-of-a-credential-plugin"),
        pytest.param(UnicodeEncodeError("ascii", "canary\xe9", 6, 7, "canary"), id="token-of-no-header"),
    ],
)
def test_errors_that_may_quote_the_kubeconfig_are_not_passed_on(error: Exception) -> None:
    with pytest.raises(ControlPlaneError) as caught:
        cluster(raising(error)).identity()
    assert "canary" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.problems[0].fix


def test_metadata_is_asked_for_without_the_rest() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["Accept"])
        listed = {"resources": [{"kind": "Secret", "name": "secrets"}]}
        return httpx.Response(200, json=listed if request.url.path == "/api/v1" else {"items": [{"metadata": {}}]})

    assert cluster(answer).metadata(GroupKind("", "Secret")) == [{"metadata": {}}]
    assert "PartialObjectMetadataList" in asked[-1]


KNOWN = {"resources": [{"kind": "Thing", "name": "things"}]}


class Things:
    """An API server with some things, which keeps what it was asked for."""

    def __init__(self, *names: str, page: int = 2, may_list: bool = True) -> None:
        self._items = [{"metadata": {"name": name, "namespace": "shop"}} for name in names]
        self._page, self._may_list = page, may_list
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path, query = request.url.path, request.url.params
        if path == "/apis/example.org/v1":
            return httpx.Response(200, json=KNOWN)
        self.asked.append(path.removeprefix("/apis/example.org/v1/"))
        assert "as=PartialObjectMetadata" in request.headers["Accept"]
        return self._list(int(query.get("continue", 0))) if path.endswith("/things") else self._one(path)

    def _list(self, start: int) -> httpx.Response:
        if not self._may_list:
            return httpx.Response(403, json={"message": "no"})
        end = start + self._page
        metadata = {"continue": str(end)} if end < len(self._items) else {}
        return httpx.Response(200, json={"metadata": metadata, "items": self._items[start:end]})

    def _one(self, path: str) -> httpx.Response:
        found = [
            i for i in self._items if path == f"/apis/example.org/v1/namespaces/shop/things/{i['metadata']['name']}"
        ]
        return httpx.Response(200, json=found[0]) if found else httpx.Response(404, json={})


MANY = [("shop", f"t{i}") for i in range(FEW + 1)]


@pytest.mark.parametrize(
    ("server", "wanted", "requests"),
    [
        pytest.param(Things("t1", "x"), [("shop", "t1"), ("shop", "t2")], 2, id="few-are-read-one-by-one"),
        pytest.param(Things("a", "b", "t1"), MANY, 2, id="many-are-listed-page-by-page"),
        pytest.param(Things("t1", may_list=False), MANY, FEW + 2, id="who-may-not-list-reads-each"),
        pytest.param(Things(), [], 0, id="nothing-is-asked-for"),
    ],
)
def test_objects_are_found_with_few_requests(server: Things, wanted: list[tuple[str, str]], requests: int) -> None:
    found = cluster(server).find("example.org/v1", "Thing", wanted)
    assert list(found) == [place for place in wanted if place == ("shop", "t1")]
    assert len(server.asked) == requests


def test_of_a_kind_that_the_cluster_does_not_know_nothing_is_there() -> None:
    assert cluster(Things("t1")).find("example.org/v1", "Other", [("shop", "t1")]) == {}


@pytest.mark.parametrize(
    ("references", "want"),
    [
        pytest.param([], None, id="none"),
        pytest.param([{"kind": "X", "name": "a"}], None, id="an-owner-that-does-not-control"),
        pytest.param([{"kind": "X", "name": "a"}, {"kind": "Y", "name": "b", "controller": True}], "Y b", id="one"),
    ],
)
def test_what_controls_an_object(references: list[dict[str, object]], want: str | None) -> None:
    assert controller_of({"metadata": {"name": "n", "ownerReferences": references}}) == want


def secret(name: str = "s", **more: object) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "shop", **more}}


def test_writes_name_their_field_manager() -> None:
    requests: list[tuple[str, str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append((request.method, request.url.path, request.url.params.get("fieldManager")))
        return httpx.Response(200, content=request.content)

    writer = cluster(answer, manager="lab")
    assert writer.create(SECRETS, secret()) == secret()
    assert writer.replace(SECRETS, secret(), subresource="status") == secret()
    writer.delete(SECRETS, "s", namespace="shop")
    below = "/api/v1/namespaces/shop/secrets"
    assert requests == [("POST", below, "lab"), ("PUT", f"{below}/s/status", "lab"), ("DELETE", f"{below}/s", None)]


def test_a_cluster_without_a_field_manager_is_only_read() -> None:
    reader = cluster(lambda _: pytest.fail("nothing is sent"))
    for write in (
        lambda: reader.create(SECRETS, secret()),
        lambda: reader.replace(SECRETS, secret()),
        lambda: reader.delete(SECRETS, "s", namespace="shop"),
    ):
        with pytest.raises(AssertionError, match="field manager"):
            write()


def test_deleting_what_is_gone_is_fine() -> None:
    cluster(status(404), manager="lab").delete(SECRETS, "s", namespace="shop")


def test_a_refused_write_has_the_code_and_reason_of_the_server() -> None:
    refused = {"message": "it exists", "reason": "AlreadyExists"}
    with pytest.raises(ApiError, match="refused to create an object at /api/v1/namespaces/shop/secrets") as caught:
        cluster(lambda _: httpx.Response(409, json=refused), manager="lab").create(SECRETS, secret())
    assert (caught.value.code, caught.value.reason, caught.value.message) == (409, "AlreadyExists", "it exists")


class Chunks(httpx.SyncByteStream):
    """What a server sends, piece by piece; an error breaks it off."""

    def __init__(self, *chunks: bytes | Exception) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk


def event(kind: str, name: str) -> bytes:
    return json.dumps({"type": kind, "object": {"metadata": {"name": name}}}, ensure_ascii=False).encode() + b"\n"


def watch(*chunks: bytes | Exception) -> Iterator[tuple[str, str]]:
    def answer(request: httpx.Request) -> httpx.Response:
        assert dict(request.url.params) == {
            **{"watch": "true", "resourceVersion": "7", "allowWatchBookmarks": "true"},
            "timeoutSeconds": "290",
        }
        return httpx.Response(200, stream=Chunks(*chunks))

    for kind, item in cluster(answer).watch(SECRETS, "7"):
        yield kind, item["metadata"]["name"]


@pytest.mark.parametrize(
    ("chunks", "want"),
    [
        pytest.param([], [], id="nothing-happens"),
        pytest.param([event("ADDED", "a") + event("DELETED", "b")], [("ADDED", "a"), ("DELETED", "b")], id="at-once"),
        pytest.param([event("ADDED", "a")[:9], event("ADDED", "a")[9:]], [("ADDED", "a")], id="in-pieces"),
        pytest.param([event("ADDED", "a\u0085b\u2028c")], [("ADDED", "a\u0085b\u2028c")], id="line-ends-of-unicode"),
    ],
)
def test_a_watch_ends_with_the_server(chunks: list[bytes], want: list[tuple[str, str]]) -> None:
    assert list(watch(*chunks)) == want


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(httpx.ReadError("reset"), id="broken-off"),
        pytest.param(httpx.ReadTimeout("silent"), id="silent"),
        pytest.param(b"<html>\n", id="no-event"),
    ],
)
def test_a_watch_that_breaks_off_is_told_from_one_that_ends(after: bytes | Exception) -> None:
    events = watch(event("ADDED", "a"), after)
    assert next(events) == ("ADDED", "a")
    with pytest.raises(Unreachable):
        next(events)


def test_a_watch_from_a_version_that_is_forgotten() -> None:
    expired = {"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}}
    with pytest.raises(ApiError, match="too old") as caught:
        list(watch(json.dumps(expired).encode() + b"\n"))
    assert caught.value.code == 410


def test_a_watch_that_is_refused() -> None:
    with pytest.raises(ApiError, match="watch /api/v1/secrets: its own words") as caught:
        list(cluster(status(403)).watch(SECRETS, "7"))
    assert caught.value.code == 403


def test_an_unreadable_kubeconfig_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="kubeconfig is missing or damaged"):
        Cluster.of_file(tmp_path / "kubeconfig")
