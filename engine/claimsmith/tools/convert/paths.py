"""Field paths from the older formats to Crossplane: what a patch reads of a claim, and writes into a composite.

A Crossplane composition sees the composite, never the claim. What the composite has of its claim is in
`spec.claimRef`, in its labels and annotations, and in the fields of the spec that are the platform's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from claimsmith.base import fieldpath
from claimsmith.base.fieldpath import Path
from claimsmith.dialects.common.dialect import Dialect
from claimsmith.dialects.definitions import Definition
from claimsmith.platform.unread import CHOOSING

TAKEN = frozenset(
    (
        "claimRef",
        "compositeDeletePolicy",
        "compositionRef",
        "compositionRevisionRef",
        "compositionRevisionSelector",
        "compositionSelector",
        "compositionUpdatePolicy",
        "environmentConfigRefs",
        "publishConnectionDetailsTo",
        "resourceRef",
        "resourceRefs",
        "writeConnectionSecretToRef",
    )
)
"""Fields of a spec that Crossplane reserves in cluster-scoped composites."""
_INJECTED = {
    "compositionRef": "compositionRef",
    "compositionSelector": "compositionSelector",
    "writeConnectionSecretToRef": "writeConnectionSecretToRef",
    "resourceRef": "resourceRef",
    "requirementRef": "claimRef",
    "composedRefs": "resourceRefs",
}


@dataclass(frozen=True, slots=True)
class Read:
    """Where a composition reads what a class read of its claim."""

    path: str
    """Empty if Crossplane has no such field."""
    why: str = ""
    """Why there is none, or how its value differs."""


def text_of(path: Path | str) -> str:
    """A path as function-patch-and-transform reads it, without a leading dot."""
    if not isinstance(path, str):
        return fieldpath.to_text(path)
    plain = fieldpath.to_text(fieldpath.parse(path))
    return plain if fieldpath.parse(plain) == fieldpath.parse(path) else path.removeprefix(".")


def read(path: str, dialect: Dialect, definition: Definition | None) -> Read:
    """Where a composition reads a field of a claim, or of an instance of a defined kind."""
    steps = fieldpath.parse(path)
    if steps == ("spec",):
        return Read("", "the whole spec of a composite also holds what Crossplane writes there")
    if dialect.is_composite:
        moved = placed(steps, definition)
        return Read(text_of(moved)) if moved else Read("", "Crossplane composites have no such field")
    return _of_claim(steps)


def placed(steps: Path, definition: Definition | None) -> Path | None:
    """Where a field of an instance of a defined kind is; None where there is no such field."""
    if definition is None or steps[:2] != ("spec", definition.injected):
        return steps
    below = steps[2:]
    if not below or below[0] not in _INJECTED:
        return None
    top: Path = ("spec", "crossplane") if definition.namespaced else ("spec",)
    # The definitions format also allows references as a list of one.
    rest = below[2:] if below[0] in ("compositionRef", "resourceRef") and below[1:2] == (0,) else below[1:]
    return (*top, _INJECTED[str(below[0])], *rest)


def _of_claim(steps: Path) -> Read:
    match steps:
        case ("metadata", "name" | "namespace" | "uid" as word):
            if word == "uid":
                return Read("metadata.uid", "a composition sees the uid of the composite, not that of the claim")
            return Read(f"spec.claimRef.{word}")
        case ("metadata", "labels" | "annotations", _):
            return Read(text_of(steps))
        case ("apiVersion" | "kind" as word,):
            return Read(f"spec.claimRef.{word}")
        case ("spec", "classRef", "name"):
            return Read("spec.compositionRef.name")
        case ("spec", "classSelector", "matchLabels", _):
            return Read(text_of(("spec", "compositionSelector", *steps[2:])))
        case ("spec", str(word), *_) if word in CHOOSING:
            return Read("", f"a composite does not have its claim's {word}")
        case ("spec", str(word), *_) if word in TAKEN:
            return Read("", f"Crossplane composites reserve spec.{word}")
        case ("spec", *_):
            return Read(text_of(steps))
        case _:
            return Read("", "a composition does not see that of a claim")
