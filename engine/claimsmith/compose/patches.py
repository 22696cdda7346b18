"""Applying patches: fields of the claim onto a child's document, in order, each with its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claimsmith import fieldpath
from claimsmith.compose import transforms
from claimsmith.errors import ComposeError, EngineError, FieldPathError, NotFound, Problem
from claimsmith.merge import MergePolicy, merge
from claimsmith.models.klass import Patch, Side
from claimsmith.values import Mix, Ref, inside, is_later, known, mapped, shown


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
        values = [read(origin, path) for path in patch.reads]
    except NotFound as error:
        if not patch.required:
            return Outcome(patch, applied=False, why=str(error))
        missing = next(path for path in patch.reads if not _has(origin, path))
        what = f"the {patch.origin.value} has no {missing}, which the class requires"
        raise ComposeError(Problem(what, path=missing, fix=f"add {missing}")) from error
    value = made_of(patch, values)
    if patch.fill and _has(target, patch.to):
        stands = fieldpath.get(target, patch.to)
        return Outcome(patch, applied=False, why=f"the class says {stands!r}", contrary=stands != value)
    try:
        write(target, patch.to, value, policy=patch.policy, wildcards=patch.wildcards)
    except NotFound as error:
        if patch.required:
            raise
        return Outcome(patch, applied=False, why=str(error))
    return Outcome(patch, applied=True)


def transfer(patch: Patch, sides: Mapping[Side, dict[str, Any]]) -> None:
    """Read, combine, transform and write, in place. A source that is missing is a `NotFound`, whatever the policy."""
    values = [fieldpath.get(sides[patch.origin], path) for path in patch.reads]
    value = made_of(patch, values)
    write(sides[patch.target], patch.to, value, policy=patch.policy, wildcards=patch.combine is None, go_slices=True)


def made_of(patch: Patch, values: Sequence[Any]) -> Any:
    """What a patch makes of the values that it reads. Of one that is known only later it makes another such value."""
    if any(map(is_later, values)):
        return _later(patch, values)
    value = transforms.formatted(patch.combine, *values) if patch.combine is not None else values[0]
    return transforms.apply_all(patch.transforms, value)


def _later(patch: Patch, values: Sequence[Any]) -> Any:
    """The value that is made once its sources are there; what it will be, where that can be told already."""
    if patch.combine is None and not patch.transforms:
        return values[0]
    told = [known(value) for value in values]
    made = None if any(t is None for t in told) else made_of(patch, told)
    text = _text(patch, values)
    match values:
        case [Ref() as ref] if patch.combine is None:
            return replace(ref, transforms=(*ref.transforms, *patch.transforms), known=made, text=text)
        case _:
            how = [repr(patch.combine)] if patch.combine is not None else []
            how += [transforms.call_of(t)[0] for t in patch.transforms]
            return Mix(tuple(values), " ".join(how), known=made, text=text)


def _text(patch: Patch, values: Sequence[Any]) -> str:
    """What a patch makes of placeholders, where it makes a text of them."""
    try:
        made = made_of(patch, [mapped(value, shown) for value in values])
    except EngineError:
        return ""
    return made if isinstance(made, str) else ""


def read(data: dict[str, Any], path: str | fieldpath.Path) -> Any:
    """The value at a path, or what it will be where something on the way is known only later."""
    try:
        return fieldpath.get(data, path)
    except FieldPathError:
        found = inside(data, fieldpath.parse(path) if isinstance(path, str) else path)
        if found is None:
            raise
        return found


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
        try:
            fieldpath.put(target, place, None if nothing else _merged(target, place, value, policy))
        except FieldPathError:
            above = next((place[:n] for n in range(1, len(place)) if _is_later_at(target, place[:n])), None)
            if above is None:
                raise
            inner = fieldpath.to_text(place[len(above) :])
            fieldpath.put(target, above, Mix((fieldpath.get(target, above), value), f"with its {inner}"))


def _merged(target: dict[str, Any], place: fieldpath.Path, value: Any, policy: MergePolicy) -> Any:
    if policy is MergePolicy.Replace:
        return value
    try:
        there = fieldpath.get(target, place)
    except NotFound:
        return value
    if isinstance(there, Ref | Mix) or isinstance(value, Ref | Mix):
        return Mix((there, value), policy.value)
    return merge(there, value, policy)


def _is_later_at(data: dict[str, Any], path: fieldpath.Path) -> bool:
    return _has(data, path) and isinstance(fieldpath.get(data, path), Ref | Mix)


def _has(data: dict[str, Any], path: str | fieldpath.Path) -> bool:
    try:
        fieldpath.get(data, path)
    except EngineError:
        return False
    return True
