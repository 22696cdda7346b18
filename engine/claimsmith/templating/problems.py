"""How a template is refused: always by `TemplateError`, with a place in the template's own text where one is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from claimsmith.base.errors import ComposeError, EngineError, Problem, Source


class TemplateError(ComposeError):
    """A template that cannot be read or rendered, or whose output is not what was asked for."""


@dataclass(frozen=True, slots=True)
class Finding(Problem):
    """What a check before any data found: an error would stop the template, a warning would not."""

    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True, slots=True)
class Place:
    """A template's text and the name it goes by, to turn an offset into a line and a column."""

    text: str
    file: str

    def at(self, offset: int) -> Source:
        """The line and column of a character."""
        offset = min(offset, len(self.text))
        return Source(self.file, self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset))


def refusal(what: str, fix: str, where: Source | None = None) -> TemplateError:
    """The error for one problem."""
    return TemplateError(Problem(what, where, fix=fix))


class raised_at:
    """Turn any error of the engine raised inside into a `TemplateError`, here unless it has its own place.

    The line is counted only when something is wrong: this surrounds every step of a rendering.
    """

    __slots__ = ("place", "pos")

    def __init__(self, place: Place | None = None, pos: int = 0) -> None:
        self.place = place
        self.pos = pos

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, EngineError):
            here = self.place.at(self.pos) if self.place else None
            raise TemplateError(*(replace(p, where=p.where or here) for p in error.problems)) from error
        if isinstance(error, RecursionError):
            here = self.place.at(self.pos) if self.place else None
            raise TemplateError(Problem("nested too deeply", here, fix="make it flatter")) from None
