"""One of several models, selected by a `type` that may be left out if the other fields determine it.

Unlike pydantic's own tagged unions, the locations of errors are paths into the data, without tags in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError, WrapValidator
from pydantic_core import InitErrorDetails, PydanticCustomError

from claimsmith.base import errors
from claimsmith.base.model import Model


def choice(what: str, default: str | None, **kinds: type[Model]) -> WrapValidator:
    """The annotation of a union of models that have a `type`. Without a default, the fields must determine it.

    Nulls count as left out. Fields that belong to another type are passed over; fields of no type are refused.
    """

    def parse(data: Any, _: object) -> Any:
        if isinstance(data, tuple(kinds.values())):
            return data
        if not isinstance(data, Mapping):
            raise _located((), data, refusal(f"a {what} is an object", f"write one of: {', '.join(kinds)}"))
        kind = _type_of(what, data, kinds, default)
        own = _fields(kinds[kind])
        others = {field for model in kinds.values() for field in _fields(model)} - own
        kept = {k: v for k, v in data.items() if k not in others and not (k in own and v is None)}
        return kinds[kind].model_validate({**kept, "type": kind})

    return WrapValidator(parse)


def known_word(what: str, *words: str) -> Callable[[Any], Any]:
    """A check, for use as a BeforeValidator, that a word is one of those, with the nearest suggested."""

    def check(word: Any) -> Any:
        if word not in words:
            raise refusal(f"unknown {what} {word!r}", one_of(str(word), words))
        return word

    return check


def refusal(message: str, fix: str) -> PydanticCustomError:
    """An error for a validator to raise: what is wrong, and the fix."""
    return PydanticCustomError("refused", "{message}; fix: {fix}", {"message": message, "fix": fix})


def one_of(word: str, words: Iterable[str]) -> str:
    """The fix for a word outside a closed choice: the nearest of the words, and all of them."""
    words = list(words)
    return f"{errors.did_you_mean(word, words)} use one of: {', '.join(words)}".lstrip()


def _type_of(what: str, data: Mapping[str, Any], kinds: Mapping[str, type[Model]], default: str | None) -> str:
    name = data.get("type")
    if name not in (None, ""):
        if isinstance(name, str) and name in kinds:
            return name
        raise _located(("type",), name, refusal(f"unknown {what} type {name!r}", one_of(str(name), kinds)))
    named = [kind for kind, model in kinds.items() if any(data.get(field) is not None for field in _needs(model))]
    if default is not None and (default in named or not named):
        return default
    if len(named) == 1:
        return named[0]
    fix = f"set type to one of: {', '.join(named or kinds)}"
    raise _located(("type",), dict(data), refusal(f"cannot determine the type of the {what}", fix))


def _located(loc: tuple[str, ...], data: Any, error: PydanticCustomError) -> ValidationError:
    return ValidationError.from_exception_data("choice", [InitErrorDetails(type=error, loc=loc, input=data)])


def _fields(model: type[Model]) -> set[str]:
    return {info.alias or name for name, info in model.model_fields.items()} - {"type"}


def _needs(model: type[Model]) -> set[str]:
    return {info.alias or name for name, info in model.model_fields.items() if info.is_required()}
