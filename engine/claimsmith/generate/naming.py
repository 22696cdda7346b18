"""The Python names of components: from the class, or for compositions of Crossplane from the kind that they serve."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Sequence

from claimsmith.base.names import kebab
from claimsmith.dialects.common.klass import Class
from claimsmith.generate import text
from claimsmith.kubernetes import crds

_OWN = ("", "Spec", "Args")
"""What the names of a component's own classes end in."""


def class_names(classes: Sequence[Class], taken: frozenset[str]) -> list[str]:
    """The components' names, in the order of the classes: short ones, or long ones if the short ones are equal.

    They are no part of URNs: a name may change when another class is added to the folder.
    """
    short = [_short(klass) for klass in classes]
    count = Counter(f"{name}{word}" for name in short for word in _OWN)
    names = [
        _long(klass) if any(count[f"{name}{word}"] > 1 for word in _OWN) else name
        for name, klass in zip(short, classes, strict=True)
    ]
    return [_usable(name, taken) for name in names]


def doubled(names: Sequence[str]) -> set[int]:
    """The indexes of the names that two components would have."""
    count = Counter(f"{name}{word}" for name in names for word in _OWN)
    return {i for i, name in enumerate(names) if any(count[f"{name}{word}"] > 1 for word in _OWN)}


def _usable(name: str, taken: frozenset[str]) -> str:
    # A kind may have dashes.
    name = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^0-9A-Za-z_]+", name))
    name = name if name[:1].isalpha() else f"Class{name}"
    return f"{name}Class" if keyword.iskeyword(name) or name in taken else name


def _short(klass: Class) -> str:
    if klass.dialect.publishing:
        return f"{klass.serves.kind}Claim" if klass.dialect.crossplane else klass.serves.kind
    if klass.dialect.pipelined:
        return _kind(klass) + "".join(map(text.pascal, _own_parts(klass)))
    return _long(klass)


def _long(klass: Class) -> str:
    name = text.pascal(klass.name)
    if klass.dialect.pipelined:
        return f"{_kind(klass)}{name}"
    # A class that may serve several kinds of claim has a component for each, named after both.
    return f"{name}{klass.makes}For{klass.serves.kind}" if klass.shared else f"{name}{klass.makes}"


def _kind(klass: Class) -> str:
    """The composite's kind without its X: XPostgreSQLInstance is a PostgreSQLInstance."""
    return text.sentence(re.sub(r"^[Xx](?=[A-Z])", "", klass.serves.kind))


def _own_parts(klass: Class) -> list[str]:
    """The words of a composition's name that are not part of its kind and group."""
    words = _parts(klass.name)
    group = _parts(klass.serves.group)
    if words[-len(group) :] == group:
        words = words[: -len(group)]
    parts = _parts_of(klass.serves.kind)
    # The X before an acronym is part of its word: XIAMRole has xiam and role.
    redundant = parts | {part.removeprefix("x") for part in parts}
    return [w for w in words if not {w.lower(), w.lower().removeprefix("x")} & redundant]


def _parts_of(kind: str) -> set[str]:
    """The parts of a kind, alone and joined, and their plurals: DynamoDBTable has dynamodb, and tables."""
    parts = kebab(kind).split("-")
    joined = {"".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    return joined | {crds.plural_of(word) for word in joined}


def _parts(name: str) -> list[str]:
    return [w for w in re.split(r"[^A-Za-z0-9]+", name) if w]
