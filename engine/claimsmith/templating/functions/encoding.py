"""sprig's functions that encode, decode and hash, and Helm's for YAML.

Unlike sprig's, they refuse what cannot be decoded; `fromJson` and `fromYaml` keep integers integers.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import yaml

from claimsmith.base import documents
from claimsmith.golang import base64 as gobase64
from claimsmith.golang import inputs, strconv
from claimsmith.golang import json as gojson
from claimsmith.templating import limits
from claimsmith.templating.functions.registry import Family, deep, slow
from claimsmith.templating.insertions import Written
from claimsmith.templating.problems import refusal

FAMILY = Family("encoding")

_FOLDED = re.compile("[\r\x85\u2028\u2029]")
"""Line ends that YAML does not keep unless they are escaped."""
_NUMBER_LIKE = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@FAMILY.add("b64enc str")
def b64enc(text: str) -> str:
    """The text in base64."""
    return gobase64.encoded(text)


@FAMILY.add("b64dec str")
def b64dec(text: str) -> str:
    """The text that was in base64."""
    return gobase64.decoded(text)


@FAMILY.add("sha256sum str")
def sha256sum(text: str) -> str:
    """The SHA-256 of the text, in hexadecimal."""
    return hashlib.sha256(inputs.utf8(text)).hexdigest()


@FAMILY.add("sha1sum str")
def sha1sum(text: str) -> str:
    """The SHA-1 of the text, in hexadecimal."""
    return hashlib.sha1(inputs.utf8(text), usedforsecurity=False).hexdigest()


@FAMILY.add("toJson any", cost=deep)
def to_json(value: Any) -> str:
    """The value as JSON."""
    return Written(gojson.dumps(value))


@FAMILY.add("toPrettyJson any", cost=slow)
def to_pretty_json(value: Any) -> str:
    """The value as JSON on lines of its own, indented by two spaces."""
    return Written(_pretty(value, "\n"))


def _pretty(value: Any, line: str) -> str:
    inner = line + "  "
    limits.fits(limits.width(value) * len(inner))
    match value:
        case list() if value:
            return f"[{inner}{f',{inner}'.join(_pretty(item, inner) for item in value)}{line}]"
        case dict() if value:
            pairs = (f"{gojson.dumps(key)}: {_pretty(value[key], inner)}" for key in sorted(value))
            return f"{{{inner}{f',{inner}'.join(pairs)}{line}}}"
        case _:
            return gojson.dumps(value)


@FAMILY.add("fromJson str")
def from_json(text: str) -> Any:
    """The value of a JSON text; integers stay integers."""
    value = gojson.loads(text)
    limits.size(value)
    return value


@FAMILY.add("toYaml any", cost=slow)
def to_yaml(value: Any) -> str:
    """The value as YAML with sorted keys and no line end after it."""
    gojson.dumps(value)  # refuses numbers that no document could hold
    dumper = _QuotingDumper if _last(value).endswith("\n") else _Dumper
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=True, width=1 << 30, allow_unicode=True)
    return Written(text.removesuffix("...\n").removesuffix("\n"))


class _Dumper(yaml.SafeDumper):
    """Writes every value out, text that spans lines as a block, and text that looks like a number in quotes."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class's signature
        return True


class _QuotingDumper(_Dumper):
    """The same without blocks: a block at the end would lose the line end that is taken off."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "'" if _NUMBER_LIKE.fullmatch(text) else None
    if _FOLDED.search(text) or text[:1] in ("\n", " ") or text.endswith("\n\n"):
        style = '"'
    elif "\n" in text:
        style = '"' if isinstance(dumper, _QuotingDumper) else "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", strconv.scrubbed(text), style=style)


for _class in (_Dumper, _QuotingDumper):
    _class.add_representer(str, _represent_text)


def _last(value: Any) -> str:
    """The text that is written last, if it is text."""
    while isinstance(value, dict | list) and value:
        value = value[max(value)] if isinstance(value, dict) else value[-1]
    return value if isinstance(value, str) else ""


@FAMILY.add("fromYaml str")
def from_yaml(text: str) -> dict[str, Any]:
    """The object that a YAML text holds."""
    limits.fits(16 * len(text))
    found = documents.read_documents(text, file="fromYaml")
    if len(found) > 1:
        raise refusal("fromYaml got several documents", "give it one")
    value = found[0].data if found else {}
    limits.size(value)
    return value
