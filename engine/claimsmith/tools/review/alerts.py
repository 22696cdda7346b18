"""What must be seen first: problems, refusals and dangers of all environments, each once; and the whole in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from claimsmith.base.errors import Problem, Source
from claimsmith.base.grouping import grouped
from claimsmith.base.printable import counted
from claimsmith.tools.review.changes import DESTRUCTIVE, UNKNOWN, Level, Review, ReviewWarning, StackReview
from claimsmith.tools.review.groups import folded_problems, warning_key

PROJECT = ""
"""The environment of what concerns the whole project."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One resource, claim or place that an alert is about."""

    stack: str
    name: str
    claim: str = ""
    part: str = ""
    where: Source | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    """An error, a refusal or a danger, once for all environments that have it."""

    level: Literal["error", "blocked", "danger"]
    what: str
    stacks: Mapping[str, int] = field(default_factory=dict)
    """How often each environment has it."""
    rule: str = ""
    where: Source | None = None
    path: str = ""
    fix: str = ""
    subjects: tuple[Subject, ...] = ()
    """All that it is about; the first is the one that `what` names."""

    @property
    def count(self) -> int:
        """How often there is such a one."""
        return len(self.subjects)

    @property
    def place(self) -> str:
        """Where: `in dev` or `in dev (3), prod`."""
        shown = [f"{s} ({n})" if n > 1 and len(self.stacks) > 1 else s for s, n in self.stacks.items() if s != PROJECT]
        return f" in {', '.join(shown)}" if shown else ""


def alerts(review: Review) -> list[Alert]:
    """Errors first, then what blocks the change, then the dangers; environments in their order."""
    return [
        *_refused("error", ((s.stack, (*s.problems, *_preview_problems(s))) for s in review.stacks)),
        *_refused("blocked", ((s.stack, s.refusals) for s in review.stacks)),
        *_dangers(review),
    ]


def banner(review: Review) -> str:
    """The whole in one line: `Destructive changes: 3 dangers in dev`."""
    found = alerts(review)
    sentences = []
    unread = [s for s in review.stacks if s.problems]
    if unread:
        sentences.append(f"Not reviewed: {_unread(unread)}")
    elif any(a.level == "error" for a in found):
        sentences.append("Not all of it can be reviewed: a preview failed")
    if blocked := [a for a in found if a.level == "blocked"]:
        sentences.append(f"Blocked: fix {_counts(blocked, 'problem')} first")
    sentences += _changes(review, [a for a in found if a.level == "danger"], quiet=bool(sentences))
    return ". ".join(sentences)


def _changes(review: Review, dangers: list[Alert], *, quiet: bool) -> list[str]:
    if dangers:
        return [f"Destructive changes: {_counts(dangers, 'danger')}"]
    if review.destructive:
        return [f"Destructive changes: {_operations(review)}"]
    if quiet:
        return []
    if any(w.rule == UNKNOWN for s in review.stacks for w in s.warnings):
        return ["Changes: nothing is deleted, and whether something is replaced is unknown"]
    return ["Changes: nothing is deleted or replaced" if review.changes else "Nothing changes"]


def _unread(stacks: Iterable[StackReview]) -> str:
    sides = grouped(stacks, lambda s: s.unread)
    return ", ".join(f"the {side} of {', '.join(s.stack for s in same)} cannot be read" for side, same in sides.items())


def _counts(found: Iterable[Alert], word: str) -> str:
    """`3 dangers in dev, 1 in prod`."""
    numbers: Counter[str] = Counter()
    for alert in found:
        numbers.update(alert.stacks)
    first, *rest = [(f" in {stack}" if stack else " in the project", number) for stack, number in numbers.items()]
    return ", ".join([f"{counted(first[1], word)}{first[0]}", *(f"{number}{place}" for place, number in rest)])


def _operations(review: Review) -> str:
    """`2 deleted in dev, 1 replaced in prod`."""
    words = []
    for stack in review.stacks:
        counts = stack.counts()
        engine = stack.preview.ops if stack.preview else {}
        numbers = {op: max(counts.get(op, 0), engine.get(op, 0)) for op in map(str, DESTRUCTIVE)}
        words += [f"{number} {op} in {stack.stack}" for op, number in numbers.items() if number]
    return ", ".join(words)


def _refused(
    level: Literal["error", "blocked"], problems: Iterable[tuple[str, tuple[Problem, ...]]]
) -> Iterator[Alert]:
    """The problems of all environments; the same in several of them, such as one of a class, is one alert."""
    folded = [(stack, same) for stack, found in problems for same in folded_problems(found)]
    for together in grouped(folded, lambda pair: (pair[1][0], len(pair[1]))).values():
        sample = together[0][1][0]
        subjects = tuple(Subject(stack, p.what, where=p.where) for stack, same in together for p in same)
        stacks = Counter(s.stack for s in subjects)
        yield Alert(level, sample.what, stacks, sample.rule, sample.where, sample.path, sample.fix, subjects)


def _dangers(review: Review) -> Iterator[Alert]:
    everywhere = [(PROJECT, w) for w in review.warnings if w.level is Level.danger]
    everywhere += [(s.stack, w) for s in review.stacks for w in s.dangers]
    for together in grouped(everywhere, lambda pair: warning_key(pair[1])).values():
        sample = together[0][1]
        subjects = tuple(subject_of(stack, w) for stack, w in together)
        stacks = Counter(s.stack for s in subjects)
        yield Alert("danger", sample.what, stacks, sample.rule, sample.where, "", sample.fix, subjects)


def subject_of(stack: str, warning: ReviewWarning) -> Subject:
    """The resource or claim that a warning is about."""
    return Subject(stack, warning.subject or warning.what, warning.claim, warning.part, warning.where)


def _preview_problems(stack: StackReview) -> tuple[Problem, ...]:
    return stack.preview.problems if stack.preview else ()
