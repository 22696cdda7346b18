"""Kubeconfigs: read and checked, and built from the keys of a cluster's connection Secret.

Every kubeconfig passes through `select`, whatever it comes from: a stack's setting, a file, a Secret, the state. All of
it is a secret, so a message names a place (line, column, path of the field) and never a value; it does not pass on the
messages of the YAML parser either, which quote the text. Pure.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import yaml

from claimsmith.base import fieldpath
from claimsmith.base.documents import MAX_TEXT, Document, read_documents
from claimsmith.base.errors import ConnectionError_, LoadError, Problem, Source

KUBECONFIG = "kubeconfig"
_CREDENTIALS = (("clientCert", "clientKey"), ("token",), ("username", "password"))
_WANTED = "it needs kubeconfig, or endpoint and one of: clientCert and clientKey, token, username and password"
_CHECK = "check it with: kubectl config view"
_WORDS = {str: "text", bool: "true or false", dict: "a mapping", list: "a list"}
_CONTEXT = {"cluster": str, "user": str}
_CLUSTER = {
    "server": str,
    "certificate-authority": str,
    "certificate-authority-data": str,
    "insecure-skip-tls-verify": bool,
}
_USER = {
    "token": str,
    "tokenFile": str,
    "username": str,
    "password": str,
    "client-certificate": str,
    "client-certificate-data": str,
    "client-key": str,
    "client-key-data": str,
    "exec": dict,
    "auth-provider": dict,
}
_SECRETS = ("token", "password", "client-key-data", "client-key", "tokenFile")


@dataclass(frozen=True, slots=True)
class Selected:
    """The cluster and the user of one context, checked. Their values are not for printing."""

    cluster: Mapping[str, Any] = field(repr=False)
    user: Mapping[str, Any] = field(repr=False)


def is_text(setting: str) -> bool:
    """Whether a setting holds a kubeconfig, not the path of one: several lines, or JSON (also YAML's flow style)."""
    return "\n" in setting or setting.lstrip("\ufeff \t\r")[:1] in ("{", "[")


def read(text: str, *, file: str) -> Document:
    """The document of a kubeconfig; `file` names where it comes from."""
    if len(text) > MAX_TEXT:
        raise _refused(f"the kubeconfig has more than {MAX_TEXT // 1024 // 1024} MiB", Source(file), _CHECK)
    # Found here because the parser names no place for these.
    if strange := yaml.reader.Reader.NON_PRINTABLE.search(text):
        before = text[: strange.start()]
        where = Source(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        raise _refused("the kubeconfig has a control character", where, "remove it")
    try:
        documents = read_documents(text, file=file)
    except LoadError as error:
        # Not its message: it quotes aliases, tags and keys.
        where = error.problems[0].where or Source(file)
        raise _refused("the kubeconfig is not a valid YAML or JSON mapping", where, _CHECK) from None
    if not documents:
        raise _refused("the kubeconfig is empty", Source(file), "put a whole kubeconfig there, as kubectl reads it")
    return documents[0]


def select(text: str, context: str | None = None, *, file: str) -> Selected:
    """The cluster and the user of a context, of the current one where none is named; what is wrong is refused."""
    document = read(text, file=file)
    name = context or document.data.get("current-context")
    if not name:
        what = "the kubeconfig has no current-context"
        raise _refused(what, Source(file), "set claimsmith:context for the stack, or current-context in it")
    context_ = _entry(document, "contexts", "context", str(name), _CONTEXT, ("current-context",))
    entries = {}
    for section, key, fields in (("clusters", "cluster", _CLUSTER), ("users", "user", _USER)):
        at = (*context_.path, key)
        if key not in context_.data:
            raise _wrong(document, at, f"the kubeconfig's context names no {key}", f"name one of its {section}")
        entries[key] = _entry(document, section, key, context_.data[key], fields, at)
    _check_server(document, entries["cluster"])
    for entry in entries.values():
        _check_texts(document, entry)
    cluster = dict(entries["cluster"].data)
    # As client-go reads it.
    cluster["server"] = cluster["server"] if "://" in cluster["server"] else f"https://{cluster['server']}"
    return Selected(cluster, entries["user"].data)


def credentials(text: str) -> frozenset[str]:
    """What identifies a kubeconfig: its servers, and the secrets of its users; nothing where it is malformed.

    A client that writes it down again changes its form, and keeps these.
    """
    try:
        data = read(text, file=KUBECONFIG).data
    except ConnectionError_:
        return frozenset()
    wanted = {"clusters": ("cluster", ("server",)), "users": ("user", _SECRETS)}
    identifying = set()
    for section, (key, fields) in wanted.items():
        entries = data.get(section)
        for entry in entries if isinstance(entries, list) else ():
            inner = entry.get(key) if isinstance(entry, dict) else None
            values = {f: inner.get(f) for f in fields} if isinstance(inner, dict) else {}
            identifying |= {f"{f}: {''.join(v.split())}" for f, v in values.items() if isinstance(v, str)}
    return frozenset(identifying)


@dataclass(frozen=True, slots=True)
class _Entry:
    data: dict[str, Any] = field(repr=False)
    path: fieldpath.Path


def _entry(
    document: Document, section: str, key: str, name: str, fields: Mapping[str, type], named_at: fieldpath.Path
) -> _Entry:
    """The entry of that name in a section; its fields are of the types that they must have."""
    entries = document.data.get(section)
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise _wrong(document, (section,), f"the kubeconfig has no list of {section}", _CHECK)
    index = next((i for i, e in enumerate(entries) if e.get("name") == name), None)
    if index is None:
        what = f"the kubeconfig has no {key} of the name that is asked for"
        raise _wrong(document, named_at, what, f"name one of its {section}: kubectl config get-{section}")
    path: fieldpath.Path = (section, index, key)
    data = entries[index].get(key) or {}
    if not isinstance(data, dict):
        raise _wrong(document, path, "this field of the kubeconfig must be a mapping", _CHECK)
    data = {k: v for k, v in data.items() if v is not None}
    for field_name, wanted in fields.items():
        if field_name in data and not isinstance(data[field_name], wanted):
            what = f"this field of the kubeconfig must be {_WORDS[wanted]}"
            raise _wrong(document, (*path, field_name), what, "write it again; quote a text that looks like a number")
    return _Entry(data, path)


def _check_server(document: Document, cluster: _Entry) -> None:
    server = cluster.data.get("server", "")
    try:
        split = urlsplit(server if "://" in server else f"https://{server}")
        usable = split.scheme in ("http", "https") and bool(split.hostname) and split.port != 0
    except ValueError:
        usable = False
    if not usable or not server.isprintable() or " " in server:
        what = "the kubeconfig's server is not the address of an API server"
        raise _wrong(document, (*cluster.path, "server"), what, "write it as https://<host>:<port>")


def _check_texts(document: Document, entry: _Entry) -> None:
    """Refuse what clients refuse later, quoting the value: wrong base64, and a token for no header."""
    for name, value in entry.data.items():
        if name.endswith("-data") and isinstance(value, str) and not _is_base64(value):
            raise _wrong(document, (*entry.path, name), "this field of the kubeconfig is not base64", "write it again")
    token = entry.data.get("token", "")
    if not (token.isascii() and token.isprintable()):
        what = "the kubeconfig's token has a character that no token has"
        raise _wrong(document, (*entry.path, "token"), what, "write it again, on one line")


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode("".join(value.split()), validate=True)
    except ValueError:
        return False
    return True


def _wrong(document: Document, path: fieldpath.Path, what: str, fix: str) -> ConnectionError_:
    return ConnectionError_(document.problem(what, path, fix))


def _refused(what: str, where: Source, fix: str) -> ConnectionError_:
    return ConnectionError_(Problem(what, where, fix=fix))


def from_secret(data: Mapping[str, str], *, key: str = "", shown: str) -> str:
    """The kubeconfig that a Secret holds under `key`, else under the usual keys; `shown` names it in messages."""
    if key or data.get(KUBECONFIG):
        key = key or KUBECONFIG
        if key not in data:
            raise _lacking(f"{shown} has no key {key!r}", data, "name one of its keys, or add it")
        return _checked(_text(data, key, shown), f"{shown}, key {key!r}")
    if not data.get("endpoint"):
        raise _lacking(f"{shown} does not name the cluster's server", data, _WANTED)
    keys = next((keys for keys in _CREDENTIALS if all(data.get(k) for k in keys)), None)
    if keys is None:
        raise _lacking(f"{shown} has no credentials for the cluster", data, _WANTED)
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
        raise _lacking(f"{shown}: the key {key!r} holds no text", data, "write it again") from error


def _checked(text: str, shown: str) -> str:
    try:
        select(text, file=shown)
    except ConnectionError_ as error:
        fix = "put a whole kubeconfig there, as kubectl reads it"
        raise ConnectionError_(*(replace(p, fix=f"{p.fix}; or {fix}") for p in error.problems)) from None
    return text


def _lacking(what: str, data: Mapping[str, str], fix: str) -> ConnectionError_:
    return ConnectionError_(Problem(what, fix=f"{fix}; its keys are: {', '.join(sorted(data)) or 'none'}"))
