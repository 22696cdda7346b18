"""Applying patches: fields of the claim onto a child's document, in order, each with its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, EngineError, FieldPathError, NotFound, Problem
from claimsmith.base.merge import MergePolicy, merge
from claimsmith.base.names import is_native
from claimsmith.base.values import Mix, Ref, has, inside, is_later, known, mapped, shown, value_at
from claimsmith.dialects.common.klass import Patch, Side
from claimsmith.patching import transforms


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one patch."""

    patch: Patch
    applied: bool
    why: str = ""
    contrary: bool = False
    """Whether the claim asks for another value than the class has; the class wins."""


def apply(patch: Patch, sides: Mapping[Side, dict[str, Any]]) -> Outcome:
    """Apply one patch to its target, in place. An optional one whose source is missing is skipped."""
    origin, target = sides[patch.origin], sides[patch.target]
    try:
        values = [read(origin, path) for path in patch.reads]
    except NotFound as error:
        if not patch.required:
            return Outcome(patch, applied=False, why=str(error))
        missing = next(path for path in patch.reads if not has(origin, path))
        what = f"the {patch.origin.value} has no {missing}, which the class requires"
        raise ComposeError(Problem(what, path=missing, fix=f"add {missing}")) from error
    value = result_of(patch, values)
    if patch.fill and has(target, patch.to):
        own = fieldpath.get(target, patch.to)
        return Outcome(patch, applied=False, why=f"the class has {own!r}", contrary=own != value)
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
    value = result_of(patch, values)
    target = sides[patch.target]
    write(target, patch.to, value, policy=patch.policy, wildcards=patch.combine is None, go_slices=True)
    if not is_native(target) and not (isinstance(target.get("kind"), str) and target["kind"]):
        what = f"the {patch.target.value} has no kind after the patch"
        raise ComposeError(Problem(what, path="kind", fix="patch another field than kind, or give it a kind before"))


def result_of(patch: Patch, values: Sequence[Any]) -> Any:
    """The result of a patch for the values that it reads. From a value that is known only later follows another one."""
    if any(map(is_later, values)):
        return _later(patch, values)
    value = transforms.formatted(patch.combine, *values) if patch.combine is not None else values[0]
    return transforms.apply_all(patch.transforms, value)


def _later(patch: Patch, values: Sequence[Any]) -> Any:
    """The value for sources that do not exist yet, with its result where that is already certain."""
    if patch.combine is None and not patch.transforms:
        return values[0]
    certain = [known(value) for value in values]
    result = None if any(c is None for c in certain) else result_of(patch, certain)
    text = _text(patch, values)
    match values:
        case [Ref() as ref] if patch.combine is None:
            return replace(ref, transforms=(*ref.transforms, *patch.transforms), known=result, text=text)
        case _:
            how = [repr(patch.combine)] if patch.combine is not None else []
            how += [transforms.call_of(t)[0] for t in patch.transforms]
            return Mix(tuple(values), " ".join(how), known=result, text=text)


def _text(patch: Patch, values: Sequence[Any]) -> str:
    """The result of a patch for placeholders, where that is a text."""
    try:
        result = result_of(patch, [mapped(value, shown) for value in values])
    except EngineError:
        return ""
    return result if isinstance(result, str) else ""


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

    With `go_slices`, nothing appended to an empty array is null: Crossplane's Go libraries yield a nil slice there.
    """
    places = [fieldpath.parse(path)]
    if wildcards and fieldpath.has_wildcard(path):
        places = fieldpath.expand(target, path)
        if not places:
            raise FieldPathError(
                Problem(f"the path {path!r} matches nothing", path=path, fix="give the base something to expand over")
            )
    for place in places:
        nothing = go_slices and policy.appends and value == [] and has(target, place)
        nothing = nothing and fieldpath.get(target, place) == []
        try:
            fieldpath.put(target, place, None if nothing else _merged(target, place, value, policy))
        except FieldPathError:
            outer = (place[:n] for n in range(1, len(place)))
            above = next((path for path in outer if isinstance(value_at(target, path), Ref | Mix)), None)
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
