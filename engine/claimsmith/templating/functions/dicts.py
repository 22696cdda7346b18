"""sprig's functions on objects. `set`, `unset`, `merge` and `mergeOverwrite` change the first object given.

Where Go's order is random, keys are sorted here.
"""

from __future__ import annotations

from typing import Any

from claimsmith.base import values as core_values
from claimsmith.templating import limits
from claimsmith.templating.functions.builtins import text_of, truth
from claimsmith.templating.functions.registry import Family, deep
from claimsmith.templating.problems import refusal

FAMILY = Family("objects")

Object = dict[str, Any]


@FAMILY.add("dict any...")
def dict_(*pairs: Any) -> Object:
    """An object of keys and values in turn; a last key alone has an empty text."""
    limits.fits(sum(limits.size(key) for key in pairs[::2]))
    padded = [*pairs, ""] if len(pairs) % 2 else pairs
    return {text_of(key): value for key, value in zip(padded[::2], padded[1::2], strict=True)}


@FAMILY.add("get dict str")
def get(target: Object, key: str) -> Any:
    """The value at the key, an empty text where there is none."""
    return target.get(key, "")


@FAMILY.add("set dict str any")
def set_(target: Object, key: str, value: Any) -> Object:
    """The object, with the value at the key."""
    target[key] = value
    return target


@FAMILY.add("unset dict str")
def unset(target: Object, key: str) -> Object:
    """The object, without the key."""
    target.pop(key, None)
    return target


@FAMILY.add("hasKey dict str", lenient=True)
def has_key(target: Object, key: str) -> bool:
    """Whether the object has the key."""
    return key in target


@FAMILY.add("keys dict...")
def keys(*targets: Object) -> list[str]:
    """The keys of the objects."""
    return [key for target in targets for key in sorted(target)]


@FAMILY.add("values dict")
def values(target: Object) -> list[Any]:
    """The values of the object, in the order of its keys."""
    return [target[key] for key in sorted(target)]


@FAMILY.add("pick dict str...")
def pick(target: Object, *wanted: str) -> Object:
    """The object with these keys only."""
    return {key: target[key] for key in wanted if key in target}


@FAMILY.add("omit dict str...")
def omit(target: Object, *dropped: str) -> Object:
    """The object without these keys."""
    gone = frozenset(dropped)
    return {key: value for key, value in target.items() if key not in gone}


@FAMILY.add("merge dict dict...", cost=deep)
def merge(target: Object, *sources: Object) -> Object:
    """The first object, what is missing or empty in it taken from the others; objects in it are merged alike."""
    for source in sources:
        _merge(target, source, overwrite=False)
    return target


@FAMILY.add("mergeOverwrite dict dict...", cost=deep)
def merge_overwrite(target: Object, *sources: Object) -> Object:
    """The first object with what the others have, the last winning; objects in it are merged alike."""
    for source in sources:
        _merge(target, source, overwrite=True)
    return target


def _merge(target: Object, source: Object, *, overwrite: bool) -> None:
    for key in sorted(source):
        value = source[key]
        present = target.get(key)
        if isinstance(value, dict) and isinstance(present, dict):
            _merge(present, value, overwrite=overwrite)
        elif overwrite or (value is not None and not truth(present)):
            target[key] = core_values.copied(value)


@FAMILY.add("dig str any any...", lenient=True)
def dig(*arguments: Any) -> Any:
    """What stands at a path of keys in the last argument, else the one before it."""
    *path, default, target = arguments
    if not path or not all(isinstance(key, str) for key in path):
        raise refusal("dig needs keys, a default and an object", 'write: dig "a" "b" "default" .spec')
    for key in path:
        if target is not None and not isinstance(target, dict):
            raise refusal(f"dig finds no object in which to look for {key!r}", "shorten the path")
        if not target or key not in target:
            return default
        target = target[key]
    return target


@FAMILY.add("deepCopy any", cost=deep)
def deep_copy(value: Any) -> Any:
    """A copy that can be changed without changing the value."""
    return core_values.copied(value)
