"""External names: what a child has of its claim's, with its own prefix and suffix, as patches.

In the older dialects a child takes its claim's external name by itself, between the prefix and suffix of its own
annotations. Today's dialect does neither: a patch copies the name, and a format puts it between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith import fieldpath
from claimsmith.compose.identity import EXTERNAL_NAME, EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX
from claimsmith.convert.patches import Place, Written, formatted, patch
from claimsmith.convert.said import Said
from claimsmith.merge import MergePolicy
from claimsmith.models.klass import Parent, Patch

NAME = f"metadata.annotations[{EXTERNAL_NAME}]"
_NAME = ("metadata", "annotations", EXTERNAL_NAME)
_AROUND: dict[fieldpath.Path, str] = {
    ("metadata", "annotations", EXTERNAL_NAME_PREFIX): "prefix",
    ("metadata", "annotations", EXTERNAL_NAME_SUFFIX): "suffix",
}


@dataclass(slots=True)
class ExternalName:
    """What a template says of its external name."""

    base: dict[str, Any]
    """The annotations as they are to stand in the base."""
    prefix: str = ""
    suffix: str = ""
    own: str | None = None
    around: list[tuple[str, Patch]] = field(default_factory=list)
    """The patches that write the prefix or suffix, with the word for it."""

    @property
    def format(self) -> str:
        """The Go format that puts a name between prefix and suffix; empty where there is neither."""
        return f"{_escaped(self.prefix)}%s{_escaped(self.suffix)}" if self.prefix or self.suffix else ""


def of(annotations: dict[str, Any], given: Sequence[Patch]) -> ExternalName:
    """What annotations and patches say of an external name."""
    prefix, suffix = (str(annotations.get(k) or "") for k in (EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX))
    own = annotations.get(EXTERNAL_NAME)
    kept = {k: v for k, v in annotations.items() if k not in (EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX)}
    if isinstance(own, str):
        kept[EXTERNAL_NAME] = f"{prefix}{own}{suffix}"
    around = [(word, p) for p in given if (word := _AROUND.get(fieldpath.parse(p.to)))]
    return ExternalName(kept, prefix, suffix, own if isinstance(own, str) else None, around)


def writes_around(given: Patch) -> bool:
    """Whether a patch writes a prefix or suffix, which are no annotations of their own in today's dialect."""
    return fieldpath.parse(given.to) in _AROUND


def between(name: ExternalName, given: Patch, written: Written) -> Written:
    """A patch of the external name itself, with prefix and suffix put around its value."""
    if not name.format or fieldpath.parse(given.to) != _NAME:
        return written
    return {**written, "transforms": [*written.get("transforms", ()), formatted(name.format)]}


def patches(name: ExternalName, place: Place, said: Said, given: Sequence[tuple[Patch, Written]]) -> list[Written]:
    """The patches that give a child its external name, after all others."""
    inherits = place.klass.parent is not Parent.instance
    inherited = [patch(NAME, NAME, *([formatted(name.format)] if name.format else []))] if inherits else []
    moving = {id(p): w for p, w in given}
    around = [(word, p, moving[id(p)]) for word, p in name.around if id(p) in moving]
    if not around:
        return inherited
    word, patched, written = around[0]
    plain = not patched.transforms and patched.policy is MergePolicy.Replace
    if len(around) > 1 or not plain or any(fieldpath.parse(p.to) == _NAME for p, _ in given):
        for word, patched, _ in around:
            what = f"the {word} of {place.template.name!r}'s external name is patched in a way that no patch can say"
            said.leave_out(place.document, patched.at, what, "patch the external name itself")
        return inherited
    return [*_own(name, word, written), *inherited, *([_both(name, word, written)] if inherits else [])]


def _own(name: ExternalName, word: str, written: Written) -> list[Written]:
    """The base's own external name with a prefix or suffix that is patched."""
    if name.own is None:
        return []
    parts = (f"%s{_escaped(name.own + name.suffix)}", f"{_escaped(name.prefix + name.own)}%s")
    return [patch(written["fromFieldPath"], NAME, formatted(parts[word == "suffix"]))]


def _both(name: ExternalName, word: str, written: Written) -> Written:
    """The claim's external name with a prefix or suffix that is patched."""
    order = [written["fromFieldPath"], NAME] if word == "prefix" else [NAME, written["fromFieldPath"]]
    text = f"%s%s{_escaped(name.suffix)}" if word == "prefix" else f"{_escaped(name.prefix)}%s%s"
    combine = {
        "strategy": "string",
        "variables": [{"fromFieldPath": path} for path in order],
        "string": {"fmt": text},
    }
    return {"type": "CombineFromComposite", "combine": combine, "toFieldPath": NAME}


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
