"""A template compiled once, for any number of claims.

A stack has few classes and many claims: most of the time of a plan is spent here. What does not change from claim to
claim is done once: paths are parsed, transforms looked up, and the parts of the base that no patch writes to are shared
by all documents. A field of a claim is read once, however many patches read it.

The semantics of patches are in `patches` alone. The quick path below handles the one common case: read a field that
exists, write a scalar to a path of plain fields. Everything else (a missing required field, a wildcard, a merge policy,
a value that a transform refuses) goes through `patches.apply`; a test compares both for random templates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.documents import MAX_NODES
from claimsmith.base.errors import Collector, ComposeError, EngineError, NotFound, Problem
from claimsmith.base.fieldpath import Path
from claimsmith.base.merge import MergePolicy
from claimsmith.base.values import copied, walk
from claimsmith.dialects.common.klass import Patch, Side, Template
from claimsmith.patching import patches, transforms

INT64 = range(-(2**63), 2**63)
"""Whole numbers of an API server. The engine keeps larger ones as float64, and rounds them in silence."""
_NOTHING: Any = object()

Blame = Callable[[Problem, Patch], Problem]
"""Says whose fault the problem of a patch is."""
_Write = tuple[str, int, tuple[str, ...], str]
"""A prepared write: the value's key in the reader, the object's slot, fields to create below it, the last field."""


def compiled(template: Template) -> Compiled:
    """The compiled template; the same for every claim."""
    if "compiled" not in template.memo:
        template.memo["compiled"] = Compiled(template)
    found: Compiled = template.memo["compiled"]
    return found


@dataclass(frozen=True, slots=True)
class Reader:
    """One claim, and the values that were read from it: each field once."""

    sides: dict[Side, dict[str, Any]]
    """What patches read: the claim, and the environment where there is one."""
    known: dict[str, Any] = field(default_factory=dict)
    """Values of the claim that documents may share, by what they are read from."""
    missing: dict[str, NotFound] = field(default_factory=dict)

    def forget(self) -> None:
        """Forget all values: the claim has changed."""
        self.known.clear()
        self.missing.clear()


@dataclass(frozen=True, slots=True)
class Composed:
    """The document of a template for one claim."""

    document: dict[str, Any]
    """It shares parts with the template's base: not to be changed in place."""
    outcomes: tuple[patches.Outcome, ...]
    fits: bool
    """Whether its size and its whole numbers are certain to be within the limits; otherwise they are checked."""


class Compiled:
    """A template with prepared patches."""

    def __init__(self, template: Template) -> None:
        inward = [patch for patch in template.patches if patch.target is Side.resource]
        paths = [fieldpath.parse(patch.to) for patch in inward]
        self._base = _Base(dict(template.base), paths)
        self._steps = [_Step(patch, path, self._base, paths) for patch, path in zip(inward, paths, strict=True)]
        self._writes = [step.write for step in self._steps]
        self._applied = tuple(patches.Outcome(patch, applied=True) for patch in inward)
        leaves = [leaf for _, leaf in walk(dict(template.base))]
        self._fits = all(leaf in INT64 for leaf in leaves if isinstance(leaf, int)) and (
            len(leaves) + len(inward) < MAX_NODES and all(len(path) <= fieldpath.MAX_STEPS for path in paths)
        )

    def make(self, reader: Reader, blame: Blame) -> Composed:
        """The template's document for a claim. The problems of all its patches are raised together."""
        known = reader.known
        objects = self._base.objects()
        problems = Collector()
        others: dict[int, patches.Outcome] = {}
        fits = self._fits
        for number, (key, slot, below, last) in enumerate(self._writes):
            value = known.get(key, _NOTHING)
            if value is _NOTHING:
                step = self._steps[number]
                value = step.read(reader)
                if value is _NOTHING:
                    fits = fits and key in reader.missing
                    with problems.catch():
                        others[number] = step.apply(reader, objects[0], blame)
                    continue
            here = objects[slot]
            for name in below:
                here = here.setdefault(name, {})
            here[last] = value
        problems.raise_as(ComposeError)
        outcomes = tuple(others.get(i, o) for i, o in enumerate(self._applied)) if others else self._applied
        return Composed(objects[0], outcomes, fits)


