"""How to connect to a cluster, from the keys of its connection Secret: a kubeconfig as it is, or one made of parts.

Takes a Secret's data as the cluster has it, each value in base64; gives the text of a kubeconfig. Pure: no message
says more of the data than the names of its keys.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import yaml

from claimsmith.errors import ConnectionError_, Problem

KUBECONFIG = "kubeconfig"
_CREDENTIALS = (("clientCert", "clientKey"), ("token",), ("username", "password"))
_WANTED = "it needs kubeconfig, or endpoint and one of: clientCert and clientKey, token, username and password"


def from_secret(data: Mapping[str, str], *, key: str = "", shown: str) -> str:
    """The kubeconfig that a Secret holds under `key`, else under the usual keys; `shown` names it in messages."""
    if key or data.get(KUBECONFIG):
        chosen = key or KUBECONFIG
        if chosen not in data:
            raise _lacking(f"{shown} has no key {chosen!r}", data, "name one of its keys, or add it")
        return _checked(_text(data, chosen, shown), f"{shown}, key {chosen!r},")
    if not data.get("endpoint"):
        raise _lacking(f"{shown} does not say where the cluster is", data, _WANTED)
    keys = next((keys for keys in _CREDENTIALS if all(data.get(k) for k in keys)), None)
    if keys is None:
        raise _lacking(f"{shown} does not say who may enter the cluster", data, _WANTED)
    cluster: dict[str, Any] = {"server": _server(_text(data, "endpoint", shown), data, shown)}
    if data.get("clusterCA"):
        cluster["certificate-authority-data"] = data["clusterCA"]
    match keys:
        case ("clientCert", "clientKey"):
            user = {"client-certificate-data": data["clientCert"], "client-key-data": data["clientKey"]}
        case ("token",):
            user = {"token": _text(data, "token", shown)}
        case _:
            user = {k: _text(data, k, shown) for k in keys}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "target", "cluster": cluster}],
            "users": [{"name": "target", "user": user}],
            "contexts": [{"name": "target", "context": {"cluster": "target", "user": "target"}}],
            "current-context": "target",
        }
    )


def _server(endpoint: str, data: Mapping[str, str], shown: str) -> str:
    """The endpoint as a URL: providers write a host alone, some with the port in a key of its own."""
    if "://" in endpoint:
        return endpoint
    port = _text(data, "port", shown) if data.get("port") else ""
    return f"https://{endpoint}:{port}" if port and ":" not in endpoint.rpartition("]")[2] else f"https://{endpoint}"


def _text(data: Mapping[str, str], key: str, shown: str) -> str:
    try:
        return base64.b64decode(data[key], validate=True).decode().strip("\n")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise _lacking(f"{shown}: the key {key!r} holds no text", data, "write it anew") from error


def _checked(text: str, shown: str) -> str:
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError:
        config = None
    if not isinstance(config, dict) or not config.get("clusters"):
        fix = "put a whole kubeconfig there, as kubectl reads it"
        raise ConnectionError_(Problem(f"{shown} holds no kubeconfig", fix=fix)) from None
    return text


def _lacking(what: str, data: Mapping[str, str], fix: str) -> ConnectionError_:
    return ConnectionError_(Problem(what, fix=f"{fix}; its keys are: {', '.join(sorted(data)) or 'none'}"))
