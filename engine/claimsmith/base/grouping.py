"""Items in groups: by a key that they share, or by pairs that join them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def grouped(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """The items by their keys, both in the order in which they come."""
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def joined(items: Iterable[K], pairs: Iterable[tuple[K, K]]) -> list[list[K]]:
    """The items in groups such that no pair is in two of them, in the order of the items."""
    leader = {item: item for item in items}

    def led_by(item: K) -> K:
        while leader[item] != item:
            leader[item] = leader[leader[item]]
            item = leader[item]
        return item

    for one, other in pairs:
        leader[led_by(other)] = led_by(one)
    return list(grouped(leader, led_by).values())
