"""Patches as the patch-and-transform function reads them. Transforms and policies are the same, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from claimsmith import fieldpath
from claimsmith.convert import paths
from claimsmith.convert.said import Said
from claimsmith.documents import Document
from claimsmith.errors import FieldPathError
from claimsmith.merge import MergePolicy
from claimsmith.models.definition import Definition
from claimsmith.models.klass import Class, Patch, Template
from claimsmith.models.transform import StringFormat, StringJoin, StringTransform, Transform

Written = dict[str, Any]
_NAMED = ("name", "generateName", "namespace")
_WHOLE = re.compile(r"%[-+# 0]*[0-9]*d")


@dataclass(frozen=True, slots=True)
class Place:
    """The template whose patches are converted, and what is known of its two sides."""

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


def transform(given: Transform) -> Written:
    """A transform with every type written out: the function fills in none."""
    written: Written = given.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False)
    return written


def converted(place: Place, given: Patch, said: Said) -> Written | None:
    """The patch in today's words; None where it is left out, with the reason noted."""
    origins = [paths.read(read, place.klass.parent, place.reads) for read in given.reads]
    for origin, read in zip(origins, given.reads, strict=True):
        if not origin.path:
            what = f"the patch of {place.template.name!r} reads {read}: {origin.why}"
            said.leave_out(place.document, given.at, what, "read a field of the spec, or a label or annotation")
            return None
        if origin.why:
            what = f"the patch of {place.template.name!r} reads {read}: {origin.why}"
            said.differ(place.document, given.at, what, "nothing to do where any unique text will do")
    to = _target(place, given, said)
    if to is None:
        return None
    _note_peculiar(place, given, said)
    policy = "" if given.policy is MergePolicy.Replace else given.policy.value
    transforms = [transform(t) for t in given.transforms]
    return patch(origins[0].path, to, *transforms, required=given.required, policy=policy)


def readable(template: Template, said: Said, document: Document) -> Template:
    """The template without patches whose paths nobody can read."""
    patches = []
    for given in template.patches:
        try:
            for path in (*given.reads, given.to):
                fieldpath.parse(path)
            patches.append(given)
        except FieldPathError as error:
            what = f"the patch of {template.name!r} cannot be read: {error.problems[0].what}"
            said.leave_out(document, given.at, what, error.problems[0].fix)
    return replace(template, patches=tuple(patches))


def in_force(template: Template, said: Said, document: Document) -> Iterator[Patch]:
    """The patches that can write something: those that only fill what the base leaves open, where it does."""
    written: list[fieldpath.Path] = []
    for given in template.patches:
        if not given.fill:
            yield given
            continue
        if _has(template.base, given.to):
            continue
        to = fieldpath.parse(given.to)
        if any(to[: len(w)] == w or w[: len(to)] == to for w in written):
            what = f"the patch of {template.name!r} fills {given.to} where another does not: that cannot be said"
            said.leave_out(document, given.at, what, "let one patch write the field")
            continue
        written.append(to)
        yield given


def _target(place: Place, given: Patch, said: Said) -> str | None:
    steps = fieldpath.parse(given.to)
    if steps[:1] == ("metadata",) and len(steps) > 1 and steps[1] in _NAMED:
        what = f"the patch of {place.template.name!r} to {given.to} is left out: it has no effect, names are generated"
        said.differ(place.document, given.at, what, "remove it from the class")
        return None
    if steps in (("metadata",), ()):
        what = f"the patch of {place.template.name!r} to {given.to} would write the name too, which is generated"
        said.leave_out(place.document, given.at, what, "write labels and annotations one by one")
        return None
    moved = paths.placed(steps, place.writes)
    if moved is None:
        what = f"the patch of {place.template.name!r} to {given.to}: today's composites have no such field"
        said.leave_out(place.document, given.at, what, "remove it")
        return None
    return paths.text_of(given.to if moved == steps else moved)


def _note_peculiar(place: Place, given: Patch, said: Said) -> None:
    """What the function is known to do differently with the same transform."""
    for index, one in enumerate(given.transforms):
        at = f"{given.at}.transforms[{index}]"
        match one:
            case StringTransform(string=StringFormat(fmt=text)) if _WHOLE.search(text.replace("%%", "")):
                what = f"{text!r} formats a whole number; there, numbers of a composite are floats: %!d(float64=5)"
                said.differ(place.document, at, what, "put a convert with toType: int64 before it")
            case StringTransform(string=StringJoin(join=options)) if len(options.separator.encode()) > 1:
                what = (
                    f"the separator {options.separator!r} has several characters; there, one of them stays at the end"
                )
                said.differ(place.document, at, what, "join with one character")
            case _:
                pass


def _has(base: Mapping[str, Any], path: str) -> bool:
    try:
        fieldpath.get(base, path)
    except FieldPathError:
        return False
    return True
