"""External names: how a child inherits its claim's, between its own prefix and suffix, as patches.

In the older formats a child inherits its claim's external name, between the prefix and suffix of its own
annotations. Crossplane does neither: a patch copies the name, and a format puts it between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.labels import EXTERNAL_NAME, EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX
from claimsmith.base.merge import MergePolicy
from claimsmith.dialects.common.klass import Patch
from claimsmith.tools.convert.notes import Notes
from claimsmith.tools.convert.patches import Place, Written, formatted, patch

NAME = f"metadata.annotations[{EXTERNAL_NAME}]"
_NAME = ("metadata", "annotations", EXTERNAL_NAME)
_AROUND: dict[fieldpath.Path, str] = {
    ("metadata", "annotations", EXTERNAL_NAME_PREFIX): "prefix",
    ("metadata", "annotations", EXTERNAL_NAME_SUFFIX): "suffix",
}


@dataclass(slots=True)
class ExternalName:
    """The external name of a template."""

    base: dict[str, Any]
    """The annotations as they are to stand in the base."""
    prefix: str = ""
    suffix: str = ""
    own: str | None = None
    around: list[tuple[str, Patch]] = field(default_factory=list)
    """The patches that write the prefix or suffix, each with `prefix` or `suffix`."""

    @property
    def format(self) -> str:
        """The Go format that puts a name between prefix and suffix; empty where there is neither."""
        return f"{_escaped(self.prefix)}%s{_escaped(self.suffix)}" if self.prefix or self.suffix else ""


def of(annotations: dict[str, Any], given: Sequence[Patch]) -> ExternalName:
    """The external name that annotations and patches set."""
    prefix, suffix = (str(annotations.get(k) or "") for k in (EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX))
    own = annotations.get(EXTERNAL_NAME)
    kept = {k: v for k, v in annotations.items() if k not in (EXTERNAL_NAME_PREFIX, EXTERNAL_NAME_SUFFIX)}
    if isinstance(own, str):
        kept[EXTERNAL_NAME] = f"{prefix}{own}{suffix}"
    around = [(word, p) for p in given if (word := _AROUND.get(fieldpath.parse(p.to)))]
    return ExternalName(kept, prefix, suffix, own if isinstance(own, str) else None, around)


def writes_around(given: Patch) -> bool:
    """Whether a patch writes a prefix or suffix, which Crossplane has no annotations for."""
    return fieldpath.parse(given.to) in _AROUND


def between(name: ExternalName, given: Patch, written: Written) -> Written:
    """A patch of the external name itself, with prefix and suffix put around its value."""
    if not name.format or fieldpath.parse(given.to) != _NAME:
        return written
    return {**written, "transforms": [*written.get("transforms", ()), formatted(name.format)]}


def patches(name: ExternalName, place: Place, notes: Notes, given: Sequence[tuple[Patch, Written]]) -> list[Written]:
    """The patches that give a child its external name, after all others."""
    inherits = place.klass.dialect.passes_external_name
    inherited = [patch(NAME, NAME, *([formatted(name.format)] if name.format else []))] if inherits else []
    moving = {id(p): w for p, w in given}
    around = [(word, p, moving[id(p)]) for word, p in name.around if id(p) in moving]
    if not around:
        return inherited
    word, patched, written = around[0]
    plain = not patched.transforms and patched.policy is MergePolicy.Replace
    if len(around) > 1 or not plain or any(fieldpath.parse(p.to) == _NAME for p, _ in given):
        for word, patched, _ in around:
            what = f"the {word} of {place.template.name!r}'s external name is patched as no Crossplane patch can"
            notes.leave_out(place.document, patched.at, what, "patch the external name itself")
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
