"""A template made ready once, for any number of claims.

What does not change from claim to claim is done once: paths are parsed, transforms looked up, and what no patch
writes to is shared by all documents. What a claim says is read once, however many patches want it. What a patch
means stands in `patches` alone: whatever is unusual here (a required field that is missing, a wildcard, a value that
a transform refuses) is left to `patches.apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from claimsmith import fieldpath
from claimsmith.compose import patches, transforms
from claimsmith.documents import MAX_NODES
from claimsmith.errors import Collector, ComposeError, EngineError, NotFound, Problem
from claimsmith.fieldpath import Path
from claimsmith.merge import MergePolicy
from claimsmith.models.klass import Patch, Side, Template
from claimsmith.values import copied, walk

_INT64 = range(-(2**63), 2**63)
_NOTHING: Any = object()

Blame = Callable[[Problem, Patch], Problem]
"""Says whose fault the problem of a patch is."""
_Write = tuple[str, int, tuple[str, ...], str]
"""What to write (its key in the reader), into which object, through which fields that are made for it, under which."""


def compiled(template: Template) -> Compiled:
    """The template made ready; the same for every claim."""
    if "compiled" not in template.memo:
        template.memo["compiled"] = Compiled(template)
    made: Compiled = template.memo["compiled"]
    return made


@dataclass(frozen=True, slots=True)
class Reader:
    """One claim, and what was read of it: each thing once."""

    sides: dict[Side, dict[str, Any]]
    """What patches read: the claim, and the environment where there is one."""
    known: dict[str, Any] = field(default_factory=dict)
    """Values of the claim that documents may share, by what they are read from."""
    missing: dict[str, NotFound] = field(default_factory=dict)

    def forget(self) -> None:
        """Read everything anew: the claim has changed."""
        self.known.clear()
        self.missing.clear()


@dataclass(frozen=True, slots=True)
class Made:
    """What a template makes of a claim."""

    document: dict[str, Any]
    """It shares with the template what no patch writes to: not to be changed in place."""
    outcomes: tuple[patches.Outcome, ...]
    fits: bool
    """Whether it is known that it is not too large, nor any whole number in it."""


class Compiled:
    """A template whose patches are ready to be applied."""

    def __init__(self, template: Template) -> None:
        inward = [patch for patch in template.patches if patch.target is Side.resource]
        paths = [fieldpath.parse(patch.to) for patch in inward]
        self._base = _Base(dict(template.base), paths)
        self._steps = [_Step(patch, path, self._base, paths) for patch, path in zip(inward, paths, strict=True)]
        self._writes = [step.write for step in self._steps]
        self._applied = tuple(patches.Outcome(patch, applied=True) for patch in inward)
        leaves = [leaf for _, leaf in walk(dict(template.base))]
        self._fits = all(leaf in _INT64 for leaf in leaves if isinstance(leaf, int)) and (
            len(leaves) + len(inward) < MAX_NODES and all(len(path) <= fieldpath.MAX_STEPS for path in paths)
        )

    def make(self, reader: Reader, blame: Blame) -> Made:
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
        return Made(objects[0], outcomes, fits)


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
    """One patch, made ready. A quick one writes a value into an object that is surely there."""

    def __init__(self, patch: Patch, path: Path, base: _Base, paths: Sequence[Path]) -> None:
        self.patch = patch
        self._paths = [fieldpath.parse(read) for read in patch.reads]
        self._calls = [transforms.prepared(transform) for transform in patch.transforms]
        parents = path[:-1]
        depth = next(d for d in range(len(parents), -1, -1) if parents[:d] in base.slots)
        slot, below = base.slots[parents[:depth]], tuple(map(str, parents[depth:]))
        quick = (
            patch.origin is Side.claim
            and patch.policy is MergePolicy.Replace
            and not patch.fill
            and 0 < _plain_length(path) == len(path)
            and not any(parents[: _plain_length(other)] == other[: _plain_length(other)] for other in paths)
            and (not below or base.is_open(slot, below[0]))
        )
        self._key = repr((patch.reads, patch.combine, patch.transforms)) if quick else ""
        self.write: _Write = (self._key, slot, below, str(path[-1]) if path else "")

    def read(self, reader: Reader) -> Any:
        """The value that a quick one writes, if it is there and documents may share it."""
        if not self._key or self._key in reader.missing:
            return _NOTHING
        try:
            values = [patches.read(reader.sides[Side.claim], path) for path in self._paths]
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
    return value is None or isinstance(value, str | bool) or (isinstance(value, int) and value in _INT64)


def _plain_length(path: Path) -> int:
    """How many segments, from the first on, are fields: no indexes, no wildcards."""
    return next((i for i, s in enumerate(path) if not isinstance(s, str) or s == fieldpath.WILDCARD), len(path))
