"""sprig's functions on lists. None changes the list that it is given."""

from __future__ import annotations

from typing import Any

from claimsmith.golang import strconv
from claimsmith.templating import limits
from claimsmith.templating.functions.builtins import text_of, truth
from claimsmith.templating.functions.registry import Family, deep, pairwise, slow
from claimsmith.templating.problems import refusal

FAMILY = Family("lists")


def same(first: Any, second: Any) -> bool:
    """Whether the values are equal, and of the same type: 1 is neither true nor 1.0."""
    if isinstance(first, str) and isinstance(second, str):
        return first == second
    if type(first) is not type(second):
        return False
    match first:
        case list():
            return len(first) == len(second) and all(map(same, first, second))
        case dict():
            return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
        case _:
            return bool(first == second)


def strings(value: Any) -> list[str]:
    """The items of a list as texts, without nulls; anything else is a list of one."""
    items = value if isinstance(value, list) else [value]
    return [text_of(item) for item in items if item is not None]


@FAMILY.add("list any...")
def list_(*items: Any) -> list[Any]:
    """A list of the values."""
    return [*items]


@FAMILY.add("first list")
def first(items: list[Any]) -> Any:
    """The first item, null where there is none."""
    return items[0] if items else None


@FAMILY.add("last list")
def last(items: list[Any]) -> Any:
    """The last item, null where there is none."""
    return items[-1] if items else None


@FAMILY.add("rest list")
def rest(items: list[Any]) -> list[Any]:
    """All but the first item."""
    return items[1:]


@FAMILY.add("initial list")
def initial(items: list[Any]) -> list[Any]:
    """All but the last item."""
    return items[:-1]


@FAMILY.add("append list any")
def append(items: list[Any], item: Any) -> list[Any]:
    """The list with the item after it."""
    return [*items, item]


@FAMILY.add("prepend list any")
def prepend(items: list[Any], item: Any) -> list[Any]:
    """The list with the item before it."""
    return [item, *items]


@FAMILY.add("concat list...")
def concat(*lists: list[Any]) -> list[Any]:
    """The lists as one."""
    limits.fits(sum(map(len, lists)))
    return [item for items in lists for item in items]


@FAMILY.add("uniq list", cost=pairwise)
def uniq(items: list[Any]) -> list[Any]:
    """The list with each item once."""
    kept: list[Any] = []
    for item in items:
        if not has(item, kept):
            kept.append(item)
    return kept


@FAMILY.add("without list any...", cost=pairwise)
def without(items: list[Any], *dropped: Any) -> list[Any]:
    """The list without the values."""
    return [item for item in items if not has(item, [*dropped])]


@FAMILY.add("has any any", cost=pairwise)
def has(value: Any, items: Any) -> bool:
    """Whether the value is in the list; nothing is in null."""
    if items is not None and not isinstance(items, list):
        raise refusal("has needs a list", "write: has any list")
    return any(same(value, item) for item in items or ())


@FAMILY.add("compact list")
def compact(items: list[Any]) -> list[Any]:
    """The list without empty items."""
    return [item for item in items if truth(item)]


@FAMILY.add("sortAlpha any", cost=slow)
def sort_alpha(value: Any) -> list[str]:
    """The items as texts, sorted."""
    return sorted(strings(value), key=strconv.scrubbed) if isinstance(value, list) else [text_of(value)]


@FAMILY.add("reverse list")
def reverse(items: list[Any]) -> list[Any]:
    """The list from its end."""
    return items[::-1]


@FAMILY.add("slice list int...")
def slice_(items: list[Any], *bounds: int) -> Any:
    """The items from the first bound to the second; null for an empty list."""
    start = bounds[0] if bounds else 0
    end = bounds[1] if len(bounds) > 1 else len(items)
    if not items:
        return None
    if not 0 <= start <= end <= len(items):
        raise refusal(f"cannot take items {start} to {end} of {len(items)}", "stay within the list")
    return items[start:end]


@FAMILY.add("join str any", cost=deep)
def join(separator: str, value: Any) -> str:
    """The items as texts with the separator between them."""
    items = strings(value)
    limits.fits(len(separator) * len(items))
    return separator.join(items)


@FAMILY.add("splitList str str")
def split_list(separator: str, text: str) -> list[str]:
    """The parts of the second text between the separators; its characters where the separator is empty."""
    return text.split(separator) if separator else [*text]


@FAMILY.add("split str str")
def split(separator: str, text: str) -> dict[str, str]:
    """The same, as an object: `_0`, `_1`, …"""
    return {f"_{index}": part for index, part in enumerate(split_list(separator, text))}
