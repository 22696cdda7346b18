"""Fields of observed resources on their way through a template: which text of the output is which field.

A composition's template prints fields of resources that it composes itself. Before the first deployment these are
missing, and print `<no value>`. Such a field is followed as texts of others are (`claimed.py`), by a mark in the
output: where it is a whole scalar there, it can be filled in once the resource exists. Everything else that a template
does with it (a condition, a part of a text, a loop) sees the value of now, as it does in the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError
from claimsmith.templating import claimed, functions, insertions
from claimsmith.templating.functions.builtins import text_of
from claimsmith.templating.functions.registry import Function

NO_VALUE: Final = "<no value>"
"""What Go prints for a field that is not there."""
_RESOURCES: Final = ("observed", "resources")
_DOCUMENT: Final = "resource"
_FOLLOWED: Final = frozenset({"metadata", "status"})
"""The parts of an object that its controller or the API server fills in."""
_CONVERTING: Final = frozenset({"quote", "squote", "toString", "toJson", "trim", "lower", "upper", "int", "b64enc"})
"""Functions of one value whose result is still followed: they are called again with the value that comes."""
_MISSING: Final = object()
_OTHERWISE: Final = "dig"

Call = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Reading:
    """A field of an observed resource, and what the template does with it before it prints it."""

    resource: str
    """The name of the resource in the composition."""
    path: fieldpath.Path
    calls: tuple[Call, ...] = ()
    """The functions that it goes through, each with its other arguments."""

    @property
    def optional(self) -> bool:
        """Whether the template says what to print if the field is missing."""
        return any(name in (_OTHERWISE, "default") for name, _ in self.calls)

    def text(self, document: Any) -> str:
        """What the template prints for a resource's document."""
        try:
            value = fieldpath.get(document, self.path)
        except FieldPathError:
            value = _MISSING
        for name, arguments in self.calls:
            if name == _OTHERWISE:
                value = arguments[0] if value is _MISSING else value
            else:
                value = functions.FUNCTIONS[name].call(*arguments, None if value is _MISSING else value)
        return NO_VALUE if value is _MISSING or value is None else value if isinstance(value, str) else text_of(value)


@dataclass(frozen=True, slots=True)
class Seen:
    """A value inside of the observed resources, with its path; None where nothing is observed."""

    value: Any
    path: fieldpath.Path
    register: Register
    calls: tuple[Call, ...] = ()

    def reading(self) -> Reading | None:
        """The field that it is; None where it is none that can be filled in."""
        if len(self.path) < 6 or self.path[3] != _DOCUMENT or self.path[4] not in _FOLLOWED:
            return None
        if isinstance(self.value, dict | list):
            return None
        return Reading(str(self.path[2]), self.path[4:], self.calls)


def plain(value: Any) -> Any:
    """The value that a template sees."""
    return value.value if isinstance(value, Seen) else value


@dataclass(slots=True)
class Register:
    """The fields that one rendering printed, and the data that they are fields of."""

    root: Any
    found: dict[Reading, int] = field(default_factory=dict)

    def below(self, start: Any, steps: fieldpath.Path, value: Any) -> Any:
        """What a read of the data gives, with its path if it is one of observed resources."""
        if start is self.root:
            path: fieldpath.Path = steps
        elif isinstance(start, Seen) and not start.calls:
            path = (*start.path, *steps)
        else:
            return value
        path = tuple(str(step) if isinstance(step, str) else step for step in path)
        return Seen(value, path, self) if path[:2] == _RESOURCES[: len(path)] else value

    def called(self, function: Function, values: Sequence[Any], call: Callable[[Sequence[Any]], Any]) -> Any:
        """The result of a function, with its path if it is a field, or still the same one."""
        result = call([plain(value) for value in values])
        match function.name, values:
            case "getComposedResource", [start, str(name)] if start is self.root:
                return self.below(start, (*_RESOURCES, name, _DOCUMENT), result)
            case "index", [start, *keys] if all(isinstance(key, str | int) for key in keys):
                return self.below(start, tuple(keys), result)
            case "get", [start, str(key)]:
                return _otherwise(self.below(start, (key,), result), "")
            case "dig", [*keys, default, start] if all(isinstance(key, str) for key in keys) and _is_constant(default):
                return _otherwise(self.below(start, tuple(keys), result), default)
            case "default", [fallback, Seen() as seen] if _is_constant(fallback):
                return _with_call(seen, "default", fallback, result)
            case name, [Seen() as seen] if name in _CONVERTING:
                return _with_call(seen, name, _MISSING, result)
            case _:
                return result

    def printed(self, seen: Seen) -> str:
        """A field as the template prints it, with the mark of its number."""
        text = claimed.printed(NO_VALUE if seen.value is None else seen.value, text_of)
        reading = seen.reading()
        return insertions.numbered(text, self.found.setdefault(reading, len(self.found))) if reading else text


def _is_constant(value: Any) -> bool:
    """A value that says what to print instead; an empty object leads to fields that are missing all the same."""
    return value == {} or isinstance(value, str | int | float | bool)


def _otherwise(found: Any, default: Any) -> Any:
    return _with_call(found, _OTHERWISE, default, found.value) if isinstance(found, Seen) else found


def _with_call(seen: Seen, name: str, argument: Any, result: Any) -> Seen:
    if argument == {}:
        return Seen(result, seen.path, seen.register, seen.calls)
    constant = str(argument) if isinstance(argument, str) else argument
    arguments = () if argument is _MISSING else (constant,)
    return Seen(result, seen.path, seen.register, (*seen.calls, (name, arguments)))


def scalars(text: str, readings: Mapping[tuple[int, int], Reading]) -> tuple[str, dict[str, Scalar]]:
    """The output with a word of its own for each followed field, and what each of these words stands for."""
    head = "claimsmith-reading"
    while head in text:
        head += "x"
    parts, words, last = [], {}, 0
    for number, ((start, end), reading) in enumerate(sorted(readings.items(), key=lambda item: item[0])):
        quotes = _quotes_before(text, start)
        if quotes is None:
            continue
        word = f"{head}-{number}"
        parts += [text[last:start], word]
        words[word], last = Scalar(reading, quotes), end
    return "".join([*parts, text[last:]]), words


def _quotes_before(text: str, start: int) -> str | None:
    """The quotes that a scalar begins with, empty if it has none; None if it cannot begin here."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    if before[-1:] in ('"', "'"):
        return before[-1]
    return "" if before.rstrip(" ")[-1:] in (":", "-", ",", "[", "{") else None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar of the output that is nothing but a field of an observed resource."""

    reading: Reading
    quotes: str = ""
    """The quotes around it in the template."""
