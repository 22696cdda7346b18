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
from claimsmith.errors import Collector, ComposeError, EngineError, NotFound, Problem
from claimsmith.merge import MergePolicy
from claimsmith.models.klass import Patch, Side, Template
from claimsmith.values import copied, walk

_INT64 = range(-(2**63), 2**63)
_NOTHING: Any = object()
_UNUSUAL: Any = object()
"""In the place of a value: one that `patches.apply` is to look at."""

Blame = Callable[[Problem, Patch], Problem]
"""Says whose fault the problem of a patch is."""


def compiled(template: Template) -> Compiled:
    """The template made ready; the same for every claim."""
    if "compiled" not in template.memo:
        template.memo["compiled"] = Compiled(template)
    made: Compiled = template.memo["compiled"]
    return made


@dataclass(slots=True)
class Reader:
    """What one claim says, each thing read once."""

    claim: dict[str, Any]
    _known: dict[str, Any] = field(default_factory=dict)

    def value(self, source: _Source) -> Any:
        """The value of a source, or the `NotFound` that there is none, or that it is unusual."""
        found = self._known.get(source.key, _NOTHING)
        if found is _NOTHING:
            found = self._known[source.key] = source.read(self.claim)
        return found

    def forget(self) -> None:
        """Read everything anew: a patch has changed the claim."""
        self._known.clear()


@dataclass(frozen=True, slots=True)
class Made:
    """What a template makes of a claim."""

    document: dict[str, Any]
    """It shares with the template what no patch writes to: not to be changed in place."""
    outcomes: tuple[patches.Outcome, ...]
    fits: bool
    """Whether every whole number in it is known to fit into 64 bits."""


class Compiled:
    """A template whose patches are ready to be applied."""

    def __init__(self, template: Template) -> None:
        self._steps = [_Step(patch) for patch in template.patches]
        self._fresh = _copier(dict(template.base), [path for p in template.patches if (path := fieldpath.parse(p.to))])
        self._fits = all(leaf in _INT64 for _, leaf in walk(dict(template.base)) if isinstance(leaf, int))

    def make(self, reader: Reader, blame: Blame) -> Made:
        """The template's document for a claim. The problems of all its patches are raised together."""
        document: dict[str, Any] = self._fresh()
        outcomes: list[patches.Outcome] = []
        problems = Collector()
        fits = self._fits
        for step in self._steps:
            value = reader.value(step.source) if step.quick else _UNUSUAL
            if value.__class__ is NotFound and not step.patch.required:
                outcomes.append(patches.Outcome(step.patch, applied=False, why=str(value)))
            elif value is not _UNUSUAL and value.__class__ is not NotFound and step.write(document, value):
                outcomes.append(step.applied)
            else:
                fits = False
                try:
                    outcomes.append(patches.apply(step.patch, {Side.claim: reader.claim, Side.resource: document}))
                except EngineError as error:
                    problems.problems += [blame(problem, step.patch) for problem in error.problems]
                if step.patch.target is Side.claim:
                    reader.forget()
        problems.raise_as(ComposeError)
        return Made(document, tuple(outcomes), fits)


class _Source:
    """Where the value of a patch comes from: what it reads, combines and transforms."""

    __slots__ = ("_calls", "_combine", "_paths", "key")

    def __init__(self, patch: Patch) -> None:
        self.key = repr((patch.reads, patch.combine, patch.transforms))
        self._paths = [fieldpath.parse(path) for path in patch.reads]
        self._combine = patch.combine
        self._calls = [transforms.prepared(transform) for transform in patch.transforms]

    def read(self, claim: dict[str, Any]) -> Any:
        """The value for a claim. Only values that all documents may share are usual."""
        try:
            values = [fieldpath.get(claim, path) for path in self._paths]
            value = transforms.formatted(self._combine, *values) if self._combine is not None else values[0]
            for call in self._calls:
                value = call(value)
        except NotFound as error:
            return error
        except EngineError:
            return _UNUSUAL
        shared = value is None or isinstance(value, str | bool) or (isinstance(value, int) and value in _INT64)
        return value if shared else _UNUSUAL


class _Step:
    """One patch with its path apart, and what is said where it was applied."""

    __slots__ = ("_last", "_parents", "applied", "patch", "quick", "source")

    def __init__(self, patch: Patch) -> None:
        self.patch = patch
        self.source = _Source(patch)
        *self._parents, self._last = fieldpath.parse(patch.to) or ("",)
        self.applied = patches.Outcome(patch, applied=True)
        self.quick = (
            (patch.origin, patch.target) == (Side.claim, Side.resource)
            and patch.policy is MergePolicy.Replace
            and not patch.fill
            and _plain_length(fieldpath.parse(patch.to)) == len(self._parents) + 1
        )

    def write(self, document: dict[str, Any], value: Any) -> bool:
        """Write the value, making the objects on the way; tells whether nothing was in the way."""
        here = document
        for name in self._parents:
            inner = here.get(name, _NOTHING)  # type: ignore[arg-type]  # only fields, where it is quick
            if inner is _NOTHING:
                inner = here[name] = {}  # type: ignore[index]
            elif inner.__class__ is not dict:
                return False
            here = inner
        here[self._last] = value  # type: ignore[index]
        return True


def _plain_length(path: fieldpath.Path) -> int:
    """How many segments, from the first on, are fields: no indexes, no wildcards."""
    return next((i for i, s in enumerate(path) if not isinstance(s, str) or s == fieldpath.WILDCARD), len(path))


def _copier(base: Any, paths: Sequence[fieldpath.Path]) -> Callable[[], Any]:
    """A function that copies the base as far as patches to these paths may change it."""
    if not isinstance(base, dict) or any(_plain_length(path) == 0 for path in paths):
        return lambda: copied(base)
    inner: list[tuple[str, Callable[[], Any]]] = []
    for key, value in base.items():
        below = [path[1:] for path in paths if path[0] == key and len(path) > 1]
        if below and isinstance(value, dict | list):
            inner.append((key, _copier(value, below)))

    def fresh() -> dict[str, Any]:
        own = dict(base)
        for key, copy in inner:
            own[key] = copy()
        return own

    return fresh
