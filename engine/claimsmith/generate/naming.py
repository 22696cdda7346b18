"""The Python names of components: from the class, or for compositions of Crossplane from the kind that they serve."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Sequence

from claimsmith import crds
from claimsmith.generate import text
from claimsmith.models.klass import Class, Parent
from claimsmith.models.objects import kebab

_OWN = ("", "Spec", "Args")
"""What the names of a component's own classes end in."""


def class_names(classes: Sequence[Class], taken: frozenset[str]) -> list[str]:
    """The components' names, in the order of the classes; where short ones would be the same, the long ones.

    URNs have no part of them: a name may change when another class comes into the folder.
    """
    short = [_short(klass) for klass in classes]
    count = Counter(f"{name}{word}" for name in short for word in _OWN)
    chosen = [
        _long(klass) if any(count[f"{name}{word}"] > 1 for word in _OWN) else name
        for name, klass in zip(short, classes, strict=True)
    ]
    return [_usable(name, taken) for name in chosen]


def doubled(names: Sequence[str]) -> set[int]:
    """Which of the names would be those of two components."""
    count = Counter(f"{name}{word}" for name in names for word in _OWN)
    return {i for i, name in enumerate(names) if any(count[f"{name}{word}"] > 1 for word in _OWN)}


def _usable(name: str, taken: frozenset[str]) -> str:
    name = name if name[:1].isalpha() else f"Class{name}"
    return f"{name}Class" if keyword.iskeyword(name) or name in taken else name


def _short(klass: Class) -> str:
    match klass.parent:
        case Parent.requirement:
            return klass.serves.kind
        case Parent.xr_claim:
            return f"{klass.serves.kind}Claim"
        case Parent.xr:
            return _kind(klass) + "".join(map(text.pascal, _own_words(klass)))
        case _:
            return _long(klass)


def _long(klass: Class) -> str:
    name = text.pascal(klass.name)
    if klass.parent is Parent.xr:
        return f"{_kind(klass)}{name}"
    # A class that may serve several kinds of claim has a component for each, named after both.
    return f"{name}{klass.makes}For{klass.serves.kind}" if klass.shared else f"{name}{klass.makes}"


def _kind(klass: Class) -> str:
    """The composite's kind as people speak of it: XPostgreSQLInstance is a PostgreSQLInstance."""
    return text.sentence(re.sub(r"^[Xx](?=[A-Z])", "", klass.serves.kind))


def _own_words(klass: Class) -> list[str]:
    """The words of a composition's name that its kind and group do not say already."""
    words = _words(klass.name)
    group = _words(klass.serves.group)
    if words[-len(group) :] == group:
        words = words[: -len(group)]
    said = _said(klass.serves.kind)
    return [w for w in words if not {w.lower(), w.lower().removeprefix("x")} & said]


def _said(kind: str) -> set[str]:
    """What a kind says: its parts, alone and joined, and their plurals. DynamoDBTable says dynamodb, and tables."""
    parts = kebab(kind).split("-")
    joined = {"".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    return joined | {crds.plural_of(word) for word in joined}


def _words(name: str) -> list[str]:
    return [w for w in re.split(r"[^A-Za-z0-9]+", name) if w]
