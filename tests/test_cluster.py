"""What is said of a cluster that does not answer as wished."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import httpx2 as httpx
import pytest
from lightkube.core.exceptions import ConfigError

from claimsmith.cluster import Cluster
from claimsmith.errors import ControlPlaneError
from claimsmith.models.objects import GroupKind

Answer = Callable[[httpx.Request], httpx.Response]


def cluster(answer: Answer) -> Cluster:
    made = Cluster("")
    made.__dict__["_http"] = httpx.Client(transport=httpx.MockTransport(answer), base_url="https://cluster")
    return made


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
