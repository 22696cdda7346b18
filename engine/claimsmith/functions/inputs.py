"""The inputs of built-in functions: read strictly, each mismatch with its place in the composition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from claimsmith.base import fieldpath
from claimsmith.base.errors import ComposeError, Problem
from claimsmith.base.errors import at as located
from claimsmith.base.parse import parse
from claimsmith.base.regexp import BadPattern, compiled
from claimsmith.dialects.crossplane.patch_input import Lenient
from claimsmith.functions import cel_view
from claimsmith.functions.registry import Place
from claimsmith.golang import durations


class FunctionInput(Lenient):
    """What every input has."""

    api_version: str = ""
    kind: str = ""
    metadata: Any = None


M = TypeVar("M", bound=FunctionInput)


def read(model: type[M], place: Place) -> M:
    """The input of a step."""
    return parse(model, place.document, data=dict(place.step.input), at=fieldpath.parse(place.step.at))


def problem(place: Place, what: str, path: str = "", fix: str = "") -> ComposeError:
    """A refusal at a place of the input, as `rules[0].sequence`."""
    at = f"{place.step.at}.{path}" if path else place.step.at
    return ComposeError(Problem(what, place.document.source_of(at), at, fix))


def pattern(place: Place, text: str, path: str) -> Any:
    """A regular expression of the input."""
    try:
        return compiled(text)
    except BadPattern as error:
        what = f"the regular expression {text!r} is invalid: {error}"
        raise problem(place, what, path, "use the syntax of RE2") from error


def check_duration(place: Place, text: str, path: str) -> None:
    """Refuse a text that is no duration; an empty one stands for the default."""
    if text and durations.parse(text) is None:
        raise problem(place, f"{text!r} is no duration", path, "write it like 90s, 20m or 1h30m")


def is_true(place: Place, text: str, values: Mapping[str, Any], path: str, *, checked_late: bool = False) -> bool:
    """Whether a condition of the input holds for a request; its problems are at its place."""
    at = f"{place.step.at}.{path}"
    with located(lambda: place.document.source_of(at), at):
        return cel_view.condition(text, place.timeout).is_true(values, checked_late=checked_late)
