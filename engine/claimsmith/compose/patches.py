"""Applying patches: fields of the claim onto a child's document, in order, each with its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from claimsmith import fieldpath
from claimsmith.compose import transforms
from claimsmith.errors import ComposeError, EngineError, FieldPathError, NotFound, Problem
from claimsmith.merge import MergePolicy, merge
from claimsmith.models.klass import Patch, Side


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one patch."""

    patch: Patch
    applied: bool
    why: str = ""
    contrary: bool = False
    """Whether the class says something else than the claim, and stands."""


def apply(patch: Patch, sides: Mapping[Side, dict[str, Any]]) -> Outcome:
    """Apply one patch to its target, in place. An optional one whose source is missing is skipped."""
    origin, target = sides[patch.origin], sides[patch.target]
    try:
        values = [fieldpath.get(origin, path) for path in patch.reads]
    except NotFound as error:
        if not patch.required:
            return Outcome(patch, applied=False, why=str(error))
        missing = next(path for path in patch.reads if not _has(origin, path))
        what = f"the {patch.origin.value} has no {missing}, which the class requires"
        raise ComposeError(Problem(what, path=missing, fix=f"add {missing}")) from error
    value = transforms.formatted(patch.combine, *values) if patch.combine is not None else values[0]
    value = transforms.apply_all(patch.transforms, value)
    if patch.fill and _has(target, patch.to):
        stands = fieldpath.get(target, patch.to)
        return Outcome(patch, applied=False, why=f"the class says {stands!r}", contrary=stands != value)
    try:
        write(target, patch.to, value, policy=patch.policy)
    except NotFound as error:
        if patch.required:
            raise
        return Outcome(patch, applied=False, why=str(error))
    return Outcome(patch, applied=True)


def transfer(patch: Patch, sides: Mapping[Side, dict[str, Any]]) -> None:
    """Read, combine, transform and write, in place. A source that is missing is a `NotFound`, whatever the policy."""
    values = [fieldpath.get(sides[patch.origin], path) for path in patch.reads]
    value = transforms.formatted(patch.combine, *values) if patch.combine is not None else values[0]
    value = transforms.apply_all(patch.transforms, value)
    write(sides[patch.target], patch.to, value, policy=patch.policy, wildcards=patch.combine is None, go_slices=True)


def write(
    target: dict[str, Any],
    path: str,
    value: Any,
    *,
    policy: MergePolicy = MergePolicy.Replace,
    wildcards: bool = True,
    go_slices: bool = False,
) -> None:
    """Write a value to each place that the path names; without wildcards, `[*]` is a key like any other.

    With `go_slices`, nothing appended to an empty array is null, which is what the peer's libraries make of it.
    """
    places = [fieldpath.parse(path)]
    if wildcards and fieldpath.has_wildcard(path):
        places = fieldpath.expand(target, path)
        if not places:
            raise FieldPathError(
                Problem(f"the path {path!r} matches nothing", path=path, fix="give the base something to expand over")
            )
    for place in places:
        nothing = go_slices and policy.appends and value == [] and _has(target, place)
        nothing = nothing and fieldpath.get(target, place) == []
        fieldpath.put(target, place, None if nothing else _merged(target, place, value, policy))


def _merged(target: dict[str, Any], place: fieldpath.Path, value: Any, policy: MergePolicy) -> Any:
    if policy is MergePolicy.Replace:
        return value
    try:
        return merge(fieldpath.get(target, place), value, policy)
    except NotFound:
        return value


def _has(data: dict[str, Any], path: str | fieldpath.Path) -> bool:
    try:
        fieldpath.get(data, path)
    except EngineError:
        return False
    return True
