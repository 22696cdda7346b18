"""Patches as the patch-and-transform function reads them. Transforms and policies are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import FieldPathError
from claimsmith.base.merge import MergePolicy
from claimsmith.base.transform import StringFormat, StringJoin, StringTransform, Transform
from claimsmith.base.values import has
from claimsmith.dialects.common.dialect import is_placed
from claimsmith.dialects.common.klass import Class, Patch, Template
from claimsmith.dialects.definitions import Definition
from claimsmith.tools.convert import paths
from claimsmith.tools.convert.notes import Notes

Written = dict[str, Any]
_NAMED = ("name", "generateName", "namespace")
_WHOLE = re.compile(r"%[-+# 0]*[0-9]*d")


@dataclass(frozen=True, slots=True)
class Place:
    """The template whose patches are converted, and the definitions of both sides."""

    klass: Class
    template: Template
    document: Document
    reads: Definition | None
    """The definition of the kind that the patches read, where it is a defined one."""
    writes: Definition | None
    """The definition of the kind that they write, where it is a defined one."""


def patch(reads: str, to: str, *transforms: Written, required: bool = False, policy: str = "") -> Written:
    """One patch that copies a field of the composite."""
    rules = {**({"fromFieldPath": "Required"} if required else {}), **({"toFieldPath": policy} if policy else {})}
    return {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": reads,
        "toFieldPath": to,
        **({"transforms": list(transforms)} if transforms else {}),
        **({"policy": rules} if rules else {}),
    }


def formatted(text: str) -> Written:
    """A transform that puts a value into a Go format."""
    return {"type": "string", "string": {"type": "Format", "fmt": text}}


def transform(source: Transform) -> Written:
    """A transform with every type written out: the function fills in none."""
    written: Written = source.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False)
    return written


def converted(place: Place, source: Patch, notes: Notes) -> Written | None:
    """The converted patch; None if it is left out, with the reason reported."""
    origins = [paths.read(read, place.klass.dialect, place.reads) for read in source.reads]
    for origin, read in zip(origins, source.reads, strict=True):
        if not origin.path:
            what = f"the patch of {place.template.name!r} reads {read}: {origin.why}"
            notes.leave_out(place.document, source.at, what, "read a field of the spec, or a label or annotation")
            return None
        if origin.why:
            what = f"the patch of {place.template.name!r} reads {read}: {origin.why}"
            notes.differ(place.document, source.at, what, "nothing, if any unique text will do")
    to = _target(place, source, notes)
    if to is None:
        return None
    _note_differences(place, source, notes)
    policy = "" if source.policy is MergePolicy.Replace else source.policy.value
    transforms = [transform(t) for t in source.transforms]
    return patch(origins[0].path, to, *transforms, required=source.required, policy=policy)


def readable(template: Template, notes: Notes, document: Document) -> Template:
    """The template without patches whose paths cannot be parsed."""
    patches = []
    for source in template.patches:
        try:
            for path in (*source.reads, source.to):
                fieldpath.parse(path)
            patches.append(source)
        except FieldPathError as error:
            what = f"the patch of {template.name!r} cannot be read: {error.problems[0].what}"
            notes.leave_out(document, source.at, what, error.problems[0].fix)
    return replace(template, patches=tuple(patches))


def in_force(template: Template, notes: Notes, document: Document) -> Iterator[Patch]:
    """The patches that can write something: those that only fill what the base leaves open, where it does."""
    written: list[fieldpath.Path] = []
    for source in template.patches:
        if not source.fill:
            yield source
            continue
        if has(template.base, source.to):
            continue
        to = fieldpath.parse(source.to)
        if any(to[: len(w)] == w or w[: len(to)] == to for w in written):
            what = f"the patch of {template.name!r} fills {source.to} where another does not: that cannot be converted"
            notes.leave_out(document, source.at, what, "let one patch write the field")
            continue
        written.append(to)
        yield source


def _target(place: Place, source: Patch, notes: Notes) -> str | None:
    steps = fieldpath.parse(source.to)
    moves = steps == ("metadata", "namespace") and is_placed(place.template.group_kind)
    if steps[:1] == ("metadata",) and len(steps) > 1 and steps[1] in _NAMED and not moves:
        what = f"the patch of {place.template.name!r} to {source.to} is left out: it has no effect, names are generated"
        notes.differ(place.document, source.at, what, "remove it from the class")
        return None
    if steps in (("metadata",), ()):
        what = f"the patch of {place.template.name!r} to {source.to} would write the name too, which is generated"
        notes.leave_out(place.document, source.at, what, "write labels and annotations one by one")
        return None
    moved = paths.placed(steps, place.writes)
    if moved is None:
        what = f"the patch of {place.template.name!r} to {source.to}: Crossplane composites have no such field"
        notes.leave_out(place.document, source.at, what, "remove it")
        return None
    return paths.text_of(source.to if moved == steps else moved)


def _note_differences(place: Place, source: Patch, notes: Notes) -> None:
    """Report what the function does differently with the same transform."""
    for index, one in enumerate(source.transforms):
        at = f"{source.at}.transforms[{index}]"
        match one:
            case StringTransform(string=StringFormat(fmt=text)) if _WHOLE.search(text.replace("%%", "")):
                what = f"{text!r} formats a whole number; numbers of a composite are floats there: %!d(float64=5)"
                notes.differ(place.document, at, what, "put a convert with toType: int64 before it")
            case StringTransform(string=StringJoin(join=options)) if len(options.separator.encode()) > 1:
                what = f"the separator {options.separator!r} has several characters; the function leaves one at the end"
                notes.differ(place.document, at, what, "join with one character")
            case _:
                pass
