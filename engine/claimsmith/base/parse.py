"""From a document to a pydantic model, with problems that point into the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import ValidationError

from claimsmith.base import fieldpath
from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, ModelError, Problem, suggest
from claimsmith.base.model import Model

M = TypeVar("M", bound=Model)

NEEDED = "needed"
"""The type of an error about a field that is not there, where more is known than that it is missing."""


def parse(model: type[M], document: Document, *, data: Any = None, at: fieldpath.Path = ()) -> M:
    """The document as `model`; every mismatch becomes a problem with its line and a fix.

    A part of a document is parsed by giving its data, and its place in the document as `at`.
    """
    data = document.data if data is None else data
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise ModelError(*(_problem(model, document, e, data, at) for e in found)) from error


def real_path(data: Any, loc: Iterable[str | int]) -> fieldpath.Path:
    """The deepest part of a pydantic `loc` that the data really has: union tags and absent keys are left out."""
    path: list[str | int] = []
    for step in loc:
        match data, step:
            case dict(), _ if step in data:
                data = data[step]
            case list(), int() if step < len(data):
                data = data[step]
            case _:
                continue
        path.append(step)
    return tuple(path)


def _problem(model: type[Model], document: Document, error: Any, data: Any, at: fieldpath.Path) -> Problem:
    loc: tuple[str | int, ...] = error["loc"]
    absent = error["type"] in ("missing", NEEDED)  # or null, which counts as left out
    path = (*at, *real_path(data, loc[:-1] if absent else loc))
    where = document.source_of(path)
    match error["type"]:
        case "extra_forbidden":
            field = str(loc[-1])
            # Of a union, the other members may know it.
            known = _fields_at(model, loc[:-1]) - {field}
            fix = suggest(field, known, f"remove it; known here: {', '.join(sorted(known)) or 'nothing'}")
            return Problem(f"unknown field {field!r}", where, fieldpath.to_text(path), fix)
        case "missing":
            full = fieldpath.to_text((*path, str(loc[-1])))
            return Problem(f"the field {loc[-1]!r} is missing", where, full, f"add {loc[-1]}:")
        case _:
            message = str(error["msg"]).removeprefix("Value error, ")
            message = message[:1].lower() + message[1:]
            ctx = error.get("ctx") or {}
            what, _, fix = message.partition("; fix: ")
            return Problem(
                what,
                where,
                fieldpath.to_text((*path, loc[-1]) if error["type"] == NEEDED else path),
                fix or str(ctx.get("fix", "")) or f"fix the value of {fieldpath.to_text(path) or 'the document'}",
            )


def _fields_at(model: type[Model], loc: tuple[str | int, ...]) -> set[str]:
    """The field names that the model, or the union members, at a location know."""
    models: set[type[Model]] = {model}
    for step in loc:
        if isinstance(step, int):
            continue
        inner: set[type[Model]] = set()
        for candidate in models:
            for name, info in candidate.model_fields.items():
                if step in (name, info.alias):
                    inner.update(_models_in(info.annotation))
        # A step that is no field is the tag of a union: stay where we are.
        models = inner or models
    return {info.alias or name for m in models for name, info in m.model_fields.items()}


def _models_in(annotation: Any) -> set[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return {annotation}
    found: set[type[Model]] = set()
    for argument in getattr(annotation, "__args__", ()):
        found |= _models_in(argument)
    return found


def twice(shown: str, first: Document, second: Document) -> CatalogError:
    """The refusal of a name that two documents have."""
    what = f"{shown} occurs twice; the first is at {first.source_of('metadata.name')}"
    fix = "rename or remove one of the two"
    return CatalogError(second.problem(what, "metadata.name", fix))
