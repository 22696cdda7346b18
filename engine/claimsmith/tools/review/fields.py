"""Two documents compared field by field, as finely as the engine's Kubernetes provider does; secrets are hidden."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimsmith.base import fieldpath, values
from claimsmith.base.absent import ABSENT
from claimsmith.base.values import Mix, Ref, mapped

HIDDEN = "<secret>"
_SECRET_FIELDS = ("data", "stringData")
_LONGEST_JSON = 1_000_000
_TELLING = re.compile(
    r"(password|passwd|passphrase|token|privatekey|apikey|accesskey|secretkey|connectionstring|kubeconfig)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two documents differ; ABSENT on the side that has nothing there."""

    path: fieldpath.Path
    old: Any
    new: Any


def differences(old: Any, new: Any, path: fieldpath.Path = ()) -> Iterator[Difference]:
    """Where two documents differ. What only one side has is one difference; lists are compared in order."""
    if old is new or old == new:
        return
    match old, new:
        case dict(), dict():
            for key in [*old, *(k for k in new if k not in old)]:
                yield from differences(_present(old.get(key, ABSENT)), _present(new.get(key, ABSENT)), (*path, key))
        case list(), list():
            for index in range(max(len(old), len(new))):
                yield from differences(_at(old, index), _at(new, index), (*path, index))
        case _:
            yield Difference(path, old, new)


def within(path: fieldpath.Path, above: fieldpath.Path) -> bool:
    """Whether a path is at or below another, whose wildcards stand for anything."""
    head = path[: len(above)]
    pairs = zip(head, above, strict=False)
    return len(head) == len(above) and all(a in (b, fieldpath.WILDCARD) for b, a in pairs)


def touching(path: fieldpath.Path, listed: Iterable[fieldpath.Path]) -> fieldpath.Path | None:
    """The first of some paths that a change of `path` has to do with: it is at, below or above it."""
    return next((p for p in listed if within(path, p) or within(p, path)), None)


def without(found: Iterable[Difference], ignored: Sequence[fieldpath.Path]) -> list[Difference]:
    """Those that are not left to a controller."""
    return [d for d in found if not any(within(d.path, path) for path in ignored)]


def is_secret(document: Mapping[str, Any], path: fieldpath.Path) -> bool:
    """Whether the value at a path of a document is secret."""
    if document.get("kind") == "Secret" and document.get("apiVersion") == "v1" and path[:1]:
        return path[0] in _SECRET_FIELDS
    names = [s for s in path if isinstance(s, str)]
    return bool(names and _TELLING.search(names[-1].replace("_", "").replace("-", "")))


def shown(document: Mapping[str, Any], path: fieldpath.Path, value: Any) -> Any:
    """A value as it may be shown: a value of deploy time by its origin, secrets hidden wherever they are."""
    if value is ABSENT:
        return ABSENT
    if is_secret(document, path):
        return mapped(value, lambda _: HIDDEN)
    match value:
        case dict():
            return {key: shown(document, (*path, key), item) for key, item in value.items()}
        case list():
            return [shown(document, (*path, index), item) for index, item in enumerate(value)]
        case Ref() | Mix():
            return values.shown(value)
        case str() if (parsed := _json(value)) is not None:
            hidden = shown({}, (), parsed)
            return value if hidden == parsed else json.dumps(hidden, ensure_ascii=False)
        case _:
            return value


def text_differences(old: Any, new: Any) -> Iterator[Difference]:
    """Where two JSON texts differ, key by key; nothing if one of them is no JSON object or list."""
    before, after = _json(old), _json(new)
    if before is not None and after is not None:
        yield from differences(before, after)


def _json(text: Any) -> Any:
    """The object or list that a text holds as JSON, else None."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "[") or len(text) > _LONGEST_JSON:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _present(value: Any) -> Any:
    """A null is like an absent field: the engine leaves it out."""
    return ABSENT if value is None else value


def _at(items: Sequence[Any], index: int) -> Any:
    return items[index] if index < len(items) else ABSENT
