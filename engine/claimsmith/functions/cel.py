"""CEL expressions of functions: checked, evaluated in a child process, their errors as problems.

Values are as JSON has them; numbers of a function's request may be integers or floats, which CEL compares by value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from claimsmith.base.errors import ComposeError, Problem
from claimsmith.functions import worker
from claimsmith.functions.cel_types import Types

_LONGEST = 10_000
_LONGEST_SHOWN = 300


class AbsentValue(ComposeError):
    """An expression read a field, key or item that is not there."""


class _Omit:
    """The value of `omit()`: the field is left out."""

    def __repr__(self) -> str:
        return "OMIT"


OMIT: Final = _Omit()


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, and the variables that it may use."""

    text: str
    variables: frozenset[str]
    lists: frozenset[str] = field(default_factory=frozenset)
    """The variables that hold lists; the others hold anything."""
    seconds: float | None = None
    """What one call may take; None for the limit of the engine."""

    def returns(self) -> str:
        """The type of its value as CEL names it: BOOL, DYN, LIST<DYN>, …; refused where the expression is invalid."""
        return str(self._call({})["returns"])

    def type_problems(self, types: Types) -> list[tuple[str, str]]:
        """What is wrong with it for variables of these types, each with a fix; nothing that evaluation permits."""
        for number in ("double", "int"):  # a number may be either: what fits one of them can be evaluated
            answer = self._sent({"types": {**asdict(types), "number": number}}, worker.CEL_TYPES)
            found = [p for m in _messages(str(answer.get("invalid", ""))) if (p := types.problem(m)) is not None]
            if not found:
                return []
        return found

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Its value. `AbsentValue` where it reads something that is not there."""
        answer = self._call({"values": {name: values[name] for name in self.variables if name in values}})
        if "failed" in answer:
            kind = AbsentValue if answer["absent"] else ComposeError
            raise kind(Problem(f"cannot evaluate {self._quoted}: {_reason(answer['failed'])}", fix=_fix(answer)))
        return self._with_omissions(answer["value"], answer["omit"])

    def is_true(self, values: Mapping[str, Any], *, checked_late: bool = False) -> bool:
        """Its value as a condition; an expression that may return anything but true and false is refused.

        With `checked_late`, a field of unknown type may be the condition: only its value must be true or false.
        """
        returns = self.returns()
        value = self.evaluate(values) if returns == "BOOL" or (checked_late and returns == "DYN") else None
        if not isinstance(value, bool):
            found = returns.lower() if value is None else json.dumps(value)[:_LONGEST_SHOWN]
            what = f"{self._quoted} must return a boolean, but returns {found}"
            raise ComposeError(Problem(what, fix="compare the value, for example `… == true`"))
        return value

    @property
    def _quoted(self) -> str:
        shown = self.text if len(self.text) <= _LONGEST_SHOWN else f"{self.text[:_LONGEST_SHOWN]}…"
        return f"the CEL expression `{shown}`"

    def _call(self, more: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = self._sent(more)
        if "invalid" in answer:
            raise ComposeError(
                Problem(f"{self._quoted} is invalid: {_reason(answer['invalid'])}", fix="fix the expression")
            )
        return answer

    def _sent(self, more: Mapping[str, Any], kind: worker.Kind = worker.CEL) -> Mapping[str, Any]:
        if len(self.text) > _LONGEST:
            what = f"a CEL expression has {len(self.text)} characters; the most is {_LONGEST}"
            raise ComposeError(Problem(what, fix="split it"))
        request = {"text": self.text, "variables": sorted(self.variables), "lists": sorted(self.lists), **more}
        try:
            return worker.worker(kind).call(request, self.seconds)
        except ComposeError as error:
            raise ComposeError(
                *(Problem(f"cannot evaluate {self._quoted}: {p.what}", fix=p.fix) for p in error.problems)
            ) from error

    def _with_omissions(self, value: Any, omit: str) -> Any:
        match value:
            case dict():
                return {k: self._with_omissions(v, omit) for k, v in value.items()}
            case list():
                return [self._with_omissions(item, omit) for item in value]
            case str() if value == omit:
                return OMIT
            case str() if omit in value:
                what = f"{self._quoted} uses omit() inside a text"
                raise ComposeError(Problem(what, fix="let the whole field be omit()"))
            case _:
                return value


def expression(
    text: str, variables: Iterable[str], lists: Iterable[str] = (), seconds: float | None = None
) -> Expression:
    """An expression over variables; those in `lists` hold lists."""
    return Expression(text, frozenset(variables) | frozenset(lists), frozenset(lists), seconds)


def _reason(message: str) -> str:
    """The first line of the engine's message, without its own codes."""
    lines = [line for line in message.splitlines() if line.strip() and not line.startswith(" |")]
    first = lines[0] if lines else message
    for prefix in ("INVALID_ARGUMENT: ", "NOT_FOUND: ", "UNKNOWN: ", "INTERNAL: ", "CANCELLED: ", "OUT_OF_RANGE: "):
        first = first.removeprefix(prefix)
    return first.removeprefix("ERROR: ").removeprefix("<input>:")


def _messages(report: str) -> list[str]:
    """The messages of the checker, each without its place."""
    return [found.strip() for found in re.findall(r"ERROR: <input>:\d+:\d+: (.*)", report)] or (
        [report] if report else []
    )


def _fix(answer: Mapping[str, Any]) -> str:
    return "test for it with has(…), or read it with `.?field.orValue(…)`" if answer["absent"] else "fix the expression"
