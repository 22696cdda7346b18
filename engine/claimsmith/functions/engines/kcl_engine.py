"""Runs KCL programs with the native library, whose calls take and return small protobuf messages.

The messages are written by hand: the library's own classes need a newer protobuf runtime than other packages permit.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import kcl_lib  # type: ignore[import-untyped]  # it ships no types

from claimsmith.functions.engines.child import Engine

_METHOD = b"KclService.ExecProgram"
_BYTES = 2
_JSON, _ERROR = 1, 4
_FILES, _CODES, _ARGUMENTS, _DISABLE_NONE, _SORT_KEYS, _PACKAGES, _SHOW_HIDDEN = 2, 3, 4, 9, 12, 13, 16
_FLAGS = {"disableNone": _DISABLE_NONE, "sortKeys": _SORT_KEYS, "showHidden": _SHOW_HIDDEN}
_IMPORTS_FILE = re.compile(r"^\s*import\s+file\b", re.MULTILINE)


def start(folders: Sequence[str], confined: bool) -> Engine:
    """The engine. Where the kernel cannot confine it, programs that import the module `file` are refused."""

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        codes = list(_codes(request))
        if not confined and any(_IMPORTS_FILE.search(code) for code in (*codes, *_modules(folders))):
            return {"error": "imports the module file, and this kernel cannot keep it from the files of others"}
        return _run(request, codes)

    return answer


def _codes(request: Mapping[str, Any]) -> Iterator[str]:
    for name, code in request["files"].items():
        if code is None:
            with open(name, encoding="utf-8") as file:
                yield file.read()
        else:
            yield code


def _modules(folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".k"):
                    with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                        yield file.read()


def _run(request: Mapping[str, Any], codes: Sequence[str]) -> Mapping[str, Any]:
    message = b"".join(_text(_FILES, name) for name in request["files"])
    message += b"".join(_text(_CODES, code) for code in codes)
    for name, value in request["arguments"].items():
        message += _bytes(_ARGUMENTS, _text(1, name) + _text(2, value))
    for name, folder in request["packages"].items():
        message += _bytes(_PACKAGES, _text(1, name) + _text(2, folder))
    for name, number in _FLAGS.items():
        message += _varint(number << 3) + _varint(1) if request.get("config", {}).get(name) else b""
    result = bytes(kcl_lib.call_with_plugin_agent(_METHOD, message, 0))
    if result.startswith(b"ERROR:"):
        return {"failed": result.decode("utf-8", "replace").removeprefix("ERROR:")}
    fields = dict(_fields(result))
    failure = fields.get(_ERROR, b"").decode("utf-8", "replace")
    if failure:
        return {"failed": failure}
    lines = fields.get(_JSON, b"").decode("utf-8").splitlines()
    return {"documents": [json.loads(line) for line in lines if line.strip()]}


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message whose fields are all text."""
    position = 0
    while position < len(message):
        key, position = _number(message, position)
        length, position = _number(message, position)
        yield key >> 3, message[position : position + length]
        position += length


def _number(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if not byte & 0x80:
            return value, position
