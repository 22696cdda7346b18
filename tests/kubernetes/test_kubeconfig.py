from __future__ import annotations

import base64
import traceback
from typing import Any

import pytest
import yaml

from claimsmith.base.errors import ConnectionError_
from claimsmith.kubernetes import kubeconfig
from tests.support.malformed_kubeconfigs import MALFORMED, PLANTED

WHOLE = yaml.safe_dump(
    {
        "clusters": [{"name": "c", "cluster": {"server": "https://k8s.example.org"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "k", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "k",
    }
)


def encoded(**values: str) -> dict[str, str]:
    return {k: base64.b64encode(v.encode()).decode() for k, v in values.items()}


def made(**values: str) -> dict[str, Any]:
    config = yaml.safe_load(kubeconfig.from_secret(encoded(**values), shown="it"))
    assert config["current-context"] == "target"
    return {**config["clusters"][0]["cluster"], **config["users"][0]["user"]}


def test_a_kubeconfig_stands_as_it_is() -> None:
    assert kubeconfig.from_secret(encoded(kubeconfig=WHOLE, endpoint="other"), shown="it") == WHOLE.strip("\n")
    assert kubeconfig.from_secret(encoded(config=WHOLE), key="config", shown="it") == WHOLE.strip("\n")


@pytest.mark.parametrize(
    ("values", "want"),
    [
        pytest.param(
            {"clientCert": "cert", "clientKey": "key", "clusterCA": "ca", "token": "t"},
            {
                "server": "https://h",
                **{f"{k}-data": base64.b64encode(v.encode()).decode() for k, v in {
                    "certificate-authority": "ca", "client-certificate": "cert", "client-key": "key"}.items()},
            },
            id="certificates-win-over-a-token",
        ),
        pytest.param({"token": "t\n"}, {"server": "https://h", "token": "t"}, id="token-without-its-line-end"),
        pytest.param(
            {"username": "u", "password": "p"}, {"server": "https://h", "username": "u", "password": "p"}, id="password"
        ),
        pytest.param({"token": "t", "port": "6443"}, {"server": "https://h:6443", "token": "t"}, id="port-of-its-own"),
    ],
)  # fmt: skip
def test_made_of_parts(values: dict[str, str], want: dict[str, str]) -> None:
    assert made(endpoint="h", **values) == want


@pytest.mark.parametrize(
    ("endpoint", "want"),
    [
        pytest.param("https://h:1", "https://h:1", id="url"),
        pytest.param("h:1", "https://h:1", id="host-and-port-keep-theirs"),
        pytest.param("[::1]", "https://[::1]:6443", id="ipv6"),
    ],
)
def test_endpoints(endpoint: str, want: str) -> None:
    assert made(endpoint=endpoint, token="t", port="6443")["server"] == want


@pytest.mark.parametrize(
    ("values", "key", "says"),
    [
        pytest.param({}, "", "the cluster's server", id="empty"),
        pytest.param({"token": "t"}, "", "the cluster's server", id="no-endpoint"),
        pytest.param({"endpoint": "h"}, "", "has no credentials", id="no-credentials"),
        pytest.param({"endpoint": "h", "clientCert": "c"}, "", "has no credentials", id="half-a-certificate"),
        pytest.param({"endpoint": "h", "username": "u"}, "", "has no credentials", id="no-password"),
        pytest.param({"kubeconfig": WHOLE}, "config", "no key 'config'", id="named-key-missing"),
        pytest.param({"kubeconfig": "very-secret"}, "", "not a valid YAML", id="no-kubeconfig"),
        pytest.param({"kubeconfig": "a: [very-secret"}, "", "not a valid YAML", id="broken-yaml"),
    ],
)
def test_refused(values: dict[str, str], key: str, says: str) -> None:
    with pytest.raises(ConnectionError_) as caught:
        kubeconfig.from_secret(encoded(**values), key=key, shown="the Secret a/b")
    [problem] = caught.value.problems
    assert says in problem.what
    assert problem.fix
    assert "very-secret" not in str(caught.value), "no value is shown, only names of keys"


@pytest.mark.parametrize(
    "text", [pytest.param(row[0], id=name) for name, row in MALFORMED.items() if name != "half-of-a-character"]
)
def test_a_malformed_one_is_refused_by_its_place(text: str) -> None:
    data = {"kubeconfig": base64.b64encode(text.encode()).decode()}
    with pytest.raises(ConnectionError_) as caught:
        kubeconfig.from_secret(data, shown="the Secret a/b")
    assert "the Secret a/b, key 'kubeconfig':" in str(caught.value)
    assert not [secret for secret in PLANTED if secret in "".join(traceback.format_exception(caught.value))]


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(ConnectionError_, match="holds no text"):
        kubeconfig.from_secret({"kubeconfig": base64.b64encode(b"\xff\xfe").decode()}, shown="it")
