"""Errors as data: what is wrong, where it is in the user's files, and how to fix it.

Every step collects the problems it finds and raises them once. The shell prints them;
nothing else formats an error.

    EngineError                 base of all that a user can cause; exit code 1
    ├── LoadError               a file that cannot be read as YAML documents
    ├── WriteError              a file that cannot be written
    ├── ModelError              a document that does not fit its kind
    ├── CatalogError            documents that contradict each other
    ├── NotPermitted            a file below claims/ with something that the platform does not permit
    ├── BindingError            a claim that cannot be bound, or a binding that does not hold
    ├── FieldPathError          a path that cannot be parsed, read or written
    │   └── NotFound            …because there is nothing at that path
    ├── TransformError          a value that a transform cannot take
    ├── ComposeError            a template that cannot be patched
    ├── ReferenceError_         a selector or reference that leads nowhere, or in a circle
    ├── ConnectionError_        connection details that are missing, doubled or not ours
    ├── GenerateError           a component that is missing, stale or cannot be written
    ├── ProviderError           a provider's SDK that is missing, or a type that it does not have
    ├── ToolchainError          a part of the engine that cannot be found or installed
    ├── PlatformError           an operating system that lacks what is needed
    ├── ControlPlaneError       a local control plane that cannot be started or stopped
    └── DeployError             what is found while the engine runs
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from claimsmith.base.printable import visible


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """A place in a file, counted from one."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{visible(self.file)}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and its fix."""

    what: str
    where: Source | None = None
    path: str = ""
    fix: str = ""
    rule: str = field(default="", compare=False)
    """The check that found it, by its name in docs/reference/checks.md."""

    def __str__(self) -> str:
        """One line for each part: what is quoted from files cannot add another."""
        what = visible(self.what)
        lines = [f"{self.where}: {what}" if self.where else what]
        if self.path:
            lines.append(f"  at:  {visible(self.path)}")
        if self.fix:
            lines.append(f"  fix: {visible(self.fix)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """The problem for a machine to read."""
        place = {"file": self.where.file, "line": self.where.line, "column": self.where.column} if self.where else None
        rule = {"rule": self.rule} if self.rule else {}
        return {"what": self.what, "where": place, "path": self.path, "fix": self.fix, **rule}


class EngineError(Exception):
    """One or more problems that the user can fix."""

    exit_code = 1

    def __init__(self, *problems: Problem | str) -> None:
        self.problems: tuple[Problem, ...] = tuple(p if isinstance(p, Problem) else Problem(p) for p in problems)
        super().__init__("\n".join(str(p) for p in self.problems))


class LoadError(EngineError):
    """A file that cannot be read as YAML documents."""


class WriteError(EngineError):
    """A file that cannot be written."""


class ModelError(EngineError):
    """A document that does not fit its kind."""


class CatalogError(EngineError):
    """Documents that contradict each other."""


class NotPermitted(EngineError):
    """A file below claims/ with something that the platform does not permit."""


class BindingError(EngineError):
    """A claim that cannot be bound, or a recorded binding that does not hold."""


class FieldPathError(EngineError):
    """A field path that cannot be parsed, read or written."""


class NotFound(FieldPathError):
    """There is nothing at the path."""


class TransformError(EngineError):
    """A value that a transform cannot take."""


class ComposeError(EngineError):
    """A template that cannot be patched."""


class ReferenceError_(EngineError):
    """A selector or reference that leads nowhere, or in a circle."""


class ConnectionError_(EngineError):
    """Connection details that are missing, doubled or not ours."""


class GenerateError(EngineError):
    """A component that is missing, stale or cannot be written."""


class ProviderError(EngineError):
    """A provider's SDK that is missing, or a type that it does not have."""


class ToolchainError(EngineError):
    """A part of the engine that cannot be found or installed."""


class PlatformError(EngineError):
    """An operating system that lacks what is needed."""


class ControlPlaneError(EngineError):
    """A local control plane that cannot be started or stopped."""


class DeployError(EngineError):
    """What is found while the engine runs."""


Refused = Callable[[EngineError], None]
"""Takes an error that would otherwise be raised, from a step that goes on with what it did not refuse."""


class Collector:
    """Gathers the problems of one step, to be raised together."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, problem: Problem) -> None:
        """Keep one problem."""
        self.problems.append(problem)

    @contextmanager
    def catch(self, but: type[EngineError] | None = None) -> Iterator[None]:
        """Keep the problems of any EngineError raised inside, and go on; `but` lets one kind of them pass."""
        try:
            yield
        except EngineError as error:
            if but and isinstance(error, but):
                raise
            self.problems.extend(error.problems)

    def raise_as(self, kind: type[EngineError], refused: Refused | None = None) -> None:
        """Raise all that was kept, in the order of the files; do nothing where there is none.

        Whoever goes on with the rest gives a function that takes the error instead.
        """
        if self.problems:
            error = kind(*in_order(self.problems))
            self.problems = []
            if refused is None:
                raise error
            refused(error)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """The problems by file and line, each once; those without a place last."""
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (p.where is None, p.where or Source("")))


@contextmanager
def at(
    where: Source | Callable[[], Source] | None, path: str = "", *, prefix: str = "", suffix: str = ""
) -> Iterator[None]:
    """Add place and path to problems raised inside that have none; put `prefix` before their text, `suffix` behind it.

    A place that has to be searched for is passed as a function: it is called only if there is a problem.
    """
    try:
        yield
    except EngineError as error:
        where = where() if callable(where) else where
        raise type(error)(
            *(
                replace(p, what=f"{prefix}{p.what}{suffix}", where=p.where or where, path=p.path or path)
                for p in error.problems
            )
        ) from error


_LONGEST_WORD = 300
"""Longer ones are no slips of the pen, and comparing them takes time."""


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a misspelt word most likely meant, if any is close."""
    import difflib

    if len(word) > _LONGEST_WORD:
        return None
    by_folded = {c.casefold(): c for c in candidates if len(c) <= _LONGEST_WORD}
    close = difflib.get_close_matches(word.casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """The question that names the nearest candidate; empty if none is close."""
    close = nearest(word, candidates)
    return f"did you mean {close!r}?" if close else ""


_MOST_LISTED = 12
"""More candidates than this are not read, and hide the message."""


def suggest(word: str, candidates: Iterable[str], otherwise: str = "", *, none: str = "none yet") -> str:
    """The fix for a name that does not exist: the nearest candidate, else `otherwise`, else the list of candidates."""
    names = list(candidates)
    listed = ", ".join(names[:_MOST_LISTED]) + (", …" if len(names) > _MOST_LISTED else "")
    return did_you_mean(word, names) or otherwise or f"use one of: {listed or none}"
