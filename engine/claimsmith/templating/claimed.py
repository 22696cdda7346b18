"""Texts that others wrote, on their way through a template of the platform.

A composition's template prints what a claim contains, and what exists already. Such a text may be a value in the
output, or part of one, and nothing else: a line end and `kind: ClusterRole` in a claim must not become a resource. So
these texts carry marks, which show in the output where they begin and end (`insertions.py`); what functions make of
them carries marks too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from claimsmith.golang.kinds import Struct
from claimsmith.templating import insertions
from claimsmith.templating.functions.registry import Function


class Claimed(str):
    """A text of others, and the same text as it is printed, with marks."""

    __slots__ = ("printed",)
    printed: str

    def __new__(cls, text: str, printed: str = "") -> Claimed:
        """The text; marked as a whole, unless its parts are."""
        created = super().__new__(cls, text)
        created.printed = printed or insertions.marked(str(text))
        return created


# fmt: off
_JOINING: Final = frozenset((
    "cat", "indent", "join", "nindent", "print", "printf", "println", "replace", "setResourceNameAnnotation",
    "toString", "trim", "trimAll", "trimall", "trimPrefix", "trimSuffix",
))
"""Functions that put texts beside each other: what they add is the platform's, so the parts keep their own marks."""
_PASSING: Final = frozenset((
    "all", "and", "any", "append", "chunk", "coalesce", "compact", "concat", "deepCopy", "default", "dict", "dig",
    "empty", "first", "get", "getComposedConnectionDetails", "getComposedResource", "getCompositeResource",
    "getCredentialData", "getExtraResources", "getExtraResourcesFromContext", "getResourceCondition", "has",
    "hasKey", "include", "index", "initial", "keys", "last", "len", "list", "merge", "mergeOverwrite", "not",
    "omit", "or", "pick", "pluck", "prepend", "push", "required", "rest", "reverse", "set", "slice", "ternary",
    "tuple", "uniq", "unset", "values", "without",
))
# fmt: on
"""Functions that return what they are given, or a part of it, with the marks that it has."""
_WRITING: Final = frozenset({"toYaml"})
"""Functions that write an object or a list as YAML, in which nothing can be more than a value."""


def texts_of(value: Any) -> Any:
    """The value with all texts in it marked, keys too."""
    match value:
        case Claimed() | Struct():
            return value  # a struct prints letters and digits that were read as a time or a version
        case str():
            return Claimed(value)
        case list():
            return [texts_of(item) for item in value]
        case dict():
            return {Claimed(key): texts_of(item) for key, item in value.items()}
        case _:
            return value


def holds(value: Any) -> bool:
    """Whether there is a marked text in a value."""
    match value:
        case Claimed():
            return True
        case list() | tuple():
            return any(map(holds, value))
        case dict():
            return any(isinstance(key, Claimed) or holds(item) for key, item in value.items())
        case _:
            return False


def printed(value: Any, show: Callable[[Any], str]) -> str:
    """A value as the template prints it, with marks where there is something of others in it."""
    if isinstance(value, Claimed):
        return value.printed
    text = value if isinstance(value, str) else show(value)
    return Claimed(text).printed if not isinstance(value, str) and holds(value) else insertions.without_marks(text)


def included(text: str) -> str:
    """The output of a named template, as a value."""
    plain, inserted = insertions.unmarked(text)
    return plain if all(place.own for place in inserted) else Claimed(plain, text)


def called(function: Function, arguments: Sequence[Any], seed: tuple[bytes, ...]) -> Any:
    """The result of a function; a text that comes from texts of others is one of them."""
    name = _plain_name(function.name)
    if name in _PASSING or not holds(arguments):
        return function.call(*seed, *arguments)
    if name == "fromYaml":
        _refuse_strays(arguments[0])
    result = function.call(*seed, *map(_plain, arguments))
    if name in _WRITING:
        return Claimed(result, f"{insertions.marked(result[:-1])}\n") if isinstance(arguments[0], str) else result
    if not isinstance(result, str):
        return texts_of(result)
    if name in _JOINING:
        joined = function.call(*seed, *(_with_marks(argument) for argument in arguments))
        if insertions.unmarked(joined)[0] == result:
            return Claimed(result, joined)
    return Claimed(result)


def _plain_name(name: str) -> str:
    return name[4].lower() + name[5:] if name.startswith("must") and len(name) > len("must") else name


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Claimed) else value


def _with_marks(value: Any) -> Any:
    match value:
        case Claimed():
            return value.printed
        case list():
            return [_with_marks(item) for item in value]
        case _:
            return value


def _refuse_strays(text: Any) -> None:
    """A text that is read as YAML is an output by itself."""
    if isinstance(text, Claimed):
        plain, inserted = insertions.unmarked(text.printed)
        if inserted != [insertions.Inserted(0, len(plain))]:  # a claim may contain YAML as a whole
            insertions.refuse_strays(plain, inserted, "text for fromYaml")
