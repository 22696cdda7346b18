"""Which fields a kind's definition does not let change: the rules of its schema that look at the old value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.names import GroupKind
from claimsmith.base.values import object_at
from claimsmith.kubernetes import crds

Rules = Mapping[GroupKind, tuple[tuple[fieldpath.Path, str], ...]]
"""For each kind the paths that stay as they are, and the message of the definition's rule."""

_NAME = r"((?:\.[A-Za-z_][A-Za-z0-9_]*)*)"
_EQUAL = re.compile(rf"self{_NAME}\s*==\s*oldSelf{_NAME}|oldSelf{_NAME}\s*==\s*self{_NAME}")
_ALTERNATIVE = re.compile(r"\|\|")


def rules_of(definitions: Iterable[Mapping[str, Any]]) -> Rules:
    """The fields that some CustomResourceDefinitions do not let change."""
    found: dict[GroupKind, dict[fieldpath.Path, str]] = {}
    for definition in definitions:
        kind = crds.kind_of(definition)
        for version in object_at(definition, "spec").get("versions") or ():
            schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            for path, message in _fixed(schema, ()):
                found.setdefault(kind, {}).setdefault(path, message)
    return {kind: tuple(paths.items()) for kind, paths in found.items()}


def _fixed(schema: Any, path: fieldpath.Path) -> Iterator[tuple[fieldpath.Path, str]]:
    if not isinstance(schema, Mapping):
        return
    for rule in schema.get("x-kubernetes-validations") or ():
        text = str(rule.get("rule", ""))
        for below in _kept(text):
            yield (*path, *below), str(rule.get("message") or text)
    for name, inner in (schema.get("properties") or {}).items():
        yield from _fixed(inner, (*path, name))
    for word in ("items", "additionalProperties"):
        yield from _fixed(schema.get(word), (*path, fieldpath.WILDCARD))


def _kept(rule: str) -> Iterator[fieldpath.Path]:
    """The paths below a schema that a rule keeps unchanged: by itself, or joined by `and` with others.

    A rule with an alternative may hold for another reason, unless that is only that there was nothing before.
    """
    parts = [_bare(part) for part in _ALTERNATIVE.split(rule)]
    rest = [p for p in parts if not re.fullmatch(rf"!\s*has\(\s*oldSelf{_NAME}\s*\)", p)]
    if len(rest) != 1:
        return
    for part in rest[0].split("&&"):
        match = _EQUAL.fullmatch(_bare(part))
        if match:
            names = [g for g in match.groups() if g is not None]
            if names[0] == names[1]:
                yield tuple(n for n in names[0].split(".") if n)


def _bare(text: str) -> str:
    """The text without brackets around the whole of it."""
    text = text.strip()
    inner = text[1:-1]
    return _bare(inner) if text[:1] == "(" and text[-1:] == ")" and "(" not in inner and ")" not in inner else text
