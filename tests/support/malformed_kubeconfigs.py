"""Kubeconfigs that are wrong in many ways, each with planted secrets that no message may show."""

from __future__ import annotations

import base64
import json
from typing import Any

import yaml

TOKEN = "canary-token-4711"
PASSWORD = "canary-password-4712"
PLANTED = (TOKEN, PASSWORD)
_DATA = base64.b64encode(b"canary-key-4713").decode()


def config(**user: Any) -> dict[str, Any]:
    """A whole kubeconfig of a user with a token and a password, and what else is given."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {"token": TOKEN, "password": PASSWORD, "username": "x", **user}}],
        "contexts": [{"name": "k", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "k",
    }


def block(value: Any) -> str:
    """It as YAML of many lines."""
    return yaml.safe_dump(value, sort_keys=False)


def changed(**sections: Any) -> str:
    """A kubeconfig with other sections; those that are None are left out."""
    return block({k: v for k, v in {**config(), **sections}.items() if v is not None})


def on_one_line(value: Any) -> str:
    """It as JSON of one line."""
    return json.dumps(value)


def raw(line: str) -> str:
    """A kubeconfig whose user has one line that is written as it is."""
    return block(config()).replace(f"    token: {TOKEN}\n", f"    token: {line}\n")


MALFORMED: dict[str, tuple[str, str]] = {
    "list-instead-of-a-mapping": (block([config()]), ":1:1: "),
    "json-list-on-one-line": (on_one_line([config()]), ":1:1: "),
    "unbalanced-json-on-one-line": (on_one_line(config())[:-2], ":1:326: "),
    "unbalanced-flow-style": (raw(f"{{a: {TOKEN}"), ":11:13: "),
    "bad-indentation": (raw(f"x\n  {TOKEN}: y\n   z"), ":13:13: "),
    "token-that-is-an-alias": (raw(f"*{TOKEN}"), ":10:12: "),
    "token-that-is-a-tag": (raw(f"!{TOKEN} x"), ":10:12: "),
    "token-that-is-an-undefined-handle": (raw(f"!{TOKEN}!x y"), ":10:12: "),
    "token-with-an-unknown-escape": (raw(f'"{TOKEN}\\q"'), ":10:30: "),
    "token-in-an-open-quote": (raw(f'"{TOKEN}'), ":19:1: "),
    "key-twice": (raw(f"x\n    {TOKEN}: 1\n    {TOKEN}: 2"), ":12:5: "),
    "control-character": (raw(f"{TOKEN}\x07"), ":10:29: "),
    "null-character-on-one-line": (f"{on_one_line(config())[:-1]}\x00}}", ":1:327: "),
    "half-of-a-character": (raw(f"{TOKEN}\ud800"), ":10:29: "),
    "huge": (raw(TOKEN * 600_000), ":1:1: "),
    "deep": (raw("[" * 5000 + TOKEN), ":10:73: "),
    "empty-lines": ("\n\n", ":1:1: "),
    "no-current-context": (changed(**{"current-context": None}), ":1:1: "),
    "current-context-that-is-not-there": (changed(**{"current-context": TOKEN}), ":18:1: "),
    "no-contexts": (changed(contexts=None), ":1:1: "),
    "contexts-of-text": (changed(contexts=[TOKEN]), ":13:1: "),
    "context-without-a-user": (changed(contexts=[{"name": "k", "context": {"cluster": "c"}}]), ":15:3: "),
    "user-that-is-not-there": (
        changed(contexts=[{"name": "k", "context": {"cluster": "c", "user": TOKEN}}]),
        ":17:5: ",
    ),
    "user-of-text": (changed(users=[{"name": "u", "user": TOKEN}]), ":9:3: "),
    "no-server": (changed(clusters=[{"name": "c", "cluster": {}}]), ":5:3: "),
    "server-that-is-no-address": (changed(clusters=[{"name": "c", "cluster": {"server": f"{TOKEN} x"}}]), ":6:5: "),
    "server-with-a-wrong-port": (changed(clusters=[{"name": "c", "cluster": {"server": f"h:{TOKEN}"}}]), ":6:5: "),
    "token-that-is-a-number": (raw("4711"), ":10:5: "),
    "token-with-a-line-end": (block(config(token=f"{TOKEN}\nx")), ":10:5: "),
    "token-of-no-header": (block(config(token=f"{TOKEN}é")), ":10:5: "),
    "wrong-base64-of-the-key": (block(config(**{"client-key-data": f"{PASSWORD}!"})), ":13:5: "),
    "wrong-base64-of-the-certificate": (block(config(**{"client-certificate-data": f"{PASSWORD}!"})), ":13:5: "),
    "wrong-base64-of-the-authority": (
        changed(clusters=[{"name": "c", "cluster": {"server": "https://h", "certificate-authority-data": "x!"}}]),
        ":7:5: ",
    ),
    "exec-that-is-text": (block(config(exec=TOKEN)), ":13:5: "),
}  # fmt: skip
"""The text, and the place that the refusal names."""

UNUSABLE: dict[str, str] = {
    "key-that-is-no-key": block(config(**{"client-key-data": _DATA, "client-certificate-data": _DATA})),
    "key-in-the-field-of-a-path": block(config(**{"client-key": PASSWORD, "client-certificate": TOKEN})),
    "key-missing": block(config(**{"client-certificate-data": _DATA})),
    "exec-without-a-command": block({**config(), "users": [{"name": "u", "user": {"exec": {"args": [TOKEN]}}}]}),
    "exec-that-fails": block(
        {
            **config(),
            "users": [{"name": "u", "user": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1beta1", "command": "sh",
                "args": ["-c", f"echo {TOKEN} >&2; exit 1"],
            }}}],
        }
    ),
    "exec-that-prints-no-token": block(
        {
            **config(),
            "users": [{"name": "u", "user": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1beta1", "command": "echo", "args": [TOKEN],
            }}}],
        }
    ),
    "exec-that-is-not-there": block(
        {
            **config(),
            "users": [{"name": "u", "user": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1beta1", "command": TOKEN,
            }}}],
        }
    ),
    "token-file-that-is-not-there": block({**config(), "users": [{"name": "u", "user": {"tokenFile": f"/{TOKEN}"}}]}),
    "auth-provider": block({**config(), "users": [{"name": "u", "user": {"auth-provider": {"name": TOKEN}}}]}),
}  # fmt: skip
"""Well-formed, but nobody can log in with it."""

ONE_LINE: dict[str, str] = {
    "path-that-is-not-there": f"nowhere/{TOKEN}",
    "base64-of-a-kubeconfig": base64.b64encode(TOKEN.encode() + block(config()).encode()).decode(),
    "token-alone": TOKEN,
    "one-line-of-yaml": f"token: {TOKEN}",
    "longer-than-any-path": TOKEN * 1000,
    "null-character": f"{TOKEN}\x00",
    "half-of-a-character": f"{TOKEN}\ud800",
    "a-folder": ".",
}
"""What is neither a kubeconfig nor a file."""