class _Base:
    """The base of a template: which of its objects each document needs for itself, since patches write into them."""

    def __init__(self, base: dict[str, Any], paths: Sequence[Path]) -> None:
        self.slots: dict[Path, int] = {}
        """Where such an object is among those that `objects` gives, by its path."""
        self._shared: list[dict[str, Any]] = []
        self._links: list[tuple[int, str, int]] = []
        self._whole: list[tuple[int, str, Any]] = []
        self._add((), base, [path for path in paths if path])

    def objects(self) -> list[dict[str, Any]]:
        """These objects anew, put together: the first is the document."""
        objects = [shared.copy() for shared in self._shared]
        for holder, key, inner in self._links:
            objects[holder][key] = objects[inner]
        for holder, key, value in self._whole:
            objects[holder][key] = copied(value)
        return objects

    def is_open(self, slot: int, key: str) -> bool:
        """Whether such an object has no such field."""
        return key not in self._shared[slot]

    def _add(self, path: Path, value: dict[str, Any], paths: Sequence[Path]) -> int:
        slot = self.slots[path] = len(self._shared)
        self._shared.append(value)
        anywhere = any(_plain_length(p) == 0 for p in paths)
        for key, inner in value.items():
            below = [p[1:] for p in paths if p[0] == key and len(p) > 1]
            if anywhere or (below and isinstance(inner, list)):
                self._whole.append((slot, key, inner))
            elif below and isinstance(inner, dict):
                self._links.append((slot, key, self._add((*path, key), inner, below)))
        return slot


class _Step:
    """One prepared patch. A quick one writes a scalar into an object that is certain to exist."""

    def __init__(self, patch: Patch, path: Path, base: _Base, paths: Sequence[Path]) -> None:
        self.patch = patch
        self._paths = [fieldpath.parse(read) for read in patch.reads]
        self._calls = [transforms.prepared(transform) for transform in patch.transforms]
        parents = path[:-1]
        depth = next(d for d in range(len(parents), -1, -1) if parents[:d] in base.slots)
        slot, below = base.slots[parents[:depth]], tuple(map(str, parents[depth:]))
        # Quick only if the order of patches cannot matter to this write: plain fields, no merge, and no other patch
        # that replaces an object on the way to the target.
        quick = (
            patch.origin is Side.claim
            and patch.policy is MergePolicy.Replace
            and not patch.fill
            and 0 < _plain_length(path) == len(path)
            and not any(parents[: _plain_length(other)] == other[: _plain_length(other)] for other in paths)
            and (not below or base.is_open(slot, below[0]))
        )
        # Patches with the same sources and transforms share one value, across all templates of the claim.
        self._key = repr((patch.reads, patch.combine, patch.transforms)) if quick else ""
        self.write: _Write = (self._key, slot, below, str(path[-1]) if path else "")

    def read(self, reader: Reader) -> Any:
        """The value that a quick one writes, if it is there and documents may share it."""
        if not self._key or self._key in reader.missing:
            return _NOTHING
        try:
            values = [patches.read(reader.sides[Side.claim], path) for path in self._paths]
            # Containers would be shared between documents, and a later patch may write into them.
            if not all(map(_is_shared, values)):
                return _NOTHING
            value = transforms.formatted(self.patch.combine, *values) if self.patch.combine is not None else values[0]
            for call in self._calls:
                value = call(value)
        except NotFound as error:
            reader.missing[self._key] = error
            return _NOTHING
        except EngineError:
            return _NOTHING
        if not _is_shared(value):
            return _NOTHING
        reader.known[self._key] = value
        return value

    def apply(self, reader: Reader, document: dict[str, Any], blame: Blame) -> patches.Outcome:
        """Apply the patch as it is, whatever it is."""
        absent = reader.missing.get(self._key)
        if absent and not self.patch.required:
            return patches.Outcome(self.patch, applied=False, why=str(absent))
        try:
            return patches.apply(self.patch, {**reader.sides, Side.resource: document})
        except EngineError as error:
            raise ComposeError(*(blame(problem, self.patch) for problem in error.problems)) from error


def _is_shared(value: Any) -> bool:
    """Whether documents may share a value as it is: a text, a truth value, null, or a number of at most 64 bits."""
    return value is None or isinstance(value, str | bool) or (isinstance(value, int) and value in INT64)


def _plain_length(path: Path) -> int:
    """How many segments, from the first on, are fields: no indexes, no wildcards."""
    return next((i for i, s in enumerate(path) if not isinstance(s, str) or s == fieldpath.WILDCARD), len(path))
