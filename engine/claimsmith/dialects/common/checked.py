"""Texts that models check when they are read: field paths, and types of native resources."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError, ModelError
from claimsmith.providers.tokens import Token


def readable(path: str) -> str:
    """The path, if it is one; the error is one that a model reports with its fix."""
    try:
        fieldpath.parse(path)
    except FieldPathError as error:
        raise ValueError(f"{error.problems[0].what}; fix: {error.problems[0].fix}") from error
    return path


def _token(text: str) -> str:
    try:
        Token.parse(text)
    except ModelError as error:
        raise ValueError(f"{error.problems[0].what}; fix: {error.problems[0].fix}") from error
    return text


FieldPath = Annotated[str, AfterValidator(readable)]
TypeToken = Annotated[str, AfterValidator(_token)]
