"""How a patch's value is joined with what is already there: policy.toFieldPath.

The cases are Crossplane's, surprises included: empty values (0, "", false, [], {}) count as not set, whole arrays are
kept or replaced unless the policy appends, and only an array at the path itself is spared duplicates.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from claimsmith.base import errors
from claimsmith.base.errors import FieldPathError, Problem
from claimsmith.base.values import copied

Value = Any

_DEPRECATED = {"MergeObject": "MergeObjects", "AppendArray": "ForceMergeObjectsAppendArrays"}


class MergePolicy(StrEnum):
    """What happens where there is a value already: which side wins, and whether arrays are appended."""

    Replace = "Replace"
    MergeObjects = "MergeObjects"
    MergeObjectsAppendArrays = "MergeObjectsAppendArrays"
    ForceMergeObjects = "ForceMergeObjects"
    ForceMergeObjectsAppendArrays = "ForceMergeObjectsAppendArrays"

    @classmethod
    def from_text(cls, text: str) -> MergePolicy:
        """The policy of that name, deprecated names included; a ValueError names the others."""
        name = _DEPRECATED.get(text, text)
        if name in cls.__members__:
            return cls(name)
        raise ValueError(f"unknown policy {text!r}; {errors.suggest(text, cls.__members__)}")

    @classmethod
    def from_options(cls, *, keep_map_values: bool = False, append_slice: bool = False) -> MergePolicy:
        """The policy that older compositions wrote as mergeOptions."""
        name = f"{'' if keep_map_values else 'Force'}MergeObjects{'AppendArrays' if append_slice else ''}"
        return cls(name)

    @property
    def source_wins(self) -> bool:
        """Whether the patch's value wins over what is there."""
        return self in (MergePolicy.ForceMergeObjects, MergePolicy.ForceMergeObjectsAppendArrays)

    @property
    def appends(self) -> bool:
        """Whether arrays are appended to."""
        return self.value.endswith("AppendArrays")


def merge(dst: Value, src: Value, policy: MergePolicy) -> Value:
    """The value to put where `dst` was, for a patch that brings `src`. Neither is changed nor shared."""
    if policy is MergePolicy.Replace or dst is None or src is None:
        return copied(src)
    if policy.appends and isinstance(dst, list) and isinstance(src, list):
        src = [item for item in src if not any(_same(item, there) for there in dst)]
    merged = {"value": copied(dst)}
    _merge_into(merged, {"value": src}, policy)
    return merged["value"]


def _merge_into(dst: dict[str, Value], src: dict[str, Value], policy: MergePolicy) -> None:
    for key, new in src.items():
        old = dst.get(key)
        if new is None:
            if policy.source_wins:
                dst[key] = None
        elif isinstance(new, list) and old is not None:
            dst[key] = _merged_array(old, new, policy)
        elif isinstance(new, dict) and isinstance(old, dict):
            _merge_into(old, new, policy)
            if _is_empty(old):
                dst[key] = copied(new)
        elif policy.source_wins or _is_empty(old):
            dst[key] = copied(new)


def _merged_array(old: Value, new: list[Value], policy: MergePolicy) -> Value:
    if policy.appends:
        if not isinstance(old, list):
            what = "failed to merge values: cannot append two slices with different type"
            raise FieldPathError(
                Problem(what, fix="an array is appended to arrays only: use ForceMergeObjects to replace")
            )
        return old + copied(new)
    return copied(new) if policy.source_wins or _is_empty(old) else old


def _is_empty(value: Value) -> bool:
    """Whether the value counts as not set."""
    return value is None or (isinstance(value, bool | int | float | str | list | dict) and not value)


def _same(one: Value, other: Value) -> bool:
    """Whether two values are equal as JSON, where true is not 1."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
        case list(), list():
            return len(one) == len(other) and all(map(_same, one, other))
        case _:
            return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
