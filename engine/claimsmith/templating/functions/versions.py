"""sprig's `semverCompare`: whether a version is within constraints, as github.com/Masterminds/semver decides it.

Constraints stand beside each other where all must hold, with `||` between alternatives: `>=1.2, <3 || ^5.1`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from claimsmith.templating.functions.registry import Family, slow
from claimsmith.templating.problems import TemplateError, refusal

FAMILY = Family("versions")

_MAX_TEXT = 200
_REST = r"(?:-(?P<pre>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+(?P<metadata>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
_VERSION = re.compile(rf"v?(?P<major>[0-9]+)(?:\.(?P<minor>[0-9]+))?(?:\.(?P<patch>[0-9]+))?{_REST}")
_PART = r"(?:[0-9]+|[xX*])"
_CONSTRAINT = re.compile(
    r"\s*(?P<op>!=|>=|=>|<=|=<|~>|[=<>~^])?\s*"
    rf"v?(?P<major>{_PART})(?:\.(?P<minor>{_PART}))?(?:\.(?P<patch>{_PART}))?{_REST}(?:\s*,\s*|\s+|$)"
)
_PAIR = re.compile(r"(?:^|(?<=[\s,]))(\S+)\s+-\s+(\S+)")

Numbers = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Version:
    """A version that was read."""

    numbers: Numbers
    pre: str
    metadata: str = ""

    @property
    def order(self) -> tuple[Any, ...]:
        """Versions compare by this: a release comes after its pre-releases."""
        return (*self.numbers, _pre_order(self.pre))


@dataclass(frozen=True, slots=True)
class _Constraint:
    op: str
    version: Version
    given: int
    """How many of the three numbers were written."""

    def holds(self, version: Version) -> bool:
        """Whether the version satisfies it. A pre-release does so only where one is asked for."""
        if version.pre and not self.version.pre and (self.op != "!=" or self.given < 3):
            return False
        numbers, wanted = version.numbers, self.version.numbers
        whole = self.given in (0, 3)
        match self.op:
            case "!=":
                return version.order != self.version.order if whole else numbers[: self.given] != wanted[: self.given]
            case ">":
                return version.order > self.version.order if whole else numbers[: self.given] > wanted[: self.given]
            case "<":
                return version.order < self.version.order
            case ">=" | "=>":
                return version.order >= self.version.order
            case "<=" | "=<":
                return version.order <= self.version.order if self.given == 3 else self._at_most(numbers)
            case "^":
                return version.order >= self.version.order and self._caret(numbers)
            case "~" | "~>":
                return self._tilde(version)
            case _:
                return self._tilde(version) if self.given < 3 else version.order == self.version.order

    def _at_most(self, numbers: Numbers) -> bool:
        kept = self.given or 2
        return numbers[:kept] <= self.version.numbers[:kept]

    def _tilde(self, version: Version) -> bool:
        wanted = self.version.numbers
        if version.order < self.version.order:
            return False
        if wanted == (0, 0, 0) and self.given in (0, 3):
            return True
        kept = 1 if self.given == 1 else 2
        return version.numbers[:kept] == wanted[:kept]

    def _caret(self, numbers: Numbers) -> bool:
        wanted = self.version.numbers
        if wanted[0] > 0 or self.given == 1:
            return numbers[0] == wanted[0]
        if wanted[1] > 0 or self.given == 2:
            return numbers[:2] == wanted[:2]
        return numbers == wanted


@FAMILY.add("semverCompare str str", cost=slow)
def semver_compare(constraints: str, version: str) -> bool:
    """Whether the version satisfies the constraints."""
    found = read(version)
    wanted = [_parsed(part) for part in _bounded(constraints).split("||")]
    return any(all(c.holds(found) for c in alternative) for alternative in wanted)


def read(version: str) -> Version:
    """The version that a text is; numbers that are left out are 0."""
    found = _VERSION.fullmatch(version) if len(version) <= _MAX_TEXT else None
    if not found:
        raise refusal(f"{version[:80]!r} is not a version", "write one such as 1.2.3 or v1.2.3-beta.1")
    major, minor, patch = (int((found[name] or "0")[:20]) for name in ("major", "minor", "patch"))
    return Version((major, minor, patch), found["pre"] or "", found["metadata"] or "")


def _bounded(constraints: str) -> str:
    if len(constraints) > _MAX_TEXT:
        raise _unreadable(constraints)
    return constraints


def _parsed(text: str) -> list[_Constraint]:
    rewritten = _PAIR.sub(r">=\1, <=\2 ", text)
    position = 0
    constraints: list[_Constraint] = []
    while position < len(rewritten) or not constraints:
        found = _CONSTRAINT.match(rewritten, position)
        if not found:
            raise _unreadable(text)
        constraints.append(_constraint(found))
        position = found.end()
    return constraints


def _constraint(found: re.Match[str]) -> _Constraint:
    numbers = [found["major"], found["minor"], found["patch"]]
    given = next((i for i, number in enumerate(numbers) if number is None or number in "xX*"), 3)
    kept = [int(number[:20]) for number in numbers[:given]] + [0] * (3 - given)
    return _Constraint(found["op"] or "=", Version((kept[0], kept[1], kept[2]), found["pre"] or ""), given)


def _pre_order(pre: str) -> tuple[Any, ...]:
    if not pre:
        return (1,)
    parts = (((0, int(part[:20]), "") if part.isdigit() else (1, 0, part)) for part in pre.split("."))
    return (0, *parts)


def _unreadable(constraints: str) -> TemplateError:
    return refusal(f"{constraints[:80]!r} is not a version constraint", "write one such as ^1.2 or >=1.2, <3")
