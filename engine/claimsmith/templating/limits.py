"""How much a template may do. No clock is looked at: work is counted, so the same template always ends the same.

Every node evaluated is a step, and long texts and lists cost more. What a value weighs is counted with every repetition
in it, since a list of lists of the same list is small in memory and endless once printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from claimsmith.base import fieldpath
from claimsmith.golang import inputs
from claimsmith.templating.problems import refusal

MAX_TEMPLATE: Final = 256 * 1024
"""The longest template, in characters."""
MAX_OUTPUT: Final = 1024 * 1024
"""The longest output, in characters."""
MAX_STEPS: Final = 200_000
"""The most steps of one rendering."""
MAX_SIZE: Final = 1024 * 1024
"""The most that one value may weigh: a character weighs 1, an item 8 or more."""
MAX_DEPTH: Final = 64
"""The deepest that values, blocks and parentheses may be nested."""

_PER_STEP = 64
"""So many characters are one step."""
_ITEM = 8
"""An item weighs as much as so many characters."""


class Budget:
    """What is left of the steps of one rendering."""

    def __init__(self) -> None:
        self.steps = 0

    def spend(self, size: int = 0) -> None:
        """Count one step, and more for what is large."""
        self.steps += 1 + max(size, 0) // _PER_STEP
        if self.steps > MAX_STEPS:
            raise refusal(f"the template takes more than {MAX_STEPS} steps", "loop less, or over smaller lists")


class Output:
    """The text written so far."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.begins: list[tuple[int, int, bool]] = []
        """Where each part begins: here, and in the template; and whether it is text of the template itself."""
        self.size = 0

    def write(self, text: str) -> None:
        """Add to it."""
        self.size += len(text)
        if self.size > MAX_OUTPUT:
            raise refusal(f"the output is longer than {MAX_OUTPUT} characters", "write less")
        self.parts.append(text)

    def __str__(self) -> str:
        return "".join(self.parts)


def refuse_long(text: str) -> None:
    """Refuse a template that is too long to read."""
    if len(text) > MAX_TEMPLATE:
        raise refusal(f"the template is longer than {MAX_TEMPLATE} characters", "split it into several resources")


def fits(size: int) -> int:
    """The size, if a value may have it; call this before creating the value."""
    if size > MAX_SIZE:
        raise refusal(f"a value would weigh more than {MAX_SIZE} characters", "make it smaller, with all in it")
    return size


def width(value: Any) -> int:
    """What the value weighs by itself, its items not counted."""
    return len(value) if isinstance(value, str | list | tuple | dict) else 1


def size(value: Any) -> int:
    """What the value weighs with all in it; refused where that is too much or too deep."""
    total = 0
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        total = fits(total + _ITEM + (len(item) if isinstance(item, str) else 0))
        if depth > MAX_DEPTH:
            raise refusal("a value is nested too deeply, or in itself", "make it flatter")
        if isinstance(item, dict):
            total = fits(total + sum(map(len, item)) + len(item))
            waiting.extend((inner, depth + 1) for inner in item.values())
        elif isinstance(item, list | tuple):
            total = fits(total + len(item))
            waiting.extend((inner, depth + 1) for inner in item)
    return total


def plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the data, which a template may change; refused where it holds anything but plain data."""
    copied: dict[str, Any] = _copied(dict(data), ())
    size(copied)
    return copied


def _copied(value: Any, path: fieldpath.Path) -> Any:
    if len(path) > MAX_DEPTH:
        raise refusal("the data is nested too deeply", "make it flatter")
    match value:
        case None | bool() | str() | int() | float():
            return value
        case list() | tuple():
            return [_copied(item, (*path, index)) for index, item in enumerate(value)]
        case Mapping() if all(isinstance(key, str) for key in value):
            return {str(key): _copied(item, (*path, str(key))) for key, item in value.items()}
        case _:
            what = f"{fieldpath.to_text(path) or 'the data'} is {inputs.kind_of(value)}, which no template can read"
            raise refusal(what, "give text, numbers, lists or objects that are known before deployment")
